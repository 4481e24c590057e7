// 84, 96: credentials in an address become a header, and stay in res.url
import http from 'k6/http';
const host = __ENV.DEMO_URL.split('//')[1];
export default function () {
  const r = http.get(`http://user:pass@${host}/basic/user/pass`);
  console.log(r.status, r.url === `http://user:pass@${host}/basic/user/pass`, 'Authorization' in r.request.headers);
  console.log(http.get(`http://user:wrong@${host}/basic/user/pass`).status, http.get(`http://${host}/basic/user/pass`, { auth: 'basic' }).status);
}
