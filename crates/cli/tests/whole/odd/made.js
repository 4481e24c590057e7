// Objects that functions of the API give, each by a call that is right. Objects of calls that are not written down here are found by
// `reflect.js`. The test puts the addresses of its servers into ENV.
import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { SharedArray } from 'k6/data';
import { counter, queue, rows } from 'brunt/data';
import { parseHTML } from 'k6/html';
import hashes from 'k6/crypto';
import grpc from 'k6/net/grpc';
import files from 'k6/experimental/fs';
import tables from 'k6/experimental/csv';
import redis from 'k6/x/redis';
import mqtt from 'k6/x/mqtt';
import tcp from 'k6/x/tcp';
import fasthttp from 'k6/x/fasthttp';
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import sql from 'k6/x/sql';
import sqlite from 'k6/x/sql/driver/sqlite3';

const metrics = [new Counter('odd_counter'), new Gauge('odd_gauge'), new Rate('odd_rate'), new Trend('odd_trend', true)];
const shared = new SharedArray('odd', () => [1, { a: 'b' }, [3]]);
const given = [rows('odd', [1, { a: 'b' }], { strategy: 'circular' }), queue('odd'), counter('odd')];
const opened = await files.open('table.csv');
const fast = new fasthttp.Client();
const database = () => sql.open(sqlite, ':memory:', { max_open_conns: 2 });
const parser = new tables.Parser(opened);
const table = () => parseHTML('<form id=f action=/x><a href=x>y</a><input name=a value=b><select name=s><option>1</select></form>');
const [host, port] = __ENV.URL.split('//')[1].split(':');
const secret = (name, usages) => crypto.subtle.generateKey(name, true, usages);

/** Each makes a fresh one; those of an async one are made once. */
export const makers = {
  response: () => http.get(__ENV.URL),
  'shape of a response': () => http.get(`${__ENV.URL}/`, { responseType: 'binary' }),
  jar: () => http.cookieJar(),
  ownJar: () => new http.CookieJar(),
  file: () => http.file('a', 'b'),
  counter: () => metrics[0],
  gauge: () => metrics[1],
  rate: () => metrics[2],
  trend: () => metrics[3],
  shared: () => shared,
  'rows of brunt/data': () => given[0],
  'queue of brunt/data': () => given[1],
  'counter of brunt/data': () => given[2],
  'iterator of shared': () => shared[Symbol.iterator](),
  page: table,
  selection: () => table().find('a'),
  form: () => table().find('form'),
  element: () => table().find('a').get(0),
  formElement: () => table().find('form').get(0),
  input: () => table().find('input').get(0),
  select: () => table().find('select').get(0),
  hasher: () => hashes.createHash('sha256'),
  hmac: () => hashes.createHMAC('sha256', 'key'),
  grpcClient: () => new grpc.Client(),
  grpcConnected: () => { const client = new grpc.Client(); client.connect(__ENV.GRPC, { plaintext: true, reflect: true, timeout: '60s' }); return client; },
  stream: () => new grpc.Stream(makers.grpcConnected(), 'main.RouteGuide/RouteChat'),
  redis: () => new redis.Client(__ENV.REDIS),
  mqtt: () => new mqtt.Client(),
  tcp: () => new tcp.Socket(),
  tcpConnecting: () => { const one = new tcp.Socket(); one.on('error', () => {}); one.connect(Number(port), host); return one; },
  fasthttp: () => fast,
  fastRequest: () => new fasthttp.Request(__ENV.URL),
  fastResponse: () => fast.get(makers.fastRequest()),
  database,
  result: () => database().exec('CREATE TABLE t (a)'),
  rows: () => database().rows('SELECT 1 AS a UNION SELECT 2'),
  'async rows': () => database().rows('SELECT 1 AS a')[Symbol.asyncIterator](),
  statement: () => database().prepare('SELECT 1 AS a'),
  connection: () => database().connection(),
  transaction: () => { let kept; database().tx((tx) => { kept = tx; }); return kept; },
  goTime: () => { const db = database(); db.exec('CREATE TABLE t (a DATETIME)'); db.exec('INSERT INTO t VALUES (1)'); return db.query('SELECT a FROM t')[0].a; },
  socket: () => new WebSocket('ws://127.0.0.1:1/'),
  event: async () => new Promise((resolve) => { new WebSocket('ws://127.0.0.1:1/').onerror = resolve; }),
  // Its methods are there when the connection is over, too.
  wsSocket: () => { let kept; ws.connect(`ws://${host}:${port}/ws`, {}, (one) => { kept = one; one.setTimeout(() => one.close(), 1); }); return kept; },
  csvParser: () => parser,
  opened: () => opened,
  blob: () => new Blob(['a']),
  headers: () => new Headers({ a: 'b' }),
  formData: () => { const form = new FormData(); form.append('a', 'b'); return form; },
  request: () => new Request(__ENV.URL),
  answer: () => new Response('a'),
  body: () => new Response('a').body,
  reader: () => new Response('a').body.getReader(),
  readable: () => new ReadableStream({ pull(to) { to.enqueue('a'); } }),
  writable: () => new WritableStream(),
  writer: () => new WritableStream().getWriter(),
  abort: () => new AbortController(),
  encoder: () => new TextEncoder(),
  decoder: () => new TextDecoder(),
  url: () => new URL('http://a/b?c=d'),
  query: () => new URLSearchParams('a=b'),
  aesKey: async () => secret({ name: 'AES-GCM', length: 128 }, ['encrypt', 'decrypt']),
  hmacKey: async () => secret({ name: 'HMAC', hash: 'SHA-256' }, ['sign', 'verify']),
  pair: async () => secret({ name: 'ECDSA', namedCurve: 'P-256' }, ['sign', 'verify']),
};

/** The objects that were made, by name. */
export const made = new Map();

/** Ends what was begun: timers, connections, streams. */
export function over(value) {
  if (typeof value === 'number') { clearTimeout(value); clearInterval(value); }
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
  for (const name of ['destroy', 'disconnect', 'terminate', 'close', 'end', 'cancel']) {
    try { if (typeof value[name] === 'function') quiet(value[name]()); } catch (_) { /* it is not open */ }
  }
  try { if (value instanceof Promise) value.then(over, () => {}); } catch (_) { /* no promise at all */ }
}
const quiet = (value) => { if (value instanceof Promise) value.catch(() => {}); };
