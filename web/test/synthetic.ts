/**
 * Synthetic runs, for tests, screenshots and figures. Described data, seeded: a warm-up, a ramp, a steady part, a second
 * ramp past the knee (response times grow with the load, requests begin to fail), a short outage.
 */

import { gzipSync } from 'node:zlib';
import { keyOf } from '../src/data/bucket.js';
import { EXACT_MAX, packBins, packExact } from '../src/data/distribution.js';
import type { Exchange, Failure, Finding, Metric, RunFacts, Tags, Threshold } from '../src/data/model.js';
import { DocumentWriter } from '../src/data/write.js';

/** wyrand-like: small, seeded, good enough. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to 1. */
  roll(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.roll())) * Math.cos(2 * Math.PI * this.roll());
  }

  /** A whole number whose mean is `mean`. */
  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let product = this.roll();
    let n = 0;
    while (product > limit) {
      product *= this.roll();
      n++;
    }
    return n;
  }
}

export interface Route {
  name: string;
  method: string;
  /** Share of all requests. */
  share: number;
  /** Median without load, in ms. */
  median: number;
  group: string;
}

export interface Wish {
  seed?: number;
  seconds?: number;
  width?: number;
  /** Requests per second in the steady part. */
  rate?: number;
  routes?: Route[];
  kind?: 'run' | 'attack';
  state?: RunFacts['state'];
  /** Everything that a page can show; false: the bare minimum. */
  rich?: boolean;
  cores?: number;
  /** Further metrics, each one series a route: makes up the 500 series of a long run. */
  phases?: boolean;
}

interface Made {
  metric: number;
  tags: Tags;
  /** Trend: values of each slice. */
  values?: Float64Array[];
  columns?: number[][];
}

export interface Synthetic {
  document: Uint8Array;
  /** Every series as it was made, before it was packed: for checks. */
  raw: { metric: Metric; tags: Tags; values?: Float64Array[]; columns?: number[][] }[];
  /** The values of `http_req_duration` of each slice, all routes together: for checks. */
  durations: number[][];
  failed: number[];
  series: number;
}

export const ROUTES: Route[] = [
  { name: '/', method: 'GET', share: 0.3, median: 18, group: '::browse' },
  { name: '/products/{id}', method: 'GET', share: 0.3, median: 42, group: '::browse' },
  { name: '/search', method: 'GET', share: 0.2, median: 95, group: '::browse' },
  { name: '/cart', method: 'POST', share: 0.12, median: 33, group: '::buy::cart' },
  { name: '/checkout', method: 'POST', share: 0.08, median: 160, group: '::buy::pay' },
];

export function manyRoutes(count: number): Route[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `/api/v1/resource-${index}/{id}`,
    method: ['GET', 'POST', 'PUT'][index % 3]!,
    share: 1 / count,
    median: 10 + ((index * 37) % 200),
    group: `::part ${index % 7}`,
  }));
}

export function synthesize(wish: Wish = {}): Synthetic {
  const { seed = 1, seconds = 600, width = 1000, rate = 60, routes = ROUTES, kind = 'run', rich = true, cores = 2, phases = true } = wish;
  const state = wish.state ?? 'finished';
  const dice = new Dice(seed);
  const n = Math.max(1, Math.ceil((seconds * 1000) / width));
  const per = width / 1000;
  const end = Math.round(seconds * 1e6);
  const stages = [
    { name: 'ramp-up', scenario: 'shoppers', from: 0, to: 0.15, ramp: true },
    { name: 'steady', scenario: 'shoppers', from: 0.15, to: 0.55, ramp: false },
    { name: 'ramp to peak', scenario: 'shoppers', from: 0.55, to: 0.7, ramp: true },
    { name: 'peak', scenario: 'shoppers', from: 0.7, to: 0.9, ramp: false },
    { name: 'ramp-down', scenario: 'shoppers', from: 0.9, to: 1, ramp: true },
  ];
  /** The load at a part of the run: 1 in the steady part, 2.4 at the peak. */
  const load = (x: number) =>
    x < 0.15 ? x / 0.15 : x < 0.55 ? 1 : x < 0.7 ? 1 + ((x - 0.55) / 0.15) * 1.4 : x < 0.9 ? 2.4 : Math.max(0.02, ((1 - x) / 0.1) * 2.4);
  const outage = (x: number) => x > 0.4 && x < 0.412;

  const metrics: Metric[] = [];
  const places = new Map<string, number>();
  const metric = (name: string, type: Metric['type'], contains: NonNullable<Metric['contains']> = 'default', family: NonNullable<Metric['family']> = 'metric') => {
    let place = places.get(name);
    if (place === undefined) {
      place = metrics.push({ name, type, contains, family }) - 1;
      places.set(name, place);
    }
    return place;
  };
  const made: Made[] = [];
  const trend = (name: string, tags: Tags, values: Float64Array[], family: NonNullable<Metric['family']> = 'metric') =>
    made.push({ metric: metric(name, 'trend', 'time', family), tags, values }) - 1;
  const counter = (name: string, tags: Tags, sums: number[], family: NonNullable<Metric['family']> = 'metric', contains: NonNullable<Metric['contains']> = 'default') =>
    made.push({ metric: metric(name, 'counter', contains, family), tags, columns: [sums] }) - 1;
  const gauge = (name: string, tags: Tags, values: number[], family: NonNullable<Metric['family']> = 'metric', contains: NonNullable<Metric['contains']> = 'default') => {
    const at = values.map((value, i) => (Number.isNaN(value) ? 0 : Math.min((i + 1) * width * 1000 - 1, end)));
    const clean = values.map((value) => (Number.isNaN(value) ? 0 : value));
    return made.push({ metric: metric(name, 'gauge', contains, family), tags, columns: [at, clean, clean, clean] }) - 1;
  };
  const rateOf = (name: string, tags: Tags, counts: number[], hits: number[], family: NonNullable<Metric['family']> = 'metric') =>
    made.push({ metric: metric(name, 'rate', 'default', family), tags, columns: [counts, hits] }) - 1;

  const durations: number[][] = Array.from({ length: n }, () => []);
  const failed: number[] = new Array(n).fill(0);
  const received: number[] = new Array(n).fill(0);
  const failures: Failure[] = [];
  const exchanges: Exchange[] = [];
  const zeros = () => new Array<number>(n).fill(0);
  const checkPasses = new Map<string, { group: string; name: string; counts: number[]; hits: number[] }>();
  const check = (group: string, name: string, slice: number, passed: boolean) => {
    const key = `${group}|${name}`;
    let entry = checkPasses.get(key);
    if (!entry) {
      entry = { group, name, counts: zeros(), hits: zeros() };
      checkPasses.set(key, entry);
    }
    entry.counts[slice]!++;
    if (passed) entry.hits[slice]!++;
  };

  for (const route of routes) {
    const classes = [
      { status: '200', error_code: '', ok: true },
      { status: '503', error_code: '1503', ok: false },
      { status: '0', error_code: '1050', ok: false },
    ];
    const values = classes.map(() => Array.from({ length: n }, () => [] as number[]));
    const start = zeros();
    for (let slice = 0; slice < n; slice++) {
      const x = (slice + 0.5) / n;
      const now = load(x);
      const busy = Math.min(now / 2.2, 1.35);
      const slow = 1 + 0.25 * busy + (busy > 0.8 ? ((busy - 0.8) / 0.2) ** 2 * 2.2 : 0) + (x < 0.03 ? 2.5 * (1 - x / 0.03) : 0);
      const requests = dice.poisson(rate * per * now * route.share);
      for (let i = 0; i < requests; i++) {
        const lost = outage(x) ? 0.5 : busy > 1 ? 0.03 * (busy - 0.9) * 4 : 0.0004;
        const bad = dice.roll() < lost;
        const which = bad ? (dice.roll() < 0.3 ? 2 : 1) : 0;
        let ms = route.median * slow * Math.exp(0.38 * dice.normal());
        if (dice.roll() < 0.004) ms *= 6;
        if (which === 2) ms = 5000 + 20 * dice.roll();
        if (which === 1) ms *= 0.4;
        ms = Math.round(ms * 1e6) / 1e6;
        values[which]![slice]!.push(ms);
        durations[slice]!.push(ms);
        if (bad) failed[slice]!++;
        received[slice]! += Math.round(600 + 9000 * dice.roll());
        start[Math.max(0, slice - Math.floor((ms / 1000 + dice.roll() * per) / per) + 0)]!++;
        if (rich && kind === 'run') {
          check(route.group, 'status is 200', slice, !bad);
          if (route.method === 'POST') check(route.group, `${route.name}: the cart’s total is right`, slice, !bad && dice.roll() > 0.0005);
        }
        const kindOf = which;
        if (bad && exchanges.length < 24 && rich) {
          const known = exchanges.filter((e) => e.route === route.name && e.code === classes[kindOf]!.error_code).length;
          if (known < 3) exchanges.push(exchange('failure', route, classes[kindOf]!, ms, slice * width * 1000 + 1234, kind));
        }
      }
    }
    classes.forEach(({ status, error_code, ok }, index) => {
      const mine = values[index]!;
      const count = mine.map((list) => list.length);
      if (index > 0 && count.every((c) => c === 0)) return;
      const tags: Tags = { name: route.name, method: route.method, status, expected_response: String(ok) };
      if (kind === 'run') Object.assign(tags, { scenario: 'shoppers', group: route.group });
      if (error_code) tags.error_code = error_code;
      const typed = mine.map((list) => Float64Array.from(list));
      trend('http_req_duration', tags, typed);
      if (kind === 'attack') trend('http_req_duration_planned', tags, typed.map((list) => list.map((v) => v + (v > 300 ? 12.5 : 0.25))));
      counter('http_reqs', tags, count);
      rateOf('http_req_failed', tags, count, ok ? zeros() : count);
      counter('http_req_bytes_received', tags, count.map((c) => c * 4200), 'metric', 'data');
      if (phases && index === 0) {
        const share = (factor: number, none: number) => typed.map((list) => list.map((v) => (dice.roll() < none ? 0 : Math.round(v * factor * 1e3) / 1e3)));
        trend('http_req_blocked', tags, share(0.02, 0.9));
        trend('http_req_connecting', tags, share(0.08, 0.97));
        trend('http_req_tls_handshaking', tags, share(0.12, 0.97));
        trend('http_req_sending', tags, typed.map((list) => list.map(() => 0.02 + Math.round(dice.roll() * 40) / 1000)));
        trend('http_req_waiting', tags, typed.map((list) => list.map((v) => Math.round(v * 0.86 * 1e6) / 1e6)));
        trend('http_req_receiving', tags, typed.map((list) => list.map((v) => Math.round(v * 0.12 * 1e6) / 1e6)));
      }
      if (index > 0) {
        const first = count.findIndex((c) => c > 0);
        const last = count.length - 1 - [...count].reverse().findIndex((c) => c > 0);
        failures.push({
          code: error_code,
          status: Number(status),
          message: status === '0' ? 'request timeout' : 'HTTP status 503',
          method: route.method,
          route: route.name,
          first: first * width * 1000,
          last: last * width * 1000 + 5000,
          series: counter('failures', { route: route.name, code: error_code }, count, 'failure'),
          exchanges: exchanges.flatMap((e, i) => (e.route === route.name && e.code === error_code ? [i] : [])),
        });
      }
    });
    counter('load.requests_started', { name: route.name, method: route.method, ...(kind === 'run' ? { scenario: 'shoppers' } : {}) }, start, 'load');
  }
  counter('data_received', kind === 'run' ? { scenario: 'shoppers' } : {}, received, 'metric', 'data');
  counter('data_sent', kind === 'run' ? { scenario: 'shoppers' } : {}, durations.map((list) => list.length * 380), 'metric', 'data');
  for (let i = 0; i < (rich ? 6 : 0); i++) {
    const route = routes[i % routes.length]!;
    exchanges.push(exchange(i < 4 ? 'slow' : 'random', route, { status: '200', error_code: '' }, 900 - i * 60, (i + 1) * 7e6, kind));
  }

  const thresholds: Threshold[] = [];
  const perSlice = (of: (x: number, slice: number) => number) => Array.from({ length: n }, (_, slice) => of((slice + 0.5) / n, slice));
  const findings: Finding[] = [];
  if (kind === 'run') {
    const vus = (x: number) => Math.max(1, Math.round(40 * load(x)));
    gauge('vus', {}, perSlice(vus));
    gauge('vus_max', {}, perSlice(() => 100));
    if (rich) {
      gauge('load.vus_planned', { scenario: 'shoppers' }, perSlice(vus), 'load');
      gauge('load.vus_active', { scenario: 'shoppers' }, perSlice((x) => vus(x) - (x > 0.85 && x < 0.9 ? 3 : 0)), 'load');
      counter('load.users_started', { scenario: 'shoppers' }, perSlice((x, slice) => Math.max(0, slice === 0 ? 1 : vus(x) - vus(x - 1 / n))), 'load');
      const planned = perSlice(() => Math.round(5 * per));
      counter('load.iterations_planned', { scenario: 'orders' }, planned, 'load');
      counter('load.iterations_started', { scenario: 'orders' }, planned.map((v, i) => (i / n > 0.75 && i / n < 0.9 ? Math.round(v * 0.8) : v)), 'load');
      counter('load.iterations_done', { scenario: 'orders' }, planned.map((v, i) => (i / n > 0.75 && i / n < 0.9 ? Math.round(v * 0.8) : v)), 'load');
      counter('load.iterations_dropped', { scenario: 'orders' }, planned.map((v, i) => (i / n > 0.75 && i / n < 0.9 ? v - Math.round(v * 0.8) : 0)), 'load');
      trend('load.lateness', { scenario: 'orders' }, planned.map((v) => Float64Array.from({ length: v }, () => Math.round(dice.roll() ** 6 * 12e3) / 1e3)), 'load');
      for (const group of ['::browse', '::buy', '::buy::cart', '::buy::pay']) {
        trend('group_duration', { group, scenario: 'shoppers' }, durations.map((list) => Float64Array.from(list.filter((_, i) => i % 5 === 0), (v) => Math.round(v * 3.1 * 1e3) / 1e3)));
      }
      trend('iteration_duration_planned', { scenario: 'shoppers' }, durations.map((list) => Float64Array.from(list.filter((_, i) => i % 9 === 0), (v) => Math.round((v * 5 + 1250) * 1e3) / 1e3)));
      trend('iteration_duration', { scenario: 'shoppers' }, durations.map((list) => Float64Array.from(list.filter((_, i) => i % 9 === 0), (v) => Math.round((v * 5 + 1000) * 1e3) / 1e3)));
      counter('iterations', { scenario: 'shoppers' }, durations.map((list) => list.filter((_, i) => i % 9 === 0).length));
      trend('time_to_first_render', { scenario: 'shoppers' }, durations.map((list) => Float64Array.from(list.filter((_, i) => i % 11 === 0), (v) => Math.round(v * 1.7 * 1e3) / 1e3)));
      counter('orders_placed', { scenario: 'shoppers' }, durations.map((list) => Math.round(list.length * 0.07)));
      gauge('queue_length', { scenario: 'shoppers' }, perSlice((x) => Math.round(3 * load(x) ** 2)));
      rateOf('cart_hit', { scenario: 'shoppers' }, durations.map((list) => list.length), durations.map((list) => Math.round(list.length * 0.83)));
      const p95 = gauge('threshold.0', {}, running(durations, 0.95), 'threshold');
      const share = gauge('threshold.1', {}, cumulated(failed, durations), 'threshold');
      thresholds.push(
        { metric: 'http_req_duration', expression: 'p(95)<500', passed: false, value: 612.4, limit: 500, broke: Math.round(end * 0.74), series: p95, of: { metric: 'http_req_duration', stat: 'p(95)', op: '<' } },
        { metric: 'http_req_failed', expression: 'rate<0.05', passed: true, value: 0.0213, limit: 0.05, broke: null, series: share, of: { metric: 'http_req_failed', stat: 'rate', op: '<' } },
        { metric: 'http_req_duration{name:/checkout}', expression: 'p(99)<3000', name: 'checkout stays usable', passed: true, value: 1432, limit: 3000, broke: null, options: { window: '30s' }, series: null, of: { metric: 'http_req_duration', tags: { name: '/checkout' }, stat: 'p(99)', op: '<' } },
      );
      findings.push({ what: 'planned load not reached', state: 'doubtful', from: Math.round(end * 0.75), to: Math.round(end * 0.9), much: '98.1 % of the planned iterations of orders started', touches: 'iterations and requests of the scenario orders', advice: 'raise maxVUs of orders: no VU was free', metrics: ['load.iterations_dropped'] });
    }
  }
  const checks: { group: string; name: string; series: number }[] = [];
  for (const entry of checkPasses.values()) {
    checks.push({ group: entry.group, name: entry.name, series: rateOf('brunt.checks', { group: entry.group, check: entry.name }, entry.counts, entry.hits, 'check') });
  }
  if (checks.length > 0) {
    const all = [...checkPasses.values()];
    rateOf('checks', { scenario: 'shoppers' }, perSlice((_, i) => all.reduce((sum, e) => sum + e.counts[i]!, 0)), perSlice((_, i) => all.reduce((sum, e) => sum + e.hits[i]!, 0)));
  }
  if (rich) {
    for (let core = 0; core < cores; core++) {
      gauge('health.busy', { core: String(core) }, perSlice((x) => Math.min(0.99, 0.2 * load(x) + 0.02 * dice.roll() + core * 0.03)), 'health', 'share');
      gauge('health.waiting', { core: String(core) }, perSlice(() => 0.01 * dice.roll() ** 3), 'health', 'share');
      gauge('health.late', { core: String(core) }, perSlice((x) => 0.05 + 0.2 * load(x) * dice.roll()), 'health', 'time');
    }
    gauge('health.memory', {}, perSlice((x) => 180e6 + 40e6 * x + 2e6 * dice.roll()), 'health', 'data');
    gauge('health.files', {}, perSlice((x) => 60 + Math.round(40 * load(x))), 'health');
    gauge('health.sockets', { state: 'established' }, perSlice((x) => Math.round(40 * load(x))), 'health');
    gauge('health.sockets', { state: 'time-wait' }, perSlice((x) => Math.round(10 * x)), 'health');
    gauge('health.retransmits', {}, perSlice(() => 0.002 * dice.roll()), 'health', 'share');
  }

  const writer = new DocumentWriter();
  const started = Date.UTC(2026, 10, 23, 14, 30, 0, 250);
  const total = durations.reduce((sum, list) => sum + list.length, 0);
  writer.json({
    time: { width, slices: n, end },
    run: {
      id: '0193a5c2-7e1f-7c33-9d5e-0242ac120002', name: 'shop', kind, state,
      started: new Date(started).toISOString(), ended: state === 'running' || state === 'died' ? null : new Date(started + seconds * 1000).toISOString(),
      passed: thresholds.length > 0 ? thresholds.every((t) => t.passed) : null, exit: 99, brunt: '0.9.0',
      script: kind === 'run' ? 'tests/shop.js' : 'targets.txt', arguments: kind === 'run' ? ['run', '--out', 'run', 'tests/shop.js'] : ['attack', '-rate', '60', '-duration', '10m'],
      ...(rich
        ? { sha256: 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2', host: 'ci-runner-7', kernel: 'Linux 6.12.0', cpu: 'AMD EPYC 7B13', cores, memory: 8 * 2 ** 30, commit: '8c1f0a9d3b7e', branch: 'main', labels: { team: 'shop' }, environment: ['BASE_URL', 'USERS'], options: { scenarios: { shoppers: { executor: 'ramping-vus', stages: [{ duration: '90s', target: 40 }] } }, thresholds: { http_req_duration: ['p(95)<500'] } } }
        : {}),
    },
    verdict: rich && kind === 'run' ? { state: 'doubtful', text: 'Read them with care: 1.9 % of the planned iterations did not start.', findings } : {},
    thresholds,
    scenarios: kind === 'run' ? [{ name: 'shoppers', executor: 'ramping-vus', from: 0, to: end, text: '40 to 96 VUs over 5 stages' }, ...(rich ? [{ name: 'orders', executor: 'constant-arrival-rate', from: 0, to: end, text: '5 iterations/s' }] : [])] : [],
    stages: kind === 'run' && seconds > 5 ? stages.map((stage) => ({ ...stage, from: Math.round(stage.from * end), to: Math.round(stage.to * end) })) : [],
    checks,
    groups: rich && kind === 'run' ? ['::browse', '::buy', '::buy::cart', '::buy::pay'] : [],
    failures, exchanges,
    sources: rich && kind === 'run' ? [{ path: 'tests/shop.js', text: SCRIPT }] : [],
    exceptions: rich && kind === 'run' ? [{ text: "TypeError: cannot read property 'id' of undefined\n\tat order (tests/shop.js:21:18)", count: 3 }] : [],
    dropped: {},
    events: rich && total > 0 ? [{ at: Math.round(end * 0.4), kind: 'note', text: 'database failover begins' }, { at: Math.round(end * 0.7), kind: 'stage', text: 'peak begins', scenario: 'shoppers' }] : [],
    metrics,
    series: made.map(({ metric: place, tags }) => [place, tags]),
  });
  made.forEach(({ metric: place, values, columns }, series) => {
    const type = metrics[place]!.type;
    if (values) writer.chunk(trendChunk(series, values));
    else writer.chunk({ series, type, first: 0, columns: columns! });
  });
  const raw = made.map((one) => ({ ...one, metric: metrics[one.metric]! }));
  return { document: writer.done(), raw, durations, failed, series: made.length };
}

/** Columns and histograms of a trend: exact in all slices if there are few values in the whole run, else bins. */
export function trendChunk(series: number, values: Float64Array[], first = 0) {
  const exact = values.reduce((sum, list) => sum + list.length, 0) <= EXACT_MAX;
  const [count, sum, min, max]: number[][] = [[], [], [], []];
  const histograms = values.map((list) => {
    count!.push(list.length);
    let total = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const value of list) {
      total += value;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    sum!.push(list.length > 0 ? (Math.abs(total) < 1e9 ? Math.round(total * 1e6) / 1e6 : total) : 0);
    min!.push(list.length > 0 ? least : 0);
    max!.push(list.length > 0 ? most : 0);
    if (list.length === 0) return null;
    return exact ? packExact(list.slice().sort()) : packBins(binsOf(list));
  });
  return { series, type: 'trend' as const, first, columns: [count!, sum!, min!, max!], histograms };
}

export function binsOf(values: ArrayLike<number>) {
  const keys = Uint32Array.from(values, keyOf).sort();
  const found: number[] = [];
  const counts: number[] = [];
  for (const key of keys) {
    if (found[found.length - 1] === key) counts[counts.length - 1]!++;
    else {
      found.push(key);
      counts.push(1);
    }
  }
  return { keys: Uint32Array.from(found), counts: Float64Array.from(counts) };
}

function running(durations: number[][], share: number): number[] {
  let all: number[] = [];
  return durations.map((list) => {
    all = all.concat(list).slice(-3000);
    const sorted = all.slice().sort((a, b) => a - b);
    return sorted.length === 0 ? Number.NaN : sorted[Math.floor(share * (sorted.length - 1))]!;
  });
}

function cumulated(failed: number[], durations: number[][]): number[] {
  let [bad, all] = [0, 0];
  return failed.map((count, i) => {
    bad += count;
    all += durations[i]!.length;
    return all === 0 ? Number.NaN : bad / all;
  });
}

function exchange(why: 'failure' | 'slow' | 'random', route: Route, kind: { status: string; error_code: string }, ms: number, at: number, run: string): Exchange {
  const url = `https://shop.example${route.name.replace('{id}', '4711')}`;
  return {
    why, at, method: route.method, url, route: route.name, scenario: run === 'run' ? 'shoppers' : null, status: Number(kind.status), code: kind.error_code,
    error: kind.status === '0' ? 'request timeout' : null, duration: ms,
    phases: { blocked: 0.1, lookup: 0, connecting: 0.4, tls: 1.2, sending: 0.05, waiting: ms * 0.9, receiving: ms * 0.1 },
    request: { headers: [['User-Agent', 'brunt/0.9.0'], ['Authorization', '***']], body: route.method === 'POST' ? '{"sku": 4711, "count": 2}' : null, size: route.method === 'POST' ? 25 : 0 },
    response: kind.status === '0' ? null : { proto: 'HTTP/2.0', headers: [['Content-Type', 'application/json'], ['Server', 'shop']], body: '{"error": "no connection to the stock service"}', size: 46 },
    curl: `curl -X ${route.method} -H 'User-Agent: brunt/0.9.0' '${url}'`,
  };
}

const SCRIPT = `import http from 'k6/http';
import { check, group, sleep } from 'k6';

// Shoppers look around; some of them buy.
export const options = {
  scenarios: {
    shoppers: { executor: 'ramping-vus', stages: [{ duration: '90s', target: 40 }] },
  },
  thresholds: { http_req_duration: ['p(95)<500'] },
};

export default function () {
  group('browse', () => {
    const res = http.get(\`\${__ENV.BASE_URL}/products/\${Math.floor(Math.random() * 100)}\`);
    check(res, { 'status is 200': (r) => r.status === 200 });
  });
  sleep(1);
}
`;

export const packed = (document: Uint8Array) => gzipSync(document, { level: 9 });
