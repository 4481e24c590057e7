// Frames that no server should send: what k6/ws and k6/websockets make of them
// uncounted

import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';

const base = `${__ENV.DEMO_URL.replace('http', 'ws')}/ws`;

// The first bytes on the connection, in hexadecimal.
const ends = {
  normal: '880203e8', 'going away': '880203e9', 'no code': '8800', 'half a code': '880103', 'with a reason': '88050bb8776879',
  1002: '880203ea', 1003: '880203eb', 1004: '880203ec', 1005: '880203ed', 1006: '880203ee', 1007: '880203ef', 1008: '880203f0',
  1009: '880203f1', 1010: '880203f2', 1011: '880203f3', 1012: '880203f4', 1013: '880203f5', 1014: '880203f6', 1015: '880203f7',
  1016: '880203f8', 999: '880203e7', 2999: '88020bb7', 3000: '88020bb8', 5000: '88021388',
  'a reason that is no text': '880403e8c328', 'a long close frame': `887e008003e8${'61'.repeat(126)}`,
  'a ping in parts': '0900', 'a long ping': `897e0080${'61'.repeat(128)}`,
  'the first bit': 'c10161', 'the second bit': 'a10161', 'the third bit': '910161', 'opcode 3': '830161', 'opcode 11': '8b0161',
  'a mask': '81810000000061', 'nothing to continue': '800161', 'a beginning in a message': '010161810162',
  'a compressed close frame': 'c80203e8', 'an unasked compression': 'c103616263',
};
const messages = {
  'no UTF-8': '8102c328', 'a letter in two parts': '0101c3800128', 'a long length': '817e000161', 'three parts': '010161000162800163',
  nothing: '8100', 'no bytes': '8200',
};

function blocking(name, hex) {
  const res = ws.connect(`${base}/raw?hex=${hex}`, null, (socket) => {
    socket.on('open', () => console.log(name, 'open'));
    socket.on('message', (m) => { console.log(name, 'message', JSON.stringify(m)); socket.close(); });
    socket.on('binaryMessage', (m) => { console.log(name, 'binary', m.byteLength); socket.close(); });
    socket.on('error', (e) => console.log(name, 'error', e.error(), String(e), e.code, e.text, Object.keys(e).sort().join()));
    socket.on('close', (code) => console.log(name, 'close', code));
  });
  console.log(name, res.status, res.error);
}

function events(name, hex) {
  return new Promise((done) => {
    const socket = new WebSocket(`${base}/raw?hex=${hex}`);
    socket.onopen = () => console.log(name, 'open', socket.readyState);
    socket.onmessage = (e) => { console.log(name, 'message', typeof e.data, e.data.size); socket.close(); };
    socket.onerror = (e) => console.log(name, 'error', e.error, socket.readyState, Object.keys(e).join());
    socket.onclose = (e) => {
      console.log(name, 'close', e.code, JSON.stringify(e.reason), socket.readyState, Object.keys(e).join());
      done();
    };
  });
}

export default async function () {
  for (const [name, hex] of Object.entries({ ...ends, ...messages })) {
    blocking(name, hex);
    await events(name, hex);
  }
}
