// The job of ten million rows: a table is filled, read and changed, each in several ways, some of them fifty times as fast as others.
//
//   brunt run examples/sql/job.js
//   brunt run -e DSN='me:secret@tcp(127.0.0.1:3306)/shop' -e STAGE=insertB,update3 -e ROWS=10000000 examples/sql/job.js
//
// README.md lists what -e sets; docs/guide/ten-million-rows.md tells what each stage teaches.

import { check, sleep } from 'k6';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';
import sql from 'k6/x/sql';
import { dialects, driverOf } from './dialects.js';

const DSN =
  __ENV.DSN || __ENV.DEMO_SQL || 'file:bulktest.db?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(60000)';
const dialect = dialects[__ENV.DRIVER || driverOf(DSN)];
if (!dialect) throw new Error(`DRIVER=${__ENV.DRIVER}: it is one of ${Object.keys(dialects).join(', ')}`);

const TABLE = 'bulktest';
const LENGTH = 45;
const ROWS = whole('ROWS', 100000);
const BATCH = whole('BATCH', 10000);
/** @type {any} */
const way = __ENV.WAY || 'auto';
const COPIED = whole('BATCH', 2000); // rows that each VU of an update has in its hands
const SEED = whole('SEED', 1);
const SAMPLES = whole('SAMPLES', 1000);
const RECONNECT = 1000; // rows of insertA for each connection
const ORDER = ['insertA', 'insertA1', 'insertB', 'select', 'alter', 'update1', 'update2', 'update3'];
const STAGES = (__ENV.STAGE || 'all') === 'all' ? ORDER : __ENV.STAGE.split(',');
for (const name of STAGES) {
  if (!ORDER.includes(name)) throw new Error(`STAGE=${name}: it is all, or some of ${ORDER.join(',')}`);
}
const ALONE = ['select', 'alter']; // stages of one VU
const THREADS = STAGES.every((name) => ALONE.includes(name)) ? 1 : whole('THREADS', dialect.threads);

const rowsPerSecond = new Gauge('rows_per_second');

export const options = {
  scenarios: {
    job: { executor: 'per-vu-iterations', vus: THREADS, iterations: 1, maxDuration: '24h' },
  },
  thresholds: Object.fromEntries([
    ['checks', ['rate==1']],
    ['sql_failed', ['rate<0.01']],
    ...STAGES.map((name) => [`rows_per_second{stage:${name}}`, ['value>0']]),
  ]),
};

// Texts as strings, whatever the database; bytes would be what xk6-sql gives for MySQL.
const db = sql.open(dialect.driver, DSN, { text: 'string' });
// A pool that keeps no connection.
const lone = sql.open(dialect.driver, DSN, { text: 'string', max_idle_conns: 0 });
const [reader, writer, joiner, prober, progress] = ['read', 'write', 'join', 'check', 'progress'].map((name) => db.with({ name }));

const INSERT = `INSERT INTO ${TABLE} (text) VALUES (${dialect.mark(1)})`;
const RANGE = `SELECT id, text FROM ${TABLE} WHERE id >= ${dialect.mark(1)} AND id < ${dialect.mark(2)}`;

export function setup() {
  progress.exec('DROP TABLE IF EXISTS bulktest_progress');
  progress.exec('CREATE TABLE bulktest_progress (step INT, vu INT, PRIMARY KEY (step, vu))');
}

export function teardown() {
  progress.exec('DROP TABLE bulktest_progress');
}

export default async function () {
  for (const name of STAGES) {
    exec.vu.metrics.tags.stage = name;
    try {
      await run(name, stages[name]);
    } catch (error) {
      // The others would wait for this VU.
      exec.test.abort(`${name}: ${error.message || error}`);
    }
  }
}

// One stage: the first VU prepares it, opens it, closes it and checks its work; all VUs work in between. The clock runs from
// open to close.
async function run(name, stage) {
  const leads = exec.vu.idInTest === 1;
  const before = leads && stage.prepare();
  meet();
  const began = Date.now();
  if (leads && stage.open) await stage.open();
  meet();
  if (stage.work && (leads || !stage.alone)) stage.work();
  meet();
  if (leads) {
    if (stage.close) await stage.close();
    const seconds = Math.max(Date.now() - began, 1) / 1000;
    const rows = count(TABLE);
    const rate = Math.round((rows * (stage.times || 1)) / seconds);
    rowsPerSecond.add(rate);
    console.log(`${name}: ${rows} rows in ${seconds.toFixed(3)} s, ${rate} rows/s`);
    stage.verify(before, rows);
  }
  meet();
}

// The state that a stage begins with: the number of rows, and an id that was given out and is free again.
function found() {
  const rows = count(TABLE);
  if (rows === 0) throw new Error(`the table ${TABLE} is empty: STAGE=insertB fills it`);
  return { rows, id: probe() };
}

const emptyTable = () => {
  for (const table of [TABLE, 'bulktest_old', 'bulktest_new', 'bulktest_temp']) db.exec(`DROP TABLE IF EXISTS ${table}`);
  db.exec(dialect.table(TABLE));
};
const isFull = (_, rows) => check(rows, { 'each row is there': () => rows === ROWS });

// The hashes are made anew by each stage that makes them.
function withoutHashes() {
  for (const table of ['bulktest_old', 'bulktest_new', 'bulktest_temp']) db.exec(`DROP TABLE IF EXISTS ${table}`);
  if (!dialect.hasHashes(db)) {
    db.exec(`ALTER TABLE ${TABLE} ADD COLUMN hashval VARCHAR(255)`);
  } else if (prober.query(`SELECT id FROM ${TABLE} WHERE hashval IS NOT NULL LIMIT 1`).length > 0) {
    db.exec(`ALTER TABLE ${TABLE} DROP COLUMN hashval`);
    db.exec(`ALTER TABLE ${TABLE} ADD COLUMN hashval VARCHAR(255)`);
  }
  return found();
}

function isHashed(before, rows) {
  const missing = prober.query(`SELECT COUNT(*) AS n FROM ${TABLE} WHERE hashval IS NULL`)[0].n;
  check(rows, {
    'no row is lost': () => rows === before.rows,
    'no hash is missing': () => Number(missing) === 0,
    'sampled hashes are those of their texts': sampled,
    'ids go on where they were': () => probe() > before.id,
  });
  if (__ENV.CHECKSUM !== '0') console.log(`checksum of the hashes: ${checksum()}`);
}

const stages = {
  // Row by row, each with a commit of its own, and a new connection for each thousand.
  insertA: {
    prepare: emptyTable,
    work() {
      const view = lone.with({ name: 'write' });
      for (const texts of myTexts()) {
        for (let at = 0; at < texts.length; at += RECONNECT) {
          const connection = view.connection();
          const insert = connection.prepare(INSERT);
          for (const text of texts.slice(at, at + RECONNECT)) insert.exec(text);
          connection.close();
        }
      }
    },
    verify: isFull,
  },

  // Row by row, one commit for many.
  insertA1: {
    prepare: emptyTable,
    work() {
      for (const texts of myTexts()) {
        writer.tx((tx) => {
          const insert = tx.prepare(INSERT);
          for (const text of texts) insert.exec(text);
        });
      }
    },
    verify: isFull,
  },

  // Many rows in each statement.
  insertB: {
    prepare: emptyTable,
    work() {
      for (const texts of myTexts()) put(TABLE, ['text'], texts);
    },
    verify: isFull,
  },

  // Three ways to read, none of which holds the table in memory.
  select: {
    times: 3,
    prepare: found,
    alone: true,
    work() {
      const all = `SELECT id, text FROM ${TABLE}`;
      const timed = (way, read) => {
        const began = Date.now();
        const { sum, rows } = read();
        const seconds = Math.max(Date.now() - began, 1) / 1000;
        console.log(`${way}: ${rows} rows in ${seconds.toFixed(3)} s, ${Math.round(rows / seconds)} rows/s`);
        console.log(`sum of ids: ${sum}`);
        return sum;
      };
      const plain = timed('select 1, rows', () => {
        let [sum, rows] = [0, 0];
        for (const row of reader.rows(all)) {
          sum += row.id;
          rows += 1;
        }
        return { sum, rows };
      });
      class Item {
        constructor(id, text) {
          this.id = id;
          this.text = text;
        }
      }
      const objects = timed('select 2, into objects', () => {
        let [sum, rows] = [0, 0];
        for (const { id, text } of reader.rows(all)) {
          sum += new Item(id, text).id;
          rows += 1;
        }
        return { sum, rows };
      });
      const lists = timed('select 3, into lists and out again', () => {
        let [sum, rows] = [0, 0];
        /** @type {Item[]} */
        let list = [];
        const empty = () => {
          for (const item of list) sum += item.id;
          rows += list.length;
          list = [];
        };
        for (const { id, text } of reader.rows(all)) {
          if (list.push(new Item(id, text)) >= BATCH) empty();
        }
        empty();
        return { sum, rows };
      });
      check(plain, { 'the sum of the ids is the same each time': () => plain === objects && plain === lists });
    },
    verify: (before, rows) => check(rows, { 'no row is lost': () => rows === before.rows }),
  },

  alter: {
    prepare() {
      const before = found();
      if (dialect.hasHashes(db)) db.exec(`ALTER TABLE ${TABLE} DROP COLUMN hashval`);
      return before;
    },
    open() {
      db.exec(`ALTER TABLE ${TABLE} ADD COLUMN hashval VARCHAR(255)`);
    },
    verify: (before, rows) =>
      check(rows, { 'no row is lost': () => rows === before.rows, 'the column is there': () => dialect.hasHashes(db) }),
  },

  // One UPDATE for each row.
  update1: {
    prepare: withoutHashes,
    work() {
      const update = writer.prepare(`UPDATE ${TABLE} SET hashval = ${dialect.mark(1)} WHERE id = ${dialect.mark(2)}`);
      for (const rows of myRows()) {
        for (const row of rows) update.exec(crypto.sha1(row.text, 'hex'), row.id);
      }
    },
    verify: isHashed,
  },

  // The hashes into a second table, many rows a statement; then one UPDATE that joins the two.
  update2: {
    prepare: withoutHashes,
    open() {
      db.exec('CREATE TABLE bulktest_temp (id INT PRIMARY KEY, text VARCHAR(45), hashval VARCHAR(255))');
    },
    work() {
      for (const rows of myRows()) put('bulktest_temp', ['id', 'text', 'hashval'], hashed(rows));
    },
    close() {
      for (const statement of dialect.join) joiner.exec(statement);
      db.exec('DROP TABLE bulktest_temp');
    },
    verify: isHashed,
  },

  // Rows with their hashes into a table that takes the place of the old one.
  update3: {
    prepare: withoutHashes,
    alone: dialect.isFile,
    open() {
      if (!dialect.isFile) guard = dialect.lock(db);
    },
    work() {
      if (!dialect.isFile) {
        for (const rows of myRows()) put('bulktest_new', ['id', 'text', 'hashval'], hashed(rows));
        return;
      }
      // The lock of a file is its only writer's: all is done in one transaction.
      writer.tx((tx) => {
        dialect.lock(tx);
        const page = tx.prepare(RANGE);
        for (const [from, to] of ranges()) {
          const rows = hashed(page.query(from, to));
          tx.insert('bulktest_new', ['id', 'text', 'hashval'], rows, { batch: BATCH, way });
        }
        dialect.swap(tx);
      });
    },
    async close() {
      if (!dialect.isFile) await dialect.swap(db, guard, sleep);
    },
    verify: isHashed,
  },
};

// The connection that holds the lock of update3.
let guard;

function put(table, columns, rows) {
  writer.insert(table, columns, rows, { batch: BATCH, way });
}

function* hashed(rows) {
  for (const row of rows) yield [row.id, row.text, crypto.sha1(row.text, 'hex')];
}

// The texts of this VU, a batch at a time. They are the same for each stage and database.
function* myTexts() {
  for (let batch = exec.vu.idInTest - 1; batch * BATCH < ROWS; batch += THREADS) {
    yield sql.randomTexts(Math.min(BATCH, ROWS - batch * BATCH), LENGTH, SEED * 1000000 + batch);
  }
}

// The rows of this VU, a range of ids at a time. Servers stream them over a connection of their own; a file that has a reader
// may be closed for its writer, so its rows are read before they are used.
function* myRows() {
  const range = reader.prepare(RANGE);
  let turn = 0;
  for (const [from, to] of ranges()) {
    if (turn++ % THREADS === exec.vu.idInTest - 1) yield dialect.isFile ? range.query(from, to) : range.rows(from, to);
  }
}

function* ranges() {
  const { low, high } = ends();
  for (let from = low; from <= high; from += COPIED) yield [from, Math.min(from + COPIED, high + 1)];
}

function ends() {
  const { low, high } = reader.query(`SELECT MIN(id) AS low, MAX(id) AS high FROM ${TABLE}`)[0];
  return { low, high };
}

function count(table) {
  return Number(prober.query(`SELECT COUNT(*) AS n FROM ${table}`)[0].n);
}

// The id that a new row gets. The row goes again, its id is never given out a second time.
function probe() {
  const id = dialect.insertOne(prober, TABLE, 'the row after');
  prober.exec(`DELETE FROM ${TABLE} WHERE id = ${dialect.mark(1)}`, id);
  return id;
}

function sampled() {
  const { low, high } = ends();
  const sample = prober.prepare(`SELECT text, hashval FROM ${TABLE} WHERE id >= ${dialect.mark(1)} ORDER BY id LIMIT 1`);
  for (let at = 0; at < SAMPLES; at += 1) {
    const [row] = sample.query(low + Math.floor(((high - low) * at) / Math.max(SAMPLES - 1, 1)));
    if (!row || row.hashval !== crypto.sha1(row.text, 'hex')) return false;
  }
  return true;
}

// The first 48 bits of all hashes, added up: the order of the rows and their ids play no part.
function checksum() {
  let sum = 0;
  for (const row of prober.rows(`SELECT hashval FROM ${TABLE}`)) sum = (sum + parseInt(row.hashval.slice(0, 12), 16)) % 2 ** 48;
  return sum.toString(16).padStart(12, '0');
}

// Waits until all VUs are here.
let step = 0;
function meet() {
  if (THREADS === 1) return;
  step += 1;
  progress.exec(`INSERT INTO bulktest_progress VALUES (${step}, ${exec.vu.idInTest})`);
  const here = `SELECT COUNT(*) AS n FROM bulktest_progress WHERE step = ${step}`;
  for (let pause = 0.002; Number(progress.query(here)[0].n) < THREADS; pause = Math.min(pause * 1.5, 0.1)) sleep(pause);
}

function whole(name, otherwise) {
  if (!__ENV[name]) return otherwise;
  const value = Number(__ENV[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name}=${__ENV[name]}: it is a whole number from 1 on`);
  return value;
}
