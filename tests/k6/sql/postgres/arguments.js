// Arguments of every kind, bound to PostgreSQL
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/postgres';
import { attempt, kinds, result, rows } from '../lib/probe.js';

export default function () {
  const db = sql.open(driver, __ENV.POSTGRES_DSN);
  for (const [name, value] of kinds()) {
    attempt(`${name}, text`, () => db.query('SELECT $1::text AS v', value)[0].v);
    for (const type of ['int', 'bigint', 'float8', 'numeric', 'bool', 'bytea', 'timestamptz', 'timestamp', 'date']) {
      attempt(`${name}, ${type}`, () => db.query(`SELECT $1::${type} AS v`, value)[0].v);
    }
    attempt(`${name}, no type`, () => db.query('SELECT $1 AS v', value)[0].v);
  }
  rows('too few', () => db.query('SELECT $1::int AS a, $2::int AS b', 1));
  rows('too many', () => db.query('SELECT $1::int AS a', 1, 2));
  rows('none for one', () => db.query('SELECT $1::int AS a'));
  rows('one for none', () => db.query('SELECT 1 AS a', 1));
  result('exec, too few', () => db.exec('SELECT $1::int, $2::int', 1));
  result('exec, none for one', () => db.exec('SELECT $1::int'));
  rows('question mark', () => db.query('SELECT ? AS a', 1));
  rows('one twice', () => db.query('SELECT $1::int + $1::int AS a', 4));
  rows('in another order', () => db.query('SELECT $2::int AS a, $1::int AS b', 1, 2));
  rows('one left out', () => db.query('SELECT $2::int AS a', 1, 2));
  rows('no type to tell', () => db.query('SELECT $1 AS a', null));
  rows('a number for text', () => db.query("SELECT 'a' || $1 AS a", 5));
  rows('text for a number', () => db.query('SELECT 1 + $1 AS a', '5'));
  rows('no number', () => db.query('SELECT 1 + $1 AS a', 'five'));
  rows('ANY of an array', () => db.query('SELECT 1 = ANY($1::int[]) AS a', '{1,2}'));
  rows('json', () => db.query('SELECT $1::jsonb AS a', '{"a":1}'));
  db.close();
}
