// How bodies are encoded, and which Content-Type goes with them.
import http from 'k6/http';

const url = `${__ENV.DEMO_URL}/anything/form`;

function show(name, body, params) {
  const res = http.post(url, body, params);
  let echoed = {};
  try { echoed = res.json(); } catch (e) { echoed = { body: `${e}` }; }
  const sent = res.request && res.request.body;
  const type = res.request && (res.request.headers['Content-Type'] || ['none'])[0];
  console.log(`${name}: ${res.status} ${type} ${JSON.stringify(sent)} ${res.error}`);
}

export default function () {
  show('sorted', { b: 2, a: 1, c: 'x y&z=ü' });
  show('arrays', { a: [1, 'b'], e: [] });
  show('falsy', { c: false, d: 0, e: '' });
  show('numbers', { a: 1e21, b: 1234567.5, c: -0, d: 0.000001, e: 1e-7, f: 123456789, g: 3.0, h: 1e20 });
  show('odd characters', { "k'~*()!": "v'~*()!-._+@:/?#[]%\t\n" });
  show('own type', { a: 1 }, { headers: { 'Content-Type': 'text/x-own' } });
  show('own type in lower case', { a: 1 }, { headers: { 'content-type': 'text/x-own' } });
  show('empty object', {});
  show('string', 'plain text');
  show('empty string', '');
  show('null', null);
  show('json', JSON.stringify({ a: 1 }), { headers: { 'Content-Type': 'application/json' } });
  show('number', 5);
  show('boolean', true);
  show('array', [1, 2]);
  show('date', new Date(0));
  show('bytes', new Uint8Array([104, 105]).buffer);
  show('view', new Uint8Array([104, 105]));
}
