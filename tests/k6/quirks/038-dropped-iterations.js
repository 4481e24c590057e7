// 38, 40: an iteration that finds no VU is dropped and never made up
// uncounted
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 1, maxVUs: 1, gracefulStop: '2s' } },
  thresholds: { dropped_iterations: ['count>=3', 'count<=6'] },
};
export default function () { if (exec.scenario.iterationInTest === 0) { console.log('blocks'); sleep(0.45); } }
