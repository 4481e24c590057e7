// Calls all functions that scripts can reach, found by reflection, with arguments of every wrong kind. The part `PART` of eight.
import * as k6 from 'k6';
import * as crypto from 'k6/crypto';
import * as data from 'k6/data';
import * as encoding from 'k6/encoding';
import * as execution from 'k6/execution';
import * as html from 'k6/html';
import * as http from 'k6/http';
import * as metrics from 'k6/metrics';
import * as grpc from 'k6/net/grpc';
import * as timers from 'k6/timers';
import * as websockets from 'k6/websockets';
import * as ws from 'k6/ws';
import * as csv from 'k6/experimental/csv';
import * as fs from 'k6/experimental/fs';
import * as redis from 'k6/experimental/redis';
import * as secrets from 'k6/secrets';

export const options = {
  scenarios: { one: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '90s', gracefulStop: '0s' } },
};

const modules = {
  k6, crypto, data, encoding, execution, html, http, metrics, grpc, timers, websockets, ws, csv, fs, redis, secrets,
};
const thrower = () => { throw new Error('odd'); };
const cyclic = {};
cyclic.self = cyclic;
const detached = new ArrayBuffer(8);
detached.transfer();
const values = () => [
  undefined, null, NaN, -1, 1e308, 2 ** 53, -Infinity, '', 'x'.repeat(100000), '\ud800\0', true, Symbol('s'), 10n ** 30n,
  {}, [], [, 1, , 2], cyclic, new ArrayBuffer(3), detached, new Float64Array(3), new Date(NaN), /x/g, new Map([[1, 2]]),
  () => undefined, thrower, class {}, Promise.resolve(1), Object.create(null), Array(10000),
  new Proxy({}, { get: thrower, has: thrower, ownKeys: thrower }), new Proxy([], {}), new Proxy(function () {}, {}),
  { get a() { throw new Error('odd'); }, toString: thrower, valueOf: thrower, toJSON: thrower },
  { then: thrower }, { then(go) { go(1); } }, { [Symbol.iterator]: thrower },
];

// They end the test, wait on purpose, or are the language's own.
const skipped = ['abort', 'fail', 'sleep', 'eval', 'Function', 'require', 'constructor'];
const language = ('Object Function Array Number Boolean String Symbol BigInt Math JSON Reflect Proxy Promise Date RegExp Map Set WeakMap '
  + 'WeakSet WeakRef Error TypeError RangeError SyntaxError EvalError URIError ReferenceError AggregateError ArrayBuffer DataView Atomics '
  + 'Iterator globalThis global InternalError SuppressedError FinalizationRegistry SharedArrayBuffer').split(' ');

const found = [];
const seen = new Set();
function collect(path, owner, depth) {
  if (owner === null || (typeof owner !== 'object' && typeof owner !== 'function') || seen.has(owner) || depth > 4) return;
  seen.add(owner);
  let keys = [];
  try { keys = Reflect.ownKeys(owner); } catch (_) { return; }
  for (const key of keys) {
    if (typeof key === 'symbol' || skipped.includes(key)) continue;
    let member;
    try { member = owner[key]; } catch (_) { continue; }
    if (typeof member === 'function' && !seen.has(member)) found.push([`${path}.${key}`, owner, member]);
    collect(`${path}.${key}`, member, depth + 1);
  }
}

export default function () {
  for (const [name, module] of Object.entries(modules)) collect(name, module, 0);
  for (const key of Reflect.ownKeys(globalThis)) {
    if (typeof key === 'symbol' || language.includes(key) || skipped.includes(key) || /Array$/.test(key)) continue;
    let member;
    try { member = globalThis[key]; } catch (_) { continue; }
    if (typeof member === 'function') found.push([key, globalThis, member]);
    if (key !== 'console') collect(key, member, 0);
  }
  let tested = 0;
  for (const [index, [path, owner, member]] of found.entries()) {
    if (index % 8 !== Number(__ENV.PART)) continue;
    tested += 1;
    const began = Date.now();
    const attempt = (list) => {
      try { const made = member.apply(owner, list); if (made && made.catch) made.catch(() => {}); } catch (_) { /* as it should */ }
    };
    const table = values();
    attempt([]);
    for (const one of table) {
      attempt([one]);
      attempt([one, one]);
      attempt(['x', one]);
      attempt([one, 'x', one]);
      try { const made = Reflect.construct(member, [one]); if (made && made.catch) made.catch(() => {}); } catch (_) { /* no class */ }
    }
    const took = Date.now() - began;
    // Those that hang take minutes; a machine with other work makes the others take seconds.
    if (took > 20000) throw new Error(`${path} took ${took} ms`);
    if (__ENV.TELL) console.log(path, took);
  }
  console.log(`tested ${tested}`);
}
