// The statements of job.js that are not the same for each database.

import mysql from 'k6/x/sql/driver/mysql';
import postgres from 'k6/x/sql/driver/postgres';
import sqlite3 from 'k6/x/sql/driver/sqlite3';

export const dialects = {
  mysql: {
    driver: mysql,
    threads: 15,
    mark: () => '?',
    table: (name) => `CREATE TABLE ${name} (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(45)) ENGINE=InnoDB`,
    hasHashes: (db) => db.query("SHOW COLUMNS FROM bulktest LIKE 'hashval'").length > 0,
    insertOne: (db, table, text) => db.exec(`INSERT INTO ${table} (text) VALUES (?)`, text).lastInsertId(),
    join: ['UPDATE bulktest AS b JOIN bulktest_temp AS t ON t.id = b.id SET b.hashval = t.hashval'],

    // A connection whose lock lets others read the table, but not write it. It may use no other table as long as it holds the
    // lock, so others make the new table and fill it.
    lock(db) {
      const guard = db.connection();
      guard.exec('LOCK TABLES bulktest READ');
      db.exec('CREATE TABLE bulktest_new LIKE bulktest');
      // The new table would go on behind the highest id that is left.
      const [, next] = /AUTO_INCREMENT=(\d+)/.exec(guard.query('SHOW CREATE TABLE bulktest')[0]['Create Table']) || [];
      if (next) db.exec(`ALTER TABLE bulktest_new AUTO_INCREMENT = ${next}`);
      return guard;
    },

    // RENAME is refused to whoever holds such a lock. Another connection asks for it and waits; then the lock goes, and RENAME
    // comes before all who wait to write: none of them ever sees the old table again.
    async swap(db, guard, sleep) {
      const renaming = db.execAsync('RENAME TABLE bulktest TO bulktest_old, bulktest_new TO bulktest');
      const waiting =
        "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE 'RENAME TABLE bulktest %' AND state LIKE 'Waiting%'";
      for (let tries = 0; tries < 1000 && Number(db.query(waiting)[0].n) === 0; tries += 1) sleep(0.01);
      guard.exec('UNLOCK TABLES');
      await renaming;
      guard.close();
      db.exec('DROP TABLE bulktest_old');
    },
  },

  postgres: {
    driver: postgres,
    threads: 15,
    mark: (index) => `$${index}`,
    table: (name) => `CREATE TABLE ${name} (id SERIAL PRIMARY KEY, text VARCHAR(45))`,
    hasHashes: (db) =>
      db.query(
        "SELECT 1 AS one FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'bulktest' AND column_name = 'hashval'",
      ).length > 0,
    insertOne: (db, table, text) => db.query(`INSERT INTO ${table} (text) VALUES ($1) RETURNING id`, text)[0].id,
    join: ['ANALYZE bulktest_temp', 'UPDATE bulktest AS b SET hashval = t.hashval FROM bulktest_temp AS t WHERE t.id = b.id'],

    // A transaction whose lock lets others read. The new table has no index until it is full.
    lock(db) {
      const guard = db.connection();
      guard.exec('BEGIN');
      guard.exec('LOCK TABLE bulktest IN SHARE ROW EXCLUSIVE MODE');
      db.exec('CREATE TABLE bulktest_new (LIKE bulktest INCLUDING DEFAULTS INCLUDING IDENTITY)');
      return guard;
    },

    swap(db, guard) {
      db.exec('ALTER TABLE bulktest_new ADD PRIMARY KEY (id)');
      const { old, own } = guard.query(
        "SELECT pg_get_serial_sequence('bulktest', 'id') AS old, pg_get_serial_sequence('bulktest_new', 'id') AS own",
      )[0];
      // A serial column hands its sequence on; an identity column has a new one, which goes on where the old one is.
      if (own) guard.query(`SELECT setval('${own}', last_value, is_called) FROM ${old}`);
      else guard.exec(`ALTER SEQUENCE ${old} OWNED BY bulktest_new.id`);
      guard.exec('DROP TABLE bulktest');
      guard.exec('ALTER TABLE bulktest_new RENAME TO bulktest');
      guard.exec('ALTER INDEX bulktest_new_pkey RENAME TO bulktest_pkey');
      guard.exec('COMMIT');
      guard.close();
    },
  },

  sqlite3: {
    driver: sqlite3,
    threads: 1,
    isFile: true,
    mark: () => '?',
    table: (name) => `CREATE TABLE ${name} (id INTEGER PRIMARY KEY AUTOINCREMENT, text VARCHAR(45))`,
    hasHashes: (db) => db.query("SELECT 1 AS one FROM pragma_table_info('bulktest') WHERE name = 'hashval'").length > 0,
    insertOne: (db, table, text) => db.exec(`INSERT INTO ${table} (text) VALUES (?)`, text).lastInsertId(),
    join: ['UPDATE bulktest SET hashval = t.hashval FROM bulktest_temp AS t WHERE t.id = bulktest.id'],

    // In a transaction that writes: its lock keeps all other writers out.
    lock(tx) {
      tx.exec('CREATE TABLE bulktest_new (id INTEGER PRIMARY KEY AUTOINCREMENT, text VARCHAR(45), hashval VARCHAR(255))');
    },

    swap(tx) {
      tx.exec("UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'bulktest') WHERE name = 'bulktest_new'");
      tx.exec('DROP TABLE bulktest');
      tx.exec('ALTER TABLE bulktest_new RENAME TO bulktest');
    },
  },
};

// The driver of a DSN, as far as its form tells.
export function driverOf(dsn) {
  if (/^postgres(ql)?:|^\s*(host|port|dbname|user)\s*=/.test(dsn)) return 'postgres';
  if (/^(mysql|mariadb):|@(tcp|unix)?\(|@\//.test(dsn)) return 'mysql';
  return 'sqlite3';
}
