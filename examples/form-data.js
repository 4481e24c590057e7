// FormData as in browsers: fields and files, sent as multipart/form-data. The picture is read once for all VUs and is
// not copied on its way to the socket.

import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const picture = new File([open('data/dot.png', 'b')], 'dot.png', { type: 'image/png' });

export const options = {
  vus: 2,
  iterations: 10,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const form = new FormData();
  form.append('meta', JSON.stringify({ camera: 7, frame: __ITER }));
  form.append('image', picture);
  const res = http.post(`${base}/upload/detect`, form);
  check(res, {
    'status is 200': (r) => r.status === 200,
    'both parts arrive': (r) => r.json('parts.#') === 2,
    'the file keeps its name and type': (r) => {
      const part = r.json('parts.1');
      return part.filename === 'dot.png' && part.type === 'image/png' && part.bytes === picture.size;
    },
  });
}
