/** Pictures of the page, to be looked at: `node build/shots.mjs FOLDER [NAME…]`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { fill, launch } from './filled.js';
import { DocumentWriter } from '../src/data/write.js';
import { led } from './led.js';
import { Dice, manyRoutes, synthesize, trendChunk } from './synthetic.js';

const folder = process.argv[2] ?? 'build/shots';
const wanted = process.argv.slice(3);
mkdirSync(folder, { recursive: true });
const pages: Record<string, () => Uint8Array> = {
  full: () => synthesize({ seconds: 600 }).document,
  attack: () => synthesize({ seconds: 120, kind: 'attack', rate: 120, routes: manyRoutes(2), rich: false }).document,
  empty: () => synthesize({ seconds: 0.3, rate: 0, rich: false, routes: [] }).document,
  short: () => synthesize({ seconds: 0.3, rate: 300, rich: false }).document,
  died: () => synthesize({ seconds: 60, state: 'died', rich: false }).document,
  bare: () => bare(),
  capacity: () => search(true),
  'capacity-none': () => search(false),
  agents: () => led(4),
  'agents-empty': () => led(2, true),
  'agents-many': () => led(100),
  day: () => synthesize({ seconds: 86_400, width: 60_000, rate: 2, routes: manyRoutes(12) }).document,
  latencies: () => latencies(),
  many: () => synthesize({ seconds: 300, routes: manyRoutes(40), rate: 200 }).document,
};
/** A script that always throws: iterations, no requests. */
function bare(): Uint8Array {
  const writer = new DocumentWriter();
  writer.json({
    time: { width: 1000, slices: 30, end: 30e6 },
    run: { name: 'broken', script: 'broken.js', state: 'finished', started: '2026-11-23T14:30:00Z', passed: null, exit: 0 },
    exceptions: [{ text: "ReferenceError: 'htpp' is not defined\n\tat default (broken.js:4:3)", count: 3000 }],
    scenarios: [{ name: 'default', executor: 'constant-vus', from: 0, to: 30e6, text: '10 VUs' }],
    metrics: [{ name: 'iterations', type: 'counter' }, { name: 'iteration_duration', type: 'trend', contains: 'time' }, { name: 'vus', type: 'gauge' }, { name: 'never', type: 'trend', contains: 'time' }],
    series: [[0, {}], [1, {}], [2, {}]],
  });
  writer.chunk({ series: 0, type: 'counter', first: 0, columns: [new Array(30).fill(100)] });
  writer.chunk(trendChunk(1, Array.from({ length: 30 }, () => Float64Array.from({ length: 100 }, (_, i) => 0.01 + i / 1e4))));
  writer.chunk({ series: 2, type: 'gauge', first: 0, columns: [Array.from({ length: 30 }, (_, i) => (i + 1) * 1e6 - 1), new Array(30).fill(10), new Array(30).fill(10), new Array(30).fill(10)] });
  return writer.done();
}

/** A search for capacity: found in eight steps, or stopped before the first came to its end. */
function search(found: boolean): Uint8Array {
  const writer = new DocumentWriter();
  const goals = ['http_req_duration p(95)<20', 'http_req_failed rate<1%'];
  const step = (index: number, load: number, good: number, latencyMs: number, outcome: string, more: object = {}) => ({
    load, purpose: 'narrow', outcome, reason: null, from: index * 25 + 5, to: index * 25 + 25, recovered: true, finished: good, good, failed: 0, dropped: 0, latencyMs, vus: Math.ceil(load * latencyMs / 1000), ...more,
  });
  const broke = (value: number) => ({ reason: `http_req_duration p(95)<20: ${value} ms` });
  const steps = [
    step(0, 10, 10, 6.12, 'held'), step(1, 40, 40, 6.5, 'held'), step(2, 160, 160, 8.83, 'held'),
    step(3, 640, 498, 3120, 'broke', { ...broke(3120), failed: 3.1 }), step(4, 342, 342, 18.4, 'held', { recovered: false }), step(5, 359, 359, 21.7, 'broke', broke(21.7)),
    step(6, 345, 345, 20.3, 'broke', broke(20.3)), step(7, 345, 344, 19.1, 'generator', { reason: 'the generator was disturbed: it was 12.5 ms late (p95) though it had little to do; a long native call of the script, or the machine itself, held it up' }),
    step(8, 346, 346, 19.2, 'held', { to: 265 }),
  ];
  const capacity = found
    ? {
      outcome: 'found', text: 'it bears 346/s: 346/s held, 359/s broke', unit: 'iterations/s', held: 346, broke: 359, confirmed: true, limit: 351, uncertainty: 0.061, plateau: 498, knee: 342, goals,
      notes: ['the limit is uncertain by 6 %, more than the 5 % of --precision: what is measured near it varies by chance; a longer --hold than 20s tells more', '345/s broke once, and 346/s held for longer afterwards: so near to the limit that is chance'],
      steps,
    }
    : { outcome: 'stopped', text: 'stopped: no step was measured', unit: 'iterations/s', held: null, broke: null, confirmed: false, plateau: null, knee: null, goals, notes: [], steps: [] };
  const seconds = found ? 265 : 4;
  writer.json({
    time: { width: 1000, slices: seconds, end: seconds * 1e6 },
    run: { name: 'targets', script: 'targets.js', state: found ? 'finished' : 'aborted', started: '2026-11-23T14:30:00Z', passed: null, exit: found ? 0 : 105 },
    scenarios: [{ name: 'default', executor: 'constant-arrival-rate', from: 0, to: seconds * 1e6, text: 'rates that are steered' }],
    capacity,
    metrics: [{ name: 'iterations', type: 'counter' }, { name: 'iteration_duration', type: 'trend', contains: 'time' }],
    series: [[0, {}], [1, {}]],
  });
  writer.chunk({ series: 0, type: 'counter', first: 0, columns: [new Array(seconds).fill(100)] });
  writer.chunk(trendChunk(1, Array.from({ length: seconds }, () => Float64Array.from({ length: 100 }, (_, i) => 5 + i / 10))));
  return writer.done();
}

/** An attack of which only latencies and codes are known. */
function latencies(): Uint8Array {
  const writer = new DocumentWriter();
  const dice = new Dice(3);
  writer.json({
    time: { width: 1000, slices: 60, end: 60e6 },
    run: { name: 'big-bang', kind: 'attack', state: 'finished' },
    metrics: [{ name: 'http_req_duration', type: 'trend', contains: 'time' }],
    series: [[0, { status: '200' }], [0, { status: '500' }]],
  });
  const values = (count: number) => Array.from({ length: 60 }, () => Float64Array.from({ length: count }, () => 20 * Math.exp(0.5 * dice.normal())));
  writer.chunk(trendChunk(0, values(100)));
  writer.chunk(trendChunk(1, values(2)));
  return writer.done();
}

const browser = await launch();
for (const [name, make] of Object.entries(pages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const file = `${folder}/${name}.html`;
  writeFileSync(file, fill({ mode: 'report' }, name, make()));
  for (const [kind, width, height, dark] of [['wide', 1440, 900, false], ['phone', 390, 844, false], ['dark', 1440, 900, true]] as const) {
    if (name !== 'full' && !name.startsWith('capacity') && !name.startsWith('agents') && kind === 'dark') continue;
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
