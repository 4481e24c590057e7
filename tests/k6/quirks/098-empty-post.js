// 98: a POST without a body has a length of zero
import http from 'k6/http';
export default function () {
  const { headers } = http.post(`${__ENV.DEMO_URL}/anything`).json();
  console.log(JSON.stringify(Object.entries(headers).filter(([k]) => k.toLowerCase() === 'content-length')));
}
