// 42: startVUs is 1 by default
// uncounted
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'ramping-vus', stages: [{ duration: '200ms', target: 1 }] } } };
let told = false;
export default function () {
  if (!told) console.log(exec.test.options.scenarios.a.startVUs, exec.test.options.scenarios.a.gracefulRampDown);
  told = true;
  const end = Date.now() + 400;
  while (Date.now() < end);
}
