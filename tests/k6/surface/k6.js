// k6: its exports
import m from 'k6';
const names = 'check fail group randomSeed sleep'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
