// k6/experimental/streams: its exports
import m from 'k6/experimental/streams';
const names = 'ReadableStream ReadableStreamDefaultReader'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? typeof m[k] : 'absent');
}
