// 103: libraries may replace http.get
import http, { get } from 'k6/http';
import * as all from 'k6/http';
const old = http.get;
http.get = function (...args) { console.log('wrapped'); return old.apply(this, args); };
export default function () {
  console.log(http.get(`${__ENV.DEMO_URL}/ping`).status, typeof all.get, typeof get);
}
