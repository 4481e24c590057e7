/** Figures: `node build/tools/bench.mjs`. A run of 24 h with 500 series opens in so long, and a drag redraws in so long. */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fill, launch } from './filled.js';
import { manyRoutes, synthesize } from './synthetic.js';

const folder = mkdtempSync(join(tmpdir(), 'brunt-page-'));
const cases: [string, () => Uint8Array][] = [
  ['10 min, 50 series', () => synthesize({ seconds: 600, rate: 20 }).document],
  ['24 h, 500 series', () => synthesize({ seconds: 86_400, width: 60_000, rate: Number(process.env.RATE ?? 50), routes: manyRoutes(44), cores: 4 }).document],
];
try {
  const browser = await launch();
  for (const [name, make] of cases) {
    const file = join(folder, 'page.html');
    writeFileSync(file, fill({ mode: 'report' }, name, make()));
    const opened: number[] = [];
    const first: number[] = [];
    const drags: number[] = [];
    for (let round = 0; round < 5; round++) {
      const page = await browser.newPage();
      await page.bringToFront();
      await page.setViewport({ width: 1440, height: 900 });
      await page.goto(pathToFileURL(file).href, { waitUntil: 'domcontentloaded' });
      await page.waitForSelector('html[data-ready]', { timeout: 300_000 });
      first.push(await page.evaluate(() => Number(document.documentElement.dataset.ready)));
      opened.push(
        await page.evaluate(
          () =>
            new Promise<number>((done) => {
              const look = () => (document.querySelector('.figure') ? done(performance.now()) : requestAnimationFrame(look));
              look();
            }),
        ),
      );
      await page.waitForFunction(() => !document.getElementById('app')?.textContent?.includes('Adding up …'), { timeout: 300_000 });
      for (const id of ['figures', 'latency', 'requests', 'load', 'knee', 'metrics', 'generator']) {
        await page.evaluate((id) => document.getElementById(id)?.scrollIntoView(), id);
        await new Promise((done) => setTimeout(done, 200));
        drags.push(
          ...(await page.evaluate(async () => {
            const body = document.querySelector('.strip-body')!;
            const rect = body.getBoundingClientRect();
            const at = (part: number) => ({ clientX: rect.left + rect.width * part, clientY: rect.top + 20, pointerId: 1, button: 0, bubbles: true });
            body.setPointerCapture = () => undefined;
            const times: number[] = [];
            body.dispatchEvent(new PointerEvent('pointerdown', at(0.2)));
            for (const part of [0.3, 0.37, 0.51, 0.64, 0.83]) {
              const start = performance.now();
              body.dispatchEvent(new PointerEvent('pointermove', at(part)));
              // The frame in which the stretch changes, and the one after it was painted.
              await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))));
              times.push(performance.now() - start);
              await new Promise((done) => setTimeout(done, 400));
            }
            body.dispatchEvent(new PointerEvent('pointerup', at(0.83)));
            return times;
          })),
        );
        await page.evaluate(() => (document.querySelector('.chips .chip') as HTMLButtonElement).click());
        await new Promise((done) => setTimeout(done, 100));
      }
      await page.close();
    }
    const middle = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!.toFixed(0);
    const most = (list: number[]) => Math.max(...list).toFixed(0);
    console.log(`${name}: page ${(statSync(file).size / 1e6).toFixed(2)} MB; opened after ${middle(opened)} ms (most ${most(opened)}; data read after ${middle(first)}); a drag redraws in ${middle(drags)} ms (most ${most(drags)})`);
  }
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}
