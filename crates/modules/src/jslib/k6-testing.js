// Expectations in the manner of Playwright, after the documentation of k6-testing.
import exec from 'k6/execution';

const DEFAULTS = { timeout: 5000, interval: 100, colorize: true, display: 'pretty', softMode: 'fail', soft: false };

/** Options that the environment sets. */
function fromEnvironment() {
  const found = {};
  const take = (name, key, read) => {
    const text = __ENV[`K6_TESTING_${name}`];
    if (text !== undefined && text !== '') found[key] = read(text);
  };
  take('TIMEOUT', 'timeout', Number);
  take('INTERVAL', 'interval', Number);
  take('COLORIZE', 'colorize', (text) => text !== 'false');
  take('DISPLAY', 'display', String);
  take('SOFT_MODE', 'softMode', String);
  return found;
}

class AssertionFailedError extends Error {
  get name() {
    return 'AssertionFailedError';
  }
}

/** A value as people write it. */
function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return `[Function ${value.name || 'anonymous'}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp || value instanceof Date) return String(value);
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name} ${shown([...value])}`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    return Object.prototype.toString.call(value);
  }
}

/** Where in the script an expectation stands. */
function place() {
  const frames = (new Error().stack || '').split('\n').filter((line) => line.includes(':'));
  const own = frames.find((line) => !line.includes('jslib.k6.io/k6-testing/') && /:\d+:\d+/.test(line));
  const found = own && /((?:file|https):\/\/[^\s():]+(?::\d+(?=\/))?[^\s():]*):(\d+):\d+/.exec(own);
  return found ? { file: found[1].split('/').pop(), line: found[2] } : null;
}

const colored = (config, code, text) => (config.colorize ? `\u001b[${code}m${text}\u001b[0m` : text);

/** The report of a failed expectation. */
function report(config, matcher, { isNot, message, expected, received }) {
  const call = `expect(received).${isNot ? 'not.' : ''}${matcher}(${expected === undefined ? '' : 'expected'})`;
  const at = place();
  if (config.display === 'inline') {
    const parts = [`error="${message || call}"`];
    if (expected !== undefined) parts.push(`expected=${expected}`);
    parts.push(`received=${received}`);
    if (at) parts.push(`filename=${at.file}`, `line=${at.line}`);
    return parts.join(' ');
  }
  const row = (name, text, code) => `${name.padStart(11)}: ${colored(config, code, text)}`;
  const lines = ['', row('Error', message || call, 31)];
  if (at) lines.push(row('At', `${at.file}:${at.line}`, 2));
  lines.push('');
  if (expected !== undefined) lines.push(row('Expected', `${isNot ? 'not ' : ''}${expected}`, 32));
  lines.push(row('Received', received, 31));
  if (at) lines.push('', row('Filename', at.file, 2), row('Line', at.line, 2));
  lines.push('');
  return lines.join('\n');
}

/** What a failed expectation does: it ends the test; a soft one marks it as failed, or ends the iteration. */
function fail(config, text) {
  if (!config.soft) exec.test.abort(text);
  if (config.soft && config.softMode !== 'throw') {
    exec.test.fail(text);
    return;
  }
  throw new AssertionFailedError(text);
}

const isObject = (value) => typeof value === 'object' && value !== null;

/** Deep equality; keys that are undefined count as absent. */
function equals(a, b, pairs = []) {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  if (pairs.some(([one, other]) => one === a && other === b)) return true;
  const within = [...pairs, [a, b]];
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Error) return a.name === b.name && a.message === b.message;
  if (a instanceof Map || a instanceof Set) {
    const rest = [...b];
    return a.size === b.size && [...a].every((item) => {
      const at = rest.findIndex((other) => equals(item, other, within));
      if (at >= 0) rest.splice(at, 1);
      return at >= 0;
    });
  }
  if (a instanceof ArrayBuffer) return equals(new Uint8Array(a), new Uint8Array(b), within);
  if ((Array.isArray(a) || ArrayBuffer.isView(a)) && a.length !== b.length) return false;
  const defined = (value) => Object.keys(value).filter((key) => value[key] !== undefined);
  const keys = defined(a);
  return keys.length === defined(b).length && keys.every((key) => b[key] !== undefined && equals(a[key], b[key], within));
}

/** `a.b[0]`; what is there and whether. */
function at(value, path) {
  const parts = Array.isArray(path) ? path : String(path).replace(/\[(\w+)\]/g, '.$1').split('.').filter((part) => part !== '');
  let found = value;
  for (const part of parts) {
    if (found === null || found === undefined || !(part in Object(found))) return { has: false };
    found = found[part];
  }
  return { has: true, found };
}

function needsNumber(matcher, value) {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new TypeError(`${matcher} compares numbers: ${shown(value)} is none`);
  }
}

/** Matchers of values: whether they hold, and what was expected. */
const MATCHERS = {
  toBe: (value, wanted) => [Object.is(value, wanted), shown(wanted)],
  toBeCloseTo(value, wanted, precision = 2) {
    needsNumber('toBeCloseTo', value);
    needsNumber('toBeCloseTo', wanted);
    const isClose = value === wanted || Math.abs(value - wanted) < 10 ** -precision / 2;
    return [isClose, `${wanted} ± ${10 ** -precision / 2}`];
  },
  toBeDefined: (value) => [value !== undefined, 'defined'],
  toBeFalsy: (value) => [!value, 'falsy'],
  toBeTruthy: (value) => [!!value, 'truthy'],
  toBeNull: (value) => [value === null, 'null'],
  toBeNaN: (value) => [Number.isNaN(value), 'NaN'],
  toBeUndefined: (value) => [value === undefined, 'undefined'],
  toBeInstanceOf: (value, maker) => [value instanceof maker, `an instance of ${maker.name}`],
  toEqual: (value, wanted) => [equals(value, wanted), shown(wanted)],
  toHaveLength(value, wanted) {
    if (value === null || value === undefined || typeof value.length !== 'number') {
      throw new TypeError(`toHaveLength needs something with a length: ${shown(value)} has none`);
    }
    return [value.length === wanted, `length ${wanted}`];
  },
  toContain(value, wanted) {
    if (typeof value === 'string' || Array.isArray(value)) return [value.includes(wanted), shown(wanted)];
    if (value instanceof Set) return [value.has(wanted), shown(wanted)];
    throw new TypeError(`toContain needs a string, an array or a set, not ${shown(value)}`);
  },
  toContainEqual(value, wanted) {
    if (!Array.isArray(value) && !(value instanceof Set)) {
      throw new TypeError(`toContainEqual needs an array or a set, not ${shown(value)}`);
    }
    return [[...value].some((item) => equals(item, wanted)), shown(wanted)];
  },
  toHaveProperty(value, path, ...wanted) {
    const { has, found } = at(value, path);
    if (wanted.length === 0) return [has, `property ${shown(path)}`];
    return [has && equals(found, wanted[0]), `property ${shown(path)} of ${shown(wanted[0])}`];
  },
  toMatch: (value, wanted) => [
    wanted instanceof RegExp ? wanted.test(value) : String(value).includes(wanted),
    shown(wanted),
  ],
  toThrow(value, wanted) {
    try {
      value();
    } catch (error) {
      const text = error && error.message !== undefined ? error.message : String(error);
      if (wanted === undefined) return [true, 'an exception'];
      if (wanted instanceof RegExp) return [wanted.test(text), shown(wanted)];
      if (typeof wanted === 'function') return [error instanceof wanted, wanted.name];
      return [text.includes(wanted instanceof Error ? wanted.message : wanted), shown(wanted)];
    }
    return [false, 'an exception'];
  },
};
const COMPARISONS = {
  toBeGreaterThan: [(a, b) => a > b, '>'],
  toBeGreaterThanOrEqual: [(a, b) => a >= b, '>='],
  toBeLessThan: [(a, b) => a < b, '<'],
  toBeLessThanOrEqual: [(a, b) => a <= b, '<='],
};
for (const [name, [holds, sign]] of Object.entries(COMPARISONS)) {
  MATCHERS[name] = (value, wanted) => {
    needsNumber(name, value);
    needsNumber(name, wanted);
    return [holds(value, wanted), `${sign} ${wanted}`];
  };
}

const clean = (text) => String(text).replace(/\s+/g, ' ').trim();
const letters = (text, options) => (options && options.ignoreCase ? text.toLowerCase() : text);

/** Whether an element's text is the wanted one, or has it within. */
function saysText(text, wanted, options, isWhole) {
  const said = letters(clean(text), options);
  if (wanted instanceof RegExp) return wanted.test(clean(text));
  const asked = letters(clean(wanted), options);
  return isWhole ? said === asked : said.includes(asked);
}

const readText = (element, options) => (options && options.useInnerText ? element.innerText() : element.textContent());

/** Matchers of elements and pages, asked until they hold: what is expected, and how to look. */
const RETRIED = {
  toBeChecked: () => ['checked', (element) => element.isChecked()],
  toBeDisabled: () => ['disabled', (element) => element.isDisabled()],
  toBeEditable: () => ['editable', (element) => element.isEditable()],
  toBeEnabled: () => ['enabled', (element) => element.isEnabled()],
  toBeHidden: () => ['hidden', (element) => element.isHidden()],
  toBeVisible: () => ['visible', (element) => element.isVisible()],
  toBeEmpty: () => ['empty', async (element) => clean(await element.textContent()) === ''],
  toHaveValue: (wanted) => [shown(wanted), async (element) => (await element.inputValue()) === wanted],
  toHaveText: (wanted, options) => [
    shown(wanted),
    async (element) => saysText(await readText(element, options), wanted, options, true),
  ],
  toContainText: (wanted, options) => [
    shown(wanted),
    async (element) => saysText(await readText(element, options), wanted, options, false),
  ],
  toHaveAttribute: (name, wanted) => [
    wanted === undefined ? `attribute ${name}` : `attribute ${name} of ${shown(wanted)}`,
    async (element) => {
      const value = await element.getAttribute(name);
      if (wanted === undefined) return value !== null && value !== undefined;
      return wanted instanceof RegExp ? wanted.test(value) : value === wanted;
    },
  ],
  toHaveTitle: (wanted, options) => [
    shown(wanted),
    async (page) => saysText(await page.title(), wanted, options, true),
  ],
};
/** How many arguments stand before the options. */
const ASKED = { toHaveValue: 1, toHaveText: 1, toContainText: 1, toHaveAttribute: 2, toHaveTitle: 1 };

async function until(holds, { timeout, interval }) {
  const end = Date.now() + timeout;
  for (;;) {
    if (await holds()) return true;
    if (Date.now() + interval > end) return false;
    await new Promise((resolve) => {
      setTimeout(resolve, interval);
    });
  }
}

function expectation(config, value, message, isNot) {
  const made = {};
  for (const [name, matcher] of Object.entries(MATCHERS)) {
    made[name] = (...wanted) => {
      const [holds, expected] = matcher(value, ...wanted);
      if (holds === isNot) fail(config, report(config, name, { isNot, message, expected, received: shown(value) }));
    };
  }
  for (const [name, matcher] of Object.entries(RETRIED)) {
    made[name] = async (...given) => {
      const options = given[ASKED[name] || 0];
      const own = isObject(options) && !(options instanceof RegExp) ? options : {};
      const [expected, look] = matcher(...given);
      const retry = { timeout: own.timeout ?? config.timeout, interval: own.interval ?? config.interval };
      const met = await until(async () => Boolean(await look(value)) !== isNot, retry);
      if (!met) {
        const received = `something else for ${retry.timeout} ms`;
        fail(config, report(config, name, { isNot, message, expected, received }));
      }
    };
  }
  return made;
}

function make(config) {
  function expect(value, message) {
    const made = expectation(config, value, message, false);
    Object.defineProperty(made, 'not', { get: () => expectation(config, value, message, true) });
    return made;
  }
  expect.soft = (value, message) => make({ ...config, soft: true })(value, message);
  expect.configure = (options = {}) => make({ ...config, ...options });
  Object.defineProperty(expect, 'config', { get: () => ({ ...config }) });
  return expect;
}

export const expect = make({ ...DEFAULTS, ...fromEnvironment() });
export default { expect };
