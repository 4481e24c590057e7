// 46: rps holds requests back, outside of their duration
import http from 'k6/http';
export const options = { rps: 10, thresholds: { http_req_duration: ['max<90'] } };
export default function () {
  const start = Date.now();
  for (let i = 0; i < 4; i++) http.get(`${__ENV.DEMO_URL}/ping`);
  console.log(Date.now() - start >= 250);
}
