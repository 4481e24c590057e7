// 81: the duration holds neither connecting nor looking up
import http from 'k6/http';
export default function () {
  const { timings: t } = http.get(`${__ENV.DEMO_URL}/ping`);
  console.log(Math.abs(t.sending + t.waiting + t.receiving - t.duration) < 0.01, t.blocked > 0, t.connecting > 0, t.tls_handshaking);
}
