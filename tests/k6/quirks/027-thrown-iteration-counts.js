// 27: an iteration that threw counts as complete
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { check(1, { one: (v) => v === 1 }); throw new Error('x'); }
