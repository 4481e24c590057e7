// 181: k6/ws counts messages only; pings and closes are none
import ws from 'k6/ws';
export default function () {
  const url = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws/echo`;
  const res = ws.connect(url, (socket) => {
    socket.on('open', () => { socket.ping(); socket.send('a'); socket.send('b'); });
    let got = 0;
    socket.on('message', () => { got += 1; if (got === 2) socket.close(); });
    socket.on('close', (code) => console.log('closed', code));
  });
  console.log(res.status);
}
