// A preprocessor of mdBook: links of pages that lead out of docs/ (examples, sources, recipes) are no part of the book. With the variable
// BRUNT_REPOSITORY (such as https://git.example/brunt/blob/main) they lead there; without it only their text stays, with the path behind it.
//
// A comment <!-- help: run find … --> becomes the help of these commands, as the program at BRUNT prints it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path/posix';

// mdBook asks first whether the output suits: links suit all of them.
if (process.argv[2] === 'supports') process.exit(0);

const [, book] = JSON.parse(readFileSync(0, 'utf8'));
const repository = process.env.BRUNT_REPOSITORY?.replace(/\/$/, '');

/** The text of a page at `place`, with links that lead to the repository. */
function lead(text, place) {
  const link = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)/g;
  return text.replace(link, (whole, picture, words, target, anchor = '') => {
    if (/^[a-z]+:/.test(target)) return whole;
    const inside = path.normalize(path.join('docs', path.dirname(place), target));
    if (inside.startsWith('docs/')) return whole;
    if (repository) return `${picture}[${words}](${repository}/${inside}${anchor})`;
    return words.includes(inside) ? words : `${words} (\`${inside}\` in the repository)`;
  });
}

/** The text of a page with the help of the commands that it asks for; without the program nothing is there. */
function helped(text) {
  const help = (command) => execFileSync(process.env.BRUNT, ['help', command], { encoding: 'utf8' });
  const section = (command) => `## brunt ${command}\n\n\`\`\`text\n${help(command).trimEnd()}\n\`\`\`\n`;
  return text.replace(/^<!-- help: (.*?) -->$/gm, (_, commands) =>
    process.env.BRUNT ? commands.split(' ').map(section).join('\n') : '',
  );
}

function walk(items) {
  for (const { Chapter: chapter } of items.filter((item) => item.Chapter)) {
    // Code in fences stays as it is: it holds no links.
    const parts = chapter.content.split(/(^```[^]*?^```)/m);
    chapter.content = helped(parts.map((part, at) => (at % 2 ? part : lead(part, chapter.path ?? ''))).join(''));
    walk(chapter.sub_items);
  }
}

walk(book.items ?? book.sections);
process.stdout.write(JSON.stringify(book));
