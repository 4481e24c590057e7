// Expectations in the manner of Playwright with the names and the behaviour of k6-testing.
import exec from 'k6/execution';

const DEFAULTS = { timeout: 5000, interval: 100, colorize: true, display: 'pretty', softMode: 'fail', soft: false };

const oneOf = (allowed) => (text, name) => {
  const value = text.toLowerCase();
  if (allowed.includes(value)) return value;
  throw new Error(`${name} is '${text}'; it takes ${allowed.join(' or ')}`);
};
const milliseconds = (text, name) => {
  const value = Number(text);
  if (text !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name} is '${text}'; it takes milliseconds, such as 5000`);
};

/** Variables of the environment that come before all options. */
const VARIABLES = {
  K6_TESTING_TIMEOUT: ['timeout', milliseconds],
  K6_TESTING_INTERVAL: ['interval', milliseconds],
  K6_TESTING_COLORIZE: ['colorize', (text) => text.toLowerCase() !== 'false'],
  K6_TESTING_DISPLAY: ['display', oneOf(['inline', 'pretty'])],
  K6_TESTING_SOFT_MODE: ['softMode', oneOf(['throw', 'fail'])],
};

function fromEnvironment() {
  const found = {};
  for (const [name, [option, read]] of Object.entries(VARIABLES)) {
    if (__ENV[name] !== undefined) found[option] = read(__ENV[name], name);
  }
  return found;
}

class AssertionFailedError extends Error {
  get name() {
    return 'AssertionFailedError';
  }
}

const COLORS = { red: 31, green: 32, white: 37, darkGrey: 90 };

/** A text in a colour of the terminal. */
export function colorize(text, color) {
  return `\u001b[${COLORS[color]}m${text}\u001b[0m`;
}

/** Where the function of the script that runs expects something: file, line and column. */
function place() {
  const frames = (new Error().stack || '').split('\n').map((line) => /(?:file:\/\/)?([^\s()]+):(\d+):(\d+)(?:\(\d+\))?\)?$/.exec(line));
  const found = frames.filter((frame) => frame && !frame[1].includes('jslib.k6.io/')).pop();
  if (!found) return { at: 'unknown location', file: '', line: '' };
  const [, path, line, column] = found;
  return { at: `${path}:${line}:${column}`, file: path.split('/').pop(), line };
}

/** Lines of a report: `[name, text, colour]`; lists of them stand apart. */
function report({ colorize: isColored, display }, groups) {
  const paint = (text, color) => (isColored && color ? colorize(text, color) : text);
  if (display === 'inline') {
    return groups
      .flat()
      .map(([name, text, color]) => {
        const value = paint(text, color);
        const key = name.toLowerCase().replace(/\s+/g, '_');
        return `${key}=${String(value).includes(' ') ? `"${value}"` : value}`;
      })
      .join(' ');
  }
  const size = Math.max(...groups.flat().map(([name]) => name.length));
  const shown = groups.map((lines) => lines.map(([name, text, color]) => `${name.padStart(size)}: ${paint(text, color)}`).join('\n'));
  return `\n\n${shown.join('\n\n')}\n\n`;
}

/** `expect(received).toBe(expected)`. */
function call(config, matcher, given) {
  const paint = (text, color) => (config.colorize ? colorize(text, color) : text);
  const names = given.map(([name, color]) => paint(name, color)).join(paint(', ', 'darkGrey'));
  const received = `${paint('expect(', 'darkGrey')}${paint('received', 'red')}${paint(').', 'darkGrey')}`;
  const opening = `${received}${paint(matcher, 'white')}`;
  if (given.length === 0) return `${opening}${paint('()', 'darkGrey')}`;
  return `${opening}${paint('(', 'darkGrey')}${names}${paint(')', 'darkGrey')}`;
}

/** A failed expectation ends the test; a soft one marks the test as failed, or ends the iteration. */
function fail(config, matcher, message, { given, lines }) {
  const { at, file, line } = place();
  const error = typeof message === 'string' ? [['Error', message, 'white']] : [['Error', call(config, matcher, given)]];
  const text = report(config, [
    [...error, ['At', at, 'darkGrey']],
    lines,
    [['Filename', file, 'darkGrey'], ['Line', line, 'darkGrey']],
  ]);
  if (!config.soft) exec.test.abort(text);
  else if (config.softMode === 'fail') exec.test.fail(text);
  else throw new AssertionFailedError(text);
}

const isObject = (value) => typeof value === 'object' && value !== null;
const shown = (value) => (typeof value === 'string' ? value : String(JSON.stringify(value)));

/** Whether two values are the same, or objects with the same keys and equal values. */
function equals(a, b) {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  const others = new Set(Object.keys(b));
  return keys.length === others.size && keys.every((key) => others.has(key) && equals(a[key], b[key]));
}

/** The parts of `a.b[0]`. */
function parts(path) {
  if (path === '') throw new Error('toHaveProperty needs a path that is not empty');
  if (path.split('[').length !== path.split(']').length) throw new Error(`the path '${path}' has brackets without a partner`);
  return path.split(/\[|\]|\.(?![^[]*\])/).filter((part) => part !== '');
}

/** The property of a value at a path; throws if there is none. */
function at(value, path) {
  return parts(path).reduce((found, part) => {
    const isIndex = !Number.isNaN(Number(part));
    const has = isIndex
      ? Array.isArray(found) && Number(part) < found.length
      : isObject(found) && Object.prototype.hasOwnProperty.call(found, part);
    if (!has) throw new Error(`there is no '${part}' of '${path}'`);
    return found[isIndex ? Number(part) : part];
  }, value);
}

const EXPECTED = ['expected', 'green'];
const pair = (expected, received, [first, second] = ['Expected', 'Received']) => [
  [first, expected, 'green'],
  [second, received, 'red'],
];

/** A matcher without an expected value. */
const unary = (holds) => (value) => ({
  holds: holds(value),
  given: [],
  lines: [['Received', shown(value), 'red']],
});

const comparison = (holds, sign) => (value, wanted) => ({
  holds: holds(value, wanted),
  given: [EXPECTED],
  lines: [['Expected', `${sign} ${shown(wanted)}`, 'green'], ['Received', shown(value), 'red']],
});

/** `array`, `string` or `set`: the values that `toContain` looks into. */
function container(matcher, value, allowed) {
  const kind = Array.isArray(value) ? 'array' : value instanceof Set ? 'set' : typeof value;
  if (allowed.includes(kind)) return kind;
  throw new Error(`${matcher} takes ${allowed.join(', ')}, not ${kind}`);
}

const contained = (words, holds, kind, value, wanted, isNot) => ({
  holds,
  given: [EXPECTED],
  lines: pair(shown(wanted), shown(value), [`Expected ${isNot ? 'not ' : ''}to ${words}`, `Received ${kind}`]),
});

/** The matchers of values: whether each holds, the arguments it shows, and the lines of its report. */
const MATCHERS = {
  toBe: (value, wanted) => ({
    holds: Object.is(value, wanted),
    given: [EXPECTED],
    lines: pair(shown(wanted), shown(value)),
  }),
  toBeCloseTo(value, wanted, _isNot, precision = 2) {
    const allowed = 10 ** -precision * Math.max(Math.abs(value), Math.abs(wanted));
    const difference = Math.abs(value - wanted);
    return {
      holds: value === wanted || difference < allowed,
      given: [EXPECTED, ['precision', 'white']],
      lines: [
        ['Expected precision', String(precision), 'green'],
        ['Expected difference', `< ${allowed}`, 'green'],
        ['Received difference', String(difference), 'red'],
      ],
    };
  },
  toBeDefined: unary((value) => value !== undefined),
  toBeFalsy: unary((value) => !value),
  toBeTruthy: unary((value) => !!value),
  toBeNull: unary((value) => value === null),
  toBeNaN: unary((value) => isNaN(value)),
  toBeUndefined: unary((value) => value === undefined),
  toBeGreaterThan: comparison((a, b) => a > b, '>'),
  toBeGreaterThanOrEqual: comparison((a, b) => a >= b, '>='),
  toBeLessThan: comparison((a, b) => a < b, '<'),
  toBeLessThanOrEqual: comparison((a, b) => a <= b, '<='),
  toBeInstanceOf: (value, maker) => ({
    holds: value instanceof maker,
    given: [EXPECTED],
    lines: pair(maker.name, String(value?.constructor?.name), ['Expected constructor', 'Received constructor']),
  }),
  toEqual: (value, wanted) => ({
    holds: equals(value, wanted),
    given: [EXPECTED],
    lines: pair(shown(wanted), shown(value)),
  }),
  toHaveLength(value, wanted) {
    const { length } = value;
    if (length === undefined) throw new TypeError(`toHaveLength needs a value with a length: ${shown(value)} has none`);
    return {
      holds: length === wanted,
      given: [EXPECTED],
      lines: [...pair(String(wanted), String(length), ['Expected length', 'Received length']), ['Received array', shown(value), 'red']],
    };
  },
  toContain(value, wanted, isNot) {
    const kind = container('toContain', value, ['string', 'array', 'set']);
    const holds = kind === 'set' ? value.has(wanted) : value.includes(wanted);
    return contained('contain', holds, kind, value, wanted, isNot);
  },
  toContainEqual(value, wanted, isNot) {
    const kind = container('toContainEqual', value, ['array', 'set']);
    const holds = [...value].some((item) => equals(item, wanted));
    return contained('contain equal', holds, kind, value, wanted, isNot);
  },
  toHaveProperty(value, path, isNot, wanted) {
    if (!isObject(value)) throw new Error(`toHaveProperty needs an object: ${shown(value)} is none`);
    let holds = true;
    try {
      const found = at(value, path);
      holds = wanted === undefined || equals(found, wanted);
    } catch {
      holds = false;
    }
    const words = `Expected property ${isNot ? 'not ' : ''}to ${wanted === undefined ? 'exist' : 'equal'}`;
    return {
      holds,
      given: [['keyPath', 'white'], ['expected?', 'green']],
      lines: [
        ['Property path', path, 'white'],
        [words, wanted === undefined ? '' : shown(wanted), 'green'],
        ['Received object', shown(value), 'red'],
      ],
    };
  },
};

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
    made[name] = (wanted, ...others) => {
      const told = matcher(value, wanted, isNot, ...others);
      if (told.holds === isNot) fail(config, name, message, told);
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
        const lines = pair(expected, `something else for ${retry.timeout} ms`);
        fail(config, name, message, { given: ASKED[name] ? [EXPECTED] : [], lines });
      }
    };
  }
  return made;
}

/** `expect` with options; the environment comes before them, the defaults after them. */
function make(options) {
  let settled;
  const config = () => (settled ??= { ...DEFAULTS, ...options, ...fromEnvironment() });
  const begin = (value, message, own) => {
    const made = expectation(own, value, message, false);
    Object.defineProperty(made, 'not', { get: () => expectation(own, value, message, true) });
    return made;
  };
  const expect = (value, message) => begin(value, message, config());
  expect.soft = (value, message) => begin(value, message, { ...config(), soft: true });
  expect.configure = (changed) => make(changed);
  Object.defineProperty(expect, 'config', { get: () => ({ ...config() }) });
  return expect;
}

export const expect = make();
