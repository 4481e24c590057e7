// k6/ws and k6/websockets: what a script throws while connections are open, and what is counted then

import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { Counter } from 'k6/metrics';

export const options = { vus: 1, iterations: 8 };

const base = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws`;
const seen = new Counter('seen');

function open(name, use) {
  const socket = new WebSocket(`${base}/echo`, null, { tags: { name } });
  socket.onerror = (e) => console.log(name, 'error', e.error.replace(/ at .*/, ''));
  socket.onclose = (e) => console.log(name, 'close', e.code, JSON.stringify(e.reason));
  use(socket);
}

const scripts = [
  () => open('open', (s) => { s.onopen = () => { throw new TypeError('in open'); }; }),
  () => open('message', (s) => { s.onopen = () => s.send('x'); s.onmessage = () => { throw 'a text'; }; }),
  () => open('close', (s) => { s.onopen = () => s.close(); s.onclose = () => { throw new Error('in close'); }; }),
  () => open('timer', (s) => { s.onopen = () => setTimeout(() => { throw new Error('in a timer'); }, 10); }),
  () => open('promise', (s) => { s.onopen = () => { Promise.reject(new Error('rejected')); }; }),
  () => open('after', (s) => { s.onmessage = () => seen.add(1); s.onopen = () => { s.send('x'); s.close(); }; }),
  () => ws.connect(`${base}/echo`, { tags: { name: 'blocking' } }, (s) => {
    s.on('open', () => { s.close(); s.send('late'); s.sendBinary(new ArrayBuffer(1)); });
  }),
  () => ws.connect(`${base}/echo`, null, (s) => {
    s.on('close', (code) => console.log('blocking close', code));
    s.on('open', () => { throw 'another text'; });
  }),
];

export default function () {
  scripts[__ITER]();
}
