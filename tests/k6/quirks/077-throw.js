// 77, 78: with throw transport errors throw, statuses never
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = { throw: true };
export default function () {
  console.log(http.get(`${U}/status/500`).status);
  for (const f of [() => http.get('http://127.0.0.1:1/'), () => http.get('http://a b/'), () => http.get(), () => http.post(`${U}/anything`, 5), () => http.get(`${U}/ping`, { responseType: 'nope' })]) {
    try { console.log(f().status); } catch (e) { console.log(e.name, typeof e.message, e.error_code, e instanceof Error); }
  }
  console.log(http.get('http://127.0.0.1:1/', { throw: false }).status);
}
