import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY_ZERO, keyOf, lowOf, valueIn } from '../../src/data/bucket.js';
import { DataError, Reader, Writer } from '../../src/data/bytes.js';
import { adder, Distribution, exactValues, packBins, packExact } from '../../src/data/distribution.js';
import { fromBase64, unpack } from '../../src/data/open.js';
import { everyOf, grouped, Pool, summed, total } from '../../src/data/pool.js';
import { Run } from '../../src/data/run.js';
import { DocumentWriter } from '../../src/data/write.js';
import { binsOf, Dice, packed, synthesize, trendChunk } from '../synthetic.js';

function naive(values: number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = (percent / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(index)]!, sorted[Math.ceil(index)]!];
  return low + (high - low) * (index - Math.floor(index));
}

test('varints and columns come out as they went in', () => {
  const columns = [[0, 0, 0], [1, -5, 2 ** 50], [1.5, 0.000001, 12345.678901], [Number.POSITIVE_INFINITY, 1 / 3, -0], [1000, 1001, 1002, 1003], [-0], [], [2 ** 52 + 1, 5]];
  for (const column of columns) {
    const writer = new Writer();
    writer.column(column);
    const found = new Float64Array(column.length);
    const reader = new Reader(writer.done());
    reader.column(found, 0, column.length);
    assert.ok(reader.done);
    column.forEach((value, i) => assert.ok(Object.is(found[i], value), `${value} came out as ${found[i]}`));
  }
});

test('whole numbers and three digits are their own bins', () => {
  for (let whole = -2048; whole <= 2048; whole++) assert.equal(valueIn(keyOf(whole)), whole);
  for (const value of [0.5, 127, 1.27, 0.001, 33.3, 9.99, 123000, 1e9, 0.000123]) assert.equal(valueIn(keyOf(value)), value);
});

test('the ends of the line have bins, and keys sort like values', () => {
  for (const value of [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) assert.equal(valueIn(keyOf(value)), value);
  assert.equal(keyOf(-0), KEY_ZERO);
  assert.equal(keyOf(1), 3144704);
  const dice = new Dice(7);
  for (let i = 0; i < 20000; i++) {
    const [a, b] = [10 ** (dice.roll() * 40 - 20) * (dice.roll() - 0.5), 10 ** (dice.roll() * 40 - 20) * (dice.roll() - 0.5)];
    if (a < b) assert.ok(keyOf(a) <= keyOf(b));
    assert.ok(Math.abs(valueIn(keyOf(a)) - a) <= Math.abs(a) / 1000);
    assert.ok(lowOf(keyOf(a)) <= a);
  }
});

test('histograms of each form come out as they went in', () => {
  for (const values of [[1, 2, 2, 900], [0.000001, 0.25, 17.123456], [1 / 3, 2 / 3, Number.POSITIVE_INFINITY], [-3.5, 0, 7]]) {
    const bytes = packExact(Float64Array.from(values));
    assert.deepEqual([...exactValues(bytes, 0, bytes.length, values.length)], values);
  }
  const bins = binsOf([1, 1, 1, 2, 5.5, -4, 1e300, 0, Number.POSITIVE_INFINITY]);
  const bytes = packBins(bins);
  adder.addPacked(bytes, 0, bytes.length, 9);
  const back = adder.take();
  assert.deepEqual([...back.keys], [...bins.keys]);
  assert.deepEqual([...back.counts], [...bins.counts]);
  assert.equal(adder.take().keys.length, 0, 'an adder is empty after it was taken from');
});

test('percentiles interpolate as in k6', () => {
  const four = new Distribution({ count: 4, sum: 10, min: 1, max: 4 }, { values: Float64Array.from([1, 2, 3, 4]) });
  assert.equal(four.percentile(50), 2.5);
  assert.equal(four.percentile(95), 1 + 0.95 * 3);
  assert.deepEqual([four.percentile(0), four.percentile(100), Distribution.empty.percentile(95)], [1, 4, 0]);
  const infinite = new Distribution({ count: 3, sum: Number.POSITIVE_INFINITY, min: 1, max: Number.POSITIVE_INFINITY }, { values: Float64Array.from([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]) });
  assert.equal(infinite.percentile(80), Number.POSITIVE_INFINITY);
});

test('what a pool says of any stretch is what its values say', () => {
  for (const [rate, tolerance] of [[5, 1e-12], [80, 1e-3]] as const) {
    const made = synthesize({ seconds: 200, rate, seed: 3 });
    const run = new Run();
    run.apply(made.document);
    const pool = new Pool(run, run.of('http_req_duration'));
    for (const [from, to] of [[0, 200], [0, 64], [7, 9], [31, 33], [32, 64], [13, 187], [40, 200], [70, 170], [61, 181], [199, 200]] as const) {
      const values = made.durations.slice(from, to).flat();
      const stretch = pool.stretch(from, to);
      assert.equal(stretch.count, values.length);
      if (values.length === 0) continue;
      assert.equal(stretch.min, Math.min(...values));
      assert.equal(stretch.max, Math.max(...values));
      assert.ok(Math.abs(stretch.sum - values.reduce((a, b) => a + b, 0)) < 1e-3);
      for (const percent of [0, 1, 50, 90, 95, 99, 99.9, 100]) {
        const expected = naive(values, percent);
        assert.ok(Math.abs(stretch.percentile(percent) - expected) <= expected * tolerance + 1e-9, `p${percent} of ${from}-${to}: ${stretch.percentile(percent)}, not ${expected}`);
      }
      assert.ok(Math.abs(stretch.below(100) - values.filter((value) => value < 100).length) <= (tolerance > 1e-6 ? values.length * 0.01 : 0));
    }
    const [p95] = pool.percentiles([95]);
    made.durations.forEach((values, slice) => {
      if (values.length > 0) assert.ok(Math.abs(p95![slice]! - naive(values, 95)) <= naive(values, 95) * 1e-3);
      else assert.ok(Number.isNaN(p95![slice]));
    });
    const failed = summed(run, run.of('http_req_failed'), 1);
    assert.equal(total(failed, 10, 150), made.failed.slice(10, 150).reduce((a, b) => a + b, 0));
  }
});

test('differences of sums are what adding up gives, bin by bin, for wide sets and narrow ones', () => {
  const made = synthesize({ seconds: 500, rate: 90, seed: 9 });
  const run = new Run();
  run.apply(made.document);
  const narrow = run.of('http_req_duration').slice(0, 2);
  const dice = new Dice(4);
  for (const series of [narrow, run.of('http_req_duration')]) {
    const pool = new Pool(run, series);
    for (let i = 0; i < 60; i++) {
      const from = Math.floor(dice.roll() * 499);
      const to = from + 1 + Math.floor(dice.roll() * (500 - from));
      const counts = new Map<number, number>();
      for (const one of series) {
        const raw = made.raw.find((other) => other.metric.name === 'http_req_duration' && JSON.stringify(other.tags) === JSON.stringify(one.tags))!;
        for (const slice of raw.values!.slice(from, to)) for (const value of slice) counts.set(valueIn(keyOf(value)), (counts.get(valueIn(keyOf(value))) ?? 0) + 1);
      }
      const stretch = pool.stretch(from, to);
      if (stretch.exact) continue;
      const found = new Map<number, number>();
      stretch.forEach((value, count) => found.set(valueIn(keyOf(value)), count));
      assert.deepEqual([...found].sort((a, b) => a[0] - b[0]), [...counts].sort((a, b) => a[0] - b[0]), `${from}-${to}`);
    }
    // Groups of slices are computed as they are asked for, and all cells together hold all values.
    const parts = [pool.percentiles([95], 10, 30, 95)[0]!.slice(), pool.percentiles([95], 10)[0]!];
    assert.deepEqual([...parts[0]!.slice(3, 10)], [...parts[1]!.slice(3, 10)]);
    assert.ok(Number.isNaN(parts[0]![2]!) && Number.isNaN(parts[0]![10]!));
    const borders = Float64Array.from({ length: 50 }, (_, i) => 10 ** (i / 10 - 1));
    const grid = pool.grid(borders, 100, 200);
    assert.equal(total(grid, 0, grid.length), pool.totals(100, 200).count);
    assert.equal(total(pool.grid(borders), 0, grid.length), pool.totals(0, 500).count);
  }
});

test('later chunks extend and replace slices', () => {
  const run = new Run();
  const first = new DocumentWriter();
  first.json({ time: { width: 1000, slices: 2, end: 2e6 }, metrics: [{ name: 'm', type: 'trend' }], series: [[0, {}]] });
  first.chunk(trendChunk(0, [Float64Array.of(1, 2), Float64Array.of(3)]));
  run.apply(first.done());
  const pool = new Pool(run, run.of('m'));
  assert.equal(pool.stretch(0, 2).count, 3);
  const second = new DocumentWriter();
  second.json({ time: { width: 1000, slices: 3, end: 2.5e6 } });
  second.chunk(trendChunk(0, [Float64Array.of(3, 4), Float64Array.of(9)], 1));
  const change = run.apply(second.done());
  assert.equal(change.slice, 1);
  pool.forget(change.slice);
  assert.deepEqual([...pool.stretch(0, 3).values!], [1, 2, 3, 4, 9]);
  assert.equal(run.seconds(0, 3), 2.5);
  const third = new DocumentWriter();
  third.reset();
  third.json({ time: { width: 1000, slices: 0, end: 0 } });
  assert.ok(run.apply(third.done()).reset);
  assert.equal(run.of('m').length, 0);
});

test('a part without a key leaves what was known, and a second record adds to the first', () => {
  const run = new Run();
  const first = new DocumentWriter();
  first.json({ time: { width: 1000, slices: 1, end: 1e6 }, groups: ['::a'] });
  first.json({ exchanges: [{ method: 'GET', request: { body: 'ab', size: 9, cut: true } }], sources: [{ path: 'a.js', text: '1' }] });
  run.apply(first.done());
  const second = new DocumentWriter();
  second.json({ time: { width: 1000, slices: 2, end: 2e6 } });
  run.apply(second.done());
  assert.equal(run.slices, 2);
  assert.deepEqual(run.facts.groups, ['::a']);
  assert.equal(run.facts.exchanges[0]!.request!.cut, true);
  assert.equal(run.facts.sources[0]!.path, 'a.js');
});

test('foreign, newer and cut off data are refused with a sentence', () => {
  const refused = (bytes: Uint8Array, words: RegExp) => assert.throws(() => new Run().apply(bytes), (error) => error instanceof DataError && words.test(error.message));
  refused(new TextEncoder().encode('hello world'), /not those of a Brunt run/);
  refused(Uint8Array.of(0x42, 0x52, 0x4e, 0x50, 2), /version 2/);
  const whole = synthesize({ seconds: 5 }).document;
  refused(whole.subarray(0, whole.length - 3), /middle of a record/);
  const wide = new DocumentWriter();
  wide.json({ time: { width: 0, slices: 1, end: 0 } });
  refused(wide.done(), /width/);
});

test('random damage is an error or numbers, never a hang', () => {
  const whole = synthesize({ seconds: 20, rate: 20 }).document;
  const dice = new Dice(11);
  for (let i = 0; i < 200; i++) {
    const bytes = whole.slice();
    for (let k = 0; k < 4; k++) bytes[5 + Math.floor(dice.roll() * (bytes.length - 5))] = Math.floor(dice.roll() * 256);
    try {
      const run = new Run();
      run.apply(bytes);
      new Pool(run, run.of('http_req_duration')).stretch(0, Math.min(run.slices, 100));
    } catch (error) {
      assert.ok(error instanceof Error);
    }
  }
});

test('base64 of gzip is unpacked, plain bytes stay', async () => {
  const document = synthesize({ seconds: 3 }).document;
  const bytes = await unpack(fromBase64(packed(document).toString('base64')));
  assert.deepEqual(bytes, new Uint8Array(document));
  assert.deepEqual(await unpack(Uint8Array.of(1, 2, 3)), Uint8Array.of(1, 2, 3));
});

test('points of plots stand for so many slices that there are at most two hundred', () => {
  assert.deepEqual([1, 200, 201, 600, 1440, 86400].map((n) => everyOf(n)), [1, 1, 2, 5, 10, 600]);
  assert.deepEqual([...(grouped([1, 3, Number.NaN, 5, Number.NaN, Number.NaN, 8], 7, 2) as Float64Array)], [2, 5, Number.NaN, 8]);
  assert.deepEqual([...(grouped([1, 3, 2], 3, 2, true) as Float64Array)], [3, 2]);
});

test('ten minutes with fifty series weigh less than a megabyte', () => {
  const made = synthesize({ seconds: 600, rate: 20 });
  assert.ok(made.series >= 50);
  const weight = packed(made.document).length * (4 / 3);
  assert.ok(weight < 1e6, `${weight} bytes`);
});
