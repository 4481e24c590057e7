// 122: with the option throw a bad value throws
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export const options = { throw: true };
export default function () {
  for (const v of [NaN, null, undefined, 'abc']) { try { console.log(mine.add(v)); } catch (e) { console.log(e.name); } }
}
