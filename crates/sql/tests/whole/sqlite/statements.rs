//! Statements: several in one text, failures, streams, and the ways to open a file.

use brunt_sql::{Args, Ask, Cell, Chunk, ROOM, Trouble};

use super::{Folder, memory, open};
use crate::support::{exec, on_a_core, query, rows};

/// Counts without an end.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";

#[test]
fn each_statement_of_a_text_has_a_result_and_its_share_of_the_arguments() {
    on_a_core(async {
        let mut db = memory().await;
        let sql = "CREATE TABLE t (a); INSERT INTO t VALUES (?), (?); SELECT a FROM t; INSERT INTO t VALUES (?);";
        let args = crate::support::args(&[Cell::Int(1), Cell::Int(2), Cell::Int(3)]);
        db.start(&Ask { sql, args: &args, is_prepared: false }).await.unwrap();
        let mut results = Vec::new();
        loop {
            let read = rows(&mut db).await.unwrap();
            results.push((read.len(), db.outcome().rows_affected.unwrap()));
            if !db.next_result().await.unwrap() {
                break;
            }
        }
        assert_eq!(results, [(0, 0), (0, 2), (2, 2), (0, 1)]);
        assert_eq!(db.outcome().last_insert_id, Some(3));
        assert!(db.is_idle());
        for sql in ["", " ", "-- nothing", ";", "/* nothing */;"] {
            assert_eq!(query(&mut db, sql, &[]).await.unwrap().len(), 0, "{sql:?}");
        }
        // Results without a reader are left out, and the second fault is told.
        let ask = |sql| Ask { sql, args: const { &Args::new() }, is_prepared: false };
        db.start(&ask("SELECT 1; SELECT 2; SELEC 3")).await.unwrap();
        assert!(db.next_result().await.unwrap());
        assert_eq!(rows(&mut db).await.unwrap(), [["2"]]);
        assert_eq!(db.next_result().await.unwrap_err().text(), r#"near "SELEC": syntax error"#);
        assert!(db.is_idle());
    });
}

#[test]
fn failures_have_the_texts_and_codes_of_sqlite() {
    on_a_core(async {
        let mut db = memory().await;
        let table = "CREATE TABLE t (a INTEGER PRIMARY KEY CHECK (a < 100), b INTEGER NOT NULL DEFAULT 1, c INTEGER REFERENCES t (a), d UNIQUE)";
        exec(&mut db, table, &[]).await.unwrap();
        exec(&mut db, "INSERT INTO t (a, d) VALUES (2, 2)", &[]).await.unwrap();
        // Foreign keys are off, as in the Go driver.
        exec(&mut db, "INSERT INTO t (a, c) VALUES (4, 77)", &[]).await.unwrap();
        exec(&mut db, "DELETE FROM t WHERE a = 4; PRAGMA foreign_keys = ON", &[]).await.unwrap();
        for (sql, text, code) in [
            (
                "INSERT INTO t (a) VALUES (2)",
                "UNIQUE constraint failed: t.a",
                "SQLITE_CONSTRAINT_PRIMARYKEY",
            ),
            (
                "INSERT INTO t (d) VALUES (2)",
                "UNIQUE constraint failed: t.d",
                "SQLITE_CONSTRAINT_UNIQUE",
            ),
            (
                "INSERT INTO t (b) VALUES (NULL)",
                "NOT NULL constraint failed: t.b",
                "SQLITE_CONSTRAINT_NOTNULL",
            ),
            (
                "INSERT INTO t (a) VALUES (100)",
                "CHECK constraint failed: a < 100",
                "SQLITE_CONSTRAINT_CHECK",
            ),
            ("INSERT INTO t (a) VALUES ('x')", "datatype mismatch", "SQLITE_MISMATCH"),
            (
                "INSERT INTO t (c) VALUES (77)",
                "FOREIGN KEY constraint failed",
                "SQLITE_CONSTRAINT_FOREIGNKEY",
            ),
            ("SELEC 1", r#"near "SELEC": syntax error"#, "SQLITE_ERROR"),
            ("SELECT * FROM absent", "no such table: absent", "SQLITE_ERROR"),
            ("COMMIT", "cannot commit - no transaction is active", "SQLITE_ERROR"),
            ("SELECT abs(-9223372036854775807 - 1)", "integer overflow", "SQLITE_ERROR"),
        ] {
            let failure = exec(&mut db, sql, &[]).await.unwrap_err();
            assert_eq!((failure.text(), failure.code()), (text, code), "{sql}");
            assert_eq!(failure.trouble(), Trouble::Server);
            assert!(db.is_idle(), "{sql}");
        }
        exec(&mut db, "BEGIN", &[]).await.unwrap();
        assert!(db.is_in_transaction());
        let failure = exec(&mut db, "BEGIN", &[]).await.unwrap_err();
        assert_eq!(failure.text(), "cannot start a transaction within a transaction");
        exec(&mut db, "ROLLBACK", &[]).await.unwrap();
        assert!(!db.is_in_transaction());
    });
}

#[test]
fn a_failure_while_rows_come_is_told_behind_them() {
    on_a_core(async {
        let mut db = memory().await;
        let sql = "SELECT abs(CASE WHEN v = 3 THEN -9223372036854775807 - 1 ELSE v END) FROM (SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT 3)";
        db.start(&Ask { sql, args: &Args::new(), is_prepared: true }).await.unwrap();
        let mut chunk = Chunk::default();
        assert!(db.next(&mut chunk).await.unwrap());
        assert_eq!(chunk.len(), 2);
        assert_eq!(db.next(&mut chunk).await.unwrap_err().text(), "integer overflow");
        assert!(db.is_idle());
        // The statement itself is right: only its run fails.
        exec(&mut db, "CREATE TABLE t (a UNIQUE)", &[]).await.unwrap();
        let insert =
            Ask { sql: "INSERT INTO t VALUES (1), (1)", args: &Args::new(), is_prepared: false };
        db.start(&insert).await.unwrap();
        assert_eq!(db.next(&mut chunk).await.unwrap_err().code(), "SQLITE_CONSTRAINT_UNIQUE");
    });
}

#[test]
fn rows_stream_in_chunks_and_a_reader_that_leaves_stops_them() {
    on_a_core(async {
        let mut db = memory().await;
        let sql = format!("{ENDLESS} LIMIT 100000");
        db.start(&Ask { sql: &sql, args: &Args::new(), is_prepared: false }).await.unwrap();
        let (mut chunk, mut count, mut sum) = (Chunk::default(), 0, 0);
        while db.next(&mut chunk).await.unwrap() {
            assert!(chunk.byte_count() < ROOM + 64);
            for row in 0..chunk.len() {
                let sink = |_, cell: Cell<'_>| match cell {
                    Cell::Int(value) => {
                        sum += value;
                        Ok(())
                    }
                    _ => Err(()),
                };
                chunk.read(row, &db.columns(), sink).unwrap();
            }
            count += chunk.len();
        }
        assert_eq!((count, sum), (100_000, 5_000_050_000));
        assert_eq!(db.outcome().rows, 100_000);
        db.start(&Ask { sql: ENDLESS, args: &Args::new(), is_prepared: false }).await.unwrap();
        assert!(db.next(&mut chunk).await.unwrap());
        assert!(!db.is_idle());
        drop(db);
    });
}

#[test]
fn a_statement_without_an_answer_can_be_given_up() {
    on_a_core(async {
        let mut db = memory().await;
        let sql = format!("SELECT x FROM ({ENDLESS}) WHERE x < 0");
        let ask = Ask { sql: &sql, args: &Args::new(), is_prepared: false };
        let limit = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(limit, db.start(&ask)).await.is_err());
        assert!(!db.is_idle(), "it is in the middle of the statement");
        let text = db.start(&ask).await.unwrap_err().to_string();
        assert_eq!(text, "the connection is in the middle of a statement");
    });
}

#[test]
fn rows_that_come_slowly_do_not_wait_for_a_full_chunk() {
    on_a_core(async {
        let mut db = memory().await;
        // Each row takes a few milliseconds.
        let slow = format!("(SELECT SUM(x % (v + 1)) FROM ({ENDLESS} LIMIT 50000))");
        let numbers = "WITH RECURSIVE r(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM r LIMIT 40)";
        let sql = format!("{numbers} SELECT v, {slow} FROM r");
        let mut chunk = Chunk::default();
        db.start(&Ask { sql: &sql, args: &Args::new(), is_prepared: false }).await.unwrap();
        let (mut chunks, mut count) = (0, 0);
        while db.next(&mut chunk).await.unwrap() {
            chunks += 1;
            count += chunk.len();
        }
        assert_eq!(count, 40);
        assert!(chunks > 1, "all at once");
    });
}

#[test]
fn a_lock_of_another_is_a_reason_to_try_again() {
    on_a_core(async {
        let folder = Folder::new("lock");
        let dsn = format!("file:{}?_busy_timeout=20", folder.file("a.db"));
        let (mut one, mut two) = (open(&dsn).await.unwrap(), open(&dsn).await.unwrap());
        exec(&mut one, "CREATE TABLE t (a)", &[]).await.unwrap();
        exec(&mut one, "BEGIN IMMEDIATE", &[]).await.unwrap();
        exec(&mut one, "INSERT INTO t VALUES (1)", &[]).await.unwrap();
        assert_eq!(query(&mut two, "SELECT COUNT(*) FROM t", &[]).await.unwrap(), [["0"]]);
        let failure = exec(&mut two, "INSERT INTO t VALUES (2)", &[]).await.unwrap_err();
        assert_eq!(failure.text(), "database is locked");
        assert_eq!((failure.code(), failure.number()), ("SQLITE_BUSY", 5));
        assert_eq!(failure.trouble(), Trouble::Retry);
        exec(&mut one, "COMMIT", &[]).await.unwrap();
        exec(&mut two, "INSERT INTO t VALUES (2)", &[]).await.unwrap();
    });
}

#[test]
fn files_that_cannot_be_opened_say_why() {
    on_a_core(async {
        let folder = Folder::new("open");
        std::fs::write(
            folder.file("text.db"),
            "no database, but long enough to be one ".repeat(40),
        )
        .unwrap();
        for (dsn, text) in [
            (folder.file("none/a.db"), "unable to open database file: no such file or directory"),
            (folder.file(""), "unable to open database file: is a directory"),
            (
                format!("file:{}?mode=ro", folder.file("none.db")),
                "unable to open database file: no such file or directory",
            ),
            ("file:a.db?mode=nothing".to_owned(), "no such access mode: nothing"),
            ("file:a.db?cache=nothing".to_owned(), "no such cache mode: nothing"),
            ("file://host/a.db".to_owned(), "invalid uri authority: host"),
            (folder.file("text.db"), "file is not a database"),
            (
                ":memory:?_fk=x".to_owned(),
                "Invalid _foreign_keys: x, expecting boolean value of '0 1 false true no yes off on'",
            ),
        ] {
            assert_eq!(open(&dsn).await.unwrap_err().text(), text, "{dsn}");
        }
    });
}

#[test]
fn options_of_a_dsn_are_set() {
    on_a_core(async {
        let folder = Folder::new("options");
        for (options, pragma, expected) in [
            ("", "busy_timeout", "5000"),
            ("_busy_timeout=100", "busy_timeout", "100"),
            ("_pragma=busy_timeout(300)", "busy_timeout", "300"),
            ("", "foreign_keys", "0"),
            ("_fk=true", "foreign_keys", "1"),
            ("", "synchronous", "1"),
            ("_sync=off", "synchronous", "0"),
            ("_journal_mode=WAL", "journal_mode", "text wal"),
            ("_cache_size=-5000", "cache_size", "-5000"),
            ("_query_only=1", "query_only", "1"),
        ] {
            let path = folder.file(&format!("{pragma}-{}.db", options.len()));
            for dsn in [format!("{path}?{options}"), format!("sqlite://{path}?{options}")] {
                let mut db = open(&dsn).await.unwrap();
                let rows = query(&mut db, &format!("PRAGMA {pragma}"), &[]).await.unwrap();
                assert_eq!(rows, [[expected]], "{dsn}");
            }
        }
        let read_only = format!("sqlite:{}?mode=ro", folder.file("query_only-13.db"));
        let mut db = open(&read_only).await.unwrap();
        let failure = exec(&mut db, "CREATE TABLE t (a)", &[]).await.unwrap_err();
        assert_eq!(failure.text(), "attempt to write a readonly database");
        assert_eq!(failure.code(), "SQLITE_READONLY");
        // A database in memory belongs to its connection, unless the cache is shared.
        let shared = "file:whole?mode=memory&cache=shared";
        let (mut one, mut two) = (open(shared).await.unwrap(), open(shared).await.unwrap());
        exec(&mut one, "CREATE TABLE t (a)", &[]).await.unwrap();
        assert!(query(&mut two, "SELECT a FROM t", &[]).await.is_ok());
        let (mut one, mut two) = (memory().await, memory().await);
        exec(&mut one, "CREATE TABLE t (a)", &[]).await.unwrap();
        assert!(query(&mut two, "SELECT a FROM t", &[]).await.is_err());
    });
}
