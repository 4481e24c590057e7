// 3: iterations alone are shared by one VU
import exec from 'k6/execution';
export const options = { iterations: 3 };
export default function () {
  const { executor, vus, iterations } = exec.test.options.scenarios.default;
  console.log(executor, vus, iterations, __VU, __ITER);
}
