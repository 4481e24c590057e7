// setup runs once before, teardown once after; what setup returns, every VU gets as a copy.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 3,
  iterations: 9,
  thresholds: {
    checks: ['rate==1'],
    'http_req_duration{group:::setup}': ['max<5000'],
  },
};

export function setup() {
  const created = http.put(`${base}/writethrough/7`, JSON.stringify({ name: 'made in setup' }));
  return { id: 7, version: created.json('version') };
}

export default function (data) {
  const res = http.get(`${base}/writethrough/${data.id}`);
  check(res, {
    'what setup wrote is there': (r) => r.json('name') === 'made in setup',
    'in its version': (r) => r.json('version') === data.version,
  });
}

export function teardown(data) {
  const res = http.del(`${base}/writethrough/${data.id}`);
  check(res, { 'cleaned up': (r) => r.status === 204 });
}
