// Reads a long response while it comes: in constant memory, with the time at which each piece arrived.
// The response type "stream" is Brunt's own.

import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const size = 20 * 1024 * 1024;
const gap = new Trend('gap_between_pieces', true);

export const options = {
  vus: 2,
  iterations: 4,
  thresholds: { checks: ['rate==1'], http_req_failed: ['rate==0'] },
};

export default async function () {
  const res = http.get(`${base}/source?bytes=${size}`, { responseType: 'stream' });
  check(res, { 'the head is there': (r) => r.status === 200 && r.body === null });

  let bytes = 0;
  let last = 0;
  for await (const piece of res.stream) {
    bytes += piece.length;
    if (last > 0) gap.add(piece.receivedAt - last);
    last = piece.receivedAt;
  }
  check(res, {
    'all of it came': () => bytes === size,
    'the timings are final': (r) => r.timings.receiving > 0 && r.error === '',
  });

  // A script that has read enough says so; the connection is closed.
  const endless = http.get(`${base}/source?bytes=${size * 100}`, { responseType: 'stream' });
  const reader = endless.stream.getReader();
  const first = await reader.read();
  await reader.cancel();
  check(first, { 'a piece is enough': (f) => !f.done && f.value.length > 0 });
}
