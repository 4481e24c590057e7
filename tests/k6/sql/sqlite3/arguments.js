// Arguments of every kind, bound to SQLite
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/sqlite3';
import { attempt, kinds, result, rows } from '../lib/probe.js';

export default function () {
  const db = sql.open(driver, ':memory:', { max_open_conns: 1 });
  for (const [name, value] of kinds()) {
    attempt(name, () => {
      const row = db.query('SELECT ?1 AS v, typeof(?1) AS t, quote(?1) AS q', value)[0];
      return `${row.t} ${row.q}`;
    });
    attempt(`${name}, given back`, () => db.query('SELECT ? AS v', value)[0].v);
  }
  rows('too few', () => db.query('SELECT ? AS a, ? AS b', 1));
  rows('too many', () => db.query('SELECT ? AS a', 1, 2));
  rows('none for one', () => db.query('SELECT ? AS a'));
  rows('one for none', () => db.query('SELECT 1 AS a', 1));
  result('exec, too few', () => db.exec('SELECT ?, ?', 1));
  result('exec, too many', () => db.exec('SELECT ?', 1, 2));
  rows('$1', () => db.query('SELECT $1 AS a, $2 AS b', 1, 2));
  rows('$2 before $1', () => db.query('SELECT $2 AS a, $1 AS b', 1, 2));
  rows('?2 before ?1', () => db.query('SELECT ?2 AS a, ?1 AS b', 1, 2));
  rows(':name', () => db.query('SELECT :name AS a', 1));
  rows('@name', () => db.query('SELECT @name AS a, @name AS b, @other AS c', 1, 2));
  rows('one twice', () => db.query('SELECT ?1 + ?1 AS a', 4));
  result('a table', () => db.exec('CREATE TABLE t (a)'));
  result('two statements share the arguments', () => db.exec('INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)', 1, 2));
  rows('what was inserted', () => db.query('SELECT a FROM t'));
  rows('32 767 arguments', () => db.query(`SELECT 1 AS a WHERE 1 IN (${Array.from({ length: 32767 }, () => '?').join()})`, ...Array.from({ length: 32767 }, () => 1)));
  db.close();
}
