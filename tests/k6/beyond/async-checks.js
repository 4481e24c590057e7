// Async predicates of check: the result is a promise
import { check, group } from 'k6';
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
export default async function () {
  console.log(await check(2, { sync: (v) => v === 2, later: async (v) => { await wait(5); return v === 2; } }));
  console.log(await check(2, { wrong: async () => { await wait(5); return false; } }, { kind: 'x' }));
  try { await check(1, { throws: async () => { throw new Error('in predicate'); } }); } catch (e) { console.log(e.message); }
  console.log(check(1, { plain: true }));
}
