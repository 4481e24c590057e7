// 144: what native functions throw is a GoError
import { fail } from 'k6';
import encoding from 'k6/encoding';
export default function () {
  for (const f of [() => fail('x'), () => encoding.b64decode('?'), () => open('x')]) {
    try { f(); } catch (e) { console.log(e.name, String(e).startsWith('GoError: '), e instanceof Error, Object.prototype.toString.call(e), typeof e.stack, Object.keys(e).join()); }
  }
}
