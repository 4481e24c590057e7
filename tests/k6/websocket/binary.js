import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';

const url = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws/echo`;

export default function () {
  ws.connect(url, {}, (socket) => {
    socket.on('open', () => socket.sendBinary(new Uint8Array([1, 2, 3]).buffer));
    socket.on('binaryMessage', (data) => {
      console.log(data instanceof ArrayBuffer, new Uint8Array(data).join());
      socket.ping();
    });
    socket.on('pong', () => socket.close(3000));
    for (const wrong of [undefined, null, 'text', 5, new Uint8Array(2)]) {
      try {
        socket.sendBinary(wrong);
      } catch (e) {
        console.log(String(e));
      }
    }
  });
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(new Uint8Array([4, 5]));
  socket.onmessage = async (event) => {
    if (event.data instanceof ArrayBuffer) {
      console.log('buffer', event.data.byteLength);
      socket.close();
      return;
    }
    console.log('blob', event.data.size, await event.data.text() === '\x04\x05');
    socket.binaryType = 'arraybuffer';
    socket.send(new Uint16Array([6]).buffer);
  };
  socket.onclose = (event) => console.log('close', event.code);
}
