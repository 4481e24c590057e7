// 57: predicates may be plain values, and a promise is truthy
import { check } from 'k6';
export default function () {
  console.log(check(null, { t: true, one: 1, text: 'x', obj: {}, promise: () => Promise.resolve(false) }));
  console.log(check(null, { f: false, zero: 0, empty: '', n: null, u: undefined, nan: NaN }));
}
