// 131, 132: the keys of the summary's data
import { Counter } from 'k6/metrics';
const c = new Counter('checks_mine');
export default function () { c.add(4); }
export function handleSummary(data) {
  const m = data.metrics.checks_mine;
  return { stdout: `${Object.keys(data).filter((k) => !['setup_data', 'verdict', 'seed'].includes(k)).sort()} ${m.type} ${m.contains} ${m.values.count} ${m.values.rate > 0}\n${JSON.stringify(data.options)}\n` };
}
