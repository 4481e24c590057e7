// Small PNGs of report pages: `node tools/pictures.mjs FOLDER PAGE.html[=SECTION,…]…` writes FOLDER/PAGE-SECTION.png. Called by tools/pictures.

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { launch, open } from './pictures-browser.mjs';

// Pixels: wide enough for all columns, small enough for a page of the guide.
const WIDTH = 1200;
const HEIGHT_MAX = 900;
// A picture that is larger than this does not belong into the repository.
const BYTES_MAX = 200_000;
// The first picture is the top of the page; the others are sections by their id.
const SECTIONS = ['top', 'latency', 'requests'];

const [folder, ...pages] = process.argv.slice(2);
if (!folder || pages.length === 0) {
  console.error('node tools/pictures.mjs FOLDER PAGE.html…');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await launch();
let failed = false;
try {
  for (const named of pages) {
    const [file, sections] = named.split('=');
    const name = path.basename(file, '.html');
    const page = await browser.newPage();
    page.on('pageerror', (error) => {
      failed = true;
      console.error(`${name}: ${error.message}`);
    });
    await open(page, file, WIDTH, HEIGHT_MAX);
    for (const section of sections?.split(',') ?? SECTIONS) {
      const clip = await place(page, section);
      if (!clip) {
        failed = true;
        console.error(`${name}: the page has no section "${section}"`);
        continue;
      }
      const target = path.join(folder, `${name}-${section}.png`);
      await page.screenshot({ path: target, captureBeyondViewport: true, clip });
      const { size } = statSync(target);
      console.log(`${target}: ${clip.width} × ${clip.height}, ${size} bytes`);
      if (size > BYTES_MAX) {
        failed = true;
        console.error(`${target}: more than ${BYTES_MAX} bytes`);
      }
    }
    await page.close();
  }
} finally {
  await browser.close();
}
process.exit(failed ? 1 : 0);

// The rectangle of a section; of the top that of the first screen.
async function place(page, section) {
  if (section === 'top') return { x: 0, y: 0, width: WIDTH, height: HEIGHT_MAX };
  // Plots below the fold are drawn when they come into sight; the strip that sticks would cover them.
  const found = await page.evaluate((id) => {
    const strip = document.getElementById('range');
    if (strip) strip.style.position = 'static';
    document.getElementById(id)?.scrollIntoView();
    return document.getElementById(id) !== null;
  }, section);
  if (!found) return undefined;
  await new Promise((done) => setTimeout(done, 1500));
  const box = await page.evaluate((id) => {
    const { x, y, width, height } = document.getElementById(id).getBoundingClientRect();
    return { x: x + window.scrollX, y: y + window.scrollY, width, height };
  }, section);
  const whole = (number) => Math.max(0, Math.round(number));
  return { x: whole(box.x), y: whole(box.y), width: whole(box.width), height: Math.min(whole(box.height), HEIGHT_MAX) };
}
