// 29: fail throws an ordinary exception
import { fail } from 'k6';
export const options = { iterations: 2 };
export default function () {
  if (__ITER === 1) fail('for good');
  try { fail('why'); } catch (e) { console.log(e.name, e.message, String(e), e instanceof Error, typeof e); }
  try { fail(); } catch (e) { console.log(JSON.stringify(e.message)); }
}
