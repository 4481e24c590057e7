// 82: the timings of a response
import http from 'k6/http';
export default function () {
  const { timings } = http.get(`${__ENV.DEMO_URL}/ping`);
  console.log(Object.keys(timings).sort().join(), timings.looking_up, timings.duration > 0);
}
