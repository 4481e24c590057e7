// Transactions that are in each other's way: money goes from account to account, and none may be lost.
//   brunt run -e DSN='postgres://me:secret@127.0.0.1/shop' examples/sql/transfer.js

import { check } from 'k6';
import sql from 'k6/x/sql';
import { dialects, driverOf } from './dialects.js';

const DSN = __ENV.DSN || 'file:transfer.db?_pragma=busy_timeout(60000)';
const dialect = dialects[__ENV.DRIVER || driverOf(DSN)];
const ACCOUNTS = 10;
const START = 1000;

export const options = {
  vus: Number(__ENV.VUS || 5),
  iterations: Number(__ENV.ITERATIONS || 200),
  thresholds: {
    checks: ['rate==1'],
    // A statement that lost against another transaction failed, but its transaction was tried again.
    sql_failed: ['rate<0.5'],
    sql_retries: [],
  },
};

const db = sql.open(dialect.driver, DSN, { max_open_conns: 1, text: 'string' });
const total = () => Number(db.query('SELECT SUM(amount) AS total FROM demo_accounts')[0].total);

export function setup() {
  db.exec('DROP TABLE IF EXISTS demo_accounts');
  db.exec('CREATE TABLE demo_accounts (id INT PRIMARY KEY, amount INT)');
  const accounts = [];
  for (let id = 1; id <= ACCOUNTS; id += 1) accounts.push({ id, amount: START });
  db.insert('demo_accounts', ['id', 'amount'], accounts);
}

export default function () {
  const from = 1 + Math.floor(Math.random() * ACCOUNTS);
  const to = 1 + ((from + Math.floor(Math.random() * (ACCOUNTS - 1))) % ACCOUNTS);
  const move = `UPDATE demo_accounts SET amount = amount + ${dialect.mark(1)} WHERE id = ${dialect.mark(2)}`;
  // An error inside rolls back; after a deadlock or a serialization failure the function is called anew, up to ten times.
  let moved = 0;
  try {
    moved = db.tx(
      (tx) => tx.exec(move, -7, from).rowsAffected() + tx.exec(move, 7, to).rowsAffected(),
      { retries: 10, isolation: 'serializable' },
    );
  } catch (error) {
    console.error(error.message);
  }
  check(moved, { 'two accounts changed': () => moved === 2 });
}

export function teardown() {
  const now = total();
  check(now, { 'no money was lost': () => now === ACCOUNTS * START });
  db.exec('DROP TABLE demo_accounts');
}
