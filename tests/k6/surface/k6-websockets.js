// k6/websockets: its exports
import m from 'k6/websockets';
const names = 'WebSocket Blob'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
