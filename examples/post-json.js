// Sends JSON and reads JSON back.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 10,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const order = { item: 99, count: __ITER + 1, note: 'grün' };
  const res = http.post(`${base}/anything/orders`, JSON.stringify(order), {
    headers: { 'Content-Type': 'application/json' },
  });
  check(res, {
    'status is 200': (r) => r.status === 200,
    'the order arrived whole': (r) =>
      r.json('json.count') === order.count && r.json('json.note') === order.note,
    'as JSON': (r) => r.json('headers.Content-Type') === 'application/json',
  });
}
