// k6/encoding: its exports
import m from 'k6/encoding';
const names = 'b64encode b64decode'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
