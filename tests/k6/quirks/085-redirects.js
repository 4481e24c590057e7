// 85, 86, 87, 88: each hop is counted, and the last one is told
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const r = http.get(`${U}/redirect/3`);
  console.log(r.status, r.url.replace(U, ''), r.request.url.replace(U, ''));
  console.log(http.get(`${U}/redirect/3`, { redirects: 1 }).status, http.get(`${U}/redirect/3`, { redirects: 0 }).status, http.get(`${U}/redirect/12`).status);
  for (const status of [301, 302, 303, 307, 308]) {
    const r = http.post(`${U}/redirect-to?status_code=${status}&status=${status}&url=${encodeURIComponent('/anything')}`, 'body');
    console.log(status, r.status, r.json('method'), r.request.method);
  }
}
