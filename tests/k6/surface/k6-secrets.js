// k6/secrets: its exports
import m from 'k6/secrets';
const names = 'get source'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
