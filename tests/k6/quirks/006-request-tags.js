// 6: tags of a request are strings, numbers or booleans
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.DEMO_URL}/ping`, { tags: { a: 'x', b: 1, c: true } });
  console.log(r.status, JSON.stringify(r.error));
}
