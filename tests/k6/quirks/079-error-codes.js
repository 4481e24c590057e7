// 79: error_code is also set for statuses from 400 on
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  for (const status of [200, 204, 304, 399, 400, 404, 418, 429, 500, 503, 599]) {
    const r = http.get(`${U}/status/${status}`);
    console.log(r.status, r.error_code, JSON.stringify(r.error), JSON.stringify(r.status_text), JSON.stringify(r.body === null));
  }
}
