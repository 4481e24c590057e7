// 2: vus alone means shared iterations, whatever the scenarios say
// unordered
import exec from 'k6/execution';
export const options = { vus: 2, scenarios: { mine: { executor: 'per-vu-iterations', vus: 1, iterations: 9 } } };
export default function () {
  const { executor, vus, iterations } = exec.test.options.scenarios.default;
  console.log(exec.scenario.name, executor, vus, iterations);
}
