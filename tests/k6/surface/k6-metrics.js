// k6/metrics: its exports
import m from 'k6/metrics';
const names = 'Counter Gauge Rate Trend'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
