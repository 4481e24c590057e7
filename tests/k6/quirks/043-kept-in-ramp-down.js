// 43: a VU that is needed again before its graceful ramp-down ended goes on without a new activation
import { sleep } from 'k6';
import exec from 'k6/execution';
const stages = [[300, 1], [100, 0], [100, 0], [300, 1], [1000, 1]].map(([ms, target]) => ({ duration: `${ms}ms`, target }));
const ramp = { executor: 'ramping-vus', startVUs: 1, stages };
export const options = {
  scenarios: { kept: { ...ramp, gracefulRampDown: '3s' }, stopped: { ...ramp, gracefulRampDown: '0s', startTime: '3s' } },
};
export default function () {
  console.log(exec.scenario.name, __ENV.SEEN, exec.vu.iterationInScenario);
  __ENV.SEEN = 'since its activation';
  sleep(0.7);
}
