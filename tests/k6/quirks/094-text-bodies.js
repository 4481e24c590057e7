// 94: text is UTF-8 whatever the charset says, a bad byte is U+FFFD, and binary is an ArrayBuffer
import http from 'k6/http';
const U = __ENV.DEMO_URL;
const bytes = new Uint8Array([0x61, 0xe4, 0x62, 0xc3, 0xa4, 0xff, 0xfe, 0xe2, 0x82, 0x7a, 0xf0, 0x9f, 0x98, 0x80]);
const codes = (text) => Array.from(text).map((c) => c.codePointAt(0).toString(16)).join(' ');
export default function () {
  for (const type of ['text/plain; charset=iso-8859-1', 'text/plain; charset=utf-16', 'application/octet-stream']) {
    const params = { headers: { 'Content-Type': type } };
    const res = http.post(`${U}/anything/x`, bytes.buffer, params);
    console.log(res.status, codes(res.request.body));
  }
  const binary = http.get(`${U}/ping`, { responseType: 'binary' });
  console.log(binary.body instanceof ArrayBuffer, binary.body.byteLength, typeof binary.body);
  console.log(Array.from(new Uint8Array(binary.body)).join());
  console.log(http.get(`${U}/ping`, { responseType: 'text' }).body);
}
