// 112: what a cookie without a date says of when it expires
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  const res = http.get(`${U}/cookies/set?a=1`, { redirects: 0 });
  for (const [name, cookies] of Object.entries(res.cookies)) {
    for (const cookie of cookies) console.log(name, cookie.value, cookie.expires, cookie.max_age, cookie.http_only, cookie.secure);
  }
}
