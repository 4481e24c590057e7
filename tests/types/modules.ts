// The types of modules: what must compile, and behind `@ts-expect-error` what must not.

import { check } from 'k6';
import { counter, queue, rows } from 'brunt/data';
import { hexEncode, sha256 } from 'k6/crypto';
import { parse as parseCertificate } from 'k6/crypto/x509';
import { SharedArray } from 'k6/data';
import { b64encode } from 'k6/encoding';
import csv from 'k6/experimental/csv';
import { open as openFile } from 'k6/experimental/fs';
import { ReadableStream as Readable, WritableStream as Writable } from 'k6/experimental/streams';
import { setTimeout as later } from 'k6/experimental/timers';
import { WebSocket as OldWebSocket } from 'k6/experimental/websockets';
import oldGrpc from 'k6/experimental/grpc';
import oldRedis from 'k6/experimental/redis';
import { parseHTML, type AnchorElement } from 'k6/html';
import http from 'k6/http';
import grpc from 'k6/net/grpc';
import { WebSocket } from 'k6/websockets';
import dns from 'k6/x/dns';
import faker, { Faker } from 'k6/x/faker';
import { checkstatus, Client, FileStream, Request as Prepared } from 'k6/x/fasthttp';
import { ping, pingAsync } from 'k6/x/icmp';
import { Client as Mqtt } from 'k6/x/mqtt';
import redis from 'k6/x/redis';
import sql, { type GoTime, type Row } from 'k6/x/sql';
import mysql from 'k6/x/sql/driver/mysql';
import postgres from 'k6/x/sql/driver/postgres';
import sqlite from 'k6/x/sql/driver/sqlite3';
import { Socket } from 'k6/x/tcp';

/** Exactly this type. */
function is<T>() {
  return <U>(_value: U & (([T] extends [U] ? ([U] extends [T] ? unknown : never) : never))) => {};
}

export async function core() {
  is<boolean>()(check(1, { one: (n) => n === 1 }));
  is<Promise<boolean>>()(check(1, { one: async (n) => n === 1 }));
  // @ts-expect-error: a check gives a truth value
  check(1, { one: () => 'yes' });
}

export function shared() {
  const users = rows('users', [{ name: 'ada' }], { whenEmpty: 'null' });
  is<{ name: string } | null>()(users.next());
  is<number>()(rows('numbers', () => [1, 2]).next());
  // @ts-expect-error: there is no such strategy
  rows('numbers', [1], { strategy: 'sorted' });
  const orders = queue<{ id: number }>('orders', { max: 10 });
  is<boolean>()(orders.put({ id: 1 }));
  is<{ id: number } | null>()(orders.take());
  // @ts-expect-error: it is a queue of other values
  orders.putBack('one');
  is<number>()(counter('numbers').add());
  // @ts-expect-error: it cannot be set
  counter('numbers').value = 1;
  is<readonly string[]>()(new SharedArray('names', () => ['ada']));
  // @ts-expect-error: it cannot be changed
  new SharedArray('names', () => ['ada']).push('grace');
}

export function requests() {
  const text = http.get('http://a.test', { responseType: 'text' });
  is<string>()(text.body);
  is<string[] | undefined>()(text.headers.getSetCookie?.());
  // @ts-expect-error: a response without cookies has no such function
  text.headers.getSetCookie();
  is<string>()(text.headers['Content-Type']);
  is<string | null>()(http.get('http://a.test').body);
  is<ArrayBuffer>()(http.post('http://a.test', new Uint8Array(1), { responseType: 'binary' }).body);
  const form = new FormData();
  form.append('file', http.file(new Blob(['x']), 'x.txt'));
  http.post('http://a.test', form, { throw: true });
  http.put('http://a.test', { file: new FileStream('a.bin'), sizes: [1, 2] });
  http.del('http://a.test', new URLSearchParams({ a: 'b' }));
  // @ts-expect-error: a function is no body
  http.post('http://a.test', () => {});
  // @ts-expect-error: there is no such type of responses
  http.get('http://a.test', { responseType: 'json' });
  const streamed = http.request('GET', http.url`http://a.test/${1}`, null, { responseType: 'stream' });
  is<null>()(streamed.body);
  const [page, bytes] = http.batch(['http://a.test', ['GET', 'http://b.test', null, { responseType: 'binary' }]]);
  is<string | null>()(page.body);
  is<ArrayBuffer>()(bytes.body);
  const { quick } = http.batch({ quick: { method: 'GET', url: 'http://a.test', params: { responseType: 'text' } } });
  is<string>()(quick.body);
  const { id } = http.get('http://a.test').json<{ id: number }>();
  is<number>()(id);
  return streamed.stream;
}

export async function chunks() {
  for await (const chunk of requests()) {
    is<number>()(chunk.receivedAt);
    is<number>()(chunk.length);
  }
}

export function pages() {
  const page = parseHTML('<a href=x>x</a>');
  const link = page.find('a').end().add('p').get<AnchorElement>(0);
  is<string | undefined>()(link?.href());
  // @ts-expect-error: there may be no such node
  link.href();
  is<number>()(page.siblings('p').index());
}

export async function encodings() {
  is<string>()(sha256(new DataView(new ArrayBuffer(1)), 'hex'));
  is<ArrayBuffer>()(sha256('x', 'binary'));
  is<string>()(hexEncode('x'));
  is<string>()(b64encode(new Uint8Array(1)));
  const certificate = parseCertificate('-----BEGIN CERTIFICATE-----');
  is<string>()(certificate.subject.commonName);
  if (certificate.publicKey.algorithm === 'RSA') is<bigint>()(certificate.publicKey.key.n);
  // @ts-expect-error: it is a list
  certificate.fingerPrint.toUpperCase();
}

export async function files() {
  const file = await openFile('a.csv');
  is<number | null>()(await file.read(new Uint8Array(10)));
  is<readonly string[][]>()(await csv.parse(file));
  is<readonly Record<string, string>[]>()(await csv.parse(file, { asObjects: true }));
  // @ts-expect-error: a record without names is a list
  (await csv.parse(file))[0]!.name;
}

export function streams() {
  const source = new Readable<string>({ pull: (controller) => controller.enqueue('x') });
  source.pipeTo(new Writable<string>({ write: (chunk) => void chunk.length }));
  // @ts-expect-error: streams of bytes are not supported
  new Readable({ type: 'bytes' });
  is<number>()(later(() => {}, 10));
}

export function sockets() {
  const socket = new WebSocket('ws://a.test', ['v2'], { compression: 'deflate' });
  socket.onclose = (event) => is<number | undefined>()(event.code);
  socket.addEventListener('error', (event) => is<string>()(event.error));
  socket.removeEventListener('error', () => {});
  // @ts-expect-error: there is no such event
  socket.addEventListener('data', () => {});
  // @ts-expect-error: numbers are not sent
  new OldWebSocket('ws://a.test').send(1);

  const tcp = new Socket({ tags: { protocol: 'echo' } });
  is<Socket>()(tcp.on('data', (bytes) => is<number>()(bytes.length)));
  is<boolean>()(tcp.write('00ff', { encoding: 'hex' }));
  is<string | undefined>()(tcp.remote_ip);
  // @ts-expect-error: there is no such encoding
  tcp.write('x', { encoding: 'utf16' });

  const mqtt = new Mqtt({ client_id: 'me', will: { topic: 'gone', qos: 1 } });
  mqtt.on('message', (topic, payload) => is<number>()(topic.length + payload.byteLength));
  is<Promise<void>>()(mqtt.subscribeAsync(['a', 'b'], { qos: 2 }));
  // @ts-expect-error: there is no such quality of service
  mqtt.publish('a', 'b', { qos: 3 });
}

export async function calls() {
  const client = new grpc.Client();
  client.connect('a.test:443', { authority: 'b.test' });
  const response = client.invoke('a.B/C', { name: 'ada' });
  is<string | undefined>()(response.error?.message);
  is<any>()(response.message.greeting);
  // @ts-expect-error: a call that succeeded has no error
  response.error.message;
  new grpc.Stream(client, 'a.B/D').on('error', (error) => is<number>()(error.code));
  is<number>()(oldGrpc.StatusOK);
}

export async function lookups() {
  is<string[]>()(await dns.resolve('a.test', 'AAAA', '127.0.0.1:53'));
  // @ts-expect-error: there is no such type of records
  dns.resolve('a.test', 'MX', '127.0.0.1');
  is<boolean>()(ping('a.test', { count: 2, timeout: '1s' }));
  // @ts-expect-error: an option is misspelt
  ping('a.test', { counts: 2 });
  await pingAsync('a.test', (error, detail) => {
    is<string | undefined>()(error?.message);
    is<number | undefined>()(detail.received_at);
  });
}

export function inventions() {
  is<string>()(faker.person.firstName());
  is<number>()(new Faker(11).numbers.intRange(1, 5));
  is<string>()(faker.call('uuid'));
  // @ts-expect-error: it is a number
  faker.zen.sentence('five');
  // @ts-expect-error: there is no such function
  faker.person.shoeSize();
}

const client = new Client({ read_timeout: 10 });

export function prepared() {
  const response = client.get(new Prepared('http://a.test'));
  // @ts-expect-error: no response may have come
  response.status;
  if (response) is<boolean>()(checkstatus(200, response));
  const sure = client.post(new Prepared('http://a.test', { throw: true, response_type: 'binary' }));
  is<Uint8Array<ArrayBuffer> | null>()(sure.body);
  // @ts-expect-error: it is one of three words
  new Prepared('http://a.test', { response_type: 'json' });
}

export async function stores() {
  const store = new redis.Client({ socket: { host: 'a.test', port: 6379 } });
  is<string>()(await store.get('key'));
  is<(string | null)[]>()(await store.mget('a', 'b'));
  is<boolean>()(await store.sismember('set', 1));
  // @ts-expect-error: objects are not stored
  store.set('key', { a: 1 });
  // @ts-expect-error: a server or a cluster is needed
  new oldRedis.Client({});
}

export async function databases() {
  const db = sql.open(postgres, 'postgres://a.test', { max_open_conns: 1, text: 'string' });
  is<Row[]>()(db.query('SELECT 1'));
  is<{ id: number }[]>()(await db.queryAsync<{ id: number }>('SELECT id FROM t WHERE id = $1', 1));
  is<number>()(db.exec('UPDATE t SET a = :a', { a: new Date() }).rowsAffected());
  is<number>()(db.tx((tx) => tx.exec('DELETE FROM t').rowsAffected(), { isolation: 'serializable', retries: 3 }));
  for await (const row of db.rows<{ at: GoTime }>('SELECT at FROM t')) is<number>()(row.at.unixMilli());
  db.insert('t', ['a', 'b'], [[1, null], [2, 'x']], { way: 'copy' });
  is<typeof db>()(db.with({ name: 'login', timeout: '1s' }));
  // @ts-expect-error: it is one of four words
  db.insert('t', 'a', [1], { way: 'fast' });
  // @ts-expect-error: a transaction has no transactions in it
  db.tx((tx) => tx.tx(() => 1));
  // @ts-expect-error: the driver is a module's default export
  sql.open('mysql', 'user@tcp(a.test)/b');
  // @ts-expect-error: a function is no value
  sql.open(mysql, '').query('SELECT ?', () => 1);
  is<string[]>()(sql.randomTexts(10, 45));
  sql.open(sqlite, ':memory:').connection().close();
}
