// 63: checks that fail do not fail the run
import { check, group } from 'k6';
export const options = { iterations: 3 };
export default function () { console.log(check(1, { never: () => false, always: () => true }), group('g', () => check(null, { nothing: (v) => v }))); }
