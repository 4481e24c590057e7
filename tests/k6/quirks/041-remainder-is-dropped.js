// 41: iterations that maxDuration cuts off count as dropped
import { sleep } from 'k6';
export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', iterations: 10, maxDuration: '1s', gracefulStop: '1s' } },
  thresholds: { dropped_iterations: ['count==8'] },
};
export default function () { sleep(0.7); }
