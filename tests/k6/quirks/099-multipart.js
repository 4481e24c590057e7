// 99: files make a body multipart
import http from 'k6/http';
export default function () {
  const f = http.file('data', 'name.txt', 'text/plain'), d = http.file('x');
  console.log(Object.keys(f).sort().join(), f.filename, f.content_type, /^\d+$/.test(d.filename), d.content_type);
  const r = http.post(`${__ENV.DEMO_URL}/anything`, { field: 'v', file: f });
  console.log(r.request.headers['Content-Type'][0].replace(/boundary=.*/, 'boundary'), r.request.body.includes('filename="name.txt"'), r.request.body.includes('name="field"'));
  console.log(http.post(`${__ENV.DEMO_URL}/anything`, { nested: { file: f } }).request.headers['Content-Type'][0]);
  try { http.file(5); } catch (e) { console.log(e.name); }
}
