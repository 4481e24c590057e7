// 61: the tag `check` is the check's name, whatever the third argument says
import { check } from 'k6';
export const options = { thresholds: { 'checks{check:mine}': ['rate==1'], 'checks{check:real}': ['rate==1'], 'checks{other:x}': ['rate==1'] } };
export default function () { console.log(check(1, { real: () => true }, { check: 'mine', other: 'x' })); }
export function handleSummary(data) { return { stdout: Object.keys(data.metrics).filter((n) => n.startsWith('checks')).sort().map((n) => `${n} ${data.metrics[n].values.passes}`).join('\n') }; }
