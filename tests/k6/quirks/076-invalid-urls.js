// 76, 77: a request that fails gives a response with an error
import http from 'k6/http';
export default function () {
  for (const url of ['http://a b.example/', 'no-scheme', '', 'ftp://a/', 'http://', '://', 'http://[::1', 'http://127.0.0.1:1/', 'http://127.0.0.1:99999/', 'https://127.0.0.1:1/x']) {
    const r = http.get(url);
    console.log(JSON.stringify(url), r.status, r.error_code, JSON.stringify(r.body), Object.keys(r.headers).length);
  }
  const r = http.get('http://127.0.0.1:1/');
  console.log(r.error, r.status_text, r.proto, JSON.stringify(r.cookies), r.timings.duration);
}
