// 54: percentiles interpolate between the two nearest values
import { Trend } from 'k6/metrics';
const t = new Trend('mine');
export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'count', 'p(90)', 'p(95)', 'p(99.9)'],
};
export default function () { for (let i = 1; i <= 10; i++) t.add(i * i); }
export function handleSummary(data) { return { stdout: `${JSON.stringify(Object.entries(data.metrics.mine.values).sort())}\n` }; }
