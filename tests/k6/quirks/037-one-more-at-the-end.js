// 37: a constant rate has one more start right at its end: three at 1/s for two seconds
import exec from 'k6/execution';
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 1, duration: '2s', preAllocatedVUs: 1 } },
};
export default function () {
  console.log(exec.scenario.iterationInTest);
}
