// Sends a form: an object as body becomes application/x-www-form-urlencoded.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 5,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const res = http.post(`${base}/anything/login`, { user: 'ada', password: 'a&b=c d' });
  check(res, {
    'status is 200': (r) => r.status === 200,
    'sent as a form': (r) =>
      r.json('headers.Content-Type') === 'application/x-www-form-urlencoded',
    'fields arrive as they were': (r) => r.json('form.password') === 'a&b=c d',
  });
}
