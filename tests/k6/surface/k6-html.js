// k6/html: its exports
import m from 'k6/html';
const names = 'parseHTML'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
