// Connections: databases in memory, locks, several statements: SQLite
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/sqlite3';
import { result, rows } from '../lib/probe.js';

export default function () {
  const memory = sql.open(driver, ':memory:', { max_open_conns: 1 });
  result('several statements', () => memory.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3)'));
  rows('what is there', () => memory.query('SELECT a FROM t'));
  rows('several queries', () => memory.query('SELECT 1 AS a; SELECT 2 AS a'));
  rows('several queries of several columns', () => memory.query('SELECT 1 AS a; SELECT 2 AS b, 3 AS c'));
  rows('a query after an insert', () => memory.query('INSERT INTO t VALUES (4); SELECT COUNT(*) AS c FROM t'));
  rows('an insert after a query', () => memory.query('SELECT COUNT(*) AS c FROM t; INSERT INTO t VALUES (5)'));
  rows('what is there then', () => memory.query('SELECT COUNT(*) AS c FROM t'));
  rows('the second is wrong', () => memory.query('SELECT 1 AS a; SELEC 2'));
  result('the second is wrong, exec', () => memory.exec('INSERT INTO t VALUES (6); SELEC 2'));
  rows('what is kept', () => memory.query('SELECT COUNT(*) AS c FROM t'));
  memory.exec('BEGIN');
  result('begun twice', () => memory.exec('BEGIN'));
  memory.exec('ROLLBACK');
  result('COMMIT without BEGIN', () => memory.exec('COMMIT'));

  const path = `file:${__ENV.SQLITE_FOLDER}/pools.db?_busy_timeout=50`;
  const one = sql.open(driver, path, { max_open_conns: 1 });
  const two = sql.open(driver, path, { max_open_conns: 1 });
  one.exec('CREATE TABLE t (a INTEGER PRIMARY KEY CHECK (a < 100), b INTEGER NOT NULL DEFAULT 1, c INTEGER REFERENCES t (a))');
  one.exec('BEGIN IMMEDIATE');
  one.exec('INSERT INTO t (a) VALUES (1)');
  rows('not yet committed', () => two.query('SELECT COUNT(*) AS c FROM t'));
  result('locked', () => two.exec('INSERT INTO t (a) VALUES (2)'));
  one.exec('COMMIT');
  result('unlocked', () => two.exec('INSERT INTO t (a) VALUES (2)'));
  result('key twice', () => two.exec('INSERT INTO t (a) VALUES (2)'));
  result('not null', () => two.exec('INSERT INTO t (a, b) VALUES (3, NULL)'));
  result('check', () => two.exec('INSERT INTO t (a) VALUES (100)'));
  result('no integer', () => two.exec("INSERT INTO t (a) VALUES ('x')"));
  two.exec('PRAGMA foreign_keys = ON');
  result('foreign key', () => two.exec('INSERT INTO t (a, c) VALUES (5, 77)'));
  one.exec('DROP TABLE t');
  rows('dropped by the other', () => two.query('SELECT * FROM t'));
  for (const each of [memory, one, two]) each.close();
}
