// 97: HTTP/2 comes by itself with TLS, and never without
import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, thresholds: { 'http_reqs{proto:HTTP/2.0}': ['count==3'], 'http_reqs{proto:HTTP/1.1}': ['count==1'] } };
export default function () {
  console.log(http.get(`${__ENV.DEMO_TLS}/json`).proto, http.get(`${__ENV.DEMO_URL}/json`).proto);
  const [one, other] = http.batch([`${__ENV.DEMO_TLS}/json`, `${__ENV.DEMO_TLS}/ping`]);
  console.log(one.proto, other.proto, one.tls_version);
}
