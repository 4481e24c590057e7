// 102: async requests overlap
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default async function () {
  const start = Date.now();
  const all = await Promise.all([1, 2, 3].map((n) => http.asyncRequest('GET', `${U}/delay/300?n=${n}`)));
  console.log(all.map((r) => r.status).join(), Date.now() - start < 800);
  const bad = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
  console.log(bad.status, bad.error_code);
  try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (e) { console.log('rejected'); }
}
