//! Pools of SQLite's databases in memory: each connection has one of its own, so that connections tell who they are.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::task::spawn_local;

use super::*;
use crate::args::Args;
use crate::chunk::Chunk;
use crate::config::{Driver, Nowhere};
use crate::connection::Ask;

fn on_a_core<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

fn pool_of(dsn: &str, options: PoolOptions) -> Rc<Pool> {
    let config = Rc::new(Config::read(Driver::Sqlite, dsn, &Nowhere).unwrap());
    let network = brunt_net::Network::new(brunt_net::Settings::default(), brunt_net::clock::now);
    Pool::new(config, Dialer::new(network.unwrap(), None), options)
}

fn pool(max_open: usize) -> Rc<Pool> {
    pool_of(":memory:", PoolOptions { max_open, ..PoolOptions::default() })
}

async fn run(lease: &mut Lease, sql: &str) -> Result<u64, Failure> {
    lease.start(&Ask { sql, args: &Args::new(), is_prepared: false }).await?;
    let mut chunk = Chunk::default();
    let mut count = 0;
    while lease.next(&mut chunk).await? {
        count += chunk.len() as u64;
    }
    Ok(count)
}

/// Polls a future once.
async fn is_ready<F: Future>(future: &mut std::pin::Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

#[test]
fn who_waits_longest_is_first_and_none_overtakes() {
    on_a_core(async {
        let pool = pool(1);
        let first = pool.lease().await.unwrap();
        let order = Rc::new(RefCell::new(Vec::new()));
        let mut tasks = Vec::new();
        for index in 0..5 {
            let (pool, order) = (Rc::clone(&pool), Rc::clone(&order));
            tasks.push(spawn_local(async move {
                let lease = pool.lease().await.unwrap();
                order.borrow_mut().push(index);
                assert!(lease.was_idle());
                tokio::task::yield_now().await;
            }));
        }
        tokio::task::yield_now().await;
        drop(first);
        // Comes later, and the connection is already another's.
        let last = pool.lease().await.unwrap();
        assert_eq!(*order.borrow(), [0, 1, 2, 3, 4]);
        drop(last);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn a_waiter_that_gives_up_passes_its_grant_on() {
    on_a_core(async {
        let pool = pool(1);
        let lease = pool.lease().await.unwrap();
        let second = {
            let mut given_up = pin!(pool.lease());
            assert!(!is_ready(&mut given_up).await);
            let second = spawn_local({
                let pool = Rc::clone(&pool);
                async move { pool.lease().await.map(|lease| lease.was_idle()) }
            });
            tokio::task::yield_now().await;
            // The first waiter has the connection in its hands, and is not polled again.
            drop(lease);
            second
        };
        assert_eq!(second.await.unwrap(), Ok(true));
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn a_failed_dial_leaves_its_place_to_the_next() {
    on_a_core(async {
        let options = PoolOptions { max_open: 1, ..PoolOptions::default() };
        let pool = pool_of("/nowhere/at/all.db", options);
        let mut tasks = Vec::new();
        for _ in 0..5 {
            let pool = Rc::clone(&pool);
            tasks.push(spawn_local(async move { pool.lease().await.map(|_| ()) }));
        }
        for task in tasks {
            let failure = task.await.unwrap().unwrap_err();
            assert_eq!(failure.trouble(), Trouble::Connect);
            assert_eq!(failure.text(), "unable to open database file: no such file or directory");
        }
        assert_eq!(pool.open_count(), 0);
    });
}

#[test]
fn a_dial_that_is_given_up_leaves_its_place() {
    on_a_core(async {
        let pool = pool(1);
        {
            let mut given_up = pin!(pool.lease());
            let _ = is_ready(&mut given_up).await;
        }
        assert!(pool.lease().await.is_ok());
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn closing_refuses_those_who_wait_and_those_who_come() {
    on_a_core(async {
        let pool = pool(1);
        let lease = pool.lease().await.unwrap();
        let waiting = spawn_local({
            let pool = Rc::clone(&pool);
            async move { pool.lease().await.map(|_| ()) }
        });
        tokio::task::yield_now().await;
        pool.close();
        let text = |result: Result<(), Failure>| result.unwrap_err().to_string();
        assert_eq!(text(waiting.await.unwrap()), "sql: database is closed");
        assert_eq!(text(pool.lease().await.map(|_| ())), "sql: database is closed");
        drop(lease);
        assert_eq!(pool.open_count(), 0);
    });
}

#[test]
fn a_transaction_by_hand_goes_on_with_the_next_lease() {
    on_a_core(async {
        let pool = pool(1);
        for sql in ["CREATE TABLE t (a)", "BEGIN", "INSERT INTO t VALUES (1)"] {
            let mut lease = pool.lease().await.unwrap();
            run(&mut lease, sql).await.unwrap();
        }
        let mut lease = pool.lease().await.unwrap();
        assert!(lease.is_in_transaction());
        run(&mut lease, "ROLLBACK").await.unwrap();
        assert_eq!(run(&mut lease, "SELECT a FROM t").await.unwrap(), 0);
        assert!(!lease.is_in_transaction());
    });
}

#[test]
fn a_database_in_memory_outlives_a_statement_that_is_given_up() {
    on_a_core(async {
        // Without a bound: a second connection would be an empty database.
        let pool = pool(0);
        let mut lease = pool.lease().await.unwrap();
        run(&mut lease, "CREATE TABLE t (a)").await.unwrap();
        let sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
        lease.start(&Ask { sql, args: &Args::new(), is_prepared: false }).await.unwrap();
        assert!(!lease.is_idle());
        drop(lease);
        let mut lease = pool.lease().await.unwrap();
        assert_eq!(run(&mut lease, "SELECT a FROM t").await.unwrap(), 0);
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn a_lease_that_ends_with_its_transaction_leaves_the_database_in_memory_and_no_transaction() {
    on_a_core(async {
        let pool = pool(0);
        let mut lease = pool.lease().await.unwrap();
        run(&mut lease, "CREATE TABLE t (a)").await.unwrap();
        let endless =
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
        for sql in ["SELECT 1", endless] {
            lease.end_with_transaction();
            run(&mut lease, "BEGIN").await.unwrap();
            run(&mut lease, "INSERT INTO t VALUES (1)").await.unwrap();
            lease.start(&Ask { sql, args: &Args::new(), is_prepared: false }).await.unwrap();
            drop(lease);
            lease = pool.lease().await.unwrap();
            assert!(!lease.is_in_transaction());
            assert_eq!(run(&mut lease, "SELECT a FROM t").await.unwrap(), 0);
        }
        assert_eq!(pool.open_count(), 1);
    });
}

#[test]
fn no_more_are_idle_than_may_be_and_old_ones_go() {
    on_a_core(async {
        let pool = pool_of(":memory:", PoolOptions { max_idle: 1, ..PoolOptions::default() });
        let leases = (pool.lease().await.unwrap(), pool.lease().await.unwrap());
        assert_eq!(pool.open_count(), 2);
        drop(leases);
        assert_eq!(pool.open_count(), 1);
        let short = Duration::from_nanos(1);
        for options in [
            PoolOptions { max_lifetime: short, ..PoolOptions::default() },
            PoolOptions { max_idle_time: short, ..PoolOptions::default() },
        ] {
            let pool = pool_of(":memory:", options);
            drop(pool.lease().await.unwrap());
            let lease = pool.lease().await.unwrap();
            assert!(!lease.was_idle());
            assert_eq!(pool.open_count(), 1);
        }
    });
}
