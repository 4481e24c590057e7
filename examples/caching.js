// The caching study: five ways to cache one slow origin, asked by five users for half a minute.
//
//   brunt run --demo examples/caching.js
//
// Look at the medians per route, not at http_req_duration over all: one request in five goes to the
// origin, so the overall numbers have two humps and their average describes nothing.
// The shape to expect: dictionary = lazy = memory, Redis about 37 ms above them, no cache about 1 s.
// The first requests after the reset find cold caches; they show up as maxima only.
//
// The metric names contain spaces. k6 once allowed that and many old scripts have it; Brunt runs them
// with a warning, k6 from v1 on refuses them.
//
// -e SHORT=1 makes it five seconds: an origin four times as fast, and less time between the rounds.

import http from 'k6/http';
import { check, sleep } from 'k6';
import { Rate, Trend } from 'k6/metrics';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const id = 99;
const short = __ENV.SHORT === '1';
const originMs = short ? 250 : 1000;

const routes = {
  nocache: new Trend('No cache duration', true),
  dictionary: new Trend('Dictionary duration', true),
  memory: new Trend('Memory cache duration', true),
  lazy: new Trend('Lazy cache duration', true),
  redis: new Trend('Redis duration', true),
};
const fromCache = new Rate('Answers from a cache');

export const options = {
  stages: [
    { duration: short ? '500ms' : '3s', target: 5 },
    { duration: short ? '4s' : '28s', target: 5 },
    { duration: short ? '500ms' : '3s', target: 0 },
  ],
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate<0.01'],
    'No cache duration': [`med>${0.9 * originMs}`, `med<${1.5 * originMs}`],
    'Redis duration': ['med<200'],
    'Dictionary duration': ['med<100'],
    'Memory cache duration': ['med<100'],
    'Lazy cache duration': ['med<100'],
    'Answers from a cache': [short ? 'rate>0.5' : 'rate>0.7'],
  },
};

export function setup() {
  // Cold caches and zero counters, so that each run begins alike.
  http.post(`${base}/_demo/reset`);
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: short ? originMs : null }));
}

export default function () {
  for (const [route, duration] of Object.entries(routes)) {
    const res = http.get(`${base}/${route}/${id}`, { tags: { name: `/${route}/{id}` } });
    duration.add(res.timings.duration);
    fromCache.add(res.headers['X-Cache'] === 'hit');
    check(res, {
      'status is 200': (r) => r.status === 200,
      'it is the item asked for': (r) => r.json('id') === id,
    });
  }
  sleep(short ? 0.1 : 0.5);
}

export function teardown() {
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: null }));
  const { cache } = http.get(`${base}/_demo/stats`).json();
  check(cache, {
    'without a cache every request loads': (c) => c.nocache.hit === 0 && c.nocache.bypass > 0,
    'single flight loads once': (c) => c.lazy.miss === 1,
    'a plain memory cache loads at least as often': (c) => c.memory.miss >= c.lazy.miss,
  });
}
