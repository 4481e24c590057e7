// k6/ws and k6/websockets: what objects look like, odd arguments
// uncounted

import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const base = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws`;

function tell(name, run) {
  try {
    console.log(name, JSON.stringify(run()));
  } catch (e) {
    console.log(name, 'threw', String(e));
  }
}

const oddities = {
  nothing: undefined, null: null, text: 'x', number: 5, bool: true, object: {}, array: [1], view: new Uint8Array(2),
  function: () => 0, date: new Date(0), pattern: /x/, map: new Map(), set: new Set(), promise: Promise.resolve(),
};

function blocking() {
  ws.connect(`${base}/echo`, null, (socket) => {
    console.log(Object.keys(socket).join());
    const { on, send, sendBinary, close, setTimeout, setInterval } = socket;
    on('open', () => {
      for (const [name, value] of Object.entries(oddities)) tell(`sendBinary ${name}`, () => sendBinary(value));
      for (const ms of [undefined, null, 0, -1, 'x', NaN, Infinity, -Infinity, {}]) tell(`timeout ${ms}`, () => setTimeout(() => 0, ms));
      for (const ms of [undefined, 0, 'x']) tell(`interval ${ms}`, () => setInterval(() => 0, ms));
      tell('text as function', () => setTimeout('x', 5));
      close();
      tell('closed', () => send('x'));
    });
    on('error', (e) => console.log('error', e.error(), String(e), JSON.stringify(e)));
    on('close', (code) => console.log('close', code));
  });
  for (const compression of [undefined, null, 5, '', ' ', ' deflate ', 'Deflate', 'gzip']) {
    tell(`compression ${compression}`, () => ws.connect(`${base}/close`, { compression }, () => 0).error);
  }
  for (const name of ['Connection', 'Upgrade', 'Sec-WebSocket-Key', 'Sec-WebSocket-Version', 'Sec-WebSocket-Extensions']) {
    tell(name, () => ws.connect(`${base}/close`, { headers: { [name]: 'x' } }, () => 0).error);
  }
  for (const url of ['', 'ws://', 'ws:///x', 'ws://127.0.0.1:99999/', 'WS://127.0.0.1:1/']) {
    tell(`url ${url}`, () => ws.connect(url, null, () => 0).error);
  }
  tell('four arguments', () => ws.connect(base, {}, () => 0, 1));
  tell('throws a text', () => ws.connect(`${base}/close`, () => { throw 'text'; }));
}

const talk = (url, protocols, params, use) =>
  new Promise((done) => {
    try {
      const socket = new WebSocket(url, protocols, params);
      socket.onerror = (e) => console.log('error', e.error);
      socket.onclose = (e) => { console.log('close', e.code, e.reason); done(); };
      use(socket);
    } catch (e) {
      console.log('threw', String(e));
      done();
    }
  });

async function events() {
  await talk(`${base}/echo`, ['a', 'b'], { compression: 'deflate' }, (socket) => {
    console.log(Object.keys(socket).join(), JSON.stringify(socket));
    const { addEventListener, send, ping, close } = socket;
    tell('early', () => send('x'));
    tell('early ping', () => ping());
    for (const [name, value] of [['none'], ['foo', () => 0], ['open', 'x'], ['open', null], ['message', {}]]) {
      tell(`listener ${name}`, () => addEventListener(name, value));
    }
    for (const name of ['blob', 'foo', null, undefined, 'arraybuffer']) tell(`binaryType ${name}`, () => { socket.binaryType = name; return socket.binaryType; });
    let seen = 0;
    socket.onopen = () => {
      console.log(JSON.stringify(socket.extensions), socket.protocol);
      send('a');
      for (const name of ['nothing', 'null', 'number', 'bool', 'object', 'array', 'date']) tell(`send ${name}`, () => send(oddities[name]));
      for (const data of [new Uint8Array(3).buffer, new Uint8Array(4).subarray(1, 3), new Uint16Array(3)]) send(data);
    };
    addEventListener('message', (e) => {
      console.log(JSON.stringify(Object.keys(e)), typeof e.data === 'string' ? e.data : e.data.byteLength);
      if (++seen === 4) close(3001, 'enough');
      if (seen >= 4) { tell('closing', () => send('x')); tell('again', () => close()); }
    });
  });
  for (const [code, reason] of [['x'], [NaN], [null, null], [0], [1000.5], [3000.9], ['3000'], [{}], [Infinity], [4999, 5], [3000, {}], [999], [1001], [5000], [-1], [true], [3000, 'é'.repeat(62)]]) {
    await talk(`${base}/echo`, null, null, (socket) => {
      socket.onopen = () => { tell(`close ${code}`, () => socket.close(code, reason)); socket.close(); };
    });
  }
  // Messages that come after `close()` are not heard of.
  await talk(`${base}/raw?hex=810161810162810163`, null, null, (socket) => {
    socket.onmessage = (e) => { console.log(e.data); socket.close(); };
  });
  for (const compression of [undefined, null, 5, '', ' deflate ']) await talk(`${base}/close`, null, { compression }, () => 0);
  for (const protocol of ['', 'a', [], 5, [5], ['a,b'], 'a, b']) await talk(`${base}/close`, protocol, {}, (socket) => { socket.onopen = () => console.log('chosen', socket.protocol); });
  for (const url of ['ws://', 'ws:///x', 'ws:a', '//a', 5, 'ws://127.0.0.1:99999/', `${base}/nothing#`]) await talk(url, null, null, () => 0);
}

export default async function () {
  blocking();
  await events();
}
