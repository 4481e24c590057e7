// Values of each column type of PostgreSQL
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/postgres';
import { columns } from '../lib/probe.js';

const types = [
  ['SMALLINT', '-32768'], ['INTEGER', '42'], ['BIGINT', '9007199254740993'], ['BIGINT', '-9223372036854775808'], ['SERIAL', '7'], ['OID', '26'],
  ['NUMERIC(10,2)', '12.30'], ['NUMERIC', '12345678901234567890.0123456789'], ['NUMERIC', "'NaN'"], ['MONEY', '12.34'],
  ['REAL', '1.1'], ['REAL', '1e30'], ['DOUBLE PRECISION', '0.1'], ['DOUBLE PRECISION', '3'], ['DOUBLE PRECISION', "'NaN'"], ['DOUBLE PRECISION', "'Infinity'"], ['DOUBLE PRECISION', "'-0'"],
  ['BOOLEAN', 'TRUE'], ['BOOLEAN', 'FALSE'],
  ['CHAR(5)', "'ab'"], ['VARCHAR(20)', "'naïve ✓'"], ['TEXT', "'text'"], ['TEXT', "''"], ['"char"', "'x'"], ['NAME', "'name'"], ['BYTEA', "'\\x0001ff'"], ['BYTEA', "''"],
  ['DATE', "'2024-02-29'"], ['DATE', "'infinity'"], ['DATE', "'0044-03-15 BC'"], ['TIME', "'12:34:56'"], ['TIME', "'12:34:56.789'"], ['TIMETZ', "'12:34:56+02'"],
  ['TIMESTAMP', "'2024-02-29 12:34:56'"], ['TIMESTAMP', "'2024-02-29 12:34:56.789012'"], ['TIMESTAMP', "'infinity'"], ['TIMESTAMP', "'-infinity'"],
  ['TIMESTAMPTZ', "'2024-02-29 12:34:56+02'"], ['TIMESTAMPTZ', "'2024-02-29 12:34:56.5Z'"], ['INTERVAL', "'1 year 2 mons 3 days 04:05:06.789'"], ['INTERVAL', "'-1 hour'"],
  ['UUID', "'123e4567-e89b-12d3-a456-426614174000'"], ['JSON', `'{"a": [1, "x"]}'`], ['JSONB', `'{"a": [1, "x"]}'`], ['XML', "'<a/>'"],
  ['INET', "'127.0.0.1'"], ['INET', "'10.0.0.0/8'"], ['CIDR', "'10.0.0.0/8'"], ['MACADDR', "'08:00:2b:01:02:03'"],
  ['INTEGER[]', "'{1,2,NULL}'"], ['TEXT[]', `'{"a b",c,NULL,"x\\"y"}'`], ['INTEGER[][]', "'{{1,2},{3,4}}'"], ['BOOLEAN[]', "'{t,f}'"], ['NUMERIC[]', "'{1.5}'"], ['TIMESTAMP[]', "'{2024-02-29 12:34:56}'"],
  ['BIT(4)', "B'1010'"], ['VARBIT', "B'101'"], ['POINT', "'(1,2)'"], ['BOX', "'(1,2),(3,4)'"], ['CIRCLE', "'<(1,2),3>'"], ['TSVECTOR', "'a b'"], ['INT4RANGE', "'[1,5)'"], ['TSRANGE', "'[2024-01-01,2024-01-02)'"], ['PG_LSN', "'0/16'"],
  ['probe_colour', "'blue'"], ['probe_pair', "ROW(1,'x')"], ['REGCLASS', "'pg_class'"],
  ['INTEGER', 'NULL'], ['TEXT', 'NULL'], ['TIMESTAMP', 'NULL'], ['BYTEA', 'NULL'],
];

export default function () {
  const db = sql.open(driver, __ENV.POSTGRES_DSN, { max_open_conns: 1 });
  db.exec('DROP TABLE IF EXISTS probe_column');
  db.exec('DROP TYPE IF EXISTS probe_colour');
  db.exec('DROP TYPE IF EXISTS probe_pair');
  db.exec("CREATE TYPE probe_colour AS ENUM ('red', 'blue')");
  db.exec('CREATE TYPE probe_pair AS (a INTEGER, b TEXT)');
  columns(db, types, (type) => `CREATE TABLE probe_column (v ${type})`, '1 = $1');
  db.exec("SET TIME ZONE 'Europe/Berlin'");
  console.log('in the time zone of Berlin');
  columns(db, types.filter(([type]) => /^TIME|^DATE/.test(type)), (type) => `CREATE TABLE probe_column (v ${type})`, '1 = $1');
  db.close();
}
