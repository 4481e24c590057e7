import ws from 'k6/ws';

const base = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws`;

function talk(path, params) {
  return ws.connect(base + path, params, (socket) => {
    socket.on('open', () => {
      console.log(path, 'open');
      socket.send('hi');
    });
    socket.on('message', (message) => {
      console.log(path, 'message', message);
      socket.close();
    });
    socket.on('error', (e) => console.log(path, 'error', e.error(), e.code));
    socket.on('close', (code) => console.log(path, 'close', code));
    socket.setTimeout(() => socket.close(), 2000);
  });
}

export default function () {
  for (const path of ['/echo', '/close?code=1000', '/close?code=3000&reason=why', '/raw?hex=8800', '/drop', '/nothing']) {
    const res = talk(path, { tags: { path } });
    console.log(path, res.status, JSON.stringify(res.error), Object.keys(res).join());
  }
  console.log(JSON.stringify(ws.connect('foo', {}, () => 0)));
  for (const wrong of [() => ws.connect(), () => ws.connect(base), () => ws.connect(base, {}), () => talk('/echo', { compression: 'gzip' })]) {
    try {
      wrong();
    } catch (e) {
      console.log(String(e));
    }
  }
}
