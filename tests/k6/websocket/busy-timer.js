// k6/ws: a timer that is always due does not block messages of the server
import { sleep } from 'k6';
import ws from 'k6/ws';

export default function () {
  let due = 0;
  const res = ws.connect(`${__ENV.DEMO_URL.replace('http', 'ws')}/ws/echo`, null, (socket) => {
    socket.setInterval(() => {
      due += 1;
      if (due === 1) socket.send('first');
      sleep(0.003);
    }, 1);
    let heard = 0;
    socket.on('message', (text) => {
      console.log('heard', text);
      heard += 1;
      if (heard === 5) socket.close();
      else socket.send(`message ${heard}`);
    });
  });
  console.log(res.status, due > 1);
}
