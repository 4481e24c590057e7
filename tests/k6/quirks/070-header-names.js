// 70, 71: header names take their canonical form, values become strings
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const r = http.get(`${U}/anything`, { headers: { 'x-foo-bar': 'a', 'X-NULL': null, 'X-n': 5, 'x-b': true, 'x-undef': undefined, 'x-arr': [1, 2] } });
  const h = r.request.headers;
  for (const k of Object.keys(h).sort().filter((k) => k.startsWith('X-'))) console.log(k, JSON.stringify(h[k]));
  console.log(Object.keys(r.headers).every((k) => k[0] === k[0].toUpperCase()), 'content-type' in r.headers, 'Content-Type' in r.headers);
}
