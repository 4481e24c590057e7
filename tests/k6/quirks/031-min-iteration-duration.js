// 31: minIterationDuration pads the iteration, but not its measured duration
import { Counter } from 'k6/metrics';
const gap = new Counter('gap');
export const options = { iterations: 2, minIterationDuration: '300ms', thresholds: { iteration_duration: ['max<250'], gap: ['count>=280'] } };
let last = 0;
export default function () { const now = Date.now(); if (last) gap.add(now - last); last = now; }
