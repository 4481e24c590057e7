// 101: one bad entry stops the whole batch
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const list = http.batch([`${U}/ping`, 5, `${U}/ping`]);
  console.log(Array.isArray(list), list.length, list.map((r) => r && r.status).join());
}
