// 66, 67: an empty User-Agent is not sent, and no Accept-Encoding is
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export const options = { iterations: 1 };
export default function () {
  const seen = (params) => http.get(`${U}/headers`, params).json();
  const low = (o) => Object.fromEntries(Object.entries(o.headers || o).map(([k, v]) => [k.toLowerCase(), v]));
  const plain = low(seen());
  console.log(/^(Grafana )?k6\/|brunt/i.test(String(plain['user-agent'])), 'accept-encoding' in plain);
  console.log('user-agent' in low(seen({ headers: { 'User-Agent': '' } })), low(seen({ headers: { 'user-agent': 'mine' } }))['user-agent']);
}
