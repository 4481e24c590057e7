// k6/timers: its exports
import m from 'k6/timers';
const names = 'setTimeout clearTimeout setInterval clearInterval'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
