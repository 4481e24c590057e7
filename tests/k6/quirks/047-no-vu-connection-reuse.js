// 47: noVUConnectionReuse closes connections after each iteration
import http from 'k6/http';
export const options = { iterations: 2, noVUConnectionReuse: true };
export default function () {
  console.log(http.get(`${__ENV.DEMO_URL}/ping`).timings.connecting > 0, http.get(`${__ENV.DEMO_URL}/ping`).timings.connecting > 0);
}
