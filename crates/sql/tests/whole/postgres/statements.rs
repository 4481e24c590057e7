use std::time::Duration;

use brunt_sql::{Args, Ask, Cell, Chunk, Connection, Driver, Pool, PoolOptions, Trouble};

use super::{SHARED, connected, database, dsn, failed};
use crate::support::{args, config, dialer, exec, on_a_core, query, rows};

const NOTHING: [[&str; 0]; 0] = [];

#[test]
fn several_statements_give_several_results() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        let sql = "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); SELECT a FROM t; SELECT 'x'::text; DELETE FROM t";
        let none = Args::new();
        it.start(&Ask { sql, args: &none, is_prepared: false }).await.unwrap();
        let mut told = Vec::new();
        loop {
            let found = rows(&mut it).await.unwrap();
            told.push((found.concat().join(" "), it.outcome().rows_affected.unwrap()));
            if !it.next_result().await.unwrap() {
                break;
            }
        }
        let told: Vec<_> = told.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        assert_eq!(told, [("", 0), ("", 2), ("1 2", 2), ("text x", 1), ("", 2)]);
        assert!(it.is_idle());
        let outcome = exec(&mut it, "", &[]).await.unwrap();
        assert_eq!(outcome.rows_affected, None);
        let sql = "SELECT 1; SELECT $1::int";
        let failure = query(&mut it, sql, &[Cell::Int(1)]).await.unwrap_err();
        assert_eq!(
            failure.text(),
            "pq: cannot insert multiple commands into a prepared statement (42601)"
        );
    });
}

#[test]
fn refusals_leave_the_connection_usable() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        exec(&mut it, "CREATE TABLE t (a int PRIMARY KEY)", &[]).await.unwrap();
        for (sql, text) in [
            ("SELEC 1", "pq: syntax error at or near \"SELEC\" at column 1 (42601)"),
            ("SELECT $1", "pq: there is no parameter $1 at column 8 (42P02)"),
            ("SELECT * FROM gone", "pq: relation \"gone\" does not exist at column 15 (42P01)"),
            ("COPY t FROM STDIN", "pq: unknown response for simple query: \"(G) CopyInResponse\""),
            ("COPY t TO STDOUT", "pq: unknown response for simple query: \"(H) CopyOutResponse\""),
            ("SELECT 1 / 0", "pq: division by zero (22012)"),
            ("SELECT 1 / (3 - i) FROM generate_series(1, 3) i", "pq: division by zero (22012)"),
            ("SELECT 1\0", "pq: a statement cannot have a character with the number 0 in it"),
        ] {
            assert_eq!(failed(sql, &mut it).await.text(), text);
            assert!(it.is_idle(), "{sql}");
            assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]], "{sql}");
        }
        for (cells, text) in [
            (&[][..], "pq: there is no parameter $1 at column 8 (42P02)"),
            (&[Cell::Int(1), Cell::Int(2)], "pq: got 2 parameters but the statement requires 1"),
        ] {
            let failure = query(&mut it, "SELECT $1::int", cells).await.unwrap_err();
            assert_eq!(failure.text(), text);
        }
        let many = vec![Cell::Null; 65_536];
        let failure = query(&mut it, "SELECT 1", &many).await.unwrap_err();
        let text = "pq: got 65536 parameters but PostgreSQL only supports 65535 parameters";
        assert_eq!(failure.text(), text);
        for sql in ["COPY t FROM STDIN", "COPY t TO STDOUT"] {
            let ask = Ask { sql, args: &Args::new(), is_prepared: true };
            assert!(
                it.start(&ask).await.unwrap_err().text().contains("CopyInResponse")
                    || sql.contains("TO")
            );
            assert_eq!(query(&mut it, "SELECT $1::int", &[Cell::Int(4)]).await.unwrap(), [["4"]]);
        }
    });
}

async fn kept(
    it: &mut Connection,
    sql: &str,
    cells: &[Cell<'_>],
) -> Result<Vec<Vec<String>>, brunt_sql::Failure> {
    it.start(&Ask { sql, args: &args(cells), is_prepared: true }).await?;
    rows(it).await
}

#[test]
fn prepared_statements_are_kept_and_let_go() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        exec(&mut it, "CREATE TABLE t (a int UNIQUE); INSERT INTO t VALUES (1)", &[])
            .await
            .unwrap();
        let count = "SELECT count(*)::int FROM pg_prepared_statements";
        for _ in 0..3 {
            assert_eq!(
                kept(&mut it, "SELECT * FROM t WHERE a = $1", &[Cell::Int(1)]).await.unwrap(),
                [["1"]]
            );
        }
        assert_eq!(query(&mut it, count, &[]).await.unwrap(), [["1"]]);
        exec(&mut it, "ALTER TABLE t ADD b text DEFAULT 'new'", &[]).await.unwrap();
        let rows = kept(&mut it, "SELECT * FROM t WHERE a = $1", &[Cell::Int(1)]).await.unwrap();
        assert_eq!(rows, [["1", "text new"]]);
        exec(&mut it, "DISCARD ALL", &[]).await.unwrap();
        let rows = kept(&mut it, "SELECT * FROM t WHERE a = $1", &[Cell::Int(1)]).await.unwrap();
        assert_eq!(rows, [["1", "text new"]]);
        for _ in 0..5 {
            let failure =
                kept(&mut it, "INSERT INTO t VALUES ($1)", &[Cell::Int(1)]).await.unwrap_err();
            assert_eq!(failure.code(), "23505");
        }
        for number in 0..100 {
            let rows = kept(&mut it, &format!("SELECT $1::int + {number}"), &[Cell::Int(1)])
                .await
                .unwrap();
            assert_eq!(rows, [[(number + 1).to_string()]]);
        }
        assert_eq!(query(&mut it, count, &[]).await.unwrap(), [["64"]]);
        assert_eq!(kept(&mut it, "UPDATE t SET a = $1", &[Cell::Int(9)]).await.unwrap(), NOTHING);
        assert_eq!(kept(&mut it, "UPDATE t SET a = $1", &[Cell::Int(8)]).await.unwrap(), NOTHING);
        assert_eq!(it.outcome().rows_affected, Some(1));
    });
}

#[test]
fn many_rows_come_in_chunks_of_constant_memory() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let sql = "SELECT i, repeat('x', i % 97) FROM generate_series(1, 200000) i";
        it.start(&Ask { sql, args: &Args::new(), is_prepared: false }).await.unwrap();
        let (mut chunk, columns, mut sum, mut count) = (Chunk::default(), it.columns(), 0_i64, 0);
        while it.next(&mut chunk).await.unwrap() {
            assert!(chunk.byte_count() < 512 * 1024, "{}", chunk.byte_count());
            for row in 0..chunk.len() {
                let mut id = 0;
                let sink = |index, cell: Cell<'_>| {
                    match cell {
                        Cell::Int(value) => id = value,
                        Cell::Text(text) => assert_eq!(text.len() as i64, id % 97),
                        other => panic!("{index} {other:?}"),
                    }
                    Ok::<(), ()>(())
                };
                chunk.read(row, &columns, sink).unwrap();
                (sum, count) = (sum + id, count + 1);
            }
        }
        assert_eq!((sum, count), (20_000_100_000, 200_000));
        assert_eq!(it.outcome().rows, 200_000);
        let (sent, received) = it.take_bytes();
        assert!(sent > 60 && received > 200_000 * 50, "{sent} {received}");
        // A row that is longer than any buffer.
        let rows = query(&mut it, "SELECT repeat('x', 5000000)", &[]).await.unwrap();
        assert_eq!(rows[0][0].len(), 5_000_005);
    });
}

#[test]
fn transactions_are_known_from_the_server() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        exec(&mut it, "BEGIN", &[]).await.unwrap();
        assert!(it.is_in_transaction());
        failed("SELEC", &mut it).await;
        assert!(it.is_in_transaction());
        let failure = failed("SELECT 1", &mut it).await;
        assert_eq!(failure.code(), "25P02");
        exec(&mut it, "ROLLBACK", &[]).await.unwrap();
        assert!(!it.is_in_transaction());
    });
}

#[test]
fn deadlocks_may_be_tried_again() {
    on_a_core(async {
        let name = database();
        let (mut one, mut other) = (connected(&name, "").await, connected(&name, "").await);
        exec(&mut one, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)", &[]).await.unwrap();
        exec(&mut one, "BEGIN; UPDATE t SET a = a WHERE a = 1", &[]).await.unwrap();
        exec(&mut other, "BEGIN; UPDATE t SET a = a WHERE a = 2", &[]).await.unwrap();
        let (first, second) = tokio::join!(
            exec(&mut one, "UPDATE t SET a = a WHERE a = 2", &[]),
            exec(&mut other, "UPDATE t SET a = a WHERE a = 1", &[])
        );
        // The server picks one of them; its end sets the other free.
        let failure = first.and(second).unwrap_err();
        assert_eq!((failure.code(), failure.trouble()), ("40P01", Trouble::Retry));
    });
}

#[test]
fn what_comes_unasked_does_no_harm() {
    on_a_core(async {
        let name = database();
        let (mut it, mut other) = (connected(&name, "").await, connected(&name, "").await);
        exec(&mut it, "LISTEN news", &[]).await.unwrap();
        exec(&mut other, "NOTIFY news, 'x'", &[]).await.unwrap();
        for _ in 0..20 {
            assert!(!it.is_stale());
            assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        }
        let sql =
            "DO $$ BEGIN FOR i IN 1..500 LOOP RAISE NOTICE 'a long text %', i; END LOOP; END $$";
        assert_eq!(exec(&mut it, sql, &[]).await.unwrap().warnings, 500);
    });
}

#[test]
fn a_session_that_the_server_ended_is_stale() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let pid = query(&mut it, "SELECT pg_backend_pid()", &[]).await.unwrap()[0][0].clone();
        assert!(!it.is_stale());
        SHARED.server.run("shop", &format!("SELECT pg_terminate_backend({pid}, 5000)"));
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        while !it.is_stale() {
            assert!(tokio::time::Instant::now() < end, "the end is never seen");
            tokio::task::yield_now().await;
        }
        let mut it = connected("shop", "").await;
        let failure = failed("SELECT pg_terminate_backend(pg_backend_pid())", &mut it).await;
        assert_eq!(failure.code(), "57P01");
        assert!(failure.is_fatal() && !it.is_idle());
    });
}

#[test]
fn a_statement_that_is_given_up_is_stopped() {
    on_a_core(async {
        let name = database();
        let config = config(Driver::Postgres, &dsn(&name, ""));
        let options = PoolOptions { max_open: 1, ..PoolOptions::default() };
        let pool = Pool::new(config.clone(), dialer(&config), options);
        let mut lease = pool.lease().await.unwrap();
        let waits = query(&mut lease, "SELECT pg_sleep(60)", &[]);
        tokio::time::timeout(Duration::from_millis(50), waits).await.unwrap_err();
        drop(lease);
        let mut lease = pool.lease().await.unwrap();
        let sql = "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        while query(&mut lease, sql, &[]).await.unwrap() != [["0"]] {
            assert!(tokio::time::Instant::now() < end, "the statement still runs");
        }
    });
}
