// Builds the page: one HTML file with its script and its style inside, and places for the data (DATA.md).
// `node build.mjs` writes dist/page.html; `node build.mjs test` bundles the tests into build/.
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = new URL('.', import.meta.url);
const path = (name) => fileURLToPath(new URL(name, root));

/** The value that a Content-Security-Policy names a script or style by. */
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Weight of the page without data, compressed, that may not be passed. */
const WEIGHT_MAX = 150_000;

async function page() {
  const result = await build({
    entryPoints: [path('src/main.tsx')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome100', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    outdir: path('dist'),
    charset: 'utf8',
  });
  const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end))?.text.trim() ?? '';
  // Inside an element nothing may look like its end.
  const script = text('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = text('.css');
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data: blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const template = await readFile(path('src/page.html'), 'utf8');
  const fill = { POLICY: policy, STYLE: style, SCRIPT: script };
  const html = template.replace(/\{\{(POLICY|STYLE|SCRIPT)\}\}/g, (_, name) => fill[name]);
  for (const place of ['__BRUNT_TITLE__', '__BRUNT_CONFIG__', '__BRUNT_DATA__']) {
    if (html.split(place).length !== 2) throw new Error(`${place} stands ${html.split(place).length - 1} times in the page`);
  }
  const weight = gzipSync(html, { level: 9 }).length;
  if (weight > WEIGHT_MAX) throw new Error(`the page weighs ${weight} bytes compressed, over ${WEIGHT_MAX}`);
  await mkdir(path('dist'), { recursive: true });
  await writeFile(path('dist/page.html'), html);
  process.stdout.write(`dist/page.html: ${html.length} characters, ${weight} bytes compressed\n`);
}

async function tests() {
  for (const kind of ['unit', 'browser']) {
    await rm(path(`build/${kind}`), { recursive: true, force: true });
    const files = (await readdir(path(`test/${kind}`))).filter((name) => /\.tsx?$/.test(name));
    await build({
      entryPoints: files.map((name) => path(`test/${kind}/${name}`)),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node18',
      packages: 'external',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      outdir: path(`build/${kind}`),
      outExtension: { '.js': '.test.mjs' },
    });
  }
}

/** What is not a test: pictures and figures. */
async function tools() {
  await build({
    entryPoints: [path('test/shots.ts'), path('test/bench.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    packages: 'external',
    outdir: path('build/tools'),
    outExtension: { '.js': '.mjs' },
  });
}

await ({ test: tests, tools }[process.argv[2]] ?? page)();
