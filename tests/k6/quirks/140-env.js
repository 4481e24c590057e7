// 140: the environment may be written to
export const options = { scenarios: { a: { executor: 'per-vu-iterations', iterations: 2, env: { MINE: 'scenario' } } } };
const before = __ENV.MINE;
export default function () {
  console.log(before, __ENV.MINE, typeof __ENV.DEMO_URL, __ENV.NOPE, __ENV.count);
  __ENV.count = `${Number(__ENV.count || 0) + 1}`;
}
