// 104, 106, 107, 108, 109: json() and its selectors
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const r = http.post(`${U}/anything`, JSON.stringify({ a: { 'b.c': 1, list: [{ x: 1, y: 'p' }, { x: 2, y: 'q' }, { x: 3, y: 'q' }] }, n: 9007199254740993, nul: null }));
  const j = (s) => JSON.stringify(r.json(s));
  console.log(typeof r.json(), r.json('method'), r.json('nope'), r.json('nope.x.y'));
  const raw = r.request.body;
  console.log(raw.length > 10);
  r.json().mine = 5;
  console.log(r.json().mine);
  const bad = http.get(`${U}/html`);
  console.log(bad.json('a'));
  try { bad.json(); } catch (e) { console.log(e.name, e.message); }
  const none = http.get(`${U}/status/204`);
  try { console.log(none.json()); } catch (e) { console.log(e.name); }
  try { console.log(none.json('a')); } catch (e) { console.log(e.name); }
}
