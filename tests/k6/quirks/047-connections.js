// 47: a connection survives iterations, unless it is forbidden to
import http from 'k6/http';
export const options = { iterations: 3 };
export default function () { console.log(http.get(`${__ENV.DEMO_URL}/ping`).timings.connecting > 0); }
