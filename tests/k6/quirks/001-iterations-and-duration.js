// 1: iterations with a duration are shared iterations with a maxDuration
import exec from 'k6/execution';
export const options = { iterations: 2, duration: '7s' };
export default function () {
  const { executor, maxDuration, iterations, vus } = exec.test.options.scenarios.default;
  console.log(executor, maxDuration, iterations, vus);
}
