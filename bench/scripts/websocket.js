// Messages to and fro, as fast as they can: each VU has one connection and waits for each echo.
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const url = __ENV.URL.replace('http', 'ws');
const milliseconds = Number(__ENV.SECONDS) * 1000;
const text = 'x'.repeat(100);

export const options = {
  scenarios: {
    default: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, gracefulStop: '30s' },
  },
};

function blocking() {
  const end = Date.now() + milliseconds;
  ws.connect(url, {}, (socket) => {
    socket.on('open', () => socket.send(text));
    socket.on('message', (message) => {
      if (Date.now() > end) socket.close();
      else socket.send(message);
    });
  });
}

function events() {
  const end = Date.now() + milliseconds;
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(text);
  socket.onmessage = (event) => {
    if (Date.now() > end) socket.close();
    else socket.send(event.data);
  };
}

export default __ENV.API === 'events' ? events : blocking;
