// A file goes from the disk to the socket, piece by piece: its size does not matter for memory.

import { Client, FileStream, Request, checkstatus } from 'k6/x/fasthttp';
import { check } from 'k6';
import crypto from 'k6/crypto';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = { vus: 2, iterations: 10, thresholds: { checks: ['rate==1'] } };

// A plain path would be relative to the folder that the test is started in.
const path = import.meta.resolve('./data/dot.png');
const expected = crypto.sha256(open('data/dot.png', 'b'), 'hex');

const client = new Client();
const upload = new Request(`${base}/sink`, {
  headers: { 'Content-Type': 'image/png' },
  body: new FileStream(path),
  throw: true,
});

export default function () {
  const response = client.post(upload);
  checkstatus(200, response);
  check(response, { 'the file arrives byte for byte': (r) => r.json('sha256') === expected });
}
