// 67: compressed responses are always decoded
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  for (const kind of ['gzip', 'br', 'deflate', 'zstd']) {
    const r = http.get(`${U}/${kind}`);
    console.log(kind, r.status, r.headers['Content-Encoding'], typeof r.json());
  }
}
