// 93: a connection that is cut within a body: status 0, an error, and what came is kept
import http from 'k6/http';
import { check } from 'k6';
const U = __ENV.DEMO_FAULTS;
export default function () {
  for (const path of ['short-body', 'reset-mid-body', 'truncated-chunk', 'missing-last-chunk', 'close']) {
    const res = http.get(`${U}/${path}`);
    console.log(path, res.status, res.error_code, res.error, typeof res.body, res.body === null ? 'null' : res.body.length > 0, Object.keys(res.headers).length > 0);
    check(res, { [path]: (r) => r.status === 0 && r.error !== '' });
  }
}
