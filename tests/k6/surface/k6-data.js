// k6/data: its exports
import m from 'k6/data';
const names = 'SharedArray'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
