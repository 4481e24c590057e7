// The shape of a response.
import http from 'k6/http';

const url = __ENV.DEMO_URL;

export default function () {
  const res = http.get(`${url}/json`);
  console.log(JSON.stringify(Object.keys(res)));
  console.log(res.status, res.status_text, res.proto, res.error, res.error_code, res.remote_ip);
  console.log(typeof res.remote_port, res.tls_version, res.tls_cipher_suite, JSON.stringify(res.ocsp));
  console.log(JSON.stringify(Object.keys(res.timings)));
  console.log(JSON.stringify(Object.keys(res.request)), res.request.method, res.request.body);
  console.log(typeof res.json, typeof res.html, typeof res.submitForm, typeof res.clickLink);
  const show = (name, r) => {
    console.log(`${name}: ${r.status} [${r.status_text}] ${JSON.stringify(r.body)} ${r.error} ${r.error_code} ${r.proto} ${JSON.stringify(r.cookies)}`);
  };
  for (const code of [200, 201, 204, 206, 299, 300, 304, 400, 401, 403, 404, 418, 429, 451, 499, 500, 503, 511, 599]) {
    const r = http.get(`${url}/status/${code}`);
    console.log(code, r.status, r.status_text, r.error_code, r.body === null);
  }
  show('head', http.head(`${url}/ping`));
  show('none', http.get(`${url}/ping`, { responseType: 'none' }));
  const binary = http.get(`${url}/ping`, { responseType: 'binary' });
  console.log(binary.body instanceof ArrayBuffer, binary.body.byteLength);
  const refused = http.get('http://127.0.0.1:1/x?y');
  show('refused', refused);
  console.log(JSON.stringify(refused.headers), refused.url, refused.request.url, refused.timings.duration);
  const invalid = http.get('http://[::1');
  console.log(JSON.stringify(invalid), invalid.body.length, invalid.url === '');
  for (const f of [() => refused.json(), () => refused.html(), () => http.get(`${url}/ping`).json(), () => http.get(`${url}/ping`).json('a')]) {
    try {
      console.log('returned', f());
    } catch (e) {
      console.log(e.name, e.message);
    }
  }
  res.status = 7;
  console.log(res.status, 'extra' in res, 'json' in res);
  console.log(res instanceof Object, Object.prototype.toString.call(res), typeof res);
  const { status, headers, ...rest } = res;
  console.log(status, typeof headers, Object.keys(rest).length);
}
