/**
 * Figures: `npm run bench`. A run of 24 h with 500 series opens in so long, and a drag redraws in so long. Beside the time of the clock stands the time
 * that the page's main thread computed: on a machine that has other work, the first grows and the second stays.
 */

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CDPSession, Page } from 'puppeteer-core';
import { fill, launch } from './filled.js';
import { manyRoutes, synthesize } from './synthetic.js';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** Nothing here waits longer. */
const PATIENCE = { timeout: 120_000, polling: 100 };
const SECTIONS = ['figures', 'load', 'responses', 'latency', 'requests', 'knee', 'groups', 'metrics', 'generator'];

interface Marks {
  painted?: number;
  all?: number;
}

/** Runs in the page before anything else: notes when the first figures were painted, and when every section was drawn. */
function watch(): void {
  const marks: Marks = {};
  (window as unknown as { marks: Marks }).marks = marks;
  let seen = false;
  const observer = new MutationObserver(() => {
    if (!seen && document.querySelector('.figure data')) {
      seen = true;
      requestAnimationFrame(() => setTimeout(() => (marks.painted = performance.now()), 0));
    }
    if (seen && !document.querySelector('.undrawn')) {
      marks.all = performance.now();
      observer.disconnect();
    }
  });
  observer.observe(document, { childList: true, subtree: true, attributes: true });
}

/** Seconds that the main thread computed so far. */
async function computed(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? Number.NaN;
}

/** Moves the pointer over the strip, as a drag does; gives the milliseconds until the next frame is painted. */
const drag = (page: Page, part: number) =>
  page.evaluate(async (part) => {
    const body = document.querySelector('.strip-body')!;
    const rect = body.getBoundingClientRect();
    const start = performance.now();
    body.dispatchEvent(new PointerEvent('pointermove', { clientX: rect.left + rect.width * part, clientY: rect.top + 20, pointerId: 1, button: 0, bubbles: true }));
    // The frame in which the stretch changes, and what comes after it was painted. A browser that paints nothing must not hang this.
    await Promise.race([new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))), new Promise((done) => setTimeout(done, 5000))]);
    return performance.now() - start;
  }, part);

const folder = mkdtempSync(join(tmpdir(), 'brunt-page-'));
const file = join(folder, 'page.html');
const cases: [string, () => { document: Uint8Array; series: number }][] = [
  ['10 min', () => synthesize({ seconds: 600, rate: 20, routes: manyRoutes(1) })],
  ['24 h', () => synthesize({ seconds: 86_400, width: 60_000, rate: Number(process.env.RATE ?? 50), routes: manyRoutes(Number(process.env.ROUTES ?? 22)), cores: 4 })],
];
const browser = await launch();
try {
  for (const [name, make] of cases) {
    const { document: data, series } = make();
    writeFileSync(file, fill({ mode: 'report' }, name, data));
    const [painted, all, opening, drags, moves]: number[][] = [[], [], [], [], []];
    let worst = '';
    for (let round = 0; round < ROUNDS; round++) {
      const page = await browser.newPage();
      await page.bringToFront();
      await page.setViewport({ width: 1440, height: 900 });
      const session = await page.createCDPSession();
      await session.send('Performance.enable', { timeDomain: 'threadTicks' });
      await page.evaluateOnNewDocument(watch);
      await page.goto(pathToFileURL(file).href, { waitUntil: 'domcontentloaded', timeout: PATIENCE.timeout });
      await page.waitForFunction(() => (window as unknown as { marks: Marks }).marks.all !== undefined && (window as unknown as { marks: Marks }).marks.painted !== undefined, PATIENCE);
      const marks = await page.evaluate(() => (window as unknown as { marks: Marks }).marks);
      painted!.push(marks.painted!);
      all!.push(marks.all!);
      opening!.push((await computed(session)) * 1000);
      await page.evaluate(() => {
        const body = document.querySelector('.strip-body')!;
        body.setPointerCapture = () => undefined;
      });
      for (const id of SECTIONS) {
        await page.evaluate((id) => {
          document.getElementById(id)?.scrollIntoView();
          const body = document.querySelector('.strip-body')!;
          const rect = body.getBoundingClientRect();
          body.dispatchEvent(new PointerEvent('pointerdown', { clientX: rect.left + rect.width * 0.2, clientY: rect.top + 20, pointerId: 1, button: 0, bubbles: true }));
        }, id);
        await new Promise((done) => setTimeout(done, 200));
        for (const part of [0.3, 0.371, 0.512, 0.643, 0.834]) {
          const before = await computed(session);
          const took = await drag(page, part);
          moves!.push(((await computed(session)) - before) * 1000);
          if (took >= Math.max(0, ...drags!)) worst = id;
          drags!.push(took);
          await new Promise((done) => setTimeout(done, 500));
        }
        await page.evaluate(() => {
          document.querySelector('.strip-body')!.dispatchEvent(new PointerEvent('pointerup', { pointerId: 1, bubbles: true }));
          (document.querySelector('.chips .chip') as HTMLButtonElement).click();
        });
        await new Promise((done) => setTimeout(done, 300));
      }
      await page.close();
    }
    const middle = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!.toFixed(0);
    const most = (list: number[]) => Math.max(...list).toFixed(0);
    console.log(`${name}, ${series} series: page ${(statSync(file).size / 1e6).toFixed(2)} MB
  opened: figures painted after ${middle(painted!)} ms (most ${most(painted!)}), every section drawn after ${middle(all!)} ms (most ${most(all!)}); computed ${middle(opening!)} ms in all
  a drag redraws in ${middle(drags!)} ms (most ${most(drags!)}, at ${worst}); computed ${middle(moves!)} ms (most ${most(moves!)})
  load average ${loadavg()[0]!.toFixed(1)}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
