// 74: a third argument of get is ignored
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  console.log(http.get(`${U}/anything`, {}, { headers: { a: 'b' } }).status, http.del(`${U}/anything`, 'body').request.body);
  console.log(http.del(`${U}/anything`).request.method, http.options(`${U}/anything`).request.method, http.head(`${U}/anything`).request.method);
}
