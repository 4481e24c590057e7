// The lines that a probe prints for a value, a result and an error.

/** JSON with the keys in order, so that the order of columns does not count. */
export function json(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  if (typeof value.unix === 'function' || value instanceof Date) {
    try {
      return JSON.stringify(value);
    } catch (error) {
      return `no JSON, ${error.message}`;
    }
  }
  return '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + json(value[key])).join(',') + '}';
}

/** All that a script can tell of one value; of an array its items. */
export function show(label, value) {
  if (Array.isArray(value)) console.log(`${label}: array ${json(value)}`);
  else if (typeof value === 'string') console.log(`${label}: string ${json(value)}`);
  else console.log(`${label}: ${typeof value} ${json(value)} ${String(value)}`);
}

/** Prints the call's value by `seen`, or the error that it throws. */
export function attempt(label, call, seen) {
  let value;
  try {
    value = call();
  } catch (error) {
    const whole = `${error.name}: ${error.message}`;
    console.log(`${label}: throws ${whole}${String(error) === whole ? '' : ` as ${String(error)}`}`);
    return undefined;
  }
  (seen || show)(label, value);
  return value;
}

/** The rows of a query. */
export function rows(label, call) {
  return attempt(label, call, (label, rows) => {
    console.log(`${label}: ${rows.length} rows [${Array.from(rows).map((row) => json(row)).join(',')}]`);
  });
}

/** The numbers of an exec's result. */
export function result(label, call) {
  const made = attempt(label, call, () => {});
  if (made === undefined) return;
  attempt(`${label}, rowsAffected`, () => made.rowsAffected());
  attempt(`${label}, lastInsertId`, () => made.lastInsertId());
}

/** A column of each type: the value without arguments and with one. */
export function columns(db, list, create, placeholder) {
  for (const [type, literal] of list) {
    const label = `${type} ${literal}`;
    const made = attempt(label, () => {
      db.exec('DROP TABLE IF EXISTS probe_column');
      db.exec(create(type));
      db.exec(`INSERT INTO probe_column (v) VALUES (${literal})`);
      return true;
    }, () => {});
    if (!made) continue;
    attempt(`${label}, no argument`, () => db.query('SELECT v FROM probe_column')[0].v);
    attempt(`${label}, argument`, () => db.query(`SELECT v FROM probe_column WHERE ${placeholder}`, 1)[0].v);
  }
  db.exec('DROP TABLE IF EXISTS probe_column');
}

/** The arguments of every kind that a script can bind. */
export function kinds() {
  return [
    ['text', 'naïve ✓ 🚢'], ['empty text', ''], ['text with a zero', 'a\0b'],
    ['true', true], ['false', false], ['null', null], ['undefined', undefined],
    ['0', 0], ['-0', -0], ['1.0', 1.0], ['-7', -7], ['1.5', 1.5], ['0.1', 0.1], ['1e21', 1e21], ['1e300', 1e300],
    ['2^31', 2147483648], ['2^53', 9007199254740992], ['2^53 - 1', 9007199254740991], ['2^63', 9223372036854775808],
    ['NaN', NaN], ['Infinity', Infinity],
    ['BigInt', typeof BigInt === 'function' ? BigInt('12345678901234567890') : undefined],
    ['Date', new Date(Date.UTC(2024, 1, 29, 12, 34, 56, 789))],
    ['Uint8Array', new Uint8Array([1, 2, 255])], ['Uint16Array', new Uint16Array([1, 2])],
    ['Int8Array', new Int8Array([1, -1])], ['Float64Array', new Float64Array([1.5])],
    ['ArrayBuffer', new Uint8Array([1, 2]).buffer], ['DataView', new DataView(new ArrayBuffer(2))],
    ['array', [1, 2]], ['array of text', ['a']], ['empty array', []], ['object', { a: 1 }], ['empty object', {}],
    ['function', function () {}], ['symbol', Symbol('s')], ['RegExp', /a/], ['Map', new Map()], ['Set', new Set()],
    ['String object', new String('boxed')], ['Number object', new Number(5)], ['Boolean object', new Boolean(true)],
    ['Error', new Error('wrong')],
  ];
}
