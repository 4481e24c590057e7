// 170: rates, gauges and counters in the data of the summary
import { Rate, Gauge, Counter } from 'k6/metrics';
const r = new Rate('my_r'), g = new Gauge('my_g'), c = new Counter('my_c');
export default function () { r.add(1); r.add(0); r.add(0); g.add(7); c.add(3); }
export function handleSummary({ metrics }) {
  const told = (n) => `${n} ${metrics[n].type} ${metrics[n].contains} ${Object.keys(metrics[n].values).sort()}`;
  return { stdout: `${['my_r', 'my_g', 'my_c'].map(told).join('\n')}\n${metrics.my_r.values.rate}\n` };
}
