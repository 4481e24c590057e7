// 100: a batch gives the shape that it was given
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const list = http.batch([`${U}/status/200`, ['POST', `${U}/status/201`, 'x'], { url: `${U}/status/202` }, { method: 'PUT', url: `${U}/status/404` }]);
  console.log(Array.isArray(list), list.map((r) => r.status).join());
  const named = http.batch({ b: `${U}/status/200`, a: ['GET', `${U}/status/201`, null, { tags: { t: 'x' } }] });
  console.log(Object.keys(named).sort().join(), named.a.status, named.b.status);
  console.log(JSON.stringify(http.batch([])), JSON.stringify(http.batch({})));
  for (const bad of [() => http.batch(), () => http.batch([], 5), () => http.batch('x'), () => http.batch(null)]) {
    try { console.log(typeof bad()); } catch (e) { console.log(e.name); }
  }
}
