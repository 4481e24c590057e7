// Which caches answer old data after a write? Each round writes an item and reads it at once.
// Shown as a rate per strategy: none for lazywrite, some for twotier (the other instance's copy),
// nearly all for redis until its entry expires; events need their 50 ms.

import http from 'k6/http';
import { check } from 'k6';
import { Rate } from 'k6/metrics';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

const stale = {
  redis: new Rate('stale_redis'),
  lazywrite: new Rate('stale_lazywrite'),
  twotier: new Rate('stale_twotier'),
  event: new Rate('stale_event'),
};

export const options = {
  scenarios: {
    rounds: { executor: 'shared-iterations', vus: 1, iterations: 3, maxDuration: '20s' },
  },
  thresholds: {
    checks: ['rate==1'],
    stale_lazywrite: ['rate==0'],
    stale_redis: ['rate>0.5'],
  },
};

const url = (strategy, instance) => `${base}/${strategy}/42?instance=${instance}`;

export function setup() {
  http.post(`${base}/_demo/reset`);
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: 50 }));
  for (const strategy of Object.keys(stale)) {
    http.get(url(strategy, 0));
    http.get(url(strategy, 1));
  }
}

export default function () {
  for (const [strategy, rate] of Object.entries(stale)) {
    const written = http.put(url(strategy, 0));
    const read = http.get(url(strategy, 1));
    check(read, { 'status is 200': (r) => r.status === 200 });
    rate.add(read.json('version') < written.json('version'));
  }
}

export function teardown() {
  http.post(`${base}/_demo/fault`, JSON.stringify({ origin_ms: null }));
}
