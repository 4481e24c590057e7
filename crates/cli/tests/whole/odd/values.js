// Arguments of every wrong kind. Each is made anew for each call: `[name, make]`. `again` calls the function under test once more.
import { made } from './made.js';

const thrower = () => { throw new Error('odd'); };
const times = (count, make) => Array.from({ length: count }, make);

function nested(depth, wrap, core) {
  let value = core;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

function cyclic() {
  const object = { list: [] };
  object.self = object;
  object.list.push(object.list, object);
  return object;
}

function detached(bytes = 8) {
  const buffer = new ArrayBuffer(bytes);
  buffer.transfer();
  return buffer;
}

/** A view whose buffer goes as soon as the view is looked at. */
function lost() {
  const view = new Uint8Array(64);
  view.buffer.transfer();
  return view;
}

function beyond() {
  const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
  const view = new Uint16Array(buffer, 32, 8);
  buffer.resize(8);
  return view;
}

function shrinking() {
  const list = times(100, String);
  Object.defineProperty(list, 0, { get() { list.length = 1; return 'a'; }, configurable: true });
  return list;
}

function growing() {
  const list = ['a', 'b'];
  Object.defineProperty(list, 0, { get() { for (let i = 0; i < 100; i++) list.push('c'); return 'a'; } });
  return list;
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
}

const iterable = (next, rest = {}) => ({ [Symbol.iterator]: () => ({ next, ...rest }) });
const selfish = () => { const it = { toJSON: () => it, toString: () => String(it), valueOf: () => Number(it) }; return it; };
const resolving = () => { const it = { then(go) { go(it); } }; return it; };
const asText = (text) => ({ toString: text, valueOf: text, [Symbol.toPrimitive]: text });

/** An object that has every member: each is `value`. */
export function omnipresent(value) {
  const names = ['a', 'headers', 'tags', 'timeout', 'name', 'length', 'url', 'body'];
  return new Proxy({}, {
    get: (_, key) => (typeof key === 'symbol' || key === 'then' ? undefined : value),
    has: () => true,
    ownKeys: () => names,
    getOwnPropertyDescriptor: () => ({ value, enumerable: true, configurable: true, writable: true }),
  });
}

/** The common ones: quick, and small. */
export const small = [
  ['undefined', () => undefined], ['null', () => null], ['true', () => true], ['NaN', () => NaN], ['-0', () => -0], ['-1', () => -1],
  ['0.5', () => 0.5], ['Infinity', () => Infinity], ['-Infinity', () => -Infinity], ['2**31', () => 2 ** 31], ['2**32', () => 2 ** 32],
  ['2**53', () => 2 ** 53], ['-(2**63)', () => -(2 ** 63)], ['1e308', () => 1e308], ['a symbol', () => Symbol('s')],
  ['a BigInt', () => 10n ** 30n], ['no text', () => ''], ['half a pair and NUL', () => '\ud800\0'], ['a long text', () => 'x'.repeat(100000)],
  ['many digits', () => '9'.repeat(400)], ['brackets', () => '['.repeat(50000)], ['many tags', () => '<b>'.repeat(20000)],
  ['many quotes', () => '"\\u'.repeat(5000)], ['percents', () => '%%%s%n%'.repeat(1000)], ['dots', () => 'a.'.repeat(30000)],
  ['half an address', () => 'http://[::1'], ['a device', () => '/dev/zero'], ['a duration', () => '-1h1.5e9s'], ['far years', () => '99999999-13-45'],
  ['{}', () => ({})], ['[]', () => []], ['holes', () => [, 1, , 2]], ['null prototype', () => Object.create(null)],
  ['cyclic', cyclic], ['a detached buffer', detached], ['a view of nothing', lost], ['a view beyond its end', beyond],
  ['3 bytes', () => new ArrayBuffer(3)], ['floats', () => new Float64Array([NaN, Infinity, -0])], ['big integers', () => new BigInt64Array(3)],
  ['DataView', () => new DataView(new ArrayBuffer(5), 1)], ['Date(NaN)', () => new Date(NaN)], ['the last Date', () => new Date(8.64e15)],
  ['RegExp', () => /(a+)+$/g], ['Map', () => new Map([[1, 2]])], ['Set', () => new Set([[1]])], ['WeakMap', () => new WeakMap()],
  ['a function', () => () => undefined], ['a function that throws', () => thrower], ['class', () => class { constructor() { throw new Error('odd'); } }],
  ['an async function', () => async () => { throw 1; }], ['generator', () => (function* () { yield 1; throw new Error('odd'); })()],
  ['resolved', () => Promise.resolve(1)], ['never settled', () => new Promise(() => {})], ['then throws', () => ({ then: thrower })],
  ['resolves to itself', resolving], ['Array(10000)', () => Array(10000)], ['1000 texts', () => times(1000, String)],
  ['1000 pairs', () => times(1000, (_, i) => [i, 'x'])], ['1000 keys', () => Object.fromEntries(times(1000, (_, i) => [`k${i}`, i]))],
  ['strange keys', () => ({ ['__proto__']: 1, '': '', '\ud800': null, constructor: 1, length: 'a', 0: 0, 'a\nb': '\r\n' })],
  ['length -1', () => ({ length: -1, 0: 'a' })], ['length NaN', () => ({ length: NaN, 0: 'a' })],
  ['length throws', () => ({ get length() { throw new Error('odd'); } })], ['shrinks', shrinking], ['grows', growing],
  ['traps that throw', () => new Proxy({}, { get: thrower, has: thrower, ownKeys: thrower, getPrototypeOf: thrower, set: thrower })],
  ['Proxy of a list', () => new Proxy([1, 2], {})], ['Proxy of a function', () => new Proxy(function () {}, { apply: thrower })],
  ['a revoked Proxy', revoked],
  ['all of it throws', () => ({ get a() { throw new Error('odd'); }, toString: thrower, valueOf: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower })],
  ['texts that are objects', () => asText(() => ({}))], ['its text is itself', selfish], ['texts that are symbols', () => asText(() => Symbol())],
  ['iterator throws', () => ({ [Symbol.iterator]: thrower })], ['iterator of nothing', () => iterable(undefined)],
  ['iterator that closes badly', () => iterable(() => ({ value: Symbol(), done: false }), { return: thrower })],
  ['an Error of odd parts', () => Object.assign(new Error('x'), { stack: Symbol(), message: {}, name: null, cause: cyclic() })],
  ['boxed', () => Object.assign(Object('x'), { a: Object(1n) })], ['globalThis', () => globalThis], ['Math', () => Math],
  ['comes back', (again) => asText(() => { again(); return 'x'; })], ['calls back', (again) => () => { again(); return again(); }],
  ['getters that come back', (again) => omnipresent(asText(() => { again(); return '1'; }))],
];

/** Made once: nobody can change it, and it takes a while. */
function once(make) {
  let made;
  return () => (made ??= make());
}

const forEver = (value) => iterable(() => ({ value, done: false }));

/** Those that fill memory, or take for ever, where nobody counts. */
export const huge = [
  ['Array(2**32-1)', () => Array(2 ** 32 - 1)], ['length 2**32-1', () => ({ length: 2 ** 32 - 1 })], ['length 2**53', () => ({ length: 2 ** 53, 0: 'a' })],
  ['endless numbers', () => forEver(1)], ['endless pairs', () => forEver(['a', 'b'])], ['endless generator', () => (function* () { for (;;) yield 'a'; })()],
  ['deep lists', once(() => nested(20000, (value) => [value], []))], ['deep objects', once(() => nested(20000, (a) => ({ a }), 1))],
  ['many branches', once(() => nested(14, (value) => [value, value], 1))], ['endless getters', () => { const more = () => ({ get a() { return more(); }, get b() { return more(); } }); return more(); }],
  ['8 MB of text', once(() => 'xy'.repeat(2 ** 22))], ['4 MB of quotes', once(() => '"'.repeat(2 ** 22))], ['4 MB of lines', once(() => 'a,b=c&d\n'.repeat(2 ** 19))],
  ['4 MB of tags', once(() => '<p a=b>'.repeat(600000))], ['a million brackets', once(() => '[{"a":'.repeat(2 ** 18))],
  ['4 MB', () => new Uint8Array(2 ** 22)], ['a sparse view', () => new Float64Array(2 ** 20)],
  ['texts of 1 MB each', once(() => Array(4000).fill('x'.repeat(2 ** 20)))], ['a list of one long list', once(() => Array(1000).fill(Array(300).fill('x')))],
  ['text that grows', () => { let text = 'x'; return asText(() => { text += text; return text; }); }],
];

/** Objects of the API, where others are meant. */
export const others = () => [...made.keys()].map((name) => [name, () => made.get(name)]);
