// 172: percentages are cut off, not rounded
// flags: --summary-time-unit s
import { check } from 'k6';
import { Rate } from 'k6/metrics';
const rate = new Rate('a_rate');
export const options = { thresholds: { a_rate: ['rate>0.5'], checks: ['rate>0.3'] } };
export default function () {
  for (let index = 0; index < 13; index++) { rate.add(index < 4); check(index, { 'four of thirteen': (i) => i < 4, 'all but one': (i) => i > 0 }); }
}
export function handleSummary(data) {
  const { a_rate, checks } = data.metrics;
  return { stdout: JSON.stringify([a_rate, checks, data.root_group.checks.map((c) => [c.name, c.passes, c.fails])], (key, value) => {
    if (key === 'rate') return Math.trunc(value * 10000) / 100;
    return key === 'values' ? Object.keys(value).sort().map((name) => value[name]) : value;
  }) };
}
