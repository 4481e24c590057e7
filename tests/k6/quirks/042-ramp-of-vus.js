// 42: VUs start and stop at evenly spaced instants
// uncounted
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: { a: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 2 }, { duration: '1s', target: 0 }], gracefulRampDown: '0s' } },
};
export default function () {
  if (exec.vu.iterationInScenario === 0) console.log(Math.round((Date.now() - exec.scenario.startTime) / 100));
  sleep(0.05);
}
