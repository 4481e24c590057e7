// node tools/book-links.mjs FOLDER: looks whether each link and picture in the HTML files of a folder leads to a file of it, and each anchor to an id.
// Addresses elsewhere (https:) are not asked.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const folder = path.resolve(process.argv[2]);
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html'));
// Pages that mdBook makes of others: all pages in one, whose links are those of the pages; and the list of chapters, framed.
const MADE = ['print.html', 'toc.html', '404.html'];
const ids = new Map();

function idsOf(file) {
  if (!ids.has(file)) {
    const found = readFileSync(file, 'utf8').matchAll(/\sid="([^"]+)"/g);
    ids.set(file, new Set([...found].map(([, id]) => id)));
  }
  return ids.get(file);
}

let links = 0;
const broken = [];
for (const name of files.filter((name) => !MADE.includes(name))) {
  const from = path.join(folder, name);
  const main = readFileSync(from, 'utf8').replace(/^[^]*<main>/, '').replace(/<\/main>[^]*$/, '');
  for (const [, address] of main.matchAll(/<(?:a|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
    if (/^[a-z]+:/i.test(address)) continue;
    links += 1;
    const [target, anchor] = address.replaceAll('&amp;', '&').split('#');
    let file = target ? path.resolve(path.dirname(from), decodeURIComponent(target)) : from;
    if (existsSync(file) && statSync(file).isDirectory()) file = path.join(file, 'index.html');
    if (!file.startsWith(folder) || !existsSync(file)) broken.push(`${name}: no such page: ${address}`);
    else if (anchor && !idsOf(file).has(decodeURIComponent(anchor))) broken.push(`${name}: no such heading: ${address}`);
  }
}
for (const line of broken) console.error(line);
console.log(`${files.length} pages, ${links} links, ${broken.length} of them broken`);
process.exit(broken.length > 0 || links === 0 ? 1 : 0);
