// Data source names of SQLite, right and wrong
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/sqlite3';
import { rows } from '../lib/probe.js';

const folder = __ENV.SQLITE_FOLDER;
const tried = (label, dsn, text) => rows(label, () => {
  const db = sql.open(driver, dsn, { max_open_conns: 1 });
  try {
    return db.query(text || 'SELECT 1 AS a');
  } finally {
    db.close();
  }
});

export default function () {
  const files = (label, dsn) => tried(label, dsn, "SELECT name, file <> '' AS stored FROM pragma_database_list");
  files('memory', ':memory:');
  files('file:memory', 'file::memory:');
  files('shared memory', 'file::memory:?cache=shared');
  files('named memory', 'file:probe?mode=memory&cache=shared');
  files('nothing', '');
  files('a path', `${folder}/path.db`);
  files('a URI', `file:${folder}/uri.db`);
  files('a URI with slashes', `file://${folder}/slashes.db`);
  files('a URI with a host', 'file://host/nowhere.db');
  files('a query without file:', `${folder}/plain.db?cache=shared`);
  tried('a folder that is not there', `${folder}/none/x.db`, 'CREATE TABLE t (a)');
  tried('a folder', folder, 'CREATE TABLE t (a)');
  tried('read only, absent', `file:${folder}/absent.db?mode=ro`, 'SELECT 1 FROM sqlite_master');
  tried('rw, absent', `file:${folder}/absent.db?mode=rw`, 'SELECT 1 FROM sqlite_master');
  tried('rwc', `file:${folder}/made.db?mode=rwc`, 'CREATE TABLE t (a)');
  tried('read only', `file:${folder}/made.db?mode=ro`, 'INSERT INTO t VALUES (1)');
  tried('immutable', `file:${folder}/made.db?immutable=1`, 'SELECT COUNT(*) AS c FROM t');
  tried('a mode that is none', `file:${folder}/made.db?mode=nothing`);
  tried('a cache that is none', `file:${folder}/made.db?cache=nothing`);
  tried('no database', '/etc/passwd', 'SELECT 1 FROM sqlite_master');
  tried('a URL', 'sqlite:///tmp/x.db');
  const asked = (option, text) => tried(`?${option}, ${text}`, `file:${folder}/made.db?${option}`, text);
  for (const option of ['', '_busy_timeout=100', '_timeout=200', '_busy_timeout=x', '_pragma=busy_timeout(300)']) asked(option, 'PRAGMA busy_timeout');
  for (const option of ['', '_foreign_keys=on', '_fk=1', '_fk=true', '_foreign_keys=x', '_pragma=foreign_keys(1)']) asked(option, 'PRAGMA foreign_keys');
  for (const option of ['_journal_mode=WAL', '_journal=MEMORY', '_journal=x', '_pragma=journal_mode(WAL)', '_journal_mode=DELETE']) asked(option, 'PRAGMA journal_mode');
  for (const option of ['', '_synchronous=OFF', '_sync=NORMAL', '_sync=2', '_sync=x']) asked(option, 'PRAGMA synchronous');
  for (const option of ['', '_cache_size=-5000', '_cache_size=x']) asked(option, 'PRAGMA cache_size');
  for (const option of ['_locking_mode=EXCLUSIVE', '_locking=x']) asked(option, 'PRAGMA locking_mode');
  for (const option of ['_query_only=1', '_query_only=x']) asked(option, 'PRAGMA query_only');
  for (const option of ['_secure_delete=on', '_secure_delete=x']) asked(option, 'PRAGMA secure_delete');
  for (const option of ['_recursive_triggers=1', '_rt=x', '_case_sensitive_like=1', '_cslike=x', '_ignore_check_constraints=1', '_defer_foreign_keys=1', '_writable_schema=1', '_auto_vacuum=full', '_vacuum=x',
    '_mutex=full', '_mutex=no', '_mutex=x', '_txlock=immediate', '_txlock=exclusive', '_txlock=x', '_loc=auto', '_loc=Europe/Berlin', '_loc=Nowhere', '_loc=', '_auth', '_nothing=1', 'nothing=1', '_stmt_cache_size=5']) asked(option, 'SELECT 1 AS a');
  const time = "SELECT v FROM (SELECT v FROM probe_time)";
  tried('a time', `file:${folder}/made.db`, 'CREATE TABLE probe_time (v TIMESTAMP)');
  tried('a time is put', `file:${folder}/made.db`, "INSERT INTO probe_time VALUES ('2024-02-29 12:34:56')");
  for (const option of ['', '_loc=Europe/Berlin', '_loc=UTC', '_loc=auto']) asked(option, time);
}
