// 61: the third argument of check are tags
import { check } from 'k6';
export const options = { thresholds: { 'checks{kind:x}': ['rate==1'], 'checks{n:5}': ['rate==1'] } };
export default function () {
  console.log(check(1, { a: true }, { kind: 'x', n: 5, b: true }), check(1, { b: false }));
}
