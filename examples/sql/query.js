// Point queries by primary key: a million of them tells what a database bears, a few whether it is there.
//   brunt run -e VUS=50 -e DURATION=30s -e DSN='postgres://me:secret@127.0.0.1/shop' examples/sql/query.js

import { check } from 'k6';
import sql from 'k6/x/sql';
import { dialects, driverOf } from './dialects.js';

const DSN = __ENV.DSN || __ENV.DEMO_SQL || 'file:query.db?_pragma=busy_timeout(60000)';
const dialect = dialects[__ENV.DRIVER || driverOf(DSN)];
const ITEMS = 1000;

export const options = {
  vus: Number(__ENV.VUS || 5),
  duration: __ENV.DURATION || '2s',
  thresholds: {
    checks: ['rate==1'],
    sql_failed: ['rate<0.01'],
    'sql_duration{name:price}': ['p(95)<100', 'p(99)<250'],
  },
};

// Each VU has a pool of its own, which connects when the first statement comes. It needs one connection.
const db = sql.open(dialect.driver, DSN, { max_open_conns: 1, text: 'string' });
// Statements that have a name are counted under it, and not under their text.
const prices = db.with({ name: 'price', prepared: true });

export function setup() {
  db.exec('DROP TABLE IF EXISTS demo_items');
  db.exec('CREATE TABLE demo_items (id INT PRIMARY KEY, label VARCHAR(40), price INT)');
  const items = [];
  for (let id = 1; id <= ITEMS; id += 1) items.push([id, `item ${id}`, id * 10]);
  db.insert('demo_items', ['id', 'label', 'price'], items);
}

export default function () {
  const id = 1 + Math.floor(Math.random() * ITEMS);
  const rows = prices.query(`SELECT label, price FROM demo_items WHERE id = ${dialect.mark(1)}`, id);
  check(rows, {
    'the row is there': () => rows.length === 1,
    'it is the right one': () => rows.length === 1 && rows[0].price === id * 10 && rows[0].label === `item ${id}`,
  });
}

export function teardown() {
  db.exec('DROP TABLE demo_items');
}
