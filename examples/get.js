// The smallest useful script: one request, one check, one threshold.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 2,
  iterations: 20,
  thresholds: {
    checks: ['rate==1'],
    http_req_duration: ['p(95)<500'],
  },
};

export default function () {
  const res = http.get(`${base}/ping`);
  check(res, {
    'status is 200': (r) => r.status === 200,
    'body is ok': (r) => r.body === 'ok',
  });
}
