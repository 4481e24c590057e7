// Values of each declared type of SQLite
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/sqlite3';
import { columns, rows } from '../lib/probe.js';

const literals = ['42', '9007199254740993', '-9223372036854775808', '1.5', '3.0', "'text'", "'5'", "''", "x'0001ff'", "x''", 'TRUE', 'NULL', "'2024-02-29'", "'2024-02-29 12:34:56'", "'2024-02-29T12:34:56.789Z'", "'2024-02-29 12:34:56+02:00'", '1709210096', '1709210096789'];
const declared = ['INTEGER', 'INT', 'BIGINT', 'REAL', 'NUMERIC', 'DECIMAL(10,2)', 'TEXT', 'VARCHAR(20)', 'BLOB', 'BOOLEAN', 'boolean', 'BOOL', 'DATE', 'DATETIME', 'TIMESTAMP', 'timestamp', 'TIME', 'JSON', ''];

export default function () {
  const db = sql.open(driver, `${__ENV.SQLITE_FOLDER}/columns.db`, { max_open_conns: 1 });
  const all = [];
  for (const type of declared) for (const literal of literals) all.push([type, literal]);
  columns(db, all, (type) => `CREATE TABLE probe_column (v ${type})`, '1 = ?');
  rows('without a column', () => db.query("SELECT 1 AS i, 1.5 AS f, 'x' AS t, x'01' AS b, NULL AS z, TRUE AS w, 1 = 1 AS c, date('2024-02-29') AS d, datetime('2024-02-29 12:34:56') AS e, 1e400 AS g"));
  rows('an aggregate of a time', () => db.query('SELECT MAX(v) AS m FROM (SELECT CURRENT_TIMESTAMP > 0 AS v)'));
  db.close();
}
