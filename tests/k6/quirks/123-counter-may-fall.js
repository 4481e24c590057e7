// 123, 124: counters take negatives, rates count everything but zero
import { Counter, Rate, Gauge } from 'k6/metrics';
const c = new Counter('my_c'), r = new Rate('my_r'), g = new Gauge('my_g');
export default function () {
  c.add(5); c.add(-7);
  r.add(-1); r.add(0); r.add(0.5); r.add(true); r.add(false); r.add('');
  g.add(5); g.add(-3); g.add(2);
}
export function handleSummary({ metrics: { my_c, my_r, my_g } }) {
  const told = (m) => Object.entries(m.values).sort().join(' ');
  return { stdout: `${my_c.values.count} ${told(my_r)} ${told(my_g)}\n` };
}
