// Stages of the job of ten million rows with no more than what xk6-sql has, so k6 with the extension runs them too:
// -e DRIVER=mysql|postgres -e DSN=… -e STAGE=insertB|select|update3|point -e ROWS=… [-e BATCH=10000] [-e THREADS=15]
import { randomBytes, sha1 } from 'k6/crypto';
import { b64encode } from 'k6/encoding';
import exec from 'k6/execution';
import sql from 'k6/x/sql';
import mysql from 'k6/x/sql/driver/mysql';
import postgres from 'k6/x/sql/driver/postgres';

const onPostgres = __ENV.DRIVER === 'postgres';
const stage = __ENV.STAGE;
const rows = Number(__ENV.ROWS);
const batch = Number(__ENV.BATCH || 10000);
const threads = Number(__ENV.THREADS || (stage === 'point' ? 50 : 15));
const LENGTH = 45;

const rounds = { insertB: rows / batch, select: 1, update3: rows / batch, point: rows }[stage];
export const options = {
  scenarios: {
    [stage]: {
      executor: 'shared-iterations',
      vus: stage === 'select' ? 1 : Math.min(threads, Math.ceil(rounds)),
      iterations: Math.ceil(rounds),
      maxDuration: '2h',
    },
  },
};

const db = sql.open(onPostgres ? postgres : mysql, __ENV.DSN, { max_open_conns: 1 });

const word = (text) => (typeof text === 'string' ? text : String.fromCharCode(...text));

function values(head, width, count) {
  const marks = [];
  for (let at = 0; at < count; at++) {
    const own = [];
    for (let column = 1; column <= width; column++) own.push(onPostgres ? `$${at * width + column}` : '?');
    marks.push(`(${own.join()})`);
  }
  return head + marks.join();
}

const inserting = stage === 'insertB' ? values('INSERT INTO bulktest (text) VALUES ', 1, batch) : '';
const copying = stage === 'update3' ? values('INSERT INTO bulktest_new (id, text, hashval) VALUES ', 3, batch) : '';
const one = `SELECT text FROM bulktest WHERE id = ${onPostgres ? '$1' : '?'}`;

export function setup() {
  const top = db.query('SELECT MAX(id) AS top FROM bulktest')[0].top;
  if (stage === 'update3') {
    db.exec('DROP TABLE IF EXISTS bulktest_new');
    db.exec(`CREATE TABLE bulktest_new ${onPostgres ? '(LIKE bulktest INCLUDING ALL)' : 'LIKE bulktest'}`);
  }
  return { top };
}

const stages = {
  insertB() {
    const letters = b64encode(randomBytes((batch * LENGTH * 3) / 4 + 3), 'rawstd');
    const texts = [];
    for (let at = 0; at < batch; at++) texts.push(letters.substring(at * LENGTH, (at + 1) * LENGTH));
    db.exec(inserting, ...texts);
  },
  select() {
    let sum = 0;
    for (const row of db.query('SELECT id, text FROM bulktest')) sum += row.id;
    console.log(`sum ${sum}`);
  },
  update3({ top }) {
    const width = Math.ceil(top / Math.ceil(rounds));
    const from = exec.scenario.iterationInTest * width;
    const found = db.query(`SELECT id, text FROM bulktest WHERE id > ${from} AND id <= ${from + width}`);
    for (let start = 0; start < found.length; start += batch) {
      const part = Array.from(found.slice(start, start + batch));
      const bound = [];
      for (const row of part) {
        const text = word(row.text);
        bound.push(row.id, text, sha1(text, 'hex'));
      }
      const whole = part.length === batch;
      db.exec(whole ? copying : values('INSERT INTO bulktest_new (id, text, hashval) VALUES ', 3, part.length), ...bound);
    }
  },
  point({ top }) {
    db.query(one, 1 + Math.floor(Math.random() * top));
  },
};

export default function (given) {
  stages[stage](given);
}

export function teardown() {
  if (stage !== 'update3') return;
  const swap = onPostgres
    ? ['ALTER SEQUENCE bulktest_id_seq OWNED BY bulktest_new.id', 'DROP TABLE bulktest', 'ALTER TABLE bulktest_new RENAME TO bulktest', 'ALTER INDEX bulktest_new_pkey RENAME TO bulktest_pkey']
    : ['TRUNCATE bulktest', 'DROP TABLE bulktest', 'RENAME TABLE bulktest_new TO bulktest'];
  for (const statement of swap) db.exec(statement);
}
