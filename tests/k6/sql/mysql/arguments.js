// Arguments of every kind, bound to MariaDB
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
import { attempt, kinds, result, rows } from '../lib/probe.js';

export default function () {
  for (const options of ['', '?interpolateParams=true']) {
    console.log(`DSN options ${options || 'none'}`);
    const db = sql.open(driver, __ENV.MYSQL_DSN + options);
    for (const [name, value] of kinds()) {
      attempt(name, () => {
        const row = db.query('SELECT CAST(? AS CHAR) AS t, ? IS NULL AS n', value, value)[0];
        return (row.t === null ? 'NULL' : String.fromCharCode(...row.t)) + ' ' + row.n;
      });
      attempt(`${name}, given back`, () => db.query('SELECT ? AS v', value)[0].v);
    }
    rows('too few', () => db.query('SELECT ? AS a, ? AS b', 1));
    rows('too many', () => db.query('SELECT ? AS a', 1, 2));
    rows('none for one', () => db.query('SELECT ? AS a'));
    rows('one for none', () => db.query('SELECT 1 AS a', 1));
    result('exec, too few', () => db.exec('SET @a = ?'));
    rows('a mark in a text', () => db.query("SELECT '?' AS a, ? AS b", 'x'));
    rows('a mark in a comment', () => db.query('SELECT /* ? */ ? AS b', 5));
    rows('$1', () => db.query('SELECT $1 AS b', 5));
    rows(':name', () => db.query('SELECT :name AS b', 5));
    db.close();
  }
}
