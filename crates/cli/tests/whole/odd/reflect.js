// Finds all functions that scripts can reach, in the same order each time: `{ name, member, self, kind }`.
import { made, makers, over } from './made.js';

const language = ('Object Function Array Number Boolean String Symbol BigInt Math Reflect Proxy Promise Date RegExp Map Set WeakMap '
  + 'WeakSet WeakRef Error TypeError RangeError SyntaxError EvalError URIError ReferenceError AggregateError ArrayBuffer DataView Atomics '
  + 'Iterator InternalError SuppressedError FinalizationRegistry SharedArrayBuffer DisposableStack '
  + 'AsyncDisposableStack Int8Array').split(' ');
const isLanguage = (name) => language.includes(name) || String(name).endsWith('Array');
// They hand out the right to run anything, are the test's own, or are an element once more.
const skipped = ['eval', 'Function', 'constructor', 'globalThis', 'global', ...'href_element form_field_element element selection'.split(' ')];
const roots = [...language.map((name) => globalThis[name]?.prototype), Object.getPrototypeOf(Int8Array.prototype)];
const isOwner = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

export const found = new Map();
const seen = new Set();
/** The names of the members of each kind of object: instances that have functions of their own are many of one kind. */
const kinds = new Set();

function isKnownKind(keys) {
  const names = keys.map(String).join();
  if (keys.length < 8 || !kinds.has(names)) return kinds.add(names) && false;
  return true;
}

function row(name, member, self, kind, owner) {
  if (typeof member !== 'function' || seen.has(member)) return;
  found.set(name, { name, member, self, kind, owner });
}

/** Functions of classes are called on an instance, once there is one. */
function rebind(value, self) {
  let isBound = false;
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    for (const known of found.values()) if (known.owner === at) { known.self = self; known.owner = undefined; isBound = true; }
  }
  return isBound;
}

/** Remembers the functions of an object, of its prototypes and members. `self()` is what they are called on. */
export function collect(path, owner, self = () => owner, depth = 0) {
  if (!isOwner(owner) || seen.has(owner) || depth > 6) return;
  seen.add(owner);
  let keys = [];
  try { keys = Reflect.ownKeys(owner); } catch (_) { return; }
  if (isKnownKind(keys)) return;
  for (const key of keys.slice(0, 1000)) {
    if (skipped.includes(key) || (owner === globalThis && isLanguage(key))) continue;
    let is;
    try { is = Reflect.getOwnPropertyDescriptor(owner, key); } catch (_) { continue; }
    if (is === undefined) continue;
    const name = `${path}.${String(key)}`;
    row(`get ${name}`, is.get, self, 'get', owner);
    row(`set ${name}`, is.set, self, 'set', owner);
    if (is.get) { seen.add(is.get); if (is.set) seen.add(is.set); }
    let member = is.value;
    if (is.get) try { member = Reflect.get(owner, key, self()); } catch (_) { continue; }
    row(name, member, self, 'call', owner);
    collect(name, member, undefined, depth + 1);
  }
  let prototype = null;
  try { prototype = Object.getPrototypeOf(owner); } catch (_) { return; }
  if (!roots.includes(prototype)) collect(`${path}.__proto__`, prototype, self, depth + 1);
}

/** Arguments that are right for some function. */
const right = () => [
  [], ['x'], [__ENV.URL], ['GET', __ENV.URL], ['x', __ENV.URL], ['<p a=b>c</p>'], [1], [[1, 2]], [{ a: 'b' }], [() => 1], ['sha256', 'x'],
  [new Uint8Array(8)], ['a', 'b'], [0, 0],
];
const waits = /sleep|abort$|setInterval|fail$|connect|Watch|health|ping|resolve|lookup/i;

/** An object of a kind not seen before is one more thing with functions. */
export function discover(tell) {
  const met = new Set([...made.values()].map((value) => Object.getPrototypeOf(value)));
  // Those that are found meanwhile have their turn, too.
  for (const { name, member, self, kind } of found.values()) {
    if (kind !== 'call' || waits.test(name)) continue;
    let one;
    try { one = self(); } catch (_) { continue; }
    for (const [number] of right().entries()) {
      for (const isNew of [false, true]) {
        let value;
        try {
          const list = right()[number];
          value = isNew ? Reflect.construct(member, list) : member.apply(one, list);
        } catch (_) { continue; }
        if (!isOwner(value) || typeof value === 'function') continue;
        if (value instanceof Promise) { value.catch(() => {}); continue; }
        const prototype = Object.getPrototypeOf(value);
        if (prototype === null || roots.includes(prototype) || met.has(prototype) || seen.has(value)) continue;
        met.add(prototype);
        const recipe = { of: name, number, isNew };
        if (remake(recipe)) tell(recipe);
        else made.delete(nameOf(recipe));
      }
    }
    over(one);
  }
}

const nameOf = ({ of, number }) => `${of}(${number})`;

/** Makes what `discover` found, and finds what it has. */
export function remake({ of, number, isNew }) {
  const { member, self } = found.get(of) ?? {};
  const make = () => (isNew ? Reflect.construct(member, right()[number]) : member.apply(self(), right()[number]));
  const name = nameOf({ of, number });
  try {
    const value = make();
    made.set(name, value);
    return isMore(name, value, () => { try { return make(); } catch (_) { return value; } });
  } catch (error) { console.log(`unmade ${name}: ${error}`); }
}

/** Whether an object has functions that were not known, or known ones can be called on it. */
function isMore(name, value, self) {
  const before = found.size;
  const isBound = rebind(value, self);
  collect(name, value, self);
  return isBound || found.size > before;
}

export async function reflect(modules) {
  for (const [name, make] of Object.entries(makers)) {
    try {
      const value = await make();
      made.set(name, value);
      isMore(`${name}()`, value, make.constructor === Function ? make : () => value);
    } catch (error) { console.log(`unmade ${name}: ${error}`); }
  }
  for (const [name, module] of Object.entries(modules)) collect(name, module);
  collect('globalThis', globalThis);
}
