// 90, 91: a timeout is milliseconds or a duration
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  for (const timeout of [50, '50ms', 50.5]) {
    const r = http.get(`${U}/delay/2000`, { timeout });
    console.log(r.status, r.error_code, r.error);
  }
  for (const timeout of ['nope', {}, true]) { const r = http.get(`${U}/ping`, { timeout }); console.log(r.status, r.error_code, r.error !== ''); }
}
