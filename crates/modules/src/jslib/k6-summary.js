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

/** A number rounded to at most `decimals` decimals, without zeros at its end. */
const rounded = (value, decimals) => String(parseFloat(value.toFixed(decimals)));

/** A number cut to at most `decimals` decimals. */
const cut = (value, decimals) => rounded(Math.trunc(value * 10 ** decimals) / 10 ** decimals, decimals);

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

function time(milliseconds, unit) {
  const fixed = FIXED_UNITS.get(unit);
  if (fixed) return (milliseconds * fixed[0]).toFixed(2) + fixed[1];
  if (milliseconds === 0) return '0s';
  const short = SHORT_TIMES.find(([end]) => milliseconds < end);
  if (short) return cut(milliseconds * short[1], short[3]) + short[2];
  const [hours, minutes] = [Math.trunc(milliseconds / 3600000), Math.trunc(milliseconds / 60000)];
  const clock = hours > 0 ? `${hours}h${minutes % 60}m` : minutes > 0 ? `${minutes}m` : '';
  return `${clock}${cut((milliseconds % 60000) / 1000, milliseconds > 60000 ? 0 : 2)}s`;
}

/** A value of a metric as people read it: bytes, times, percents, numbers. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return time(value, timeUnit);
  return rounded(value, 6);
}

/** The columns of a metric that is not a trend: its value, and one or two more. */
function columns(metric, timeUnit) {
  const { values } = metric;
  const human = (value) => humanizeValue(value, metric, timeUnit);
  switch (metric.type) {
    case 'counter':
      return [human(values.count), `${human(values.rate)}/s`];
    case 'gauge':
      return [human(values.value), `min=${human(values.min)}`, `max=${human(values.max)}`];
    case 'rate':
      return [human(values.rate), `${MARKS.pass} ${values.passes}`, `${MARKS.fail} ${values.fails}`];
    default:
      return ['[no data]'];
  }
}

/** `{ b:c }` for `a{b:c}`, which is a part of `a`. */
function shownName(name) {
  const at = name.indexOf('{');
  return at < 0 ? name : `  { ${name.slice(at + 1, -1)} }`;
}

/** Letters that a terminal shows; it shows none for the codes of colours. */
// eslint-disable-next-line no-control-regex
const width = (text) => Array.from(text.normalize('NFKC').replace(/\x1b(\[[^@-~]*[@-~]|[@-_])/g, '')).length;
const filled = (text, size, shown) => shown + ' '.repeat(Math.max(0, size - width(text)));

/** The width of each column. */
const widest = (rows) => rows.reduce((most, row) => row.map((text, at) => Math.max(width(text), most[at] || 0)).concat(most.slice(row.length)), []);

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

  check(indent, check) {
    if (check.fails === 0) {
      this.lines.push(this.paint('green', `${indent}${MARKS.pass} ${check.name}`));
      return;
    }
    const percent = Math.floor((100 * check.passes) / (check.passes + check.fails));
    const told = `${indent} ${MARKS.reason}  ${percent}% — ${MARKS.pass} ${check.passes} / ${MARKS.fail} ${check.fails}`;
    this.lines.push(this.paint('red', `${indent}${MARKS.fail} ${check.name}\n${told}`));
  }

  group(indent, group) {
    let inner = indent;
    if (group.name !== '') {
      this.lines.push(`${indent}${MARKS.group} ${group.name}\n`);
      inner += '  ';
    }
    for (const check of group.checks) this.check(inner, check);
    if (group.checks.length > 0) this.lines.push('');
    for (const child of group.groups) this.group(inner, child);
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

function ordered(names) {
  if (!dialect.keepsPartsTogether) return names.sort();
  const split = (name) => [name.split('{', 1)[0], name];
  return names.sort((a, b) => {
    const [[first, wholeFirst], [second, wholeSecond]] = [split(a), split(b)];
    return first.localeCompare(second) || wholeFirst.localeCompare(wholeSecond);
  });
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
  const cases = [];
  let failures = 0;
  for (const [name, metric] of Object.entries(data.metrics)) {
    for (const [source, { ok }] of Object.entries(metric.thresholds || {})) {
      if (!ok) failures += 1;
      const start = `<testcase name="${escaped(name)} - ${escaped(source)}"${classname}`;
      cases.push(ok ? `${start} />` : `${start}>${failure(metric)}</testcase>`);
    }
  }
  const count = `tests="${cases.length}" failures="${failures}"`;
  const name = escaped(options?.name || 'k6 thresholds');
  const suite = `<testsuite name="${name}" ${count}>${within}${cases.join('\n')}`;
  return `<?xml version="1.0"?>${head}<testsuites ${count}>${before}${suite}${after}`;
}

export default { textSummary, humanizeValue, jUnit };
