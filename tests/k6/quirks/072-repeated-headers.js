// 72, 113: repeated headers are joined; cookies are lists
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const r = http.get(`${U}/cookies/set?a=1&b=2`, { redirects: 0 });
  console.log(r.status, typeof r.headers['Set-Cookie'], Object.keys(r.cookies).sort().join());
  for (const name of Object.keys(r.cookies).sort()) console.log(name, r.cookies[name].length, r.cookies[name][0].value, r.cookies[name][0].path);
}
