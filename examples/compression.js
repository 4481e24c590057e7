// Compressed answers are decoded by themselves; compressed requests are made with `compression`.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';

export const options = {
  iterations: 2,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
    const res = http.get(`${base}/${coding}`);
    check(res, {
      [`${coding} is decoded`]: (r) => r.json('coding') === coding && r.json('items.#') === 30,
      [`${coding} is named`]: (r) => r.headers['Content-Encoding'] === coding,
    });
  }

  const text = 'the same again and '.repeat(500);
  const res = http.post(`${base}/sink`, text, { compression: 'gzip' });
  check(res, { 'a request shrinks': (r) => r.json('bytes') < text.length / 10 });
}
