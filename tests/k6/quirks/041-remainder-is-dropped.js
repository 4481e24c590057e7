// 41: iterations that maxDuration cuts off count as dropped
import { sleep } from 'k6';
export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', iterations: 10, maxDuration: '500ms', gracefulStop: '1s' } },
  thresholds: { dropped_iterations: ['count==9'] },
};
export default function () { sleep(0.7); }
