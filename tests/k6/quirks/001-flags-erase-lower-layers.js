// 1: a flag of the duration family erases the scenarios of the script
// flags: --iterations 2
import exec from 'k6/execution';
export const options = { scenarios: { mine: { executor: 'per-vu-iterations', vus: 1, iterations: 5 } } };
export default function () {
  console.log(exec.scenario.name, exec.scenario.executor, Object.keys(exec.test.options.scenarios).join());
}
