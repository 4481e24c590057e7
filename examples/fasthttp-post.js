// k6/x/fasthttp with bodies: text, bytes, and one request sent with several methods.

import { Client, Request, checkstatus } from 'k6/x/fasthttp';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = { vus: 2, iterations: 6, thresholds: { checks: ['rate==1'] } };

const client = new Client({ user_agent: 'shop-test/1.0' });

const order = new Request(`${base}/anything/orders`, {
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ item: 7, count: 2 }),
  throw: true,
});
const bytes = new Request(`${base}/sink`, { body: new Uint8Array([1, 2, 3, 4]), throw: true });
const binary = new Request(`${base}/source?bytes=10`, { response_type: 'binary', throw: true });

export default function () {
  // With `throw`, a request that fails is an exception.
  const placed = client.post(order);
  checkstatus(200, placed);
  check(placed, {
    'it was a POST': (r) => r.json('method') === 'POST',
    'the body arrived': (r) => r.json('json.count') === 2,
    'so did our name': (r) => r.json('headers.User-Agent') === 'shop-test/1.0',
  });

  // The method is that of the call.
  check(client.put(order), { 'now it is a PUT': (r) => r.json('method') === 'PUT' });
  check(client.delete(order), { 'and a DELETE': (r) => r.json('method') === 'DELETE' });

  check(client.post(bytes), { 'four bytes arrived': (r) => r.json('bytes') === 4 });

  check(client.get(binary), {
    'the body is bytes': (r) => r.body?.length === 10 && r.body[0] === 'a'.charCodeAt(0),
  });
}
