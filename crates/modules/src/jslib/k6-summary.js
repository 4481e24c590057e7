// Texts of summaries for handleSummary(), after the documentation of k6-summary and k6's legacy summary.

const MARKS = { group: '█', reason: '↳', pass: '✓', fail: '✗' };
const COLORS = { green: '32', red: '31', cyan: '36', faint: '2' };

/** A number of decimals at most, without zeros at its end. */
function short(value, decimals) {
  return String(Number(Math.trunc(value * 10 ** decimals) / 10 ** decimals));
}

function bytes(value) {
  if (Math.abs(value) < 10) return `${value} B`;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  const power = Math.min(Math.floor(Math.log10(Math.abs(value)) / 3), units.length - 1);
  const scaled = Math.floor((value / 1000 ** power) * 10 + 0.5) / 10;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power]}`;
}

const FIXED_UNITS = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };

function time(milliseconds, unit) {
  if (unit && FIXED_UNITS[unit]) {
    const [factor, name] = FIXED_UNITS[unit];
    return (milliseconds * factor).toFixed(2) + name;
  }
  if (milliseconds === 0) return '0s';
  if (milliseconds < 0.001) return `${Math.trunc(milliseconds * 1e6)}ns`;
  if (milliseconds < 1) return `${short(milliseconds * 1000, 2)}µs`;
  if (milliseconds < 1000) return `${short(milliseconds, 2)}ms`;
  const digits = milliseconds > 60000 ? 0 : 2;
  let rest = milliseconds / 1000;
  let text = `${short(rest % 60, digits)}s`;
  rest = Math.trunc(rest / 60);
  if (rest < 1) return text;
  text = `${rest % 60}m${text}`;
  rest = Math.trunc(rest / 60);
  return rest < 1 ? text : `${rest}h${text}`;
}

/** A value of a metric as people read it: bytes, times, percents, numbers. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return time(value, timeUnit);
  return short(value, 6);
}

/** What stands behind a metric's name, in columns. */
function columns(metric, stats, timeUnit) {
  const { values } = metric;
  const human = (value) => humanizeValue(value, metric, timeUnit);
  switch (metric.type) {
    case 'counter':
      return [human(values.count), `${human(values.rate)}/s`];
    case 'gauge':
      return [human(values.value), `min=${human(values.min)}`, `max=${human(values.max)}`];
    case 'rate':
      return [human(values.rate), `${values.passes} out of ${values.passes + values.fails}`];
    default:
      return stats.map((stat) => {
        const value = values[stat];
        return `${stat}=${stat === 'count' ? value : human(value)}`;
      });
  }
}

/** `a{b:c}` is under `a`. */
function isPart(name) {
  return name.includes('{');
}

function shownName(name) {
  const at = name.indexOf('{');
  return at < 0 ? name : `{ ${name.slice(at + 1, -1)} }`;
}

function hasFailed(metric) {
  return Object.values(metric.thresholds || {}).some((threshold) => !threshold.ok);
}

const width = (text) => Array.from(text.normalize('NFC')).length;
const padded = (text, size) => text + ' '.repeat(Math.max(0, size - width(text)));

class Text {
  constructor(data, options) {
    const given = { indent: ' ', enableColors: true, summaryTimeUnit: null, summaryTrendStats: null };
    const own = data.options || {};
    this.options = { ...given, ...own, ...options };
    this.data = data;
    this.lines = [];
  }

  paint(color, text) {
    return this.options.enableColors ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
  }

  mark(isGood) {
    return isGood ? this.paint('green', MARKS.pass) : this.paint('red', MARKS.fail);
  }

  check(indent, check) {
    if (check.fails === 0) {
      this.lines.push(`${indent}${this.paint('green', `${MARKS.pass} ${check.name}`)}`);
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
    const names = Object.keys(metrics).sort((a, b) => {
      const [first, second] = [a.split('{')[0], b.split('{')[0]];
      if (first !== second) return first < second ? -1 : 1;
      return a < b ? -1 : Number(a > b);
    });
    const { summaryTrendStats: stats, summaryTimeUnit: unit } = this.options;
    const trend = stats || ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
    const shown = new Map(names.map((name) => [name, columns(metrics[name], trend, unit)]));
    const isTrend = (name) => metrics[name].type === 'trend';
    const widest = (list) =>
      list.reduce((most, row) => row.map((text, at) => Math.max(width(text), most[at] || 0)), []);
    const trendWidths = widest(names.filter(isTrend).map((name) => shown.get(name)));
    const others = names.filter((name) => !isTrend(name)).map((name) => shown.get(name));
    const otherWidths = [0, 1].map((at) => Math.max(0, ...others.map((row) => width(row[at]))));
    const gaugeWidth = Math.max(0, ...others.map((row) => (row[2] ? width(row[2]) : 0)));
    const nameSize = Math.max(0, ...names.map((name) => width(shownName(name))));
    for (const name of names) {
      const metric = metrics[name];
      let mark = ' ';
      let color = (text) => text;
      if (metric.thresholds) {
        mark = this.mark(!hasFailed(metric));
        color = hasFailed(metric) ? (text) => this.paint('red', text) : color;
      }
      const label = shownName(name);
      const nested = isPart(name) ? '  ' : '';
      const dots = '.'.repeat(Math.max(0, nameSize - width(label)) + 3 - nested.length);
      const row = shown.get(name);
      let cells;
      if (isTrend(name)) {
        cells = row.map((text, at) => padded(this.trendCell(text), trendWidths[at] + width(this.trendCell(text)) - width(text)));
      } else {
        const sizes = [...otherWidths, gaugeWidth];
        cells = row.map((text, at) => {
          const size = at < 2 || row.length > 2 ? sizes[at] : 0;
          const tail = at === row.length - 1 ? width(text) : size;
          return this.paint(at === 0 ? 'cyan' : 'faint', padded(text, tail));
        });
      }
      const dotted = this.paint('faint', `${dots}:`);
      this.lines.push(`${indent}${nested}${mark} ${color(label)}${dotted} ${cells.join(' ')}`);
    }
  }

  trendCell(text) {
    const at = text.indexOf('=') + 1;
    return this.options.enableColors ? text.slice(0, at) + this.paint('cyan', text.slice(at)) : text;
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

const ESCAPES = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&apos;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[<>&'"]/g, (letter) => ESCAPES[letter]);

/** The thresholds as a report of JUnit. Options: `name`, `classname`. */
export function jUnit(data, options = {}) {
  const { name = 'k6 thresholds', classname = 'Unnamed folder' } = options;
  const cases = [];
  let failures = 0;
  for (const [metricName, metric] of Object.entries(data.metrics)) {
    for (const [source, threshold] of Object.entries(metric.thresholds || {})) {
      const head = `<testcase name="${escaped(metricName)} - ${escaped(source)}" classname="${escaped(classname)}"`;
      if (threshold.ok) {
        cases.push(`${head} />`);
      } else {
        failures += 1;
        const values = Object.entries(metric.values).map(([key, value]) => `${key} value: ${value}`);
        cases.push(`${head}><failure message="${escaped(values.join(', '))}" /></testcase>`);
      }
    }
  }
  const count = `tests="${cases.length}" failures="${failures}"`;
  return [
    '<?xml version="1.0"?>',
    `<testsuites ${count}>`,
    `<testsuite name="${escaped(name)}" ${count}>${cases.join('\n')}`,
    '</testsuite >',
    '</testsuites >',
  ].join('\n');
}

export default { textSummary, humanizeValue, jUnit };
