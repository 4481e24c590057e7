import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Run } from '../../src/data/run.js';
import { App, kindName, outcome, routeOf, statusClass } from '../../src/view/app.js';
import { amount, bytes, clock, csvCell, digits, duration, length, percent, perSecond } from '../../src/view/format.js';
import { badness, standing } from '../../src/view/sections/agents.js';
import { sharedOrigin } from '../../src/view/sections/requests.js';
import { kneeOf } from '../../src/view/sections/scatter.js';
import { highlight } from '../../src/view/sections/source.js';
import { timeLabel } from '../../src/view/plot.js';
import { withoutRamps } from '../../src/view/strip.js';
import { Dice, synthesize } from '../synthetic.js';

test('numbers have three digits that count, and their unit', () => {
  assert.deepEqual([0, 1234.5678, 0.97784, 1e-5, Number.NaN].map((v) => digits(v)), ['0', '1,235', '0.978', '0.00001', '–']);
  assert.deepEqual([0, 0.000042, 0.0425, 12.345, 999.4, 999.7, 1234, 60000, 150000, 8e6].map(duration), ['0 ms', '42 ns', '42.5 µs', '12.3 ms', '999 ms', '1 s', '1.23 s', '60 s', '2.5 min', '2.22 h']);
  assert.deepEqual([0, 0.00001, 0.009778, 0.5, 0.99999, 1].map(percent), ['0 %', '< 0.01 %', '0.98 %', '50 %', '> 99.99 %', '100 %']);
  assert.deepEqual([0, 999, 1500, 2.5e9].map(bytes), ['0 B', '999 B', '1.5 kB', '2.5 GB']);
  assert.deepEqual([12345, 1.5, 12345678].map(amount), ['12,345', '1.5', '12.3 M']);
  assert.deepEqual([1234.56, 0.0933].map(perSecond), ['1,235/s', '0.093/s']);
});

test('clocks and lengths', () => {
  assert.deepEqual([0, 65, 3661].map((s) => clock(s)), ['0:00', '1:05', '1:01:01']);
  assert.equal(clock(65.5, true), '1:05.5');
  assert.deepEqual([0.3, 5, 60, 3723, 86400].map(length), ['0.3 s', '5 s', '1 min', '1 h 2 min 3 s', '24 h']);
});

test('marks of hours are short, and those of seconds have their unit', () => {
  assert.deepEqual([[0, 21600], [21600, 21600], [5400, 1800], [0.5, 0.5], [90, 30]].map(([at, step]) => timeLabel(at!, step!)), ['0:00', '6 h', '1:30:00', '0.5 s', '1:30']);
});

test('cells of CSV files are quoted, and no formula', () => {
  assert.deepEqual(['a', 'a,b', 'say "x"', '=1+1', '-x'].map(csvCell), ['a', '"a,b"', '"say ""x"""', "'=1+1", "'-x"]);
  assert.deepEqual([1.5, Number.NaN].map(csvCell), ['1.5', '']);
});

test('outcome, route and class of a series', () => {
  assert.equal(outcome({ status: '200' }), 'ok');
  assert.equal(outcome({ status: '404', expected_response: 'true' }), 'ok');
  assert.equal(outcome({ status: '200', expected_response: 'false' }), '200');
  assert.equal(outcome({ status: '0', error_code: '1050' }), '1050');
  assert.deepEqual(['1500', '404', '1212', '1600', 'failed'].map(kindName), ['HTTP 500', 'HTTP 404', 'connection refused (1212)', '1600', 'failed']);
  assert.deepEqual([routeOf({ method: 'GET', name: '/a' }), routeOf({}), routeOf({ other: 'true' })], ['GET /a', '(no name)', 'all other series']);
  assert.deepEqual([routeOf({ db: 'shop', statement: 'SELECT ?' }), routeOf({ statement: 'SELECT ?', name: 'one' })], ['SELECT ?', 'one']);
  assert.deepEqual([statusClass({ status: '204' }), statusClass({ status: '0' }), statusClass({})], ['2xx', 'no answer', '']);
});

test('agents that need a look come first', () => {
  const fine = { seat: 1, host: 'a', whole: true, failed: 7, verdict: { level: 'ok' } };
  const busy = { seat: 2, host: 'b', whole: true, cpu_max: 0.95, remarks: ['its CPUs were busy'] };
  const bent = { seat: 3, host: 'c', whole: true, verdict: { level: 'invalid' } };
  const lost = { seat: 4, host: 'd', whole: false, verdict: null };
  const none = { seat: 5, host: null };
  const order = [fine, busy, bent, lost, none].sort((a, b) => badness(b) - badness(a)).map((agent) => agent.seat);
  assert.deepEqual(order, [5, 4, 3, 2, 1]);
  assert.deepEqual([fine, busy, bent, lost, none].map((agent) => standing(agent)[0]), ['fine', 'see remarks', 'invalid', 'not whole', 'did not come']);
});

test('a knee is found where latency leaves its level, and only there', () => {
  const dice = new Dice(5);
  const points = (rises: boolean) => Array.from({ length: 300 }, () => {
    const x = 100 * dice.roll();
    return { x, y: (rises && x > 60 ? 50 + (x - 60) * 8 : 50) * (0.9 + 0.2 * dice.roll()) };
  });
  const knee = kneeOf(points(true));
  assert.ok(knee && knee.x > 50 && knee.x < 75, String(knee?.x));
  assert.equal(kneeOf(points(false)), null);
  assert.equal(kneeOf(points(true).slice(0, 10)), null);
});

test('highlighting keeps the text, whatever it is', () => {
  for (const text of ['const a = "x"; // y', '`${`', "'unclosed", '/* open', 'a / b / c', '<script>alert(1)</script>', '']) {
    const flat = highlight(text).map((part) => (typeof part === 'string' ? part : String((part.props as { children?: unknown }).children))).join('');
    assert.equal(flat, text);
  }
});

test('the part without ramps is between the first and the last of them', () => {
  const stages = [
    { name: 'up', from: 0, to: 10, ramp: true },
    { name: 'a', from: 10, to: 20, ramp: false },
    { name: 'up more', from: 20, to: 30, ramp: true },
    { name: 'b', from: 30, to: 40, ramp: false },
    { name: 'down', from: 40, to: 50, ramp: true },
  ];
  assert.deepEqual(withoutRamps(stages, 50), { from: 10, to: 40 });
  assert.equal(withoutRamps(stages.slice(1, 2), 50), null);
  assert.equal(withoutRamps([], 50), null);
});

test('a stretch is chosen outwards to borders of slices and never empty', () => {
  const run = new Run();
  run.apply(synthesize({ seconds: 100 }).document);
  const app = new App(run);
  assert.ok(app.whole);
  app.chooseSeconds(10.2, 20.1);
  assert.deepEqual([app.stretch.from, app.stretch.to, app.stretch.seconds], [10, 21, 11]);
  app.chooseSeconds(99.9, 99.9);
  assert.deepEqual([app.stretch.from, app.stretch.to], [99, 100]);
  app.chooseSeconds(-5, 1000);
  assert.ok(app.whole);
});

test('the origin that all routes share is found', () => {
  assert.equal(sharedOrigin(['GET http://a:1/x', 'http://a:1/y?z=http://b/']), 'http://a:1');
  assert.equal(sharedOrigin(['GET http://a:1/x', 'GET http://b/x']), '');
  assert.equal(sharedOrigin(['GET http://a:1/x', 'login']), 'http://a:1');
  assert.equal(sharedOrigin([]), '');
});
