use brunt_sql::{Args, Ask, Cell, Chunk, Driver, Pool, PoolOptions, Trouble};

use super::{SHARED, connected, database, dsn, failed};
use crate::support::{args, config, dialer, exec, on_a_core, query, rows};

#[test]
fn a_statement_that_is_kept_is_prepared_once() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let before = query(&mut it, "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'", &[]).await;
        let before: u32 = before.unwrap()[0][1].trim_start_matches("raw ").parse().unwrap();
        for number in 0..100 {
            let args = args(&[Cell::Int(number)]);
            it.start(&Ask { sql: "SELECT ? + 1", args: &args, is_prepared: true }).await.unwrap();
            assert_eq!(rows(&mut it).await.unwrap()[0], [(number + 1).to_string()]);
        }
        let after = query(&mut it, "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'", &[]).await;
        assert_eq!(after.unwrap()[0][1], format!("raw {}", before + 1));
        for number in 0..200 {
            let sql = format!("SELECT {number}, ?");
            let args = args(&[Cell::Int(1)]);
            it.start(&Ask { sql: &sql, args: &args, is_prepared: true }).await.unwrap();
            assert_eq!(rows(&mut it).await.unwrap()[0], [number.to_string(), "1".to_owned()]);
        }
        let closed = query(&mut it, "SHOW SESSION STATUS LIKE 'Com_stmt_close'", &[]).await;
        let closed: u32 = closed.unwrap()[0][1].trim_start_matches("raw ").parse().unwrap();
        assert!(closed >= 136, "{closed} of 201 were let go");
    });
}

#[test]
fn a_wrong_number_of_arguments_has_go_s_words() {
    on_a_core(async {
        for params in ["", "interpolateParams=true"] {
            let mut it = connected("shop", params).await;
            for (cells, why) in [
                (&[Cell::Int(1)][..], "sql: expected 2 arguments, got 1"),
                (&[Cell::Int(1); 3][..], "sql: expected 2 arguments, got 3"),
            ] {
                let failure = query(&mut it, "SELECT ?, ?", cells).await.unwrap_err();
                assert_eq!((failure.text(), failure.trouble()), (why, Trouble::Usage));
                assert!(it.is_idle());
            }
            assert_eq!(failed("SELECT ?", &mut it).await.number(), 1064);
            let two = [Cell::Int(1), Cell::Int(2)];
            assert_eq!(query(&mut it, "SELECT ?, ?", &two).await.unwrap()[0], ["1", "2"]);
        }
    });
}

#[test]
fn an_error_leaves_the_connection_usable() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        let failure = failed("SELECT * FROM nowhere", &mut it).await;
        assert!(failure.text().starts_with("Error 1146 (42S02): Table 'd"), "{failure}");
        assert_eq!((failure.code(), failure.number()), ("42S02", 1146));
        let failure = query(&mut it, "SELECT * FROM nowhere WHERE a = ?", &[Cell::Int(1)]).await;
        assert_eq!(failure.unwrap_err().number(), 1146);
        assert_eq!(failed("", &mut it).await.text(), "Error 1065 (42000): Query was empty");
        // In the middle of the rows.
        let sql = "SELECT IF(seq = 5000, (SELECT 1 UNION SELECT 2), seq) FROM seq_1_to_6000";
        let failure = failed(sql, &mut it).await;
        assert_eq!((failure.number(), failure.code()), (1242, "21000"));
        assert!(it.is_idle());
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap()[0], ["1"]);
    });
}

#[test]
fn several_results_come_one_after_the_other() {
    on_a_core(async {
        let mut it = connected(&database(), "multiStatements=true").await;
        let ask = Ask {
            sql: "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT); INSERT INTO t (a) VALUES (5), (6); SELECT a FROM t; SELECT 'x'",
            args: &Args::new(),
            is_prepared: false,
        };
        it.start(&ask).await.unwrap();
        assert!(it.columns().is_empty() && rows(&mut it).await.unwrap().is_empty());
        assert!(!it.is_idle() && it.next_result().await.unwrap());
        let outcome = it.outcome();
        assert_eq!((outcome.rows_affected, outcome.last_insert_id), (Some(2), Some(1)));
        assert!(it.next_result().await.unwrap());
        assert_eq!(rows(&mut it).await.unwrap(), [["5"], ["6"]]);
        assert_eq!(it.outcome().rows, 2);
        assert!(it.next_result().await.unwrap());
        assert_eq!(rows(&mut it).await.unwrap(), [["raw x"]]);
        assert!(!it.next_result().await.unwrap() && it.is_idle());
        exec(&mut it, "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", &[]).await.unwrap();
        for is_prepared in [false, true] {
            it.start(&Ask { sql: "CALL p()", args: &Args::new(), is_prepared }).await.unwrap();
            let mut all = Vec::new();
            loop {
                all.extend(rows(&mut it).await.unwrap());
                if !it.next_result().await.unwrap() {
                    break;
                }
            }
            assert_eq!(all, [["1"], ["2"]]);
        }
        let mut it = connected("shop", "").await;
        assert_eq!(failed("SELECT 1; SELECT 2", &mut it).await.number(), 1064);
    });
}

#[test]
fn outcomes_count_what_changed_or_what_was_found() {
    on_a_core(async {
        let name = database();
        let mut it = connected(&name, "").await;
        exec(&mut it, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", &[]).await.unwrap();
        exec(&mut it, "INSERT INTO t VALUES (1, 1), (2, 1)", &[]).await.unwrap();
        let sql = "UPDATE t SET b = 1 WHERE a = ?";
        let outcome = exec(&mut it, sql, &[Cell::Int(1)]).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(0));
        let mut found = connected(&name, "clientFoundRows=true").await;
        let outcome = exec(&mut found, sql, &[Cell::Int(1)]).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(1));
        let outcome = exec(&mut it, "SELECT 1/0, 'a' + 1", &[]).await.unwrap();
        assert_eq!((outcome.rows, outcome.rows_affected), (1, Some(0)));
        assert!(outcome.warnings > 0);
        assert!(!it.is_in_transaction());
        exec(&mut it, "BEGIN", &[]).await.unwrap();
        assert!(it.is_in_transaction());
        exec(&mut it, "ROLLBACK", &[]).await.unwrap();
        assert!(!it.is_in_transaction());
    });
}

#[test]
fn a_long_result_streams_through_small_buffers() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let sql = "SELECT seq, REPEAT('x', 45) FROM seq_1_to_300000";
        it.start(&Ask { sql, args: &Args::new(), is_prepared: false }).await.unwrap();
        let (columns, mut chunk) = (it.columns(), Chunk::default());
        let (mut sum, mut count, mut largest) = (0, 0, 0);
        while it.next(&mut chunk).await.unwrap() {
            largest = largest.max(chunk.byte_count());
            count += chunk.len();
            for row in 0..chunk.len() {
                let sink = |_, cell: Cell<'_>| {
                    if let Cell::Int(id) = cell {
                        sum += id;
                    }
                    if let Cell::UInt(id) = cell {
                        sum += id as i64;
                    }
                    Ok::<(), ()>(())
                };
                chunk.read(row, &columns, sink).unwrap();
            }
        }
        assert_eq!((count, sum), (300_000, 300_000 * 300_001 / 2));
        assert!(largest < 256 * 1024, "{largest}");
        let (_, received) = it.take_bytes();
        assert!(received > 300_000 * 55, "{received}");
    });
}

#[test]
fn a_connection_that_was_killed_is_noticed() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        assert!(!it.is_stale());
        let id = query(&mut it, "SELECT CONNECTION_ID()", &[]).await.unwrap()[0][0].clone();
        let failure = failed("KILL CONNECTION_ID()", &mut it).await;
        assert_eq!(failure.text(), "Error 1927 (70100): Connection was killed");
        let failure = query(&mut it, "SELECT 1", &[]).await.unwrap_err();
        assert_eq!((failure.text(), failure.trouble()), ("invalid connection", Trouble::Broken));
        assert!(!it.is_idle());
        let mut it = connected("shop", "").await;
        let mut other = connected("shop", "").await;
        let killed = query(&mut it, "SELECT CONNECTION_ID()", &[]).await.unwrap()[0][0].clone();
        assert_ne!(id, killed);
        exec(&mut other, &format!("KILL {}", killed.trim_start_matches('u')), &[]).await.unwrap();
        // The server closes it in its own time.
        while !it.is_stale() {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_statement_that_is_given_up_is_stopped_at_the_server() {
    on_a_core(async {
        let it = config(Driver::MySql, &dsn("shop", ""));
        let pool = Pool::new(it.clone(), dialer(&it), PoolOptions::default());
        let mut lease = pool.lease().await.unwrap();
        let sql = "SELECT SLEEP(1000) /* given up */";
        let ask = Ask { sql, args: &Args::new(), is_prepared: false };
        let limit = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(limit, lease.start(&ask)).await.is_err());
        assert!(!lease.is_idle());
        drop(lease);
        let mut second = pool.lease().await.unwrap();
        let sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%/* given up */' AND id != CONNECTION_ID()";
        while query(&mut second, sql, &[]).await.unwrap()[0] != ["0"] {
            tokio::task::yield_now().await;
        }
        drop(second);
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn deadlocks_may_be_tried_again_and_lock_waits_are_told() {
    on_a_core(async {
        let name = database();
        let mut one = connected(&name, "").await;
        let mut other = connected(&name, "").await;
        exec(&mut one, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", &[]).await.unwrap();
        exec(&mut one, "INSERT INTO t VALUES (1, 0), (2, 0)", &[]).await.unwrap();
        exec(&mut one, "BEGIN", &[]).await.unwrap();
        exec(&mut one, "UPDATE t SET b = 1 WHERE a = 1", &[]).await.unwrap();
        let failure = failed("UPDATE t SET b = 2 WHERE a = 1", &mut other).await;
        assert_eq!((failure.number(), failure.code()), (1205, "HY000"));
        assert_eq!(failure.trouble(), Trouble::Server);
        exec(&mut other, "BEGIN", &[]).await.unwrap();
        exec(&mut other, "UPDATE t SET b = 2 WHERE a = 2", &[]).await.unwrap();
        let (first, second) = tokio::join!(
            exec(&mut one, "UPDATE t SET b = 1 WHERE a = 2", &[]),
            exec(&mut other, "UPDATE t SET b = 2 WHERE a = 1", &[]),
        );
        let failure = first.err().or(second.err()).expect("one of them is the victim");
        assert_eq!((failure.number(), failure.code()), (1213, "40001"));
        assert_eq!(failure.trouble(), Trouble::Retry);
    });
}

#[test]
fn a_server_that_only_reads_is_left_if_the_dsn_says_so() {
    on_a_core(async {
        for (params, text) in
            [("", "Error 1792"), ("rejectReadOnly=true", "driver: bad connection")]
        {
            let mut it = connected(&database(), params).await;
            exec(&mut it, "CREATE TABLE t (a INT)", &[]).await.unwrap();
            exec(&mut it, "SET SESSION TRANSACTION READ ONLY", &[]).await.unwrap();
            let failure = failed("INSERT INTO t VALUES (1)", &mut it).await;
            assert!(failure.text().starts_with(text), "{failure}");
            assert_eq!(it.is_idle(), params.is_empty());
        }
    });
}

#[test]
fn a_server_that_goes_breaks_the_connection() {
    on_a_core(async {
        let mut server = brunt_databases::Server::mariadb(&[]);
        let mut it = crate::support::open(Driver::MySql, &server.go_dsn("shop")).await.unwrap();
        server.restart();
        let failure = query(&mut it, "SELECT 1", &[]).await.unwrap_err();
        assert_eq!((failure.text(), failure.trouble()), ("invalid connection", Trouble::Broken));
        let mut it = crate::support::open(Driver::MySql, &server.go_dsn("shop")).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap()[0], ["1"]);
    });
}

#[test]
fn a_reading_that_takes_too_long_ends_the_connection() {
    on_a_core(async {
        let mut it = connected("shop", "readTimeout=50ms").await;
        let failure = failed("SELECT SLEEP(30)", &mut it).await;
        assert_eq!((failure.text(), failure.trouble()), ("invalid connection", Trouble::Timeout));
        let _ = &SHARED.server;
    });
}

#[test]
fn prepared_statements_of_ours_make_room_where_the_server_has_too_many() {
    on_a_core(async {
        let server = brunt_databases::Server::mariadb(&["--max-prepared-stmt-count=10"]);
        let mut it = crate::support::open(Driver::MySql, &server.go_dsn("shop")).await.unwrap();
        for number in 0..30 {
            let sql = format!("SELECT {number}, ?");
            let args = args(&[Cell::Int(1)]);
            it.start(&Ask { sql: &sql, args: &args, is_prepared: number % 3 > 0 }).await.unwrap();
            assert_eq!(rows(&mut it).await.unwrap()[0][0], number.to_string());
        }
    });
}
