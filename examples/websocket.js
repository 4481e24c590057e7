// WebSockets, both ways that k6 has: a blocking one, and the one of browsers.
import { check } from 'k6';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const url = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws/echo`;

export const options = {
  iterations: 4,
  vus: 2,
  thresholds: { ws_connecting: ['p(95)<1000'], checks: ['rate==1'] },
};

export default function () {
  const response = ws.connect(url, { tags: { api: 'blocking' } }, (socket) => {
    socket.on('open', () => socket.send('hello'));
    socket.on('message', (message) => {
      check(message, { 'the echo came': (text) => text === 'hello' });
      socket.close(1000);
    });
    socket.setTimeout(() => socket.close(1000), 5000);
  });
  check(response, { 'switched protocols': (r) => r && r.status === 101 });

  const socket = new WebSocket(url, null, { tags: { api: 'events' }, compression: 'deflate' });
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => socket.send(new Uint8Array([1, 2, 3]));
  socket.addEventListener('message', (event) => {
    check(event.data, { 'the bytes came back': (bytes) => bytes.byteLength === 3 });
    socket.close();
  });
}
