// 15: a script from stdin may be TypeScript
// stdin
import { check } from 'k6';
import exec from 'k6/execution';
enum Colour { Red = 1, Green }
interface Answer { ok: boolean; colour?: Colour }
export const options = { vus: 1, iterations: 2 };
export default function () {
  const answer = { ok: true, colour: Colour.Green } satisfies Answer;
  check(answer, { 'typed': (one: Answer) => one.ok && Colour[one.colour!] === 'Green' });
  console.log(exec.vu.iterationInScenario, __ITER);
if (__ITER === 1) throw new Error('in the second');
}
