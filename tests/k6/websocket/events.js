import { WebSocket } from 'k6/websockets';

const base = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws`;

function talk(url, protocols, params) {
  return new Promise((done) => {
    const ws = new WebSocket(url, protocols, params);
    const path = url.replace(base, '');
    ws.addEventListener('open', () => {
      console.log(path, 'open', ws.readyState, ws.protocol);
      ws.send('hi');
    });
    ws.addEventListener('message', (e) => {
      console.log(path, 'message', e.data, e.type, e.target === ws, typeof e.timestamp, e.origin === url);
      ws.close();
    });
    ws.addEventListener('error', (e) => console.log(path, 'error', e.error));
    ws.addEventListener('close', (e) => {
      console.log(path, 'close', e.code, e.reason, ws.readyState);
      done();
    });
  });
}

export default async function () {
  await talk(`${base}/echo`);
  await talk(`${base}/echo`, ['one', 'two']);
  await talk(`${base}/close?code=1000`);
  await talk(`${base}/close?code=4000&reason=why`);
  await talk(`${base}/raw?hex=8800`);
  await talk(`${base}/drop`);
  await talk(`${base}/nothing`);
  for (const wrong of [undefined, 'foo', 'http://a', 'ws://a/#b', 'ws://[::1']) {
    try {
      new WebSocket(wrong);
    } catch (e) {
      console.log(String(e));
    }
  }
}
