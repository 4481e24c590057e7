// 169: ok in the summary's data means passed
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { thresholds: { mine: ['count<1', 'count<5'] } };
export default function () { mine.add(2); }
export function handleSummary(data) { return { stdout: `${Object.entries(data.metrics.mine.thresholds).map(([k, v]) => k + JSON.stringify(v)).sort().join()}\n` }; }
