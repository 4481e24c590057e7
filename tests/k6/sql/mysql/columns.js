// Values of each column type of MariaDB
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
import { columns } from '../lib/probe.js';

const types = [
  ['TINYINT', '-128'], ['TINYINT UNSIGNED', '255'], ['SMALLINT', '-32768'], ['SMALLINT UNSIGNED', '65535'],
  ['MEDIUMINT', '-8388608'], ['MEDIUMINT UNSIGNED', '16777215'], ['INT', '-2147483648'], ['INT', '42'], ['INT UNSIGNED', '4294967295'],
  ['BIGINT', '-9223372036854775808'], ['BIGINT', '9007199254740993'], ['BIGINT UNSIGNED', '18446744073709551615'],
  ['BIGINT UNSIGNED', '9223372036854775807'], ['BIGINT UNSIGNED', '5'],
  ['INT(5) ZEROFILL', '42'], ['TINYINT(1)', '1'], ['BOOLEAN', 'TRUE'],
  ['DECIMAL(10,2)', '12.30'], ['DECIMAL(30,10)', '12345678901234567890.0123456789'], ['NUMERIC(5)', '7'],
  ['FLOAT', '1.1'], ['FLOAT', '16777217'], ['FLOAT', '1e30'], ['DOUBLE', '0.1'], ['DOUBLE', '1e300'], ['DOUBLE', '3'], ['DOUBLE', '-0.0'],
  ['DATE', "'2024-02-29'"], ['DATETIME', "'2024-02-29 12:34:56'"], ['DATETIME(3)', "'2024-02-29 12:34:56.789'"],
  ['DATETIME(6)', "'2024-02-29 12:34:56.789012'"], ['DATETIME(6)', "'2024-02-29 12:34:56'"], ['TIMESTAMP', "'2024-02-29 12:34:56'"], ['TIMESTAMP(6)', "'2024-02-29 12:34:56.5'"],
  ['TIME', "'12:34:56'"], ['TIME', "'-838:59:59'"], ['TIME(3)', "'01:02:03.5'"], ['TIME', "'00:00:00'"], ['YEAR', '2024'],
  ['CHAR(5)', "'ab'"], ['VARCHAR(20) CHARACTER SET utf8mb4', "'naïve ✓'"], ['VARCHAR(20)', "''"], ['TEXT', "'text'"], ['TINYTEXT', "'t'"], ['LONGTEXT', "'long'"],
  ['BINARY(4)', "'ab'"], ['VARBINARY(4)', "x'00ff'"], ['BLOB', "x'0001ff'"], ['TINYBLOB', "x'01'"], ['LONGBLOB', "x''"],
  ['ENUM("red","blue")', "'blue'"], ['SET("a","b","c")', "'a,c'"], ['BIT(1)', "b'1'"], ['BIT(12)', "b'101010101010'"], ['BIT(64)', "b'1'"],
  ['JSON', `'{"a": [1, "x"]}'`], ['UUID', "'123e4567-e89b-12d3-a456-426614174000'"], ['INET4', "'127.0.0.1'"], ['INET6', "'::1'"],
  ['GEOMETRY', "ST_GeomFromText('POINT(1 2)')"], ['INT', 'NULL'], ['VARCHAR(5)', 'NULL'], ['DATETIME', 'NULL'], ['BLOB', 'NULL'],
];

export default function () {
  const create = (type) => `CREATE TABLE probe_column (v ${type}${type.startsWith('TIMESTAMP') ? ' NULL' : ''})`;
  for (const options of ['', '?parseTime=true']) {
    console.log(`DSN options ${options || 'none'}`);
    const db = sql.open(driver, __ENV.MYSQL_DSN + options);
    columns(db, options ? types.filter(([type]) => /DATE|TIME|YEAR/.test(type)) : types, create, '1 = ?');
    db.exec("SET sql_mode = ''");
    columns(db, [['DATE', "'0000-00-00'"], ['DATETIME', "'0000-00-00 00:00:00'"]], create, '1 = ?');
    db.close();
  }
}
