// Data source names, right and wrong, and what a wrong server, account or database is called: go-sql-driver's
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/mysql';
import { rows } from '../lib/probe.js';

const port = __ENV.MYSQL_PORT;
const at = `tcp(127.0.0.1:${port})`;
const tried = (label, dsn, text) => rows(label, () => {
  const db = sql.open(driver, dsn);
  try {
    return db.query(text || 'SELECT 1 AS a');
  } finally {
    db.close();
  }
});

export default function () {
  tried('whole', `probe:secret@${at}/probe`);
  tried('no database', `probe:secret@${at}/`, 'SELECT DATABASE() AS d');
  tried('no slash', `probe:secret@${at}`);
  tried('no protocol', `probe:secret@127.0.0.1:${port}/probe`);
  tried('no protocol, brackets', `probe:secret@(127.0.0.1:${port})/probe`);
  tried('no port', 'probe:secret@tcp(127.0.0.9)/probe');
  tried('a bracket is open', `probe:secret@tcp(127.0.0.1:${port}/probe`);
  tried('a port of letters', 'probe:secret@tcp(127.0.0.1:abc)/probe');
  tried('a port out of range', 'probe:secret@tcp(127.0.0.1:99999)/probe');
  tried('a protocol that is none', `probe:secret@carrier(127.0.0.1:${port})/probe`);
  tried('a URL', `mysql://probe:secret@127.0.0.1:${port}/probe`);
  tried('a URL with tcp', `mysql://probe:secret@${at}/probe`);
  tried('unix socket', `probe:secret@unix(${__ENV.MYSQL_SOCKET})/probe`);
  tried('unix socket without brackets', `probe:secret@unix${__ENV.MYSQL_SOCKET}/probe`);
  tried('no such socket', 'probe:secret@unix(/nowhere/my.sock)/probe');
  tried('tcp6', 'probe:secret@tcp([::1]:1)/probe');
  tried('closed port', 'probe:secret@tcp(127.0.0.1:1)/probe');
  tried('closed port, timeout', 'probe:secret@tcp(127.0.0.1:1)/probe?timeout=1s');
  tried('wrong password', `probe:wrong@${at}/probe`);
  tried('no password', `probe@${at}/probe`);
  tried('empty password', `probe:@${at}/probe`);
  tried('unknown user', `nobody:secret@${at}/probe`);
  tried('unknown database', `probe:secret@${at}/nowhere`);
  tried('database escaped', `probe:secret@${at}/pro%62e`, 'SELECT 1 AS a');
  tried('database with a bad escape', `probe:secret@${at}/pro%zz`);
  tried('password with @', `probe:se@cret@${at}/probe`);
  tried('password with a slash', `probe:se/cret@${at}/probe`);
  tried('password with a colon', `probe:se:cret@${at}/probe`);
  for (const option of [
    'parseTime=true', 'parseTime=1', 'parseTime=yes', 'parseTime=', 'parseTime', 'parseTime=TRUE', 'PARSETIME=true',
    'charset=utf8mb4', 'charset=utf8', 'charset=latin1', 'charset=utf8mb4,utf8', 'charset=nothing', 'charset=nothing,utf8', 'collation=utf8mb4_unicode_ci', 'collation=utf8mb4_general_ci', 'collation=nothing',
    'tls=false', 'tls=true', 'tls=skip-verify', 'tls=preferred', 'tls=custom', 'tls=1', 'tls=0', 'tls=',
    'timeout=5s', 'timeout=5', 'timeout=soon', 'readTimeout=5s', 'readTimeout=x', 'writeTimeout=5s', 'loc=UTC', 'loc=Local', 'loc=Europe%2FBerlin', 'loc=Nowhere', 'loc=',
    'multiStatements=true', 'multiStatements=maybe', 'allowNativePasswords=false', 'allowNativePasswords=true', 'allowCleartextPasswords=true', 'allowOldPasswords=true', 'allowAllFiles=true', 'allowFallbackToPlaintext=true',
    'checkConnLiveness=false', 'clientFoundRows=true', 'columnsWithAlias=true', 'interpolateParams=true', 'interpolateParams=x', 'maxAllowedPacket=0', 'maxAllowedPacket=1000', 'maxAllowedPacket=x', 'rejectReadOnly=true',
    'serverPubKey=x', 'connectionAttributes=program:x', 'connectionAttributes=program', 'compress=true', 'timeTruncate=1s', 'strict=true',
    'sql_mode=ANSI', "sql_mode='ANSI'", 'sql_mode=%27ANSI%27', 'time_zone=%27%2B01%3A00%27', 'autocommit=0', 'wait_timeout=100', 'nothing=1', 'nothing=x', 'a', '=', '&', 'tx_isolation=%27READ-COMMITTED%27',
  ]) {
    tried(`?${option}`, `probe:secret@${at}/probe?${option}`);
  }
  const asked = (option, text) => tried(`?${option}, ${text}`, `probe:secret@${at}/probe?${option}`, text);
  asked('charset=utf8mb4', 'SELECT @@character_set_client = "utf8mb4" AS a, @@collation_connection = "utf8mb4_general_ci" AS b');
  asked('', 'SELECT @@character_set_client = "utf8mb4" AS a, @@collation_connection = "utf8mb4_general_ci" AS b');
  asked('charset=latin1', 'SELECT @@character_set_client = "latin1" AS a');
  asked('charset=latin1', "SELECT 'naïve' AS a");
  asked('collation=utf8mb4_unicode_ci', 'SELECT @@collation_connection = "utf8mb4_unicode_ci" AS a');
  asked('sql_mode=%27ANSI%27', "SELECT @@sql_mode LIKE '%ANSI%' AS a");
  asked('autocommit=0', 'SELECT @@autocommit AS a');
  asked('time_zone=%27%2B01%3A00%27', "SELECT @@time_zone = '+01:00' AS a");
  asked('multiStatements=true', 'SELECT 1 AS a; SELECT 2 AS b');
  asked('multiStatements=true', 'SET @a = 1; SELECT 2 AS b');
  asked('columnsWithAlias=true', 'SELECT x.a FROM (SELECT 1 AS a) x');
  asked('parseTime=true&loc=UTC', "SELECT TIMESTAMP '2024-02-29 12:34:56' AS a");
  asked('parseTime=true&loc=Europe%2FBerlin', "SELECT TIMESTAMP '2024-02-29 12:34:56' AS a");
  asked('parseTime=true&loc=Local', "SELECT DATE '2024-07-01' AS a");
  asked('timeout=0s&readTimeout=100ms', 'SELECT SLEEP(1) AS a');
  asked('maxAllowedPacket=100', `SELECT '${'x'.repeat(200)}' AS a`);
}
