// 47: noConnectionReuse opens one for each request
import http from 'k6/http';
export const options = { noConnectionReuse: true };
export default function () {
  console.log(http.get(`${__ENV.DEMO_URL}/ping`).timings.connecting > 0, http.get(`${__ENV.DEMO_URL}/ping`).timings.connecting > 0);
}
