// 92: what the body of a response is
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const told = (r) => console.log(r.status, r.body === null ? 'null' : typeof r.body, r.body instanceof ArrayBuffer);
  told(http.head(`${U}/json`)); told(http.get(`${U}/status/204`)); told(http.get(`${U}/status/304`));
  told(http.get(`${U}/json`, { responseType: 'none' })); told(http.get(`${U}/json`, { responseType: 'binary' })); told(http.get(`${U}/json`, { responseType: 'text' }));
  console.log(JSON.stringify(http.head(`${U}/json`).body));
}
