// k6/execution: its exports
import m from 'k6/execution';
const names = 'instance scenario test vu'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? 'there' : 'absent');
}
