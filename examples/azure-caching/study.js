// The caching study as a pipeline runs it: five strategies to cache one slow origin, each with a trend of its own, judged by
// thresholds, under a load that grows, stays and goes.
//
//   brunt run --demo examples/azure-caching/study.js
//
// -e SHORT=1 makes it five seconds, with an origin four times as fast. README.md beside this file tells the rest.

import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Rate, Trend } from 'k6/metrics';

const base = __ENV.BASE_URL || __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const short = __ENV.SHORT === '1';
const originMs = short ? 250 : 1000;
const item = 99;

// One trend a strategy, so that a threshold and a row of the summary are about this strategy alone.
const strategies = {
  nocache: new Trend('no_cache_duration', true),
  dictionary: new Trend('dictionary_duration', true),
  memory: new Trend('memory_duration', true),
  lazy: new Trend('lazy_duration', true),
  redis: new Trend('redis_duration', true),
};
const fromCache = new Rate('answers_from_a_cache');

export const options = {
  stages: [
    { duration: short ? '500ms' : '5s', target: 5 },
    { duration: short ? '4s' : '50s', target: 5 },
    { duration: short ? '500ms' : '5s', target: 0 },
  ],
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate<0.01'],
    // Medians: the first request of each strategy finds a cold cache, and is the slowest by far.
    no_cache_duration: [`med>${0.9 * originMs}`, `med<${1.5 * originMs}`],
    redis_duration: ['med<200'],
    dictionary_duration: ['med<100'],
    memory_duration: ['med<100'],
    lazy_duration: ['med<100'],
    answers_from_a_cache: [short ? 'rate>0.5' : 'rate>0.7'],
  },
  tags: { study: 'caching' },
  summaryTrendStats: ['min', 'med', 'p(90)', 'p(95)', 'max', 'count'],
};

export function setup() {
  // Cold caches, so that each run begins alike.
  const reset = http.post(`${base}/_demo/reset`);
  check(reset, { 'the target is there': (res) => res.status < 300 });
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: originMs }));
}

export default function () {
  for (const [name, duration] of Object.entries(strategies)) {
    group(name, () => {
      const res = http.get(`${base}/${name}/${item}`, { tags: { name: `/${name}/{id}` } });
      duration.add(res.timings.duration);
      fromCache.add(res.headers['X-Cache'] === 'hit');
      check(res, {
        'status is 200': (res) => res.status === 200,
        'it is the item asked for': (res) => res.json('id') === item,
      });
    });
  }
  sleep(short ? 0.1 : 0.5);
}

export function teardown() {
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: null }));
}
