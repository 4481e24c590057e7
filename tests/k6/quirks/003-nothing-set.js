// 3: without options one VU runs once
import exec from 'k6/execution';
export default function () {
  const { executor, vus, iterations, maxDuration } = exec.test.options.scenarios.default;
  console.log(executor, vus, iterations, maxDuration);
}
