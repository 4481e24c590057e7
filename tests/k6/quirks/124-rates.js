// 124: any value but 0 is a hit
import { Rate } from 'k6/metrics';
const rate = new Rate('some_rate');
export const options = { thresholds: { some_rate: ['rate==0.75'] } };
export default function () { for (const value of [-1, 0.5, true, false, 0, '2', 1e9, -0.0001]) rate.add(value); }
export function handleSummary(data) { const { passes, fails, rate: share } = data.metrics.some_rate.values; return { stdout: `${passes} ${fails} ${share}\n` }; }
