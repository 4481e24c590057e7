// Connections: ends of connections, several statements, transactions, conflicts: PostgreSQL
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/postgres';
import { attempt, result, rows } from '../lib/probe.js';

export default function () {
  const db = sql.open(driver, __ENV.POSTGRES_DSN, { max_open_conns: 1 });
  const other = sql.open(driver, __ENV.POSTGRES_DSN, { max_open_conns: 1 });
  const end = () => {
    const id = db.query('SELECT pg_backend_pid() AS id')[0].id;
    other.query('SELECT pg_terminate_backend($1)', id);
    for (let tries = 0; tries < 100000 && other.query('SELECT 1 AS a FROM pg_stat_activity WHERE pid = $1', id).length; tries++);
  };
  end();
  try {
    db.query('SELECT 1');
  } catch (error) {
    // The text depends on the moment: the end of the stream or a reset.
  }
  rows('the query after the one that met the end', () => db.query('SELECT 1 AS a'));
  rows('ended meanwhile', () => db.query('SELECT pg_terminate_backend(pg_backend_pid())'));
  rows('after that', () => db.query('SELECT 1 AS a'));
  rows('cancelled meanwhile', () => db.query('SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(1)'));
  rows('two statements', () => db.query('SELECT 1 AS a; SELECT 2 AS b'));
  result('two statements, exec', () => db.exec('CREATE TEMP TABLE probe_temp (a INT); INSERT INTO probe_temp VALUES (1), (2)'));
  rows('two statements with an argument', () => db.query('SELECT $1::int AS a; SELECT 2 AS b', 1));
  rows('the second is wrong', () => db.query('SELECT 1 AS a; SELEC 2'));
  result('the second is wrong, exec', () => db.exec('INSERT INTO probe_temp VALUES (3); SELEC 2'));
  rows('what is kept', () => db.query('SELECT COUNT(*) AS c FROM probe_temp'));
  db.exec('DROP TABLE IF EXISTS probe_pool');
  db.exec('CREATE TABLE probe_pool (a INT PRIMARY KEY)');
  db.exec('BEGIN');
  db.exec('INSERT INTO probe_pool VALUES (1)');
  rows('not yet committed', () => other.query('SELECT COUNT(*) AS c FROM probe_pool'));
  db.exec('ROLLBACK');
  rows('rolled back', () => db.query('SELECT COUNT(*) AS c FROM probe_pool'));
  result('COMMIT without BEGIN', () => db.exec('COMMIT'));
  db.exec('INSERT INTO probe_pool VALUES (1), (2)');
  result('key twice', () => db.exec('INSERT INTO probe_pool VALUES (1)'));
  db.exec('BEGIN');
  db.exec('UPDATE probe_pool SET a = 5 WHERE a = 1');
  other.exec("SET lock_timeout = '100ms'");
  result('lock wait', () => other.exec('UPDATE probe_pool SET a = 6 WHERE a = 1'));
  db.exec('ROLLBACK');
  db.exec('BEGIN ISOLATION LEVEL SERIALIZABLE');
  db.query('SELECT * FROM probe_pool');
  other.exec('UPDATE probe_pool SET a = a + 10');
  result('serialization failure', () => db.exec('UPDATE probe_pool SET a = a + 100'));
  db.exec('ROLLBACK');
  db.exec('SET default_transaction_read_only = on');
  result('read only', () => db.exec('INSERT INTO probe_pool VALUES (3)'));
  db.exec('SET default_transaction_read_only = off');
  rows('a notice', () => db.query("DO $$ BEGIN RAISE NOTICE 'said'; END $$"));
  rows('an error of its own', () => db.query("DO $$ BEGIN RAISE EXCEPTION 'own %', 5 USING ERRCODE = 'P0099', DETAIL = 'the detail', HINT = 'the hint'; END $$"));
  rows('LISTEN', () => db.query('LISTEN probe'));
  rows('COPY to stdout', () => db.query('COPY probe_pool TO STDOUT'));
  result('COPY from stdin', () => db.exec('COPY probe_pool FROM STDIN'));
  rows('after COPY', () => db.query('SELECT 1 AS a'));
  attempt('65 536 arguments', () => db.query(`SELECT 1 AS a WHERE 1 IN (${Array.from({ length: 65536 }, (_, at) => `$${at + 1}`).join()})`, ...Array.from({ length: 65536 }, () => 1)));
  other.exec('DROP TABLE probe_pool');
  for (const each of [db, other]) each.close();
}
