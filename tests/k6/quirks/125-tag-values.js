// 125: tags of custom metrics and requests hold strings, numbers and booleans
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export default function () {
  for (const v of ['a', 1, true, null, undefined, {}, [], () => 1]) {
    try { console.log('add', c.add(1, { v })); } catch (e) { console.log('add', e.name); }
  }
  for (const v of ['a', 1, true, null, {}, []]) {
    const r = http.get(`${__ENV.DEMO_URL}/ping`, { tags: { v } });
    console.log(r.status, r.error_code, r.error !== '');
  }
}
