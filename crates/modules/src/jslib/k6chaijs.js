// Chai's BDD assertions whose results are checks of k6, after the documentation of chai 4 and of k6chaijs.
import { check, group } from 'k6';

/** How values are shown: as chai 4.3.4 does, or as its later versions do. */
const style = { isModern: false, version: '4.3.4' };

export const config = {
  includeStack: false,
  showDiff: true,
  truncateThreshold: 100,
  useProxy: true,
  proxyExcludedKeys: ['then', 'catch', 'inspect', 'toJSON'],
  deepEqual: null,
  truncateMsgThreshold: 300,
  truncateVariableThreshold: 100,
  aggregateChecks: true,
  logFailures: false,
};

/** The error that a failed assertion throws. */
export class AssertionError extends Error {
  constructor(message, props = {}) {
    super(message || 'Unspecified AssertionError');
    this.showDiff = false;
    Object.assign(this, props);
  }

  toJSON() {
    return { name: this.name, message: this.message, ...this };
  }
}
Object.defineProperty(AssertionError.prototype, 'name', { value: 'AssertionError', configurable: true, writable: true });

// ---- values ----

const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/** `null`, `number`, `Array`, `Promise`, …: primitives by typeof, objects by their tag. */
function typeOf(value) {
  if (value === null) return 'null';
  const kind = typeof value;
  return kind === 'object' ? tagOf(value) : kind;
}

/** The same in lower case where people write it so. */
const typeName = (value) => typeOf(value).toLowerCase();

function quoted(text) {
  const escaped = JSON.stringify(text).slice(1, -1).replace(/'/g, "\\'").replace(/\\"/g, '"');
  return style.isModern ? `'${text.replace(/'/g, "\\'").replace(/\n/g, '\\n')}'` : `'${escaped}'`;
}

const shownKey = (key) => (/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quoted(key));

function shownNumber(value) {
  if (Object.is(value, -0)) return '-0';
  return style.isModern && value === 0 ? '+0' : String(value);
}

function shownFunction(value) {
  if (!value.name) return '[Function]';
  return style.isModern ? `[Function ${value.name}]` : `[Function: ${value.name}]`;
}

const ownKeys = (value) => [
  ...Object.keys(value),
  ...Object.getOwnPropertySymbols(value).filter((key) => Object.getOwnPropertyDescriptor(value, key).enumerable),
];

/** As many items as have room, and how many are left out. */
function joined(items, open, close, room) {
  if (items.length === 0) return `${open}${close}`;
  const parts = [];
  let used = open.length + close.length;
  for (const [index, item] of items.entries()) {
    const text = item(Math.max(0, room - used - 4));
    const rest = items.length - index - 1;
    const more = rest > 0 ? `, …(${rest})`.length : 0;
    if (used + text.length + (index > 0 ? 2 : 0) + more + 2 > room && items.length > 1) {
      parts.push(`…(${rest + 1})`);
      break;
    }
    parts.push(text);
    used += text.length + 2;
  }
  return `${open} ${parts.join(', ')} ${close}`;
}

function shownObject(value, seen, room, depth) {
  if (seen.includes(value)) return '[Circular]';
  const within = [...seen, value];
  const inner = (part, left) => shown(part, within, left, depth + 1);
  if (!style.isModern && depth > 2) return '[Object]';
  const space = style.isModern ? room : Infinity;
  const entry = (key) => (left) => {
    const name = typeof key === 'symbol' ? `[${String(key)}]` : shownKey(key);
    return `${name}: ${inner(value[key], left - name.length - 2)}`;
  };
  if (Array.isArray(value) || ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const items = Array.from(value, (item, index) => (left) =>
      !style.isModern && !(index in value) ? '' : inner(item, left));
    const extra = Array.isArray(value) ? Object.keys(value).slice(Object.keys(value).findIndex((key) => !/^\d+$/.test(key))) : [];
    const named = extra.filter((key) => !/^\d+$/.test(key)).map(entry);
    const open = style.isModern && !Array.isArray(value) ? `${tagOf(value)}[` : '[';
    return joined([...items, ...named], open, ']', space);
  }
  if (value instanceof Error) {
    const text = `${value.name}${value.message ? `: ${value.message}` : ''}`;
    return style.isModern ? text : `[${text}]`;
  }
  if (value instanceof RegExp) return String(value);
  if (value instanceof Date) return style.isModern ? value.toJSON() || 'Invalid Date' : value.toUTCString();
  if (style.isModern) {
    // chai 4.5 does not show the entries of a map.
    if (value instanceof Map) return 'Map{}';
    if (value instanceof Set) return joined(Array.from(value, (item) => (left) => inner(item, left)), 'Set{', '}', space);
    if (['Promise', 'WeakMap', 'WeakSet'].includes(tagOf(value))) return `${tagOf(value)}{…}`;
    if (['Number', 'String', 'Boolean'].includes(tagOf(value))) return shown(value.valueOf(), seen, room, depth);
    if (tagOf(value) === 'Arguments') return joined(Array.from(value, (item) => (left) => inner(item, left)), 'Arguments[', ']', space);
  }
  const maker = Object.getPrototypeOf(value) && value.constructor && value.constructor.name;
  const head = style.isModern && maker && maker !== 'Object' ? maker : '';
  const keys = style.isModern ? ownKeys(value) : Object.keys(value);
  return joined(keys.map(entry), `${head}{`, '}', space);
}

function shown(value, seen, room, depth) {
  switch (typeof value) {
    case 'string':
      return style.isModern && value.length + 2 > room
        ? `${quoted(value.slice(0, Math.max(0, room - 3))).slice(0, -1)}…'`
        : quoted(value);
    case 'number':
      return shownNumber(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return shownFunction(value);
    case 'object':
      return value === null ? 'null' : shownObject(value, seen, room, depth);
    default:
      return String(value);
  }
}

const threshold = () => config.truncateVariableThreshold;

/** A value as text. */
function inspect(value) {
  return shown(value, [], style.isModern && threshold() ? threshold() : Infinity, 0);
}

/** A value as messages show it: long ones are cut. */
function objDisplay(value) {
  const text = inspect(value);
  const limit = threshold();
  if (!limit || text.length < limit) return text;
  if (typeof value === 'function') return shownFunction(value);
  if (Array.isArray(value)) return `[ Array(${value.length}) ]`;
  if (typeof value === 'object' && tagOf(value) === 'Object') {
    const keys = Object.keys(value);
    return `{ Object (${keys.length > 2 ? `${keys.slice(0, 2).join(', ')}, ...` : keys.join(', ')}) }`;
  }
  return text;
}

/** Deep equality: same types, same enumerable contents; NaN equals itself, +0 is not -0. */
function eql(a, b, pairs = []) {
  if (a === b) return a !== 0 || 1 / a === 1 / b;
  if (a !== a && b !== b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const type = tagOf(a);
  if (type !== tagOf(b)) return false;
  if (pairs.some(([one, other]) => one === a && other === b)) return true;
  const within = [...pairs, [a, b]];
  const same = (one, other) => eql(one, other, within);
  const listed = (one, other) => one.length === other.length && one.every((item, index) => same(item, other[index]));
  switch (type) {
    case 'Number':
    case 'String':
    case 'Boolean':
    case 'Date':
      return eql(a.valueOf(), b.valueOf());
    case 'RegExp':
      return String(a) === String(b);
    case 'Promise':
    case 'WeakMap':
    case 'WeakSet':
      return false;
    case 'Error':
      return style.isModern && ['name', 'message', 'code'].every((key) => a[key] === b[key]);
    case 'ArrayBuffer':
      return listed(Array.from(new Uint8Array(a)), Array.from(new Uint8Array(b)));
    case 'DataView':
      return listed(Array.from(new Uint8Array(a.buffer)), Array.from(new Uint8Array(b.buffer)));
    case 'Map':
    case 'Set': {
      if (a.size !== b.size) return false;
      const rest = [...b];
      return [...a].every((item) => {
        const at = rest.findIndex((other) => same(item, other));
        if (at >= 0) rest.splice(at, 1);
        return at >= 0;
      });
    }
    case 'Array':
    case 'Arguments':
      return listed(Array.from(a), Array.from(b));
    default:
  }
  if (ArrayBuffer.isView(a)) return listed(Array.from(a), Array.from(b));
  if (typeof a[Symbol.iterator] === 'function' && typeof b[Symbol.iterator] === 'function') return listed([...a], [...b]);
  const keys = allKeys(a);
  const others = allKeys(b);
  return keys.length === others.length && keys.every((key) => others.includes(key)) && keys.every((key) => same(a[key], b[key]));
}

/** Enumerable keys, inherited ones, too. */
function allKeys(value) {
  const keys = [];
  for (const key in value) keys.push(key);
  return style.isModern ? [...keys, ...ownKeys(value).filter((key) => typeof key === 'symbol')] : keys;
}

const deepEqual = (a, b) => (config.deepEqual || eql)(a, b);

/** `a.b[1].c`; a dot or bracket of a name comes after `\\`. */
function pathParts(path) {
  const found = String(path).replace(/([^\\])\[/g, '$1.[').match(/(\\\.|[^.]+?)+/g) || [];
  return found.map((part) => {
    const index = /^\[(\d+)\]$/.exec(part);
    return index ? Number(index[1]) : part.replace(/\\([.[\]])/g, '$1');
  });
}

const hasProperty = (value, name) => value !== null && value !== undefined && name in Object(value);

function getPathInfo(value, path) {
  const parts = pathParts(path);
  const name = parts.pop();
  let parent = value;
  for (const part of parts) parent = parent === null || parent === undefined ? undefined : parent[part];
  const exists = hasProperty(parent, name);
  return { parent, name, exists, value: exists ? parent[name] : undefined };
}

// ---- assertions ----

/** A flag of an assertion; sets it if a value is given. */
function flag(assertion, name, ...value) {
  const flags = assertion.__flags || (assertion.__flags = Object.create(null));
  if (value.length === 0) return flags[name];
  [flags[name]] = value;
  return undefined;
}

function transferFlags(from, to, includeAll = true) {
  for (const name of Object.keys(from.__flags || {})) {
    if (includeAll || !['object', 'ssfi', 'lockSsfi', 'message'].includes(name)) flag(to, name, from.__flags[name]);
  }
}

const cut = (text, most) => (most > 0 && text.length > most ? `${text.slice(0, most)}...` : text);

/** The message of an assertion's outcome; `display` says how its value, what was expected and what was met are shown. */
function messageOf(assertion, args, display) {
  let text = flag(assertion, 'negate') ? args[2] : args[1];
  if (typeof text === 'function') text = text();
  const actual = args.length > 4 ? args[4] : flag(assertion, 'object');
  return (text || '')
    .replace(/#\{this\}/g, () => display.object(flag(assertion, 'object')))
    .replace(/#\{act\}/g, () => display.actual(actual))
    .replace(/#\{exp\}/g, () => objDisplay(args[3]));
}

function getMessage(assertion, args) {
  const text = messageOf(assertion, args, { object: objDisplay, actual: objDisplay });
  const given = flag(assertion, 'message');
  return given ? `${given}: ${text}` : text;
}

/** The name of the check: without values that change from call to call if checks are to be aggregated. */
function checkName(assertion, args) {
  const given = flag(assertion, 'message');
  if (!config.aggregateChecks) return cut(getMessage(assertion, args), config.truncateMsgThreshold);
  // The words are chai's; its `but` belongs to the value that is not told.
  const display = { object: () => given || '${this}', actual: () => '${actual}' };
  const text = messageOf(assertion, args, display).replace(' but got ${actual}', ' got ${actual}');
  return cut(text, config.truncateMsgThreshold);
}

const record = (name, passed) => check(null, { [name]: passed });

/** A word near to one that is not there. */
function nearest(word, words) {
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, index) => index);
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) {
        next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1])));
      }
      row = next;
    }
    return row[b.length];
  };
  let best = null;
  let least = 4;
  for (const known of words) {
    const far = distance(word, known);
    if (far < least) [best, least] = [known, far];
  }
  return best;
}

/** Reports words that no assertion has, which would otherwise pass in silence. */
function proxify(target, method) {
  return new Proxy(target, {
    get(object, name) {
      if (typeof name === 'string' && config.useProxy && !config.proxyExcludedKeys.includes(name) && !Reflect.has(object, name)) {
        if (method) {
          throw Error(`Invalid Chai property: ${method}.${name}. See docs for proper usage of "${method}".`);
        }
        const known = [];
        for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
          known.push(...Object.getOwnPropertyNames(at).filter((key) => !key.startsWith('_')));
        }
        const near = nearest(name, known);
        throw Error(`Invalid Chai property: ${name}${near ? `. Did you mean "${near}"?` : ''}`);
      }
      return Reflect.get(object, name);
    },
  });
}

export function Assertion(object, message, ssfi, lockSsfi) {
  flag(this, 'object', object);
  flag(this, 'message', message);
  flag(this, 'ssfi', ssfi || Assertion);
  flag(this, 'lockSsfi', lockSsfi);
  return proxify(this);
}

const proto = Assertion.prototype;
Object.defineProperty(proto, '_obj', {
  get() {
    return flag(this, 'object');
  },
  set(value) {
    flag(this, 'object', value);
  },
});

const isPassed = (assertion, args) => (flag(assertion, 'negate') ? !args[0] : !!args[0]);

/** Makes a check of a condition, and throws if it does not hold. */
proto.assert = function assert(...args) {
  const passed = isPassed(this, args);
  record(checkName(this, args), passed);
  if (passed) return;
  const message = getMessage(this, args);
  if (config.logFailures) console.warn(message);
  const actual = args.length > 4 ? args[4] : flag(this, 'object');
  throw new AssertionError(message, { actual, expected: args[3], showDiff: args[5] !== false && config.showDiff });
};

/** An assertion with the same flags, for chains to go on with. */
function successor(assertion) {
  const next = new Assertion();
  transferFlags(assertion, next);
  return next;
}

const settled = (assertion, result) => (result === undefined ? successor(assertion) : result);

function addProperty(target, name, getter) {
  Object.defineProperty(target, name, {
    configurable: true,
    get() {
      return settled(this, getter ? getter.call(this) : undefined);
    },
  });
}

function addMethod(target, name, method) {
  function call(...args) {
    return settled(this, method.apply(this, args));
  }
  target[name] = proxify(call, name);
}

function addChainableMethod(target, name, method, behavior = () => {}) {
  const known = target.__methods || (target.__methods = {});
  const parts = { method, behavior };
  known[name] = parts;
  Object.defineProperty(target, name, {
    configurable: true,
    get() {
      parts.behavior.call(this);
      const call = (...args) => settled(this, parts.method.apply(this, args));
      Object.setPrototypeOf(call, Object.assign(Object.create(this), { call: undefined, apply: undefined }));
      transferFlags(this, call);
      return proxify(call);
    },
  });
}

function overwriteProperty(target, name, getter) {
  const before = Object.getOwnPropertyDescriptor(target, name);
  const old = before && before.get ? before.get : () => undefined;
  Object.defineProperty(target, name, {
    configurable: true,
    get() {
      return settled(this, getter(old).call(this));
    },
  });
}

function overwriteMethod(target, name, method) {
  const old = target[name];
  if (typeof old !== 'function') throw Error(`${name} is not a function`);
  addMethod(target, name, function overwritten(...args) {
    return method(old).apply(this, args);
  });
}

function overwriteChainableMethod(target, name, method, behavior) {
  const parts = target.__methods[name];
  const { method: oldMethod, behavior: oldBehavior } = parts;
  parts.method = function overwritten(...args) {
    return settled(this, method(oldMethod).apply(this, args));
  };
  parts.behavior = function overwritten() {
    return settled(this, behavior(oldBehavior).call(this));
  };
}

Assertion.addProperty = (name, getter) => addProperty(proto, name, getter);
Assertion.addMethod = (name, method) => addMethod(proto, name, method);
Assertion.addChainableMethod = (name, method, behavior) => addChainableMethod(proto, name, method, behavior);
Assertion.overwriteProperty = (name, getter) => overwriteProperty(proto, name, getter);
Assertion.overwriteMethod = (name, method) => overwriteMethod(proto, name, method);
Assertion.overwriteChainableMethod = (name, method, behavior) => overwriteChainableMethod(proto, name, method, behavior);

const prefixed = (assertion, text) => {
  const message = flag(assertion, 'message');
  return message ? `${message}: ${text}` : text;
};

/** Fails before the condition is looked at: the assertion cannot be made of such a value. */
function refuse(assertion, text) {
  const message = prefixed(assertion, text);
  record(cut(message, config.truncateMsgThreshold), false);
  if (config.logFailures) console.warn(message);
  throw new AssertionError(message);
}

function expectTypes(assertion, types) {
  const value = flag(assertion, 'object');
  const wanted = types.map((type) => type.toLowerCase()).sort();
  if (!wanted.includes(typeName(value))) {
    const listed = wanted.map((type, at) => `${at > 0 && at === wanted.length - 1 ? 'or ' : ''}${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`);
    refuse(assertion, `object tested must be ${listed.join(', ')}, but ${typeName(value)} given`);
  }
}

for (const word of ['to', 'be', 'been', 'is', 'and', 'has', 'have', 'with', 'that', 'which', 'at', 'of', 'same', 'but', 'does', 'still', 'also']) {
  addProperty(proto, word);
}
for (const word of ['deep', 'nested', 'own', 'ordered', 'itself']) {
  addProperty(proto, word, function set() {
    flag(this, word, true);
  });
}
addProperty(proto, 'not', function not() {
  flag(this, 'negate', true);
});
addProperty(proto, 'any', function any() {
  flag(this, 'any', true);
  flag(this, 'all', false);
});
addProperty(proto, 'all', function all() {
  flag(this, 'all', true);
  flag(this, 'any', false);
});

/** A new assertion about a part of this one. */
const about = (assertion, value) => new Assertion(value, flag(assertion, 'message'));
const noted = (assertion, message) => {
  if (message) flag(assertion, 'message', message);
};
const names = (aliases, define) => aliases.forEach(define);

function an(type, message) {
  noted(this, message);
  const lower = type.toLowerCase();
  const article = /^[aeiou]/.test(lower) ? 'an ' : 'a ';
  const value = flag(this, 'object');
  this.assert(lower === typeName(value), `expected #{this} to be ${article}${lower}`, `expected #{this} not to be ${article}${lower}`);
}
names(['a', 'an'], (name) => addChainableMethod(proto, name, an));

function include(wanted, message) {
  noted(this, message);
  const value = flag(this, 'object');
  const type = typeName(value);
  const isDeep = flag(this, 'deep');
  const words = isDeep ? 'deep ' : '';
  const isSame = (one, other) => (isDeep ? deepEqual(one, other) : one === other);
  let found;
  switch (type) {
    case 'string':
      found = value.includes(wanted);
      break;
    case 'weakset':
      if (isDeep) refuse(this, 'unable to use .deep.include with WeakSet');
      found = value.has(wanted);
      break;
    case 'map':
      found = [...value.values()].some((item) => isSame(item, wanted));
      break;
    case 'set':
      found = isDeep ? [...value].some((item) => isSame(item, wanted)) : value.has(wanted);
      break;
    case 'array':
      found = isDeep ? value.some((item) => isSame(item, wanted)) : value.includes(wanted);
      break;
    default: {
      if (wanted !== Object(wanted)) {
        refuse(
          this,
          `the given combination of arguments (${type} and ${typeName(wanted)}) is invalid for this assertion. ` +
            `You can use an array, a map, an object, a set, a string, or a weakset instead of a ${typeName(wanted)}`,
        );
      }
      const isNegated = flag(this, 'negate');
      let first = null;
      let failed = 0;
      const keys = Object.keys(wanted);
      for (const key of keys) {
        const part = new Assertion(value);
        transferFlags(this, part, true);
        flag(part, 'lockSsfi', true);
        if (!isNegated || keys.length === 1) {
          part.property(key, wanted[key]);
          continue;
        }
        try {
          part.property(key, wanted[key]);
        } catch (error) {
          if (!(error instanceof AssertionError)) throw error;
          first = first || error;
          failed += 1;
        }
      }
      if (isNegated && keys.length > 1 && failed === keys.length) throw first;
      return;
    }
  }
  this.assert(found, `expected #{this} to ${words}include ${inspect(wanted)}`, `expected #{this} to not ${words}include ${inspect(wanted)}`);
}
names(['include', 'contain', 'contains', 'includes'], (name) =>
  addChainableMethod(proto, name, include, function contains() {
    flag(this, 'contains', true);
  }));

/** Properties without arguments: what must hold, and how it is said. */
const simple = (aliases, holds, words, wordsNot = `not ${words}`, ...rest) =>
  names(aliases, (name) =>
    addProperty(proto, name, function property() {
      const value = flag(this, 'object');
      this.assert(holds(value, this), `expected #{this} to ${words}`, `expected #{this} to ${wordsNot}`, ...rest);
    }));

simple(['ok'], (value) => value, 'be truthy', 'be falsy');
names([true, false], (wanted) =>
  addProperty(proto, String(wanted), function property() {
    this.assert(
      flag(this, 'object') === wanted,
      `expected #{this} to be ${wanted}`,
      `expected #{this} to be ${!wanted}`,
      !flag(this, 'negate') === wanted,
    );
  }));
for (const wanted of [null, undefined, NaN]) {
  addProperty(proto, String(wanted), function property() {
    this.assert(Object.is(flag(this, 'object'), wanted), `expected #{this} to be ${wanted}`, `expected #{this} not to be ${wanted}`);
  });
}
simple(['exist', 'exists'], (value) => value !== null && value !== undefined, 'exist', 'not exist');
names(['arguments', 'Arguments'], (name) =>
  addProperty(proto, name, function property() {
    const type = typeOf(flag(this, 'object'));
    this.assert(type === 'Arguments', `expected #{this} to be arguments but got ${type}`, 'expected #{this} to not be arguments');
  }));
const canChange = (test) => (value) => value === Object(value) && test(value);
simple(['extensible'], canChange(Object.isExtensible), 'be extensible', 'not be extensible');
simple(['sealed'], (value) => value !== Object(value) || Object.isSealed(value), 'be sealed', 'not be sealed');
simple(['frozen'], (value) => value !== Object(value) || Object.isFrozen(value), 'be frozen', 'not be frozen');
simple(['finite'], (value) => Number.isFinite(value), 'be a finite number', 'not be a finite number');
addProperty(proto, 'empty', function empty() {
  const value = flag(this, 'object');
  let count;
  switch (typeName(value)) {
    case 'array':
    case 'string':
      count = value.length;
      break;
    case 'map':
    case 'set':
      count = value.size;
      break;
    case 'weakmap':
    case 'weakset':
      refuse(this, '.empty was passed a weak collection');
      break;
    case 'function':
      refuse(this, `.empty was passed a function ${value.name || ''}`.trim());
      break;
    default:
      if (value !== Object(value)) refuse(this, `.empty was passed non-string primitive ${inspect(value)}`);
      count = Object.keys(value).length;
  }
  this.assert(count === 0, 'expected #{this} to be empty', 'expected #{this} not to be empty');
});

function equal(wanted, message) {
  noted(this, message);
  if (flag(this, 'deep')) {
    this.eql(wanted);
    return;
  }
  const value = flag(this, 'object');
  this.assert(value === wanted, 'expected #{this} to equal #{exp}', 'expected #{this} to not equal #{exp}', wanted, value, true);
}
names(['equal', 'equals', 'eq'], (name) => addMethod(proto, name, equal));
names(['eql', 'eqls'], (name) =>
  addMethod(proto, name, function eqls(wanted, message) {
    noted(this, message);
    const value = flag(this, 'object');
    this.assert(deepEqual(wanted, value), 'expected #{this} to deeply equal #{exp}', 'expected #{this} to not deeply equal #{exp}', wanted, value, true);
  }));

/** The value, or with `lengthOf` its length, is compared; numbers with numbers, dates with dates. */
function compared(assertion, message, method, bounds, holds, words) {
  noted(assertion, message);
  const value = flag(assertion, 'object');
  const type = typeName(value);
  const isLength = flag(assertion, 'doLength');
  const isSized = type === 'map' || type === 'set';
  if (isLength && !isSized) about(assertion, value).to.have.property('length');
  const types = bounds.map(typeName);
  const isDate = !isLength && type === 'date';
  const shownValue = () => (type === 'string' ? `'${value}'` : `${value}`);
  const many = bounds.length > 1 ? 'the arguments to' : 'the argument to';
  if (isDate && types.some((bound) => bound !== 'date')) {
    refuse(assertion, `${many} ${method} must be ${bounds.length > 1 ? 'dates' : 'a date'}`);
  }
  if (!isDate && types.some((bound) => bound !== 'number') && (isLength || type === 'number')) {
    refuse(assertion, `${many} ${method} must be ${bounds.length > 1 ? 'numbers' : 'a number'}`);
  }
  if (!isLength && !isDate && type !== 'number') refuse(assertion, `expected ${shownValue()} to be a number or a date`);
  const dated = (date) => (style.isModern ? date.toISOString() : date.toUTCString());
  const told = (isDate ? bounds.map(dated) : bounds).join('..');
  if (!isLength) {
    const range = isDate || bounds.length > 1 ? told : '#{exp}';
    assertion.assert(holds(value), `expected #{this} to ${words[0]} ${range}`, `expected #{this} to ${words[1]} ${range}`, bounds[0]);
    return;
  }
  const count = isSized ? value.size : value.length;
  const what = isSized ? 'size' : 'length';
  const range = bounds.length > 1 ? told : '#{exp}';
  const but = bounds.length > 1 ? '' : ' but got #{act}';
  assertion.assert(
    holds(count),
    `expected #{this} to have a ${what} ${words[2]} ${range}${but}`,
    `expected #{this} to ${words[3].replace('%', what)} ${range}`,
    bounds[0],
    count,
  );
}
const comparison = (aliases, holds, words) =>
  names(aliases, (name) =>
    addMethod(proto, name, function method(bound, message) {
      compared(this, message, aliases[0], [bound], (value) => holds(value, bound), words);
    }));
comparison(['above', 'gt', 'greaterThan'], (a, b) => a > b, ['be above', 'be at most', 'above', 'not have a % above']);
comparison(['least', 'gte', 'greaterThanOrEqual'], (a, b) => a >= b, ['be at least', 'be below', 'at least', 'have a % below']);
comparison(['below', 'lt', 'lessThan'], (a, b) => a < b, ['be below', 'be at least', 'below', 'not have a % below']);
comparison(['most', 'lte', 'lessThanOrEqual'], (a, b) => a <= b, ['be at most', 'be above', 'at most', 'have a % above']);
addMethod(proto, 'within', function within(start, end, message) {
  const words = ['be within', 'not be within', 'within', 'not have a % within'];
  compared(this, message, 'within', [start, end], (value) => value >= start && value <= end, words);
});

names(['instanceof', 'instanceOf'], (name) =>
  addMethod(proto, name, function instance(maker, message) {
    noted(this, message);
    const value = flag(this, 'object');
    let is;
    try {
      is = value instanceof maker;
    } catch (error) {
      refuse(this, `The instanceof assertion needs a constructor but ${typeName(maker)} was given.`);
    }
    const shownName = maker.name || 'an unnamed constructor';
    this.assert(is, `expected #{this} to be an instance of ${shownName}`, `expected #{this} to not be an instance of ${shownName}`);
  }));

function property(name, ...rest) {
  const [wanted, message] = rest;
  noted(this, message);
  const isNested = flag(this, 'nested');
  const isOwn = flag(this, 'own');
  const isDeep = flag(this, 'deep');
  const value = flag(this, 'object');
  if (!['string', 'number', 'symbol'].includes(typeof name) || (isNested && typeof name !== 'string')) {
    refuse(this, isNested
      ? 'the argument to property must be a string when using nested syntax'
      : 'the argument to property must be a string, number, or symbol');
  }
  if (isNested && isOwn) refuse(this, 'The "nested" and "own" flags cannot be combined.');
  if (value === null || value === undefined) refuse(this, 'Target cannot be null or undefined.');
  const path = isNested ? getPathInfo(value, name) : null;
  let has;
  if (isOwn) has = Object.prototype.hasOwnProperty.call(value, name);
  else has = isNested ? path.exists : hasProperty(value, name);
  const found = isNested ? path.value : value[name];
  let kind = isDeep ? 'deep ' : '';
  if (isOwn) kind += 'own ';
  if (isNested) kind += 'nested ';
  kind += 'property ';
  const shownName = inspect(name);
  if (!flag(this, 'negate') || rest.length === 0) {
    this.assert(has, `expected #{this} to have ${kind}${shownName}`, `expected #{this} to not have ${kind}${shownName}`);
  }
  if (rest.length > 0) {
    const isSame = isDeep ? deepEqual(wanted, found) : wanted === found;
    this.assert(
      has && isSame,
      `expected #{this} to have ${kind}${shownName} of #{exp}, but got #{act}`,
      `expected #{this} to not have ${kind}${shownName} of #{act}`,
      wanted,
      found,
    );
  }
  flag(this, 'object', found);
}
addMethod(proto, 'property', property);
names(['ownProperty', 'haveOwnProperty'], (name) =>
  addMethod(proto, name, function own(...args) {
    flag(this, 'own', true);
    property.apply(this, args);
  }));
names(['ownPropertyDescriptor', 'haveOwnPropertyDescriptor'], (name) =>
  addMethod(proto, name, function own(key, wanted, message) {
    const hasWanted = typeof wanted !== 'string' && wanted !== undefined;
    noted(this, hasWanted ? message : wanted);
    const found = Object.getOwnPropertyDescriptor(Object(flag(this, 'object')), key);
    const shownKeyText = inspect(key);
    if (found && hasWanted) {
      this.assert(
        deepEqual(wanted, found),
        `expected the own property descriptor for ${shownKeyText} on #{this} to match ${inspect(wanted)}, got ${inspect(found)}`,
        `expected the own property descriptor for ${shownKeyText} on #{this} to not match ${inspect(wanted)}`,
        wanted,
        found,
        true,
      );
    } else {
      this.assert(
        found,
        `expected #{this} to have an own property descriptor for ${shownKeyText}`,
        `expected #{this} to not have an own property descriptor for ${shownKeyText}`,
      );
    }
    flag(this, 'object', found);
  }));

function lengthOf(wanted, message) {
  noted(this, message);
  const value = flag(this, 'object');
  const type = typeName(value);
  const isSized = type === 'map' || type === 'set';
  if (!isSized) about(this, value).to.have.property('length');
  const count = isSized ? value.size : value.length;
  const what = isSized ? 'size' : 'length';
  this.assert(count === wanted, `expected #{this} to have a ${what} of #{exp} but got #{act}`, `expected #{this} to not have a ${what} of #{act}`, wanted, count);
}
names(['length', 'lengthOf'], (name) =>
  addChainableMethod(proto, name, lengthOf, function chain() {
    flag(this, 'doLength', true);
  }));

names(['match', 'matches'], (name) =>
  addMethod(proto, name, function match(pattern, message) {
    noted(this, message);
    this.assert(pattern.exec(flag(this, 'object')), `expected #{this} to match ${pattern}`, `expected #{this} not to match ${pattern}`);
  }));
addMethod(proto, 'string', function string(text, message) {
  noted(this, message);
  const value = flag(this, 'object');
  about(this, value).is.a('string');
  this.assert(value.includes(text), `expected #{this} to contain ${inspect(text)}`, `expected #{this} to not contain ${inspect(text)}`);
});

const sorted = (list) => [...list].sort((a, b) => (inspect(a) < inspect(b) ? -1 : 1));
names(['keys', 'key'], (name) =>
  addMethod(proto, name, function keys(...given) {
    const value = flag(this, 'object');
    const type = typeName(value);
    const isSized = type === 'map' || type === 'set';
    const isDeep = flag(this, 'deep');
    const mixed = 'when testing keys against an object or an array you must give a single Array|Object|String argument or multiple String arguments';
    let wanted = given;
    if (isSized) {
      if (Array.isArray(given[0]) && given.length === 1) [wanted] = given;
    } else {
      if (['array', 'object'].includes(typeName(given[0])) && given.length > 1) refuse(this, mixed);
      if (typeName(given[0]) === 'array') [wanted] = given;
      else if (typeName(given[0]) === 'object') wanted = Object.keys(given[0]);
      wanted = wanted.map((key) => (typeof key === 'symbol' ? key : String(key)));
    }
    if (wanted.length === 0) refuse(this, 'keys required');
    const has = isSized ? [...value.keys()] : ownKeys(value);
    const isSame = (one, other) => (isDeep ? deepEqual(one, other) : one === other);
    const contains = (key) => has.some((own) => isSame(own, key));
    const isAny = flag(this, 'any');
    const isContained = flag(this, 'contains');
    let passed;
    if (isAny) passed = wanted.some(contains);
    else passed = wanted.every(contains) && (isContained || wanted.length === has.length);
    let told;
    if (wanted.length > 1) {
      const list = wanted.map(inspect);
      const last = list.pop();
      told = `${list.join(', ')}, ${isAny ? 'or' : 'and'} ${last}`;
    } else {
      told = inspect(wanted[0]);
    }
    told = `${isContained ? 'contain' : 'have'} ${isDeep ? 'deep ' : ''}${wanted.length > 1 ? 'keys' : 'key'} ${told}`;
    this.assert(passed, `expected #{this} to ${told}`, `expected #{this} to not ${told}`, sorted(wanted), sorted(has), true);
  }));

names(['throw', 'throws', 'Throw'], (name) =>
  addMethod(proto, name, function throws(like, pattern, message) {
    noted(this, message);
    const value = flag(this, 'object');
    about(this, value).is.a('function');
    let [kind, text] = [like, pattern];
    if (typeof kind === 'string' || kind instanceof RegExp) [kind, text] = [undefined, like];
    let caught;
    let isThrown = false;
    try {
      value();
    } catch (error) {
      caught = error;
      isThrown = true;
    }
    const isNegated = flag(this, 'negate');
    const isAny = kind === undefined && text === undefined;
    const isBoth = Boolean(kind) && text !== undefined;
    let failsKind = false;
    let failsText = false;
    const caughtName = caught instanceof Error ? String(caught) : caught && (caught.name || typeof caught === 'function' && caught.name) || caught;
    if (isAny || (!isAny && !isNegated)) {
      let wantedName = 'an error';
      if (kind instanceof Error) wantedName = '#{exp}';
      else if (kind) wantedName = kind.name || 'an error';
      const but = isThrown ? ' but #{act} was thrown' : '';
      this.assert(isThrown, `expected #{this} to throw ${wantedName}`, `expected #{this} to not throw an error${but}`, kind && String(kind), caughtName);
    }
    if (kind && isThrown) {
      const isLike = kind instanceof Error ? caught === kind : caught instanceof kind;
      if (kind instanceof Error) {
        if (isLike === Boolean(isNegated)) {
          if (isBoth && isNegated) failsKind = true;
          else this.assert(isLike, 'expected #{this} to throw #{exp} but #{act} was thrown', 'expected #{this} to not throw #{exp}' + (caught && !isNegated ? ' but #{act} was thrown' : ''), String(kind), String(caught));
        }
      } else if (isLike === Boolean(isNegated)) {
        if (isBoth && isNegated) failsKind = true;
        else this.assert(isLike, 'expected #{this} to throw #{exp} but #{act} was thrown', 'expected #{this} to not throw #{exp}' + (caught ? ' but #{act} was thrown' : ''), kind.name, caughtName);
      }
    }
    if (isThrown && text !== undefined && text !== null) {
      const said = String(typeof caught === 'string' ? caught : (caught && caught.message) || '');
      const isLike = text instanceof RegExp ? text.test(said) : said.includes(text);
      const how = text instanceof RegExp ? 'matching' : 'including';
      if (isLike === Boolean(isNegated)) {
        if (isBoth && isNegated) failsText = true;
        else this.assert(isLike, `expected #{this} to throw error ${how} #{exp} but got #{act}`, `expected #{this} to throw error not ${how} #{exp}`, text, said);
      }
    }
    if (failsKind && failsText) {
      this.assert(true, 'expected #{this} to throw #{exp} but #{act} was thrown', 'expected #{this} to not throw #{exp} but #{act} was thrown', kind instanceof Error ? String(kind) : kind.name, caughtName);
    }
    flag(this, 'object', caught);
  }));

names(['respondTo', 'respondsTo'], (name) =>
  addMethod(proto, name, function responds(method, message) {
    noted(this, message);
    const value = flag(this, 'object');
    const from = typeof value === 'function' && !flag(this, 'itself') ? value.prototype[method] : value[method];
    this.assert(typeof from === 'function', `expected #{this} to respond to ${inspect(method)}`, `expected #{this} to not respond to ${inspect(method)}`);
  }));
names(['satisfy', 'satisfies'], (name) =>
  addMethod(proto, name, function satisfies(matcher, message) {
    noted(this, message);
    const value = flag(this, 'object');
    const result = matcher(value);
    this.assert(result, `expected #{this} to satisfy ${objDisplay(matcher)}`, `expected #{this} to not satisfy${objDisplay(matcher)}`, !flag(this, 'negate'), result);
  }));
names(['closeTo', 'approximately'], (name) =>
  addMethod(proto, name, function close(wanted, delta, message) {
    noted(this, message);
    const value = flag(this, 'object');
    about(this, value).is.a('number');
    if (typeof wanted !== 'number' || typeof delta !== 'number') {
      refuse(this, `the arguments to closeTo or approximately must be numbers${delta === undefined ? ', and a delta is required' : ''}`);
    }
    this.assert(Math.abs(value - wanted) <= delta, `expected #{this} to be close to ${wanted} +/- ${delta}`, `expected #{this} not to be close to ${wanted} +/- ${delta}`);
  }));
names(['members'], (name) =>
  addMethod(proto, name, function members(wanted, message) {
    noted(this, message);
    const value = flag(this, 'object');
    about(this, value).to.be.an('array');
    about(this, wanted).to.be.an('array');
    const isDeep = flag(this, 'deep');
    const isOrdered = flag(this, 'ordered');
    const isSubset = flag(this, 'contains');
    const isSame = (one, other) => (isDeep ? deepEqual(one, other) : one === other);
    const rest = [...value];
    let passed = isSubset || wanted.length === value.length;
    passed = passed && wanted.every((item, index) => {
      if (isOrdered) return isSame(item, value[index]);
      const at = rest.findIndex((other) => isSame(item, other));
      if (at >= 0 && !isSubset) rest.splice(at, 1);
      return at >= 0;
    });
    const words = `${isOrdered ? 'ordered ' : ''}members`;
    let told = [`have the same ${words} as`, `not have the same ${words} as`];
    if (isSubset) {
      const kind = `${isOrdered ? 'an ordered' : 'a'} superset of`;
      told = [`be ${kind}`, `not be ${kind}`];
    }
    this.assert(passed, `expected #{this} to ${told[0]} #{exp}`, `expected #{this} to ${told[1]} #{exp}`, wanted, value, true);
  }));
addMethod(proto, 'oneOf', function oneOf(list, message) {
  noted(this, message);
  const value = flag(this, 'object');
  about(this, list).to.be.an('array');
  if (flag(this, 'contains')) {
    this.assert(list.some((item) => value.indexOf(item) > -1), 'expected #{this} to contain one of #{exp}', 'expected #{this} to not contain one of #{exp}', list, value);
    return;
  }
  if (flag(this, 'deep')) {
    this.assert(list.some((item) => deepEqual(value, item)), 'expected #{this} to deeply equal one of #{exp}', 'expected #{this} to deeply equal one of #{exp}', list, value);
    return;
  }
  this.assert(list.indexOf(value) > -1, 'expected #{this} to be one of #{exp}', 'expected #{this} to not be one of #{exp}', list, value);
});

/** change, increase, decrease: what a function does to a number, or to what another one returns. */
const changes = (aliases, verb, holds) =>
  names(aliases, (name) =>
    addMethod(proto, name, function method(subject, key, message) {
      noted(this, message);
      const run = flag(this, 'object');
      about(this, run).is.a('function');
      const read = () => (key === undefined ? subject() : subject[key]);
      if (key === undefined) about(this, subject).is.a('function');
      else about(this, subject).to.have.property(key);
      if (verb !== 'change') about(this, read()).is.a('number');
      const before = read();
      run();
      const after = read();
      const what = key === undefined || key === null ? before : `.${key}`;
      flag(this, 'deltaMsgObj', what);
      flag(this, 'initialDeltaValue', before);
      flag(this, 'finalDeltaValue', after);
      flag(this, 'deltaBehavior', verb);
      flag(this, 'realDelta', after !== before);
      this.assert(holds(before, after), `expected ${what} to ${verb}`, `expected ${what} to not ${verb}`);
    }));
changes(['change', 'changes'], 'change', (before, after) => before !== after);
changes(['increase', 'increases'], 'increase', (before, after) => after - before > 0);
changes(['decrease', 'decreases'], 'decrease', (before, after) => after - before < 0);
addMethod(proto, 'by', function by(delta, message) {
  noted(this, message);
  const what = flag(this, 'deltaMsgObj');
  const verb = flag(this, 'deltaBehavior');
  const moved = flag(this, 'finalDeltaValue') - flag(this, 'initialDeltaValue');
  let met;
  if (verb === 'change') met = Math.abs(moved) === Math.abs(delta);
  else met = (verb === 'increase' ? moved : -moved) === Math.abs(delta);
  this.assert(met, `expected ${what} to ${verb} by ${delta}`, `expected ${what} to not ${verb} by ${delta}`);
});

/** The body of a response is JSON. */
addMethod(proto, 'validJsonBody', function validJsonBody() {
  let isValid = true;
  try {
    flag(this, 'object').json();
  } catch (error) {
    isValid = false;
  }
  this.assert(isValid, 'has valid json body', 'does not have valid json body');
});

// ---- entries ----

export function expect(value, message) {
  return new Assertion(value, message);
}

function failNow(style_, args) {
  const [actual, expected, message, operator] = args.length < 2 ? [undefined, undefined, args[0]] : args;
  const text = message || `${style_}.fail()`;
  record(cut(text, config.truncateMsgThreshold), false);
  throw new AssertionError(text, { actual, expected, operator });
}
expect.fail = (...args) => failNow('expect', args);

/** Gives every object `should`. */
export function should() {
  Object.defineProperty(Object.prototype, 'should', {
    configurable: true,
    get() {
      return new Assertion(['String', 'Number', 'Boolean'].includes(tagOf(this)) ? this.valueOf() : this);
    },
    set(value) {
      Object.defineProperty(this, 'should', { value, configurable: true, enumerable: true, writable: true });
    },
  });
  const about_ = {
    fail: (...args) => failNow('should', args),
    equal: (a, b, message) => expect(a, message).to.equal(b),
    exist: (a, message) => expect(a, message).to.exist,
    Throw: (f, ...rest) => expect(f).to.throw(...rest),
    not: {
      equal: (a, b, message) => expect(a, message).to.not.equal(b),
      exist: (a, message) => expect(a, message).to.not.exist,
      Throw: (f, ...rest) => expect(f).to.not.throw(...rest),
    },
  };
  about_.throw = about_.Throw;
  about_.not.throw = about_.not.Throw;
  return about_;
}
export const Should = should;

/** The assertions as functions: what is compared first, the message last. */
export function assert(condition, message) {
  new Assertion(null, null).assert(condition, message || 'assertion passes', '[ negation message unavailable ]');
}
assert.fail = (...args) => failNow('assert', args);
const ofOne = {
  isOk: (it) => it.ok, isTrue: (it) => it.true, isFalse: (it) => it.false, isNull: (it) => it.null, isUndefined: (it) => it.undefined,
  isNaN: (it) => it.NaN, exists: (it) => it.exist, isEmpty: (it) => it.empty, isFunction: (it) => it.a('function'), isObject: (it) => it.a('object'),
  isArray: (it) => it.an('array'), isString: (it) => it.a('string'), isNumber: (it) => it.a('number'), isBoolean: (it) => it.a('boolean'),
  isFinite: (it) => it.finite, isExtensible: (it) => it.extensible, isSealed: (it) => it.sealed, isFrozen: (it) => it.frozen,
};
const ofTwo = {
  strictEqual: (it, b) => it.equal(b), deepEqual: (it, b) => it.eql(b), isAbove: (it, b) => it.above(b), isAtLeast: (it, b) => it.least(b),
  isBelow: (it, b) => it.below(b), isAtMost: (it, b) => it.most(b), typeOf: (it, b) => it.a(b), instanceOf: (it, b) => it.instanceOf(b),
  include: (it, b) => it.include(b), deepInclude: (it, b) => it.deep.include(b), match: (it, b) => it.match(b), property: (it, b) => it.property(b),
  nestedProperty: (it, b) => it.nested.property(b), ownProperty: (it, b) => it.own.property(b), lengthOf: (it, b) => it.lengthOf(b),
  hasAllKeys: (it, b) => it.all.keys(b), hasAnyKeys: (it, b) => it.any.keys(b), containsAllKeys: (it, b) => it.contain.all.keys(b),
  sameMembers: (it, b) => it.members(b), sameDeepMembers: (it, b) => it.deep.members(b), sameOrderedMembers: (it, b) => it.ordered.members(b),
  includeMembers: (it, b) => it.include.members(b), oneOf: (it, b) => it.oneOf(b),
};
const negatedName = (name) => {
  if (/^(is|has)/.test(name)) return name.replace(/^(is|has)/, (start) => (start === 'is' ? 'isNot' : 'doesNotHave'));
  return { strictEqual: 'notStrictEqual', exists: 'notExists' }[name] || `not${name[0].toUpperCase()}${name.slice(1)}`;
};
for (const [name, apply] of Object.entries(ofOne)) {
  assert[name] = (value, message) => void apply(expect(value, message).to);
  assert[negatedName(name)] = (value, message) => void apply(expect(value, message).to.not);
}
for (const [name, apply] of Object.entries(ofTwo)) {
  assert[name] = (value, wanted, message) => void apply(expect(value, message).to, wanted);
  assert[negatedName(name)] = (value, wanted, message) => void apply(expect(value, message).to.not, wanted);
}
Object.assign(assert, {
  ok: assert.isOk,
  notOk: assert.isNotOk,
  isDefined: (value, message) => void expect(value, message).to.not.equal(undefined),
  equal: (a, b, message) => expect(a, message).assert(a == b, 'expected #{this} to equal #{exp}', 'expected #{this} to not equal #{exp}', b, a, true),
  notEqual: (a, b, message) => expect(a, message).assert(a != b, 'expected #{this} to not equal #{exp}', 'expected #{this} to equal #{exp}', b, a, true),
  propertyVal: (value, name, wanted, message) => void expect(value, message).to.have.property(name, wanted),
  deepPropertyVal: (value, name, wanted, message) => void expect(value, message).to.have.deep.property(name, wanted),
  nestedPropertyVal: (value, name, wanted, message) => void expect(value, message).to.have.nested.property(name, wanted),
  closeTo: (value, wanted, delta, message) => void expect(value, message).to.be.closeTo(wanted, delta),
  approximately: (value, wanted, delta, message) => void expect(value, message).to.be.approximately(wanted, delta),
  throws: (f, ...rest) => flag(expect(f).to.throw(...rest), 'object'),
  doesNotThrow: (f, ...rest) => void expect(f).to.not.throw(...rest),
  operator: (a, operator, b, message) => {
    const holds = { '==': a == b, '===': a === b, '>': a > b, '>=': a >= b, '<': a < b, '<=': a <= b, '!=': a != b, '!==': a !== b };
    if (!(operator in holds)) throw new AssertionError(`Invalid operator "${operator}"`);
    expect(holds[operator], message).assert(holds[operator], `expected ${inspect(a)} to be ${operator} ${inspect(b)}`, `expected ${inspect(a)} to not be ${operator} ${inspect(b)}`);
  },
});
assert.throw = assert.throws;
assert.Throw = assert.throws;

/** A group whose exceptions become failed checks; whether none of its assertions failed. */
export function describe(name, body) {
  let passed = true;
  group(name, () => {
    try {
      body();
    } catch (error) {
      passed = false;
      if (error && error.name === 'AssertionError') return;
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error && error.message ? error.message : error);
      record(cut(`Exception raised "${error instanceof Error ? error.message : text}"`, config.truncateMsgThreshold), false);
      console.error(`Exception raised in group "${name}": ${error instanceof Error && error.stack ? `${text}\n${error.stack}` : text}`);
    }
  });
  return passed;
}

const util = {
  flag,
  transferFlags,
  inspect,
  objDisplay,
  type: typeOf,
  eql: deepEqual,
  expectTypes,
  getMessage,
  getActual: (assertion, args) => (args.length > 4 ? args[4] : flag(assertion, 'object')),
  getName: (f) => f.name,
  test: (assertion, args) => isPassed(assertion, args),
  getPathInfo,
  hasProperty,
  getOwnEnumerableProperties: ownKeys,
  getOwnEnumerablePropertySymbols: (value) => ownKeys(value).filter((key) => typeof key === 'symbol'),
  getProperties: (value) => Object.getOwnPropertyNames(value),
  getEnumerableProperties: allKeys,
  compareByInspect: (a, b) => (inspect(a) < inspect(b) ? -1 : 1),
  isNaN: Number.isNaN,
  isProxyEnabled: () => config.useProxy,
  proxify,
  addLengthGuard: (f) => f,
  addProperty,
  addMethod,
  addChainableMethod,
  overwriteProperty,
  overwriteMethod,
  overwriteChainableMethod,
};

const used = [];
const chai = {
  AssertionError,
  Assertion,
  config,
  util,
  expect,
  assert,
  should,
  Should,
  describe,
  get version() {
    return style.version;
  },
  use(plugin) {
    if (!used.includes(plugin)) {
      plugin(chai, util);
      used.push(plugin);
    }
    return chai;
  },
};
export const use = chai.use;
export { util };
export default chai;
