// 5: a duration is milliseconds as a number, and may have days as a string
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'shared-iterations', maxDuration: 5000, gracefulStop: '1d2h', startTime: 0 } } };
export default function () {
  const { maxDuration, gracefulStop, startTime } = exec.test.options.scenarios.a;
  console.log(maxDuration, gracefulStop, startTime);
}
