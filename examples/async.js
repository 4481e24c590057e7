// Promises and timers: requests that run beside each other, and work that is done later.

import http from 'k6/http';
import { check } from 'k6';
import { clearInterval, setInterval, setTimeout } from 'k6/timers';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    // 200 ms twice side by side, then a pause of 100 ms: not 500.
    iteration_duration: ['p(95)<450'],
  },
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  let ticks = 0;
  const ticker = setInterval(() => (ticks += 1), 20);

  const [slow, json] = await Promise.all([
    http.asyncRequest('GET', `${base}/delay/200`),
    http.asyncRequest('POST', `${base}/anything`, JSON.stringify({ a: 1 })),
    pause(200),
  ]);
  await pause(100);
  clearInterval(ticker);

  check(slow, { 'slow answer came': (r) => r.status === 200 });
  check(json, { 'body arrived': (r) => r.json('json.a') === 1 });
  check(ticks, { 'the timer ran meanwhile': (n) => n >= 5 });

  const failed = await http.asyncRequest('GET', `${base}/status/503`, null, {
    responseCallback: http.expectedStatuses(503),
  });
  check(failed, { 'an expected 503 is no failure': (r) => r.status === 503 });
}
