// k6/experimental/fs: its exports
import m from 'k6/experimental/fs';
const names = 'open SeekMode'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
