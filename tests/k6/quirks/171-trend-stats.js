// 171: the summary's data holds the trend stats that were asked for
import { Trend } from 'k6/metrics';
const mine = new Trend('mine', true);
export const options = { summaryTrendStats: ['p(99)', 'count'] };
export default function () { mine.add(2); }
export function handleSummary({ metrics: { mine } }) { return { stdout: `${Object.keys(mine.values).sort().join()} ${mine.contains} ${mine.type}\n` }; }
