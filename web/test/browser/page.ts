import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { DocumentWriter } from '../../src/data/write.js';
import { fill, launch } from '../filled.js';
import { led } from '../led.js';
import { Oracle, told } from '../oracle.js';
import { manyRoutes, type Synthetic, synthesize, trendChunk, type Wish } from '../synthetic.js';

let browser: Browser;
let folder: string;
/** Waiting for the page is bounded by this alone: a busy machine may take long. */
const PATIENCE = { timeout: 120_000, polling: 200 };

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'brunt-page-'));
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

interface Opened {
  page: Page;
  errors: string[];
  requests: string[];
}

async function open(html: string, { width = 1440, dark = false, hash = '' } = {}): Promise<Opened> {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(file, html);
  const page = await browser.newPage();
  await page.bringToFront();
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && errors.push(message.text()));
  page.on('request', (request) => requests.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
  await page.goto(pathToFileURL(file).href + hash, { ...PATIENCE, waitUntil: 'domcontentloaded' });
  await settled(page);
  return { page, errors, requests };
}

/** Waits until every section is drawn. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined || document.querySelector('[role=alert]') !== null, PATIENCE);
  await page.waitForFunction(() => !document.getElementById('app')?.textContent?.includes('Adding up …'), PATIENCE);
}

/** Waits until the page says this of itself. */
const until = (page: Page, says: string, of: string) => page.waitForFunction((says, of) => document.querySelector(of)?.textContent?.includes(says), PATIENCE, says, of);

/** The exact numbers of the page: figures, statistics, the row of all requests. */
const numbers = (page: Page) =>
  page.evaluate(() => {
    const read = (selector: string) => Number(document.querySelector<HTMLDataElement>(`${selector} data`)?.value ?? Number.NaN);
    const found: Record<string, number> = {};
    for (const figure of document.querySelectorAll<HTMLElement>('[data-figure]')) found[`figure ${figure.dataset.figure}`] = read(`[data-figure="${figure.dataset.figure}"]`);
    for (const stat of document.querySelectorAll<HTMLElement>('#latency [data-stat]')) found[stat.dataset.stat!] = read(`#latency [data-stat="${stat.dataset.stat}"]`);
    for (const cell of document.querySelectorAll<HTMLElement>('tr.every [data-column]')) found[`all ${cell.dataset.column}`] = read(`tr.every [data-column="${cell.dataset.column}"]`);
    return found;
  });

function expected(made: Synthetic, from: number, to: number): Record<string, number> {
  const values = made.durations.slice(from, to).flat().sort((a, b) => a - b);
  const failed = made.failed.slice(from, to).reduce((a, b) => a + b, 0);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const p = (percent: number) => {
    const index = (percent / 100) * (values.length - 1);
    const [low, high] = [values[Math.floor(index)]!, values[Math.ceil(index)]!];
    return low + (high - low) * (index - Math.floor(index));
  };
  return {
    'figure requests': values.length,
    'figure rate': values.length / (to - from),
    'figure failed': failed / values.length,
    'figure p95': p(95),
    count: values.length,
    mean,
    deviation: Math.sqrt(values.reduce((all, value) => all + (value - mean) ** 2, 0) / values.length),
    min: values[0]!,
    p50: p(50),
    p99: p(99),
    'p99.9': p(99.9),
    max: values[values.length - 1]!,
    'all count': values.length,
    'all failed': failed / values.length,
    'all p90': p(90),
  };
}

function same(found: Record<string, number>, wanted: Record<string, number>): void {
  for (const [name, value] of Object.entries(wanted)) {
    const tolerance = /count|requests|min$|max$|rate|failed/.test(name) ? 1e-9 : 1e-3;
    assert.ok(Math.abs(found[name]! - value) <= Math.abs(value) * tolerance + 1e-9, `${name}: the page says ${found[name]}, it is ${value}`);
  }
}

test('every number follows the stretch: all, by the address, by a drag, by the keyboard, by presets', async () => {
  const made = synthesize({ seconds: 200, rate: 40 });
  const { page, errors, requests } = await open(fill({ mode: 'report' }, 'shop', made.document));
  same(await numbers(page), expected(made, 0, 200));

  // A drag over the strip, outwards to borders of slices.
  const box = (await (await page.$('.strip-body'))!.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.2525, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 30, { steps: 3 });
  await page.mouse.move(box.x + box.width * 0.5975, box.y + 30, { steps: 3 });
  await page.mouse.up();
  await until(page, '0:50 – 2:00', '.chosen');
  await page.waitForFunction((count) => document.querySelector<HTMLDataElement>('tr.every [data-column=count] data')?.value === String(count), PATIENCE, expected(made, 50, 120).count);
  await page.waitForFunction(() => location.hash === '#from=50&to=120', PATIENCE);
  same(await numbers(page), expected(made, 50, 120));

  // The keyboard moves the ends.
  await page.focus('.handle.from');
  await page.keyboard.press('ArrowRight');
  await until(page, '0:51 – 2:00', '.chosen');
  await page.waitForFunction((count) => document.querySelector<HTMLDataElement>('tr.every [data-column=count] data')?.value === String(count), PATIENCE, expected(made, 51, 120).count);
  same(await numbers(page), expected(made, 51, 120));

  // Presets.
  await page.evaluate(() => [...document.querySelectorAll<HTMLButtonElement>('.chips .chip')].find((chip) => chip.textContent === 'peak')!.click());
  await until(page, '2:20 – 3:00', '.chosen');
  await page.waitForFunction((count) => document.querySelector<HTMLDataElement>('tr.every [data-column=count] data')?.value === String(count), PATIENCE, expected(made, 140, 180).count);
  same(await numbers(page), expected(made, 140, 180));
  assert.deepEqual(errors, []);
  assert.deepEqual(requests.filter((url) => !/^(file|data|blob):/.test(url)), [], 'the page asks nobody');
  await page.close();

  const again = await open(fill({ mode: 'report' }, 'shop', made.document), { hash: '#from=10&to=40' });
  same(await numbers(again.page), expected(made, 10, 40));
  await again.page.close();
});

/** Chooses a stretch by the address, or all, and waits until every section is of it. */
async function choose(page: Page, from: number, to: number, n: number): Promise<void> {
  const whole = from === 0 && to === n;
  await page.evaluate((hash) => {
    location.hash = hash;
  }, whole ? '' : `#from=${from}&to=${to}`);
  await followed(page, from, to);
}

const followed = (page: Page, from: number, to: number) =>
  page.waitForFunction((wanted) => [...document.querySelectorAll<HTMLElement>('section[data-stretch]')].every((section) => section.dataset.stretch === wanted), PATIENCE, `${from}-${to}`);

test('every number of every section is that of the raw values, for the whole run and for three stretches', async () => {
  // Few values are exact everywhere; of many, percentiles are those of buckets.
  for (const [rate, tolerance] of [[4, 1e-9], [60, 1e-3]] as const) {
    const made = synthesize({ seconds: 240, rate, seed: 5 });
    const { page, errors } = await open(fill({ mode: 'report' }, 'shop', made.document));
    await page.evaluate(() => {
      for (const box of document.querySelectorAll<HTMLInputElement>('.menu-list input')) if (!box.checked) box.click();
    });
    for (const [from, to] of [[0, 240], [30, 95], [90, 240], [97, 98]] as const) {
      await choose(page, from, to, 240);
      const expected = new Oracle(made, from, to, to - from).expected();
      const found = await page.evaluate(told);
      for (const [name, value] of Object.entries(expected)) {
        // The verdict of the whole run is told by the run, not by the page.
        if (from === 0 && to === 240 && name.startsWith('threshold')) continue;
        const exact = !/p\d|deviation|Std dev|range|threshold/.test(name);
        const allowed = Math.abs(value) * (exact ? 1e-6 : Math.max(tolerance, 1e-6)) + (/range/.test(name) && tolerance > 1e-6 ? 3 : 1e-9);
        assert.ok(Math.abs((found[name] ?? Number.NaN) - value) <= allowed, `${from}-${to} at ${rate}/s, ${name}: the page says ${found[name]}, it is ${value}`);
      }
      const unexpected = Object.keys(found).filter((name) => !(name in expected) && !Number.isNaN(found[name]) && found[name] !== 0);
      assert.deepEqual(unexpected, [], 'numbers that nothing was compared with');
    }
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test('all twelve sections follow a drag', async () => {
  const made = synthesize({ seconds: 240, rate: 40 });
  const { page } = await open(fill({ mode: 'report' }, 'shop', made.document));
  const prints = () =>
    page.evaluate(() => {
      const found: Record<string, string> = {};
      for (const section of document.querySelectorAll('section')) {
        found[section.id] = section.textContent + [...section.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()).join() + [...section.querySelectorAll('[style]')].map((element) => element.getAttribute('style')).join();
      }
      return found;
    });
  const before = await prints();
  const box = (await (await page.$('.strip-body'))!.boundingBox())!;
  for (const [start, end, from, to] of [[0.2525, 0.5975, 60, 144], [0.802, 0.849, 192, 204]] as const) {
    await page.mouse.move(box.x + box.width * start, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * end, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await followed(page, from, to);
    const after = await prints();
    assert.deepEqual(Object.keys(after), ['figures', 'range', 'thresholds', 'load', 'responses', 'latency', 'requests', 'knee', 'failures', 'groups', 'metrics', 'generator', 'source']);
    for (const [id, print] of Object.entries(after)) {
      assert.notEqual(print, before[id], `section ${id} did not follow`);
      before[id] = print;
    }
  }
  await page.close();
});

test('rows of the table are routes and their classes; sort, search, columns, CSV, and a click opens one', async () => {
  const made = synthesize({ seconds: 60, rate: 60 });
  const { page, errors } = await open(fill({ mode: 'report' }, 'shop', made.document));
  const names = () => page.$$eval('.routes .route', (buttons) => buttons.map((button) => button.textContent));
  assert.equal((await names()).length, 5);
  assert.ok((await page.$$eval('.routes tr.child th', (cells) => cells.map((cell) => cell.textContent))).includes('2xx'));
  const sum = await page.$$eval('.routes tbody tr:not(.child):not(.every) [data-column=count] data', (cells) => cells.reduce((all, cell) => all + Number((cell as HTMLDataElement).value), 0));
  assert.equal(sum, made.durations.flat().length);
  await page.evaluate(() => [...document.querySelectorAll<HTMLButtonElement>('.routes thead button')].find((button) => button.textContent!.startsWith('p95'))!.click());
  await page.waitForSelector('.routes th[aria-sort=descending]', PATIENCE);
  assert.equal((await names())[0], 'POST /checkout');
  await page.type('#requests input[type=search]', 'CART');
  await page.waitForFunction(() => document.querySelectorAll('.routes .route').length === 1, PATIENCE);
  assert.deepEqual(await names(), ['POST /cart']);
  await page.click('.routes .route');
  await page.waitForSelector('.opened [data-stat=p95]', PATIENCE);
  assert.match(await page.$eval('.opened', (element) => element.textContent!), /Percentiles over time.*Heat map.*Distribution.*Percentile curve.*Responses by outcome.*Latency against load/s);
  await page.waitForFunction(() => location.hash.includes('route=POST'), PATIENCE);
  const csv = await page.evaluate(async () => {
    let blob: Blob | undefined;
    URL.createObjectURL = (given) => {
      blob = given as Blob;
      return 'blob:none';
    };
    HTMLAnchorElement.prototype.click = () => undefined;
    [...document.querySelectorAll<HTMLButtonElement>('#requests .chip')].find((chip) => chip.textContent === 'Export CSV')!.click();
    return await blob!.text();
  });
  assert.match(csv, /^route,status class,count,rate,.*p99\.9.*\r\nPOST \/cart,,\d+,/);
  assert.deepEqual(errors, []);
  await page.close();
});

test('failures have their exchanges and a curl line; checks are a tree', async () => {
  const made = synthesize({ seconds: 100, rate: 80 });
  const { page } = await open(fill({ mode: 'report' }, 'shop', made.document));
  await page.evaluate(() => document.querySelector<HTMLButtonElement>('.failures button[aria-expanded]')!.click());
  await page.waitForSelector('.failures .exchange[open] .curl code', PATIENCE);
  assert.match(await page.$eval('.failures .curl code', (code) => code.textContent!), /^curl -X /);
  const all = await page.$$eval('.failures [data-x], .failures td:first-child data', (cells) => cells.reduce((sum, cell) => sum + Number((cell as HTMLDataElement).value), 0));
  assert.equal(all, made.failed.reduce((a, b) => a + b, 0));
  assert.match(await page.$eval('.tree', (tree) => tree.textContent!), /browse.*status is 200.*buy.*cart.*pay/s);
  await page.close();
});

test('axe finds nothing serious, in light, dark and at phone width', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const html = fill({ mode: 'report' }, 'shop', synthesize({ seconds: 60 }).document);
  for (const look of [{}, { dark: true }, { width: 390 }]) {
    const { page } = await open(html, { ...look, hash: '#route=GET+%2Fsearch' });
    await page.waitForSelector('.opened', PATIENCE);
    // The tool comes past the page's policy, as the developer's console does.
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run: (options: unknown) => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } };
      const { violations } = await axe.run({ resultTypes: ['violations'] });
      return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | ')}`);
    });
    assert.deepEqual(found, [], JSON.stringify(look));
    await page.close();
  }
});

test('nothing is wider than a phone', async () => {
  for (const wish of [{ seconds: 120 }, { seconds: 0.3, routes: [], rate: 0, rich: false }] as Wish[]) {
    const { page } = await open(fill({ mode: 'report' }, 'shop', synthesize(wish).document), { width: 390 });
    const [width, tall] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
    assert.equal(width, 390);
    assert.ok(tall! < 18_000, `${tall} px tall`);
    await page.close();
  }
});

test('labels of an axis of time never repeat', async () => {
  for (const [seconds, width] of [[0.3, 1000], [3, 1000], [70, 1000], [5400, 1000], [86_400, 60_000]] as const) {
    const { page } = await open(fill({ mode: 'report' }, 'x', synthesize({ seconds, width, rate: seconds > 1000 ? 1 : 50, rich: false }).document));
    const labels = await page.$$eval('.strip-axis b', (marks) => marks.map((mark) => mark.textContent));
    assert.equal(new Set(labels).size, labels.length, labels.join());
    assert.ok(labels.length > 0);
    await page.close();
  }
});

test('empty states say why', async () => {
  const cases: [Wish, RegExp[]][] = [
    [{ seconds: 60, rate: 0, routes: [], rich: false }, [/This test had no iterations|This test had no requests/, /sets no thresholds/, /makes no checks/]],
    [{ seconds: 60, state: 'died', rich: false }, [/Died\./, /did not come to its end/]],
    [{ seconds: 0.3, rate: 300, rich: false }, [/0\.3 s/, /No thresholds were set/]],
    [{ seconds: 20, kind: 'attack', rich: false }, [/hits/, /planned start/]],
  ];
  for (const [wish, words] of cases) {
    const { page, errors } = await open(fill({ mode: 'report' }, 'x', synthesize(wish).document));
    const text = await page.$eval('#app', (app) => app.textContent!);
    for (const word of words) assert.match(text, word);
    if (wish.kind === 'attack') assert.doesNotMatch(text, /Checks|Scenarios|VUs/);
    assert.deepEqual(errors, []);
    await page.close();
  }
  const { page } = await open(fill({ mode: 'report' }, 'x', new TextEncoder().encode('no run')));
  assert.match(await page.$eval('[role=alert]', (line) => line.textContent!), /cannot be shown.*not those of a Brunt run/);
  await page.close();
});

test('of many agents the worst come first, all can be shown and sorted, and a click opens one', async () => {
  const { page, errors } = await open(fill({ mode: 'report' }, 'led', led(100)));
  const seats = () => page.$$eval('#agents tr[data-seat]', (rows) => rows.map((row) => Number((row as HTMLElement).dataset.seat)));
  const first = await seats();
  assert.equal(first.length, 20);
  assert.deepEqual(first.slice(0, 4), [4, 3, 2, 1]);
  await page.evaluate(() => [...document.querySelectorAll<HTMLButtonElement>('#agents button')].find((one) => one.textContent === 'Show all 100 agents')?.click());
  await page.waitForFunction(() => document.querySelectorAll('#agents tr[data-seat]').length === 100, PATIENCE);
  await page.evaluate(() => [...document.querySelectorAll<HTMLButtonElement>('#agents thead button')].find((one) => one.textContent?.startsWith('Missed'))?.click());
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#agents tr[data-seat]')?.dataset.seat === '3', PATIENCE);
  await page.evaluate(() => document.querySelector<HTMLButtonElement>('#agents tr[data-seat="3"] .route')?.click());
  await until(page, 'GoError: connection refused <b>here</b>', '#agents td.wide');
  const opened = await page.$eval('#agents td.wide', (cell) => cell.textContent ?? '');
  for (const part of ['load-3/1', '± 120 µs', '122 sent, 0 of them again', 'running 0:00', 'cpu-taken-by-others']) assert.ok(opened.includes(part), `${part}: ${opened}`);
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (of: string, options: unknown) => Promise<{ violations: { id: string; impact: string }[] }> } };
    return (await axe.run('#agents', { resultTypes: ['violations'] })).violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id);
  });
  assert.deepEqual(found, []);
  assert.deepEqual(errors, []);
  await page.close();
});

test('a run of one machine has no section of agents, and one without an iteration has', async () => {
  const one = await open(fill({ mode: 'report' }, 'one', synthesize({ seconds: 5, rich: false }).document));
  assert.equal(await one.page.$('#agents'), null);
  await one.page.close();
  const { page, errors } = await open(fill({ mode: 'report' }, 'led', led(2, true)), { width: 390 });
  const text = await page.$eval('#agents', (section) => section.textContent ?? '');
  assert.ok(text.includes('2 agents made the load, none of them with a remark'), text);
  assert.deepEqual(errors, []);
  await page.close();
});

test('an iteration that always throws is not shown as healthy', async () => {
  const writer = new DocumentWriter();
  writer.json({
    time: { width: 1000, slices: 5, end: 5e6 },
    run: { name: 'x', state: 'finished', passed: null },
    exceptions: [{ text: 'Error: no', count: 50 }],
    metrics: [{ name: 'iterations', type: 'counter' }],
    series: [[0, {}]],
  });
  writer.chunk({ series: 0, type: 'counter', first: 0, columns: [[10, 10, 10, 10, 10]] });
  const { page } = await open(fill({ mode: 'report' }, 'x', writer.done()));
  assert.match(await page.$eval('.verdict.bad', (verdict) => verdict.textContent!), /50 of 50 iterations ended in an exception/);
  assert.match(await page.$eval('#responses', (section) => section.textContent!), /This test had no requests/);
  assert.match(await page.$eval('#failures', (section) => section.textContent!), /the script did.*Error: no/s);
  await page.close();
});

test('hostile names are text everywhere', async () => {
  const bad = '<img src=x onerror="window.hurt=1"></script><script>window.hurt=1</script>‮"\'&`{{';
  const long = `${'W'.repeat(10_000)}`;
  const writer = new DocumentWriter();
  const end = 20e6;
  const tags = { name: bad, method: bad, status: bad, scenario: bad, group: `::${bad}`, expected_response: 'false', error_code: bad };
  writer.json({
    time: { width: 1000, slices: 20, end },
    run: { name: bad, script: bad, state: 'aborted', reason: bad, host: bad, cpu: bad, commit: bad, branch: bad, build: `javascript:window.hurt=1//${bad}`, labels: { [bad]: bad }, environment: [bad], arguments: [bad], options: { [bad]: bad }, started: bad, timezone: bad, brunt: bad },
    verdict: { state: 'invalid', text: bad, findings: [{ what: bad, state: 'invalid', from: 0, to: 5e6, much: bad, touches: bad, advice: bad, metrics: [bad] }] },
    thresholds: [{ metric: bad, expression: bad, name: bad, passed: false, value: 1, limit: 2, options: { [bad]: bad }, of: { metric: bad, stat: bad, op: '<' } }],
    scenarios: [{ name: bad, executor: bad, text: bad, from: 0, to: end }],
    stages: [{ name: bad, from: 0, to: 10e6, ramp: true }, { name: long, from: 10e6, to: end }],
    checks: [{ group: `::${bad}`, name: bad, series: 2 }, { group: '', name: long, series: 2 }],
    groups: [`::${bad}`],
    failures: [{ code: bad, message: bad, method: bad, route: bad, first: 0, last: 1, series: 1, exchanges: [0] }],
    exchanges: [{ why: 'failure', method: bad, url: bad, route: bad, status: 500, error: bad, request: { headers: [[bad, bad]], body: bad }, response: { proto: bad, headers: [[bad, bad]], body: bad }, curl: bad }, { why: 'slow', method: bad, url: long, duration: 5 }],
    sources: [{ path: bad, text: bad }],
    exceptions: [{ text: bad, count: 1 }],
    events: [{ at: 1e6, kind: bad, text: bad, scenario: bad }],
    metrics: [
      { name: 'http_req_duration', type: 'trend', contains: 'time' },
      { name: 'http_reqs', type: 'counter' },
      { name: 'brunt.checks', type: 'rate', family: 'check' },
      { name: bad, type: 'gauge' },
      { name: `health.${bad}`, type: 'gauge', family: 'health', text: bad },
      { name: long, type: 'counter' },
      { name: 'group_duration', type: 'trend', contains: 'time' },
    ],
    series: [[0, tags], [1, tags], [2, tags], [3, tags], [4, { core: bad }], [5, { [bad]: long }], [0, { ...tags, name: long }], [6, tags]],
  });
  const values = Array.from({ length: 20 }, (_, i) => Float64Array.of(5 + i, 7));
  const ones = new Array(20).fill(1);
  writer.chunk(trendChunk(0, values));
  writer.chunk({ series: 1, type: 'counter', first: 0, columns: [ones] });
  writer.chunk({ series: 2, type: 'rate', first: 0, columns: [ones, ones] });
  for (const series of [3, 4]) writer.chunk({ series, type: 'gauge', first: 0, columns: [ones, ones, ones, ones] });
  writer.chunk({ series: 5, type: 'counter', first: 0, columns: [ones] });
  writer.chunk(trendChunk(6, values));
  writer.chunk(trendChunk(7, values));
  for (const width of [1440, 390]) {
    const { page, errors } = await open(fill({ mode: 'report' }, bad, writer.done()), { width });
    assert.equal(await page.evaluate(() => (window as unknown as { hurt?: number }).hurt), undefined);
    assert.equal(await page.$$eval('#app img, #app script', (found) => found.length), 0);
    assert.equal(await page.$$eval('a[href^="javascript"]', (found) => found.length), 0);
    assert.equal(await page.title(), bad.replace('‮', '‮'));
    assert.ok((await page.$eval('h1', (title) => title.textContent)) === bad);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, 'long names break');
    assert.doesNotMatch(await page.$eval('#app', (app) => app.textContent!), /could not be drawn/);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test('ten thousand series are shown', async () => {
  const made = synthesize({ seconds: 30, rate: 2000, routes: manyRoutes(1500), phases: true, rich: false });
  assert.ok(made.series >= 10_000, String(made.series));
  const { page, errors } = await open(fill({ mode: 'report' }, 'many', made.document));
  same(await numbers(page), expected(made, 0, 30));
  assert.match(await page.$eval('#requests', (section) => section.textContent!), /1,440 more routes/);
  assert.deepEqual(errors, []);
  await page.close();
});

test('printing draws every section, in light colours', async () => {
  const { page, errors } = await open(fill({ mode: 'report' }, 'shop', synthesize({ seconds: 30 }).document), { dark: true });
  await page.evaluate(() => {
    addEventListener('beforeprint', () => {
      document.documentElement.dataset.printed = `${document.querySelectorAll('.undrawn').length} ${getComputedStyle(document.documentElement).getPropertyValue('--card').trim()}`;
    });
  });
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.ok(pdf.length > 50_000);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.printed), '0 #ffffff');
  assert.deepEqual(errors, []);
  await page.close();
});

/** A server of a live page: parts are sent when the test says so. */
class Live {
  readonly server: Server;
  readonly calls: { method: string; url: string; body: string }[] = [];
  readonly got: string[] = [];
  private readonly clients = new Set<ServerResponse>();
  private readonly parts: string[] = [];
  readonly joined: (string | undefined)[] = [];
  agents: { seats: number; running: number; silent: number; lost: number } | undefined;
  /** Answers that are no stream. */
  refuse = 0;
  /** The number of the first part that is still known. */
  private gone = 0;

  constructor(html: () => string) {
    this.server = createServer((request, response) => {
      if (request.url === '/events' && this.refuse > 0) {
        this.refuse--;
        response.writeHead(503).end('not yet');
      } else if (request.url === '/events') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
        const last = request.headers['last-event-id'] as string | undefined;
        this.joined.push(last);
        const first = last === undefined || Number(last) + 1 < this.gone ? this.gone : Number(last) + 1;
        for (let i = first; i < this.parts.length; i++) response.write(this.event(i));
        response.write('retry: 50\n\n');
        this.clients.add(response);
        response.on('close', () => this.clients.delete(response));
      } else if (request.method !== 'GET') {
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          this.calls.push({ method: request.method!, url: request.url!, body });
          response.end('{}');
        });
      } else if (request.url === '/v1/status') {
        response.end(JSON.stringify({ data: { attributes: { paused: false, agents: this.agents } } }));
      } else {
        this.got.push(request.url!);
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(html());
      }
    });
  }

  private event(i: number): string {
    return `id: ${i}\nevent: part\ndata: ${this.parts[i]}\n\n`;
  }

  send(document: Uint8Array): void {
    this.parts.push(Buffer.from(document).toString('base64'));
    for (const client of this.clients) client.write(this.event(this.parts.length - 1));
  }

  /** Forgets all parts but those that follow: the next begins with a reset. */
  lose(): void {
    this.gone = this.parts.length;
  }

  end(data = ''): void {
    for (const client of this.clients) client.write(`event: end\ndata: ${data}\n\n`);
  }

  ask(): void {
    for (const client of this.clients) client.write('event: alive\ndata:\n\n');
  }

  cut(): void {
    for (const client of this.clients) client.destroy();
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }
}

const tick = (slices: number, state: string, first: boolean) => {
  const writer = new DocumentWriter();
  if (first) writer.reset();
  writer.json({
    time: { width: 1000, slices, end: slices * 1e6 },
    run: { name: 'live', state, started: '2026-11-23T10:00:00Z', passed: state === 'running' ? null : true },
    scenarios: [{ name: 'default', executor: 'constant-vus', from: 0, to: 60e6 }],
    ...(first ? { metrics: [{ name: 'http_req_duration', type: 'trend', contains: 'time' }, { name: 'http_reqs', type: 'counter' }], series: [[0, { name: '/a', method: 'GET', status: '200' }], [1, { name: '/a', method: 'GET', status: '200' }]] } : {}),
  });
  const from = first ? 0 : slices - 1;
  writer.chunk(trendChunk(0, Array.from({ length: slices - from }, () => Float64Array.of(10, 20)), from));
  writer.chunk({ series: 1, type: 'counter', first: from, columns: [new Array(slices - from).fill(2)] });
  return writer.done();
};

test('a live page: late joiners, a cut connection, control, and the report at the end', async () => {
  const config = { mode: 'live', live: { events: 'events', report: 'report.html', alive: 'alive', control: { status: 'v1/status', pause: true, scale: false, stop: true, note: 'note' } } };
  const live = new Live(() => fill(config, 'live'));
  const url = await live.listen();
  const page = await browser.newPage();
  await page.bringToFront();
  try {
    live.send(tick(3, 'running', true));
    await page.goto(url, { ...PATIENCE, waitUntil: 'domcontentloaded' });
    await settled(page);
    const requests = (count: number) => page.waitForFunction((count) => document.querySelector<HTMLDataElement>('[data-figure=requests] data')?.value === String(count), PATIENCE, count);
    await requests(6);
    await until(page, 'Live', '.live');
    live.send(tick(4, 'running', false));
    await requests(8);
    live.cut();
    live.send(tick(5, 'running', false));
    await requests(10);
    assert.equal(live.joined.length, 2);
    assert.equal(live.joined[1], '1', 'the browser says what it had');
    const controls = await page.$$eval('.live button', (buttons) => buttons.map((button) => button.textContent!.trim()));
    assert.deepEqual(controls, ['Pause', 'Stop', 'Add'], 'what the run does not allow is not there');
    await page.type('.live input[type=text]', 'deploy begins');
    await page.keyboard.press('Enter');
    await until(page, 'Note: done', '.live');
    await page.click('.live .chip');
    await until(page, 'Pause: done', '.live');
    assert.deepEqual(live.calls.map((call) => [call.method, call.url, JSON.parse(call.body)]), [
      ['POST', '/note', { text: 'deploy begins' }],
      ['PATCH', '/v1/status', { data: { type: 'status', id: 'default', attributes: { paused: true } } }],
    ]);
    live.send(tick(6, 'finished', false));
    live.end();
    await until(page, 'The run has ended', '.live');
    await requests(12);
    assert.ok(await page.$('.live a[download]'));
    assert.ok(!live.got.includes('/alive'));
    live.ask();
    const asked = Date.now();
    while (!live.got.includes('/alive')) {
      assert.ok(Date.now() - asked < 60_000, 'the page shows that it is there');
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.match(await page.$eval('.verdict', (verdict) => verdict.textContent!), /Passed|Finished/);
  } finally {
    await page.close();
    live.server.closeAllConnections?.();
    live.server.close();
  }
});

test('the live page of a test on several machines counts its agents', async () => {
  const config = { mode: 'live', live: { events: 'events', control: { status: 'v1/status', agents: true } } };
  const live = new Live(() => fill(config, 'live'));
  live.agents = { seats: 4, running: 4, silent: 0, lost: 0 };
  const url = await live.listen();
  const page = await browser.newPage();
  await page.bringToFront();
  try {
    live.send(tick(3, 'running', true));
    await page.goto(url, { ...PATIENCE, waitUntil: 'domcontentloaded' });
    await until(page, '4 of 4 agents', '.live');
    live.agents = { seats: 4, running: 2, silent: 1, lost: 1 };
    await until(page, '2 of 4 agents, 1 silent, 1 lost', '.live');
    live.send(tick(4, 'finished', false));
    live.end();
    await until(page, 'The run has ended', '.live');
    assert.equal(await page.$('[data-figure=agents]'), null);
  } finally {
    await page.close();
    live.server.closeAllConnections?.();
    live.server.close();
  }
});

test('a live page whose data end before the run says so', async () => {
  const live = new Live(() => fill({ mode: 'live', live: { events: 'events' } }, ''));
  const url = await live.listen();
  const page = await browser.newPage();
  await page.bringToFront();
  try {
    await page.goto(url);
    live.send(tick(3, 'running', true));
    await until(page, 'Live', '.live');
    live.end('lost');
    await until(page, 'No more data come from this run', '.live');
  } finally {
    await page.close();
    live.server.closeAllConnections?.();
    live.server.close();
  }
});

test('a live page waits for a server that is not there yet, takes a reset, new series and slices that grow, and a stretch stays', async () => {
  const config = { mode: 'live', live: { events: 'events' } };
  const live = new Live(() => fill(config, ''));
  live.refuse = 1;
  const url = await live.listen();
  const page = await browser.newPage();
  await page.bringToFront();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  try {
    await page.goto(url, { ...PATIENCE, waitUntil: 'domcontentloaded' });
    await until(page, 'tries again', '.opening');
    live.send(tick(3, 'running', true));
    await settled(page);
    const requests = (count: number) => page.waitForFunction((count) => document.querySelector<HTMLDataElement>('[data-figure=requests] data')?.value === String(count), PATIENCE, count);
    await requests(6);
    assert.equal(await page.title(), 'live', 'a page without a title has the name of the run');
    // The last slice grows, and a route comes that was not there before.
    const more = new DocumentWriter();
    more.json({ time: { width: 1000, slices: 3, end: 2.9e6 }, series: [[0, { name: '/b', method: 'GET', status: '200' }], [1, { name: '/b', method: 'GET', status: '200' }]] });
    more.chunk({ series: 1, type: 'counter', first: 2, columns: [[5]] });
    more.chunk(trendChunk(0, [Float64Array.of(1, 2, 3, 4, 5)], 2));
    more.chunk({ series: 3, type: 'counter', first: 2, columns: [[1]] });
    more.chunk(trendChunk(2, [Float64Array.of(900)], 2));
    live.send(more.done());
    await requests(10);
    await page.waitForFunction(() => document.querySelectorAll('.routes .route').length === 2, PATIENCE);
    assert.equal(await page.$eval('#latency [data-stat=max] data', (max) => (max as HTMLDataElement).value), '900');
    // A chosen stretch stays while the run goes on.
    await page.evaluate(() => {
      location.hash = '#from=0&to=2';
    });
    await requests(4);
    live.send(tick(4, 'running', false));
    await page.waitForFunction(() => document.querySelector('.live')?.textContent?.includes('4 s'), PATIENCE);
    await requests(4);
    // The connection is cut while the server forgets what was: all comes anew behind a reset.
    live.lose();
    live.cut();
    live.send(tick(6, 'running', true));
    await page.waitForFunction(() => document.querySelector('.live')?.textContent?.includes('6 s'), PATIENCE);
    await page.evaluate(() => (document.querySelector('.chips .chip') as HTMLButtonElement).click());
    await requests(12);
    assert.equal(await page.$$eval('.routes .route', (routes) => routes.length), 1, 'what was before the reset is forgotten');
    // The last part came, but nobody said that it was the last.
    live.send(tick(7, 'finished', false));
    await requests(14);
    await until(page, 'The run has ended', '.live');
    live.cut();
    await new Promise((done) => setTimeout(done, 300));
    assert.match(await page.$eval('.live', (bar) => bar.textContent!), /The run has ended/);
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
    live.server.closeAllConnections?.();
    live.server.close();
  }
});

test('an attack of nothing but latencies has its counts, rate and failures, and its title', async () => {
  const writer = new DocumentWriter();
  writer.json({
    time: { width: 1000, slices: 10, end: 10e6 },
    run: { name: 'nightly attack', kind: 'attack', state: 'finished' },
    metrics: [{ name: 'http_req_duration', type: 'trend', contains: 'time' }],
    series: [[0, { status: '200' }], [0, { status: '500' }], [0, { status: '0', error_code: '1050' }]],
  });
  writer.chunk(trendChunk(0, Array.from({ length: 10 }, (_, i) => Float64Array.of(5 + i, 7, 9))));
  writer.chunk(trendChunk(1, Array.from({ length: 10 }, () => Float64Array.of(2))));
  writer.chunk(trendChunk(2, [Float64Array.of(30_000)], 9));
  for (const width of [1440, 390]) {
    const { page, errors } = await open(fill({ mode: 'report' }, 'My <title>', writer.done()), { width });
    assert.equal(await page.title(), 'My <title>');
    assert.equal(await page.$eval('h1', (title) => title.textContent), 'nightly attack');
    const found = await numbers(page);
    assert.deepEqual([found['figure hits'], found['figure rate'], found['figure failed'], found['all count'], found['all failed']], [41, 4.1, 11 / 41, 41, 11 / 41]);
    const text = await page.$eval('#app', (app) => app.textContent!);
    assert.match(text, /30 of 41 hits succeeded.*Responses by outcome.*Failures by kind.*Percentiles over time.*Latency against load.*HTTP status 500.*no answer code 1050/s);
    assert.doesNotMatch(text, /scenario|checks|VUs|thresholds|iterations|could not be drawn/i);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    await choose(page, 9, 10, 10);
    assert.equal((await numbers(page))['figure hits'], 5);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test('a metric without samples, a run without requests and choices without values stay readable', async () => {
  const made = synthesize({ seconds: 30, rate: 20 });
  const { page, errors } = await open(fill({ mode: 'report' }, 'x', made.document));
  const pick = (value: string) =>
    page.evaluate((value) => {
      const select = [...document.querySelectorAll<HTMLSelectElement>('#knee select')][1]!;
      select.value = value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }, value);
  await choose(page, 5, 6, 30);
  await pick('failed');
  await until(page, 'There are no durations of failed requests in the selected stretch', '#knee');
  await pick('all');
  await until(page, 'p95 against load', '#knee');
  await page.close();
  const writer = new DocumentWriter();
  writer.json({
    time: { width: 1000, slices: 20, end: 19.5e6 },
    run: { name: 'x', state: 'finished', passed: null },
    metrics: [{ name: 'never', type: 'trend', contains: 'time' }, { name: 'iteration_duration', type: 'trend', contains: 'time' }, { name: 'iterations', type: 'counter' }],
    series: [[1, {}], [2, {}]],
  });
  writer.chunk(trendChunk(0, Array.from({ length: 20 }, () => Float64Array.of(12))));
  writer.chunk({ series: 1, type: 'counter', first: 0, columns: [new Array(20).fill(1)] });
  const bare = await open(fill({ mode: 'report' }, 'x', writer.done()));
  const text = await bare.page.$eval('#app', (app) => app.textContent!);
  assert.match(text, /It got no value/);
  assert.equal((await numbers(bare.page))['figure iterations'], 20);
  assert.match(await bare.page.$eval('[data-figure=rate] data', (rate) => (rate as HTMLDataElement).value), /^1\.0256/);
  assert.deepEqual([...errors, ...bare.errors], []);
  await bare.page.close();
});

test('the keyboard reaches everything: links, sliders, buttons, rows; and the policy stops foreign script', async () => {
  const { page } = await open(fill({ mode: 'report' }, 'shop', synthesize({ seconds: 60 }).document));
  await page.keyboard.press('Tab');
  assert.match(await page.evaluate(() => document.activeElement!.textContent!), /Skip to the results/);
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement!.id), 'thresholds');
  await page.focus('.handle.to');
  await page.keyboard.press('Home');
  await until(page, '0:00 – 0:01', '.chosen');
  await page.keyboard.press('End');
  await until(page, 'whole run', '.chosen');
  await page.focus('.routes .route');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.opened', PATIENCE);
  const nameless = await page.$$eval('button, a, input, select, summary, [role=slider], [role=img], [role=region]', (elements) =>
    elements.filter((element) => !(element.getAttribute('aria-label') || element.textContent?.trim() || element.closest('label')?.textContent?.trim())).map((element) => element.outerHTML.slice(0, 200)),
  );
  assert.deepEqual(nameless, []);
  const hurt = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hurt = 1';
    document.body.append(script);
    const frame = document.createElement('img');
    const refused = new Promise((done) => addEventListener('securitypolicyviolation', (event) => event.effectiveDirective === 'img-src' && done(event.effectiveDirective)));
    frame.src = 'https://example.org/x.png';
    document.body.append(frame);
    return [(window as unknown as { hurt?: number }).hurt ?? 'unhurt', await refused];
  });
  assert.deepEqual(hurt, ['unhurt', 'img-src']);
  await page.close();
});
