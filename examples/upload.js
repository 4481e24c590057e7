// Uploads a file with a field, as a browser's form would: multipart/form-data.
// The demo server takes it strictly by RFC 7578 and tells each part's SHA-256.

import http from 'k6/http';
import crypto from 'k6/crypto';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const picture = open('data/dot.png', 'b');

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const res = http.post(`${base}/upload/detect`, {
    meta: JSON.stringify({ camera: 7 }),
    image: http.file(picture, 'dot.png', 'image/png'),
  });
  check(res, {
    'status is 200': (r) => r.status === 200,
    'both parts arrive': (r) => r.json('parts.#') === 2,
    'the file arrives byte for byte': (r) => {
      const part = r.json('parts').find((p) => p.name === 'image');
      return (
        part.filename === 'dot.png' &&
        part.type === 'image/png' &&
        part.sha256 === crypto.sha256(picture, 'hex')
      );
    },
  });
}
