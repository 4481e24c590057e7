// 56: a predicate that throws fails its check, skips the rest and throws on
import { check } from 'k6';
export default function () {
  console.log(check(1, { ok: () => true, no: () => false }));
  try {
    check(1, { first: () => true, bad: () => { throw new Error('in predicate'); }, never: () => true });
  } catch (e) { console.log(e.message); }
}
