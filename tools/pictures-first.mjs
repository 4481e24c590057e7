// The picture at the top of the README: `node tools/pictures-first.mjs PICTURE.png TERMINAL.txt REPORT.html`. The text of a terminal lies beside
// the head of the page of the same run. Called by tools/pictures.

import { readFileSync, statSync } from 'node:fs';
import { launch, open } from './pictures-browser.mjs';

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
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const coloured = (line) =>
  escaped(line)
    .replace(/^(\$ )(.*)/, '<b>$1$2</b>')
    .replace(/✓/g, '<i class="good">✓</i>')
    .replace(/✗/g, '<i class="bad">✗</i>')
    .replace(/^( *█.*)/, '<b>$1</b>');
const lines = readFileSync(terminal, 'utf8').trimEnd().split('\n').map(coloured).join('\n');

const browser = await launch();
try {
  const page = await browser.newPage();
  await open(page, report, Math.round(WIDTH * 1.5), Math.round(HEIGHT * 1.5));
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
