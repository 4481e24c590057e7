// 57: what becomes of an async predicate
import { check } from 'k6';
export default function () {
  try { console.log(check(1, { a: async () => true })); } catch (e) { console.log(e.name); }
}
