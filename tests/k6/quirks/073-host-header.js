// 73: Host in headers sets the host that is asked for
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.DEMO_URL}/headers`, { headers: { Host: 'other.example' } });
  console.log(r.status, JSON.stringify(r.json()).includes('other.example'));
}
