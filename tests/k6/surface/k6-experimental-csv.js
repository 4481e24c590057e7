// k6/experimental/csv: its exports
import m from 'k6/experimental/csv';
const names = 'parse Parser'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
