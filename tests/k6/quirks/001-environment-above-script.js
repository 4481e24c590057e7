// 1: the environment overrides the script, a flag overrides both
// env: K6_VUS=2 K6_ITERATIONS=2
// flags: --iterations 3
// unordered
import exec from 'k6/execution';
export const options = { vus: 5, iterations: 9 };
export default function () {
  const { vus, iterations } = exec.test.options.scenarios.default;
  console.log(vus, iterations);
}
