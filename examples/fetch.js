// fetch, Request, Response and Headers as in browsers. Every request counts in the same metrics as those of k6/http;
// `k6` in the options holds what k6/http calls params, and `response.k6` is its response, with the timings.

import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: { checks: ['rate==1'], 'http_req_duration{name:item}': ['p(95)<500'] },
};

export default async function () {
  const item = await fetch(`${base}/anything/item`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ color: 'green' }),
    k6: { tags: { name: 'item' }, timeout: '5s' },
  });
  const told = await item.json();
  check(item, {
    'it is there': (r) => r.ok,
    'the body came through': () => told.json.color === 'green',
    'the timings are known': (r) => r.k6.timings.duration > 0,
  });

  const [first, second] = await Promise.all([fetch(`${base}/json`), fetch(new Request(`${base}/headers`))]);
  check(first, { 'JSON': (r) => `${r.headers.get('content-type')}`.startsWith('application/json') });
  await second.arrayBuffer();

  const gone = await fetch('http://127.0.0.1:1/').catch((error) => error);
  check(gone, { 'a request that fails rejects': (error) => error instanceof TypeError });
}
