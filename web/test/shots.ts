/** Pictures of the page, to be looked at: `node build/shots.mjs FOLDER [NAME…]`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { fill, launch } from './filled.js';
import { manyRoutes, synthesize } from './synthetic.js';

const folder = process.argv[2] ?? 'build/shots';
const wanted = process.argv.slice(3);
mkdirSync(folder, { recursive: true });
const pages: Record<string, () => Uint8Array> = {
  full: () => synthesize({ seconds: 600 }).document,
  attack: () => synthesize({ seconds: 120, kind: 'attack', rate: 120, routes: manyRoutes(2), rich: false }).document,
  empty: () => synthesize({ seconds: 0.3, rate: 0, rich: false, routes: [] }).document,
  short: () => synthesize({ seconds: 0.3, rate: 300, rich: false }).document,
  died: () => synthesize({ seconds: 60, state: 'died', rich: false }).document,
  many: () => synthesize({ seconds: 300, routes: manyRoutes(40), rate: 200 }).document,
};
const browser = await launch();
for (const [name, make] of Object.entries(pages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const file = `${folder}/${name}.html`;
  writeFileSync(file, fill({ mode: 'report' }, name, make()));
  for (const [kind, width, height, dark] of [['wide', 1440, 900, false], ['phone', 390, 844, false], ['dark', 1440, 900, true]] as const) {
    if (name !== 'full' && kind === 'dark') continue;
    const page = await browser.newPage();
      await page.bringToFront();
    page.on('pageerror', (error) => console.log(name, kind, 'error:', (error as Error).message));
    page.on('console', (message) => console.log(name, kind, message.type(), message.text()));
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    await page.setViewport({ width, height, deviceScaleFactor: 1 });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, { timeout: 120_000, polling: 200 });
    await new Promise((done) => setTimeout(done, 1500));
    const tall = await page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth, document.documentElement.dataset.ready]);
    console.log(name, kind, 'height, width, ready ms:', tall.join(' '));
    // A strip that sticks would cover what is below it in a picture of the whole page.
    await page.evaluate(() => {
      const strip = document.getElementById('range');
      if (strip) strip.style.position = 'static';
    });
    const step = kind === 'phone' ? 2400 : 1800;
    for (let top = 0; top < Number(tall[0]) && top < 12 * step; top += step) {
      await page.screenshot({ path: `${folder}/${name}-${kind}-${top / step}.png`, captureBeyondViewport: true, clip: { x: 0, y: top, width, height: Math.min(step, Number(tall[0]) - top) } });
    }
    if (name === 'full' && kind === 'wide') {
      await page.pdf({ path: `${folder}/${name}.pdf`, format: 'A4', printBackground: true });
      // The paper's width without its margins, as a picture.
      await page.setViewport({ width: 703, height: 1000 });
      await page.emulateMediaType('print');
      await new Promise((done) => setTimeout(done, 1500));
      const long = await page.evaluate(() => document.documentElement.scrollHeight);
      for (let top = 0; top < long; top += 1800) {
        await page.screenshot({ path: `${folder}/${name}-print-${top / 1800}.png`, captureBeyondViewport: true, clip: { x: 0, y: top, width: 703, height: Math.min(1800, long - top) } });
      }
    }
    await page.close();
  }
}
await browser.close();
