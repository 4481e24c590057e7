// Connections: options of the pool, ends of connections, multi statements, found rows: MariaDB
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
import { attempt, result, rows } from '../lib/probe.js';

export default function () {
  const opened = (label, options) => attempt(label, () => {
    const db = sql.open(driver, __ENV.MYSQL_DSN, options);
    const one = db.query('SELECT 1 AS a')[0].a;
    db.close();
    return one;
  });
  opened('no options', undefined);
  opened('null', null);
  opened('empty', {});
  opened('all', { max_open_conns: 2, max_idle_conns: 1, conn_max_lifetime: '1h10m', conn_max_idle_time: '90s' });
  opened('number for a duration', { conn_max_lifetime: 5 });
  opened('number for the idle time', { conn_max_idle_time: 5 });
  opened('no duration', { conn_max_lifetime: 'soon' });
  opened('no idle connections', { max_idle_conns: 0 });
  opened('fewer than none', { max_open_conns: -1 });
  opened('unknown key', { more: 1 });
  for (const given of ['mysql', 5, null, undefined, {}, Symbol('mysql'), { valueOf: () => driver }]) {
    attempt(`open with ${typeof given} ${String(typeof given === 'object' && given ? Object.keys(given) : given)}`, () => {
      const db = sql.open(given, __ENV.MYSQL_DSN);
      db.close();
      return 'opened';
    });
  }
  attempt('open without a DSN', () => sql.open(driver));

  const db = sql.open(driver, __ENV.MYSQL_DSN, { max_open_conns: 1 });
  const other = sql.open(driver, __ENV.MYSQL_DSN);
  const end = () => other.exec(`KILL ${db.query('SELECT CONNECTION_ID() AS id')[0].id}`);
  end();
  rows('after KILL', () => db.query('SELECT 1 AS a'));
  end();
  rows('after KILL, argument', () => db.query('SELECT ? AS a', 1));
  end();
  result('after KILL, exec', () => db.exec('SET @a = 1'));
  rows('killed meanwhile', () => db.query('KILL CONNECTION_ID()'));
  rows('after the end', () => db.query('SELECT 1 AS a'));
  rows('query killed meanwhile', () => db.query('KILL QUERY CONNECTION_ID()'));
  db.exec('SET @kept = 7');
  rows('a variable of the session', () => db.query('SELECT @kept AS kept'));
  db.exec('CREATE TABLE IF NOT EXISTS probe_pool (a INT) ENGINE=InnoDB');
  db.exec('DELETE FROM probe_pool');
  db.exec('BEGIN');
  db.exec('INSERT INTO probe_pool VALUES (1)');
  rows('not yet committed', () => other.query('SELECT COUNT(*) AS c FROM probe_pool'));
  db.exec('ROLLBACK');
  rows('rolled back', () => db.query('SELECT COUNT(*) AS c FROM probe_pool'));
  db.exec('INSERT INTO probe_pool VALUES (1), (2)');
  db.exec('BEGIN');
  db.exec('UPDATE probe_pool SET a = 5 WHERE a = 1');
  other.exec('SET GLOBAL innodb_lock_wait_timeout = 1');
  const waiting = sql.open(driver, __ENV.MYSQL_DSN);
  result('lock wait', () => waiting.exec('UPDATE probe_pool SET a = 6 WHERE a = 1'));
  db.exec('ROLLBACK');
  result('read only', () => {
    const reading = sql.open(driver, __ENV.MYSQL_DSN, { max_open_conns: 1 });
    reading.exec('SET SESSION TRANSACTION READ ONLY');
    return reading.exec('INSERT INTO probe_pool VALUES (3)');
  });
  const found = sql.open(driver, `${__ENV.MYSQL_DSN}?clientFoundRows=true`);
  result('found rows', () => found.exec('UPDATE probe_pool SET a = 2 WHERE a = 2'));
  const many = sql.open(driver, `${__ENV.MYSQL_DSN}?multiStatements=true`);
  result('many statements', () => many.exec('SET @a = 1; INSERT INTO probe_pool VALUES (4), (5)'));
  rows('many results', () => many.query('SELECT 1 AS a; SELECT 2 AS a'));
  rows('many statements with an argument', () => many.query('SELECT ? AS a; SELECT 2 AS a', 1));
  result('the second is wrong', () => many.exec('SET @a = 1; SELEC 1'));
  rows('the second is wrong, query', () => many.query('SELECT 1 AS a; SELEC 1'));
  db.exec('DROP TABLE probe_pool');
  for (const each of [db, other, found, many, waiting]) each.close();
}
