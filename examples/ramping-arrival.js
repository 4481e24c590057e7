// An open model with a changing rate: arrivals do not wait for answers. VUs are only the hands that
// carry them out; if there were too few, dropped_iterations would say so.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    wave: {
      executor: 'ramping-arrival-rate',
      startRate: 5,
      timeUnit: '1s',
      preAllocatedVUs: 10,
      maxVUs: 20,
      stages: [
        { duration: '1s', target: 50 },
        { duration: '1s', target: 50 },
        { duration: '1s', target: 5 },
      ],
    },
  },
  thresholds: {
    checks: ['rate==1'],
    // 27.5 + 50 + 27.5 arrivals.
    iterations: ['count>=100', 'count<=110'],
    http_req_duration: ['p(95)<500'],
  },
};

export default function () {
  const res = http.get(`${base}/delay/20`);
  check(res, { 'status is 200': (r) => r.status === 200 });
}
