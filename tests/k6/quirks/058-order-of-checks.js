// 58: names like integers come first
import { check } from 'k6';
export default function () {
  const seen = [];
  check(1, { b: () => seen.push('b'), 10: () => seen.push('10'), 2: () => seen.push('2'), a: () => seen.push('a') });
  console.log(seen.join());
}
