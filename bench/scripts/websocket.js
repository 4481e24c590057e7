// Messages to and fro, as fast as they can. Each VU has one connection; PATTERN says how they come:
// `one`: it waits for each echo; `ten`: ten are sent at once, and ten more when all their echoes are here; `push`: for one
// that is sent, a thousand come. With `open`, each iteration opens a connection and closes it.
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const pattern = __ENV.PATTERN;
const [sent, received] = { one: [1, 1], ten: [10, 10], push: [1, 1000], open: [0, 0] }[pattern];
const url = __ENV.URL.replace('http', 'ws') + (pattern === 'push' ? '?times=1000' : '');
const milliseconds = Number(__ENV.SECONDS) * 1000;
const text = 'x'.repeat(100);

const vus = Number(__ENV.VUS);
const scenario =
  pattern === 'open'
    ? { executor: 'constant-vus', vus, duration: `${__ENV.SECONDS}s`, gracefulStop: '30s' }
    : { executor: 'per-vu-iterations', vus, iterations: 1, gracefulStop: '30s' };

export const options = { scenarios: { default: scenario } };

function send(socket) {
  for (let i = 0; i < sent; i++) socket.send(text);
}

function blocking() {
  const end = Date.now() + milliseconds;
  ws.connect(url, {}, (socket) => {
    let left = received;
    socket.on('open', () => (sent === 0 ? socket.close() : send(socket)));
    socket.on('message', (data) => {
      if (data.length !== text.length) throw new Error(data);
      if (--left > 0) return;
      left = received;
      if (Date.now() > end) socket.close();
      else send(socket);
    });
  });
}

function events() {
  const end = Date.now() + milliseconds;
  const socket = new WebSocket(url);
  let left = received;
  socket.onopen = () => (sent === 0 ? socket.close() : send(socket));
  socket.onmessage = ({ data }) => {
    if (data.length !== text.length) throw new Error(data);
    if (--left > 0) return;
    left = received;
    if (Date.now() > end) socket.close();
    else send(socket);
  };
}

export default __ENV.API === 'events' ? events : blocking;
