// Texts of summaries for handleSummary() with the names and the behaviour of k6-summary.

const MARKS = { group: '█', reason: '↳', pass: '✓', fail: '✗' };
const COLORS = { green: '32', red: '31', cyan: '36', faint: '2', dim: '36;2' };

/** The words of one version. */
const dialect = {
  /** Whether the parts of a metric follow it (0.0.3 and later) or all names are in one order. */
  keepsPartsTogether: true,
  /** The report of JUnit as version 0.1.0 writes it; versions before have other failures and another layout. */
  junit: {
    hasClassname: true,
    head: '\n    ',
    before: '\n      ',
    within: '\n        ',
    after: '\n      </testsuite>\n    </testsuites>',
    failure: (metric) => `<failure message="${escaped(`${metric.type} threshold failed: ${allValues(metric)}`)}" />`,
  },
};

/** A number without the decimals after the first `digits`, which are not rounded. */
const truncated = (value, digits) => Math.trunc(value * 10 ** digits) / 10 ** digits;

/** A number in its shortest form of at most `digits` decimals. */
const short = (value, digits) => `${Number(value.toFixed(digits))}`;

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

/** Bytes in the largest unit of which there is at least one, with a decimal below 10. */
function bytes(value) {
  if (value < 10) return `${value} B`;
  let unit = 0;
  while (value >= 1000 ** (unit + 1) && unit + 1 < BYTES.length) unit += 1;
  const shown = Math.round((value / 1000 ** unit) * 10) / 10;
  return `${shown.toFixed(shown < 10 ? 1 : 0)} ${BYTES[unit]}`;
}

const FIXED_UNITS = new Map([
  ['s', [0.001, 's']],
  ['ms', [1, 'ms']],
  ['us', [1000, 'µs']],
]);

/** Times below a second: the end of each range, the factor to its unit, the unit, and its decimals. */
const SHORT_TIMES = [
  [0.001, 1e6, 'ns', 0],
  [1, 1000, 'µs', 2],
  [1000, 1, 'ms', 2],
];

/** Milliseconds in the unit of the option `summaryTimeUnit`, or as a clock: `1h2m3s`, with decimals below a minute. */
function time(milliseconds, unit) {
  if (FIXED_UNITS.has(unit)) {
    const [factor, name] = FIXED_UNITS.get(unit);
    return `${(milliseconds * factor).toFixed(2)}${name}`;
  }
  if (milliseconds === 0) return '0s';
  for (const [end, factor, name, digits] of SHORT_TIMES) {
    if (milliseconds < end) return short(truncated(milliseconds * factor, digits), digits) + name;
  }
  const [hours, minutes] = [Math.trunc(milliseconds / 3600000), Math.trunc(milliseconds / 60000)];
  const clock = hours > 0 ? `${hours}h${minutes % 60}m` : minutes > 0 ? `${minutes}m` : '';
  const digits = milliseconds > 60000 ? 0 : 2;
  return `${clock}${short(truncated((milliseconds % 60000) / 1000, digits), digits)}s`;
}

/** How values look: rates as percents, others by what their metric contains. */
const FORMS = {
  rate: (value) => `${truncated(value * 100, 2).toFixed(2)}%`,
  data: bytes,
  time,
};

/** A value of a metric as people read it: bytes, times, percents, numbers. */
export function humanizeValue(value, { type, contains }, timeUnit) {
  const form = type === 'rate' ? FORMS.rate : contains === 'data' || contains === 'time' ? FORMS[contains] : undefined;
  return form ? form(value, timeUnit) : short(value, 6);
}

/** The columns of metrics that are no trends: text before, name of the value, text after. Counts are shown as they are. */
const COLUMNS = new Map([
  ['counter', [['', 'count', ''], ['', 'rate', '/s']]],
  ['gauge', [['', 'value', ''], ['min=', 'min', ''], ['max=', 'max', '']]],
  ['rate', [['', 'rate', ''], [`${MARKS.pass} `, 'passes', ''], [`${MARKS.fail} `, 'fails', '']]],
]);
const COUNTS = ['passes', 'fails'];

function columns(metric, timeUnit) {
  if (!COLUMNS.has(metric.type)) return ['[no data]'];
  return COLUMNS.get(metric.type).map(([before, key, after]) => {
    const value = metric.values[key];
    return before + (COUNTS.includes(key) ? value : humanizeValue(value, metric, timeUnit)) + after;
  });
}

/** `{ b:c }` for `a{b:c}`, which is a part of `a`. */
const shownName = (name) => name.replace(/^[^{]*\{([^]*).$/, '  { $1 }');

/** Letters that a terminal shows; it shows none for the codes of colours. */
// eslint-disable-next-line no-control-regex
const width = (text) => Array.from(text.normalize('NFKC').replace(/\x1b(\[[^@-~]*[@-~]|[@-_])/g, '')).length;
const filled = (text, size, shown) => shown + ' '.repeat(Math.max(0, size - width(text)));

/** The width of each column. */
const widest = (rows) => rows.reduce((most, row) => row.map((text, at) => Math.max(width(text), most[at] || 0)).concat(most.slice(row.length)), []);

/** Names in order, the parts of a metric after it. */
function ordered(names) {
  if (!dialect.keepsPartsTogether) return names.sort();
  const families = new Map();
  for (const name of names) {
    const [whole] = name.split('{', 1);
    families.set(whole, [...(families.get(whole) ?? []), name]);
  }
  const inOrder = (list) => list.sort((a, b) => a.localeCompare(b));
  return inOrder([...families.keys()]).flatMap((whole) => inOrder(families.get(whole)));
}

class Text {
  constructor(data, options) {
    const given = { indent: ' ', enableColors: true, summaryTimeUnit: null, summaryTrendStats: null };
    this.options = { ...given, ...data.options, ...options };
    this.data = data;
    this.lines = [];
  }

  paint(color, text) {
    return this.options.enableColors ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
  }

  check(indent, { name, passes, fails }) {
    const isGood = fails === 0;
    const told = [`${indent}${isGood ? MARKS.pass : MARKS.fail} ${name}`];
    if (!isGood) {
      const share = Math.floor((100 * passes) / (passes + fails));
      told.push(`${indent} ${MARKS.reason}  ${share}% — ${MARKS.pass} ${passes} / ${MARKS.fail} ${fails}`);
    }
    this.lines.push(this.paint(isGood ? 'green' : 'red', told.join('\n')));
  }

  /** A group with the groups in it, which are two blanks further in; the outermost has no name. */
  group(indent, { name, checks, groups }) {
    const inner = name === '' ? indent : `${indent}  `;
    if (inner !== indent) this.lines.push(`${indent}${MARKS.group} ${name}\n`);
    checks.forEach((check) => this.check(inner, check));
    if (checks.length > 0) this.lines.push('');
    groups.forEach((child) => this.group(inner, child));
  }

  metrics(indent, metrics) {
    const { summaryTrendStats, summaryTimeUnit: unit } = this.options;
    const stats = summaryTrendStats || ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
    const rows = new Map();
    for (const [name, metric] of Object.entries(metrics)) {
      const shown = (stat) =>
        stat === 'count' ? String(metric.values.count) : humanizeValue(metric.values[stat], metric, unit);
      rows.set(name, metric.type === 'trend' ? stats.map(shown) : columns(metric, unit));
    }
    const of = (isTrend) => [...rows].filter(([name]) => (metrics[name].type === 'trend') === isTrend).map(([, row]) => row);
    const [trends, others] = [widest(of(true)), widest(of(false))];
    const nameSize = Math.max(0, ...Array.from(rows.keys(), (name) => width(shownName(name))));
    for (const name of ordered([...rows.keys()])) {
      const row = rows.get(name);
      const cells =
        metrics[name].type === 'trend'
          ? row.map((text, at) => `${stats[at]}=${filled(text, trends[at], this.paint('cyan', text))}`)
          : row.map((text, at) => {
              const isAlone = at === 1 && row.length === 2;
              return filled(text, isAlone ? 0 : others[at], this.paint(at === 0 ? 'cyan' : 'dim', text));
            });
      const shown = shownName(name);
      const label = shown.trimStart();
      const nested = ' '.repeat(shown.length - label.length);
      const dots = this.paint('faint', `${'.'.repeat(nameSize - width(shown) + 3)}:`);
      this.lines.push(`${indent}${nested}${this.mark(metrics[name])} ${label}${dots} ${cells.join(' ')}`);
    }
  }

  mark({ thresholds }) {
    if (!thresholds) return ' ';
    const isGood = Object.values(thresholds).every(({ ok }) => ok);
    return isGood ? this.paint('green', MARKS.pass) : this.paint('red', MARKS.fail);
  }

  whole() {
    this.group(`${this.options.indent}    `, this.data.root_group);
    this.metrics(`${this.options.indent}  `, this.data.metrics);
    return this.lines.join('\n');
  }
}

/** The summary as k6's terminal shows it. Options: `indent`, `enableColors`, `summaryTrendStats`, `summaryTimeUnit`. */
export function textSummary(data, options = {}) {
  return new Text(data, options).whole();
}

const ESCAPES = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&#39;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[<>&'"]/g, (letter) => ESCAPES[letter]);
const allValues = ({ values }) => Object.entries(values).map(([key, value]) => `${key} value: ${value}`).join(', ');

/** The thresholds as a report of JUnit. Options: `name`, and since 0.1.0 `classname`. */
export function jUnit(data, options) {
  const { hasClassname, head, before, within, after, failure } = dialect.junit;
  const classname = hasClassname ? ` classname="${escaped(options?.classname || 'Unnamed folder')}"` : '';
  const results = Object.entries(data.metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {}).map(([source, { ok }]) => {
      const start = `<testcase name="${escaped(name)} - ${escaped(source)}"${classname}`;
      return { ok, text: ok ? `${start} />` : `${start}>${failure(metric)}</testcase>` };
    }),
  );
  const count = `tests="${results.length}" failures="${results.filter(({ ok }) => !ok).length}"`;
  const name = escaped(options?.name || 'k6 thresholds');
  const suite = `<testsuite name="${name}" ${count}>${within}${results.map(({ text }) => text).join('\n')}`;
  return `<?xml version="1.0"?>${head}<testsuites ${count}>${before}${suite}${after}`;
}

export default { textSummary, humanizeValue, jUnit };
