// CSV to rows and back, after the documentation of Papa Parse 5.

const MARK = '\ufeff';
const RECORD_SEP = String.fromCharCode(30);
const UNIT_SEP = String.fromCharCode(31);
const BAD_DELIMITERS = ['\r', '\n', '"', MARK];
const NUMBER = /^\s*-?(\d*\.?\d+|\d+\.?\d*)(e[-+]?\d+)?\s*$/i;
const DATE = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?([+-][0-2]\d:[0-5]\d|Z)$/;

/** Texts apart into rows of fields. Tells where it stopped, and what was wrong. */
function tokenize(text, { delimiter, newline, quoteChar, escapeChar, comments, preview }) {
  const quote = quoteChar === null || quoteChar === undefined ? '"' : quoteChar;
  const escape = escapeChar === undefined ? quote : escapeChar;
  const data = [];
  const errors = [];
  let row = [];
  let at = 0;
  let rowStart = 0;
  const isFull = () => preview > 0 && data.length >= preview;
  const endRow = (next) => {
    data.push(row);
    row = [];
    at = next;
    rowStart = next;
  };

  /** A field in quotes that opens at `at`: its text, and where it ends. */
  const quoted = () => {
    const start = at + quote.length;
    let from = at + quote.length;
    let value = '';
    let hasFault = false;
    for (;;) {
      const end = text.indexOf(quote, from);
      if (end < 0) {
        errors.push({ type: 'Quotes', code: 'MissingQuotes', message: 'Quoted field unterminated', row: data.length, index: start });
        return { value: value + text.slice(from), end: text.length };
      }
      if (quote === escape && text.startsWith(quote, end + quote.length)) {
        value += text.slice(from, end) + quote;
        from = end + 2 * quote.length;
        continue;
      }
      if (quote !== escape && end > 0 && text.slice(end - escape.length, end) === escape) {
        value += text.slice(from, end - escape.length) + quote;
        from = end + quote.length;
        continue;
      }
      const rest = /^ */.exec(text.slice(end + quote.length, end + quote.length + 1024))[0].length;
      const after = end + quote.length + rest;
      if (after >= text.length || text.startsWith(delimiter, after) || text.startsWith(newline, after)) {
        if (after < text.length || rest === 0) return { value: value + text.slice(from, end), end: after };
      }
      if (!hasFault) {
        errors.push({ type: 'Quotes', code: 'InvalidQuotes', message: 'Trailing quote on quoted field is malformed', row: data.length, index: start });
        hasFault = true;
      }
      value += text.slice(from, end + quote.length);
      from = end + quote.length;
    }
  };

  while (!isFull()) {
    if (row.length === 0 && comments && at === rowStart && text.startsWith(comments, at)) {
      const end = text.indexOf(newline, at);
      if (end < 0) return { data, errors, cursor: text.length, truncated: false };
      at = end + newline.length;
      rowStart = at;
      continue;
    }
    let value;
    let end;
    if (quote && text.startsWith(quote, at)) {
      ({ value, end } = quoted());
    } else {
      const stop = text.indexOf(delimiter, at);
      const line = text.indexOf(newline, at);
      end = Math.min(stop < 0 ? text.length : stop, line < 0 ? text.length : line);
      value = text.slice(at, end);
    }
    row.push(value);
    if (end >= text.length) {
      endRow(text.length);
      return { data, errors, cursor: text.length, truncated: false };
    }
    if (text.startsWith(delimiter, end)) at = end + delimiter.length;
    else endRow(end + newline.length);
  }
  return { data, errors, cursor: at, truncated: true };
}

function guessNewline(text, quote) {
  const some = text.slice(0, 1024 * 1024).split(quote).filter((_, index) => index % 2 === 0).join('');
  const parts = some.split('\r');
  if (parts.length === 1) return '\n';
  const before = some.split('\n');
  if (before.length > 1 && before[0].length < parts[0].length) return '\n';
  const withLine = parts.filter((part) => part[0] === '\n').length;
  return withLine >= parts.length / 2 ? '\r\n' : '\r';
}

const isEmptyRow = (row, mode) =>
  mode === 'greedy' ? row.join('').trim() === '' : row.length === 1 && row[0].length === 0;

/** The delimiter by which the first rows have the same number of fields, and most of them. */
function guessDelimiter(text, config, newline, candidates) {
  let best = null;
  for (const delimiter of candidates) {
    const { data } = tokenize(text, { newline, delimiter, comments: config.comments, preview: 10 });
    const rows = config.skipEmptyLines ? data.filter((row) => !isEmptyRow(row, config.skipEmptyLines)) : data;
    let before;
    let delta = 0;
    let total = 0;
    for (const { length } of rows) {
      total += length;
      if (before === undefined) before = length;
      else if (length > 0) {
        delta += Math.abs(length - before);
        before = length;
      }
    }
    const average = rows.length > 0 ? total / rows.length : 0;
    if ((!best || (delta <= best.delta && average > best.average)) && average > 1.99) best = { delimiter, delta, average };
  }
  return best && best.delimiter;
}

function typed(value) {
  if (value === 'true' || value === 'TRUE') return true;
  if (value === 'false' || value === 'FALSE') return false;
  if (NUMBER.test(value)) return parseFloat(value);
  if (DATE.test(value)) return new Date(value);
  return value === '' ? null : value;
}

/** Says why a text can't be had from elsewhere: k6 has neither workers nor a browser's downloads. */
function checkSource(input, config) {
  if (config.download) throw new Error('papaparse: `download` needs a browser; get the text with http.get() and parse that');
  if (config.worker) throw new Error('papaparse: workers are not supported; leave `worker` out');
  if (typeof input !== 'string') throw new Error('papaparse: parse() takes a text; open files with open()');
}

/** Rows of a CSV text: arrays, or objects if it has a header. */
export function parse(input, options = {}) {
  const config = { quoteChar: '"', ...options };
  checkSource(input, config);
  let text = input;
  if (config.beforeFirstChunk) {
    const changed = config.beforeFirstChunk(text);
    if (changed !== undefined) text = changed;
  }
  const errors = [];
  const newline = config.newline || guessNewline(text, config.quoteChar);
  let { delimiter } = config;
  if (typeof delimiter === 'function') delimiter = delimiter(text);
  else if (!delimiter || BAD_DELIMITERS.includes(delimiter)) {
    const candidates = config.delimitersToGuess || [',', '\t', '|', ';', RECORD_SEP, UNIT_SEP];
    delimiter = delimiter ? ',' : guessDelimiter(text, config, newline, candidates);
    if (!delimiter) {
      delimiter = ',';
      errors.push({ type: 'Delimiter', code: 'UndetectableDelimiter', message: "Unable to auto-detect delimiting character; defaulted to ','" });
    }
  }
  const comments = config.comments === true ? '#' : config.comments;
  const wanted = config.preview ? Number(config.preview) + (config.header ? 1 : 0) : 0;
  const found = text === ''
    ? { data: [], errors: [], cursor: 0, truncated: false }
    : tokenize(text, { ...config, delimiter, newline, comments, preview: wanted });
  const meta = { delimiter, linebreak: newline, aborted: false, truncated: found.truncated, cursor: found.cursor };
  errors.push(...found.errors);
  const rows = config.skipEmptyLines ? found.data.filter((row) => !isEmptyRow(row, config.skipEmptyLines)) : found.data;

  let fields = null;
  if (config.header) {
    fields = (rows.shift() || []).map((name, index) => (config.transformHeader ? config.transformHeader(name, index) : name));
    meta.fields = fields;
  }
  const isTyped = (field) => {
    const { dynamicTyping } = config;
    if (typeof dynamicTyping === 'function') return dynamicTyping(field) === true;
    if (dynamicTyping && typeof dynamicTyping === 'object') return (dynamicTyping[field] ?? dynamicTyping.__default) === true;
    return dynamicTyping === true;
  };
  const read = (value, field) => {
    const changed = config.transform ? config.transform(value, field) : value;
    return isTyped(field) ? typed(changed) : changed;
  };
  const data = rows.map((row, index) => {
    if (!fields) return row.map(read);
    const object = {};
    row.forEach((value, at) => {
      if (at < fields.length) object[fields[at]] = read(value, fields[at]);
      else (object.__parsed_extra = object.__parsed_extra || []).push(read(value, '__parsed_extra'));
    });
    if (row.length !== fields.length) {
      const isMore = row.length > fields.length;
      errors.push({
        type: 'FieldMismatch',
        code: isMore ? 'TooManyFields' : 'TooFewFields',
        message: `Too ${isMore ? 'many' : 'few'} fields: expected ${fields.length} fields but parsed ${row.length}`,
        row: index,
      });
    }
    return object;
  });
  return deliver({ data, errors, meta }, config);
}

/** To the callbacks, row by row or as a whole, and to the caller. */
function deliver(results, config) {
  let isStopped = false;
  let isPaused = false;
  let next = 0;
  const { data, errors, meta } = results;
  const finish = () => {
    if (config.complete) config.complete(config.step || config.chunk ? { data: [], errors: [], meta } : results);
  };
  const go = () => {
    while (next < data.length && !isStopped && !isPaused) {
      const index = next;
      next += 1;
      config.step({ data: data[index], errors: errors.filter((error) => error.row === index), meta }, parser);
    }
    if (!isPaused) finish();
  };
  const parser = {
    abort() {
      isStopped = true;
      meta.aborted = true;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      go();
    },
  };
  if (config.step) {
    go();
    return { data: [], errors: [], meta };
  }
  if (config.chunk) config.chunk(results, parser);
  finish();
  return results;
}

/** Text of rows: arrays, objects, `{ fields, data }`, or JSON of these. */
export function unparse(input, options = {}) {
  const config = { delimiter: ',', newline: '\r\n', quoteChar: '"', header: true, quotes: false, skipEmptyLines: false, ...options };
  const delimiter = typeof config.delimiter === 'string' && !BAD_DELIMITERS.some((bad) => config.delimiter.includes(bad)) ? config.delimiter : ',';
  const quote = config.quoteChar || '"';
  const escape = config.escapeChar === undefined ? quote : config.escapeChar;
  const given = typeof input === 'string' ? JSON.parse(input) : input;

  const isQuoted = (text, column) =>
    config.quotes === true ||
    (typeof config.quotes === 'function' && config.quotes(text, column)) ||
    (Array.isArray(config.quotes) && config.quotes[column]) ||
    BAD_DELIMITERS.some((bad) => text.includes(bad)) ||
    text.includes(delimiter) ||
    text.startsWith(' ') ||
    text.endsWith(' ');
  const field = (value, column) => {
    if (value === undefined || value === null) return '';
    if (value instanceof Date) return JSON.stringify(value).slice(1, 25);
    const text = String(value).split(quote).join(escape + quote);
    return isQuoted(text, column) ? quote + text + quote : text;
  };

  let fields = [];
  let rows;
  if (Array.isArray(given)) {
    if (given.length === 0 || Array.isArray(given[0])) rows = given;
    else if (typeof given[0] === 'object') {
      fields = config.columns || Object.keys(given[0]);
      rows = given;
    }
  } else if (given && typeof given === 'object') {
    let { data } = given;
    if (typeof data === 'string') data = JSON.parse(data);
    if (Array.isArray(data)) {
      const isList = Array.isArray(data[0]);
      fields = given.fields || (given.meta && given.meta.fields) || (isList || typeof data[0] !== 'object' ? [] : Object.keys(data[0]));
      rows = isList || typeof data[0] === 'object' || data.length === 0 ? data : [data];
    } else {
      fields = given.fields || [];
      rows = [];
    }
  }
  if (!rows) throw new Error('Unable to serialize unrecognized input');

  const lines = [];
  if (fields.length > 0 && config.header) lines.push(fields.map(field).join(delimiter));
  for (const row of rows) {
    const values = fields.length > 0 && !Array.isArray(row) ? fields.map((name) => row[name]) : Array.from(row);
    const isEmpty = config.skipEmptyLines === 'greedy'
      ? values.map((value) => (value === undefined || value === null ? '' : String(value))).join('').trim() === ''
      : values.length === 0 || (values.length === 1 && String(values[0] ?? '').length === 0);
    if (config.skipEmptyLines && isEmpty) continue;
    lines.push(values.map(field).join(delimiter));
  }
  return lines.join(config.newline);
}

const Papa = {
  parse,
  unparse,
  RECORD_SEP,
  UNIT_SEP,
  BYTE_ORDER_MARK: MARK,
  BAD_DELIMITERS,
  WORKERS_SUPPORTED: false,
  DefaultDelimiter: ',',
};
export { RECORD_SEP, UNIT_SEP, BAD_DELIMITERS };
export default Papa;
