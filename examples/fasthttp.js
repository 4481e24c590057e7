// k6/x/fasthttp: a client with connections of its own, and requests that are prepared once.
// For many requests per second: nothing but the answer is made anew each time. All metrics are there.

import { Client, Request, checkstatus } from 'k6/x/fasthttp';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 10,
  duration: '1s',
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    'http_req_duration{status:200}': ['p(95)<500'],
  },
};

// Times are in seconds. Each VU has its own client, so one connection for each host is enough.
const client = new Client({ dial_timeout: 2, read_timeout: 10, max_conns_per_host: 1 });
const ping = new Request(`${base}/ping`);
const item = new Request(`${base}/json?n=3`, { headers: { 'X-Trace': 'on' } });

export default function () {
  // A request that fails gives null; checkstatus would throw then.
  const pong = client.get(ping);
  if (pong) checkstatus(200, pong);

  const response = client.get(item);
  if (response && checkstatus(200, response, { route: 'items' })) {
    if (response.json('items.#') !== 3) throw new Error('three items were asked for');
  }
}
