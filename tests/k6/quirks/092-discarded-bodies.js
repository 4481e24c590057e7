// 92: discardResponseBodies gives no body, unless the request asks
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = { discardResponseBodies: true };
export default function () {
  console.log(http.get(`${U}/json`).body, typeof http.get(`${U}/json`, { responseType: 'text' }).body);
  try { http.get(`${U}/json`).json(); } catch (e) { console.log(e.name); }
}
