// The FormData library that scripts for k6 import from jslib: recognised by its address, served from within, and so
// fast without an edit. Nothing is downloaded.

import http from 'k6/http';
import { check } from 'k6';
import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const picture = open('data/dot.png', 'b');

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const form = new FormData();
  form.append('camera', '7');
  form.append('image', http.file(picture, 'dot.png', 'image/png'));
  const res = http.post(`${base}/upload/detect`, form.body(), {
    headers: { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` },
  });
  check(res, {
    'status is 200': (r) => r.status === 200,
    'both parts arrive': (r) => r.json('parts.#') === 2,
  });
}
