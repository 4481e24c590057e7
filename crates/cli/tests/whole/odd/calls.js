// One iteration for each case: a function, and one odd value in each place where an argument may be. MODE is `find`: tells of all
// functions, or `call`: calls those of `cases.json`, from number FROM on; or `init`, `setup`, `summary`: calls them there, one after
// the other.
import { modules } from './modules.js';
import { made, over } from './made.js';
import { discover, found, reflect, remake } from './reflect.js';
import { huge, omnipresent, others, small } from './values.js';

const isFinding = __ENV.MODE === 'find';
const recipes = isFinding ? [] : JSON.parse(open('recipes.json'));
// A name, and the numbers of the values.
const cases = isFinding ? [] : JSON.parse(open('cases.json')).flatMap(([name, numbers]) => numbers.map((number) => [name, number]));
const from = Number(__ENV.FROM ?? 0);
const isCalling = __ENV.MODE === 'call';

export const options = {
  discardResponseBodies: false,
  setupTimeout: '1h',
  hosts: { '*': '127.0.0.1' },
  scenarios: {
    one: { executor: 'per-vu-iterations', vus: 1, iterations: isCalling ? 1 + Math.max(cases.length - from, 0) : 1, maxDuration: '1h', gracefulStop: '0s' },
  },
};

const attempt = (call) => { try { over(call()); } catch (_) { /* as it should */ } };

/** A buffer, and an argument behind it that takes it away. */
function stolen() {
  const view = new Uint8Array(64);
  const steal = () => { try { view.buffer.transfer(); } catch (_) { /* gone */ } return 1; };
  return [view, { toString: steal, valueOf: steal, get name() { steal(); return 'a'; } }];
}

function shapes(value) {
  const url = __ENV.URL;
  return [
    () => [value()], () => [value(), value()], () => ['x', value()], () => [value(), 'x', value()], () => ['x', 'x', value()],
    () => [url, value()], () => [url, null, value()], () => [omnipresent(value())], () => ['x', omnipresent(value())],
    () => [url, null, omnipresent(value())], () => [{ a: value() }], () => [[value()]], () => [...stolen(), value()],
  ];
}

const SHAPES = 17;

/** Calls with a value in each place, or in place number `which` alone. */
function run({ member, self: fresh, kind }, make, which) {
  const used = [];
  const self = () => { const value = fresh(); used.push(value); return value; };
  const again = () => { try { return member.call(self(), 'x', 'x'); } catch (_) { return 'x'; } };
  const value = () => make(again);
  const calls = kind === 'get' ? [() => member.call(value())] : [
    () => member.call(self()), () => member.call(value(), value(), value()),
    () => Reflect.construct(member, [value()]), () => Reflect.construct(member, ['x', value()]),
    ...shapes(value).map((list) => () => member.apply(self(), list())),
  ];
  try {
    if (which === undefined) calls.forEach(attempt);
    else if (which < calls.length) attempt(calls[which]);
  } finally { used.forEach(over); }
}

function tell() {
  for (const name of rows.keys()) console.log(`function ${JSON.stringify(name)}`);
  console.log(`values ${JSON.stringify([small.length, huge.length * SHAPES, values.map(([name]) => name)])}`);
  console.log('done');
}

let rows;
let values;
let number = from;

async function prepare() {
  rows = found;
  await reflect(modules);
  if (isFinding) discover((recipe) => console.log(`recipe ${JSON.stringify(recipe)}`));
  for (const recipe of recipes) remake(recipe);
  // Where memory ends, the iteration ends: each place has its own.
  const apart = huge.flatMap(([name, make]) => Array.from({ length: SHAPES }, (_, which) => [`${name} in place ${which}`, make, which]));
  values = [...small, ...apart, ...others()];
}

function next() {
  const [name, which] = cases[number];
  console.log(`at ${number}`);
  number += 1;
  const row = rows.get(name);
  // Init code has no responses, and so none of their functions.
  if (row !== undefined) run(row, values[which][1], values[which][2]);
  else if (isCalling) console.log(`unknown ${name}`);
  if (number === cases.length) console.log('done');
}

/** All cases, outside of iterations. */
async function all() {
  await prepare();
  while (number < cases.length) next();
  made.forEach(over);
}

if (__ENV.MODE === 'init' && __VU === 0) {
  await all();
  throw new Error('this was the last one');
}

export const setup = () => (__ENV.MODE === 'setup' ? all() : undefined);

export const handleSummary = () => (__ENV.MODE === 'summary' ? all() : {});

export default async function () {
  if (!isFinding && !isCalling) return;
  if (rows === undefined) {
    await prepare();
    if (isFinding) tell();
    // A connection that waits would keep the iteration.
    made.forEach(over);
    return;
  }
  next();
}
