// With digest the credentials leave res.url, and stay in the address of the request.
import http from 'k6/http';
const host = __ENV.DEMO_URL.split('//')[1];
export default function () {
  const url = `http://user:pass@${host}/ping`;
  const r = http.get(url, { auth: 'digest' });
  console.log(r.status, r.url === `http://${host}/ping`, r.request.url === url);
  const plain = http.get(`http://${host}/ping`, { auth: 'digest' });
  console.log(plain.status, plain.url === plain.request.url);
}
