// k6/ws: its exports
import m from 'k6/ws';
const names = 'connect'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
