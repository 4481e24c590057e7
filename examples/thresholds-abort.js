// A threshold that ends the test early when it is crossed for good: no use in going on when most
// requests fail. Here one in ten fails, which is allowed, so the test runs to its end.
//
// Try it: FAIL=0.9 in the environment aborts after two seconds with exit code 99.

import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const share = __ENV.FAIL || '0.1';

export const options = {
  vus: 4,
  duration: '3s',
  thresholds: {
    http_req_failed: [{ threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '1s' }],
    'http_req_duration{expected_response:true}': ['p(95)<500'],
  },
};

export default function () {
  const res = http.get(`${base}/flaky?p=${share}`, { tags: { name: '/flaky' } });
  check(res, { 'no error': (r) => r.status === 200 });
  sleep(0.05);
}
