// 36, 37: a constant arrival rate starts at once, a ramping one when the first is due
// uncounted
import exec from 'k6/execution';
export const options = {
  scenarios: {
    flat: { executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 2, exec: 'flat' },
    ramp: { executor: 'ramping-arrival-rate', startRate: 0, stages: [{ target: 10, duration: '1s' }], preAllocatedVUs: 2, exec: 'ramp', startTime: '2s' },
  },
};
const since = () => Date.now() - exec.scenario.startTime;
export function flat() { if (exec.scenario.iterationInTest === 0) console.log('flat', since() < 200); }
export function ramp() { if (exec.scenario.iterationInTest === 0) console.log('ramp', since() > 300 && since() < 700); }
