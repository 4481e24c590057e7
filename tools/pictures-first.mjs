// The picture at the top of the README: `node tools/pictures-first.mjs PICTURE.png TERMINAL.txt REPORT.html`. The text of a terminal lies beside
// the head of the page of the same run. Called by tools/pictures.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const web = path.resolve(process.env.WEB ?? new URL('../web', import.meta.url).pathname);
const puppeteer = createRequire(`${web}/package.json`)('puppeteer-core');

// Pixels of each half.
const WIDTH = 800;
const HEIGHT = 740;
// A picture that is larger than this does not belong into the repository.
const BYTES_MAX = 250_000;

const [target, terminal, report] = process.argv.slice(2);
if (!report) {
  console.error('node tools/pictures-first.mjs PICTURE.png TERMINAL.txt REPORT.html');
  process.exit(2);
}
const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => place && existsSync(place));
if (!executablePath) {
  console.error('no Chromium: install the package chromium, or name it with the variable CHROMIUM');
  process.exit(1);
}
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const coloured = (line) =>
  escaped(line)
    .replace(/^(\$ )(.*)/, '<b>$1$2</b>')
    .replace(/✓/g, '<i class="good">✓</i>')
    .replace(/✗/g, '<i class="bad">✗</i>')
    .replace(/^( *█.*)/, '<b>$1</b>');
const lines = readFileSync(terminal, 'utf8').trimEnd().split('\n').map(coloured).join('\n');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'];
const browser = await puppeteer.launch({ executablePath, headless: true, args: flags });
try {
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.setViewport({ width: Math.round(WIDTH * 1.5), height: Math.round(HEIGHT * 1.5), deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(path.resolve(report)).href);
  const isReady = () => document.documentElement.dataset.ready !== undefined;
  await page.waitForFunction(isReady, { timeout: 120_000, polling: 200 });
  const shot = await page.screenshot({ encoding: 'base64' });
  // In a page of its own: the report's allows no styles but its own.
  const both = await browser.newPage();
  await both.setViewport({ width: 2 * WIDTH, height: HEIGHT, deviceScaleFactor: 1 });
  await both.setContent(`<!doctype html><style>
    body { margin: 0; display: flex; background: #fff }
    pre { box-sizing: border-box; width: ${WIDTH}px; height: ${HEIGHT}px; margin: 0; padding: 18px; overflow: hidden; background: #16181d;
      color: #d7dae0; font: 12.5px/1.34 'DejaVu Sans Mono', monospace }
    img { width: ${WIDTH}px; height: ${HEIGHT}px }
    b { color: #fff } i { font-style: normal } .good { color: #5fd38d } .bad { color: #ff6b6b }
  </style><pre>${lines}</pre><img src="data:image/png;base64,${shot}">`);
  await both.screenshot({ path: target });
} finally {
  await browser.close();
}
const { size } = statSync(target);
console.log(`${target}: ${2 * WIDTH} × ${HEIGHT}, ${size} bytes`);
if (size > BYTES_MAX) {
  console.error(`${target}: more than ${BYTES_MAX} bytes`);
  process.exit(1);
}
