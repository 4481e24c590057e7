// Binary files: in memory once, however many VUs open them. A VU has its own copy of the parts it writes.

import http from 'k6/http';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

// Every VU's buffer shows the same bytes. The first write copies them for this VU.
const picture = open('./data/dot.png', 'b');
// Buffers in a SharedArray are kept once, too, and cannot be written to. (k6 makes {} of them.)
const pictures = new SharedArray('pictures', () => [open('./data/dot.png', 'b')]);

export const options = {
  vus: 3,
  iterations: 9,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const mine = new Uint8Array(picture);
  const first = mine[0];
  mine[0] = exec.vu.idInTest;
  const res = http.post(`${base}/upload/detect`, {
    mine: http.file(picture, 'mine.png', 'image/png'),
    shared: http.file(pictures[0], 'shared.png', 'image/png'),
  });
  mine[0] = first;
  const sha256 = (name) => res.json('parts').find((part) => part.name === name).sha256;
  check(res, {
    'status is 200': (r) => r.status === 200,
    'what this VU wrote is sent': () => sha256('mine') !== sha256('shared'),
    'the shared file is as it was': () => sha256('shared') === crypto.sha256(pictures[0], 'hex'),
    'this VU has it back': () => crypto.sha256(picture, 'hex') === sha256('shared'),
  });
}
