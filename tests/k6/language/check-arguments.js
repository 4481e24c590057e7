// check() with arguments that are not sets of checks.
import { check } from 'k6';

function tried(f) {
  try {
    return f();
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
}

export default function () {
  console.log(tried(() => check()));
  console.log(tried(() => check(1)));
  console.log(tried(() => check(1, null)));
  console.log(tried(() => check(1, undefined)));
  console.log(tried(() => check(1, 'text')));
  console.log(tried(() => check(1, 5)));
  console.log(tried(() => check(1, [() => true, () => false])));
  console.log(tried(() => check(1, { a: NaN, b: '', c: {}, d: [], e: 0 })));
}
