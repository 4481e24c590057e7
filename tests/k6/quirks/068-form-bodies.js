// 68, 69: objects become forms with sorted keys; strings bear no type
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const sent = (body, params) => {
    const r = http.post(`${U}/anything`, body, params);
    return `${r.request.body} | ${r.request.headers['Content-Type']} | ${r.request.headers['Content-Length']}`;
  };
  console.log(sent({ b: 'x y', a: 1, c: ['p', 'q'], d: null, e: undefined, f: true }));
  console.log(sent({ n: 1e21, m: 1234567.5, p: 0.1, q: -0, r: 100000000, s: 1.5e-7 }));
  console.log(sent({ nested: { a: 1 }, after: 'ü&=+' }));
  console.log(sent('text'), sent(''), sent());
  console.log(sent(JSON.stringify({ a: 1 }), { headers: { 'Content-Type': 'application/json' } }));
  console.log(sent({ a: 1 }, { headers: { 'content-type': 'text/plain' } }));
  console.log(sent({}), sent(null));
}
