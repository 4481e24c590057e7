// 73: the option hosts leads a name elsewhere and keeps it in Host
import http from 'k6/http';
const [, port] = __ENV.DEMO_URL.split('//')[1].split(':');
export const options = { hosts: { 'made.up.example': '127.0.0.1', '*.wild.example': '127.0.0.1' } };
export default function () {
  const r = http.get(`http://made.up.example:${port}/headers`);
  console.log(r.status, JSON.stringify(r.json()).includes('made.up.example'), r.remote_ip, http.get(`http://a.wild.example:${port}/ping`).status);
}
