// 78: what a request throws is a GoError without an error code
import http from 'k6/http';
export const options = { throw: true };
export default function () {
  for (const f of [() => http.get('http://127.0.0.1:1/'), () => http.get('nonsense://x'), () => http.batch(['http://127.0.0.1:1/']), () => http.get(`${__ENV.DEMO_URL}/status/500`)]) {
    try { console.log('status', f().status); } catch (error) { console.log(error.name, error.message, error.error_code, error.code, error instanceof Error, Object.keys(error).join()); }
  }
  try { http.get('http://127.0.0.1:1/', { throw: false }); console.log('not thrown'); } catch (error) { console.log('thrown'); }
  http.get('http://127.0.0.1:1/uncaught');
}
