// 69: other values of forms
import http from 'k6/http';
export default function () {
  const sent = (body) => http.post(`${__ENV.DEMO_URL}/anything`, body).request.body;
  console.log(sent({ a: [] }), '|', sent({ a: ['', 'b'] }), '|', sent({ '': 1 }), '|', sent({ 'a[]': [1, 2] }), '|', sent({ 'k&=': 'v&=' }));
  for (const bad of [5, true, [1], new Map()]) { const r = http.post(`${__ENV.DEMO_URL}/anything`, bad); console.log(r.status, r.error_code, r.error !== ''); }
}
