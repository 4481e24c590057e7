// HTTP by hand, over a TCP connection with events.

import { check } from 'k6';
import { Socket } from 'k6/x/tcp';

const base = __ENV.DEMO_URL || 'http://127.0.0.1:8080';
const [host, port] = base.replace('http://', '').replace('/', '').split(':');

export const options = {
  iterations: 3,
  thresholds: {
    checks: ['rate==1'],
    tcp_errors: ['count==0'],
    tcp_socket_connecting: ['p(95)<5000'],
  },
};

export default async function () {
  const socket = new Socket();
  socket.setTimeout(5000);
  socket.on('timeout', () => socket.destroy());
  let answer = '';
  socket.on('data', (data) => {
    answer += String.fromCharCode(...data);
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));

  await socket.connectAsync(port, host);
  await socket.writeAsync(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  await closed;
  check(answer, { 'it is an answer': (text) => text.startsWith('HTTP/1.1 200') });
}
