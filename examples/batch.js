// Sends several requests at once and waits for all of them.

import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const wall = new Trend('batch_duration', true);

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    // Three answers that take 200 ms each, but not one after the other.
    batch_duration: ['p(95)<500'],
  },
};

export default function () {
  const begin = Date.now();
  http.batch([`${base}/delay/200`, `${base}/delay/200`, `${base}/delay/200`]);
  wall.add(Date.now() - begin);

  const [json, html, echo] = http.batch([
    ['GET', `${base}/json?n=3`],
    ['GET', `${base}/html`, null, { tags: { kind: 'page' } }],
    ['POST', `${base}/anything`, 'hello'],
  ]);
  check(json, { 'three items': (r) => r.json('items.#') === 3 });
  check(html, { 'a page': (r) => `${r.body}`.includes('<h1') });
  check(echo, { 'the body arrived': (r) => r.json('data') === 'hello' });

  const named = http.batch({
    slow: { method: 'GET', url: `${base}/delay/50` },
    quick: `${base}/ping`,
  });
  check(named, {
    'answers have the requests’ names': (b) => b.slow.status === 200 && b.quick.body === 'ok',
  });
}
