//! One hit on a database, from leasing a connection to its last row.

use std::rc::Rc;

use brunt_fiber::clock;
use brunt_sql::{Args, Ask, Chunk, Failure, Lease, Pool, Trouble};

use super::Queries;
use super::statement::Prepared;

/// The own state of a worker: memory that is used again and again.
#[derive(Default)]
pub(crate) struct Worker {
    args: Args,
    chunk: Chunk,
}

/// How a hit goes, as far as it went.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Whether a connection was there.
    pub(super) is_leased: bool,
    pub(super) waited_ns: u64,
    pub(super) connecting_ns: Option<u64>,
    /// When the first statement was sent (unix ns).
    pub(super) sent: u64,
    /// When its first row was there (unix ns).
    pub(super) first_row: Option<u64>,
    pub(super) rows: u64,
    pub(super) rows_affected: u64,
    pub(super) bytes_out: u64,
    pub(super) bytes_in: u64,
    pub(super) retries: u32,
    pub(super) failure: Option<Failure>,
}

impl Course {
    /// Runs a statement, or all of them in a transaction, again if the database asks for it. Dropped in the middle, it leaves behind how
    /// far it came.
    pub(super) async fn run(
        &mut self,
        queries: &Queries,
        pool: &Rc<Pool>,
        worker: &mut Worker,
        (statement, row): (Option<usize>, usize),
    ) -> Result<(), Failure> {
        let statements = match statement {
            Some(index) => &queries.statements[index..=index],
            None => &queries.statements[..],
        };
        loop {
            match self.once(queries, pool, worker, statements, row).await {
                Err(failure)
                    if failure.trouble() == Trouble::Retry
                        && self.retries < queries.settings.retries =>
                {
                    self.retries += 1;
                }
                result => return result,
            }
        }
    }

    async fn once(
        &mut self,
        queries: &Queries,
        pool: &Rc<Pool>,
        worker: &mut Worker,
        statements: &[Prepared],
        row: usize,
    ) -> Result<(), Failure> {
        let mut lease = pool.lease().await?;
        self.is_leased = true;
        self.waited_ns += lease.waited_ns();
        if let Some(ns) = lease.connecting_ns() {
            *self.connecting_ns.get_or_insert_default() += ns;
            for sql in &queries.settings.each_connection {
                if let Err(failure) = plain(&mut lease, worker, sql).await {
                    // One that was not set up is of no use to others.
                    lease.discard();
                    return Err(failure);
                }
            }
        }
        if self.sent == 0 {
            self.sent = clock::now_ns();
        }
        let result = if queries.settings.is_transaction {
            self.transaction(&mut lease, queries, worker, statements, row).await
        } else {
            self.statements(&mut lease, queries, worker, statements, row).await
        };
        let (sent, received) = lease.take_bytes();
        self.bytes_out += sent;
        self.bytes_in += received;
        result
    }

    async fn transaction(
        &mut self,
        lease: &mut Lease,
        queries: &Queries,
        worker: &mut Worker,
        statements: &[Prepared],
        row: usize,
    ) -> Result<(), Failure> {
        plain(lease, worker, "BEGIN").await?;
        match self.statements(lease, queries, worker, statements, row).await {
            Ok(()) => plain(lease, worker, "COMMIT").await,
            Err(failure) => {
                if lease.is_idle() {
                    // The first failure is the one to tell; a connection that stays in the transaction is not lent again.
                    let _ = plain(lease, worker, "ROLLBACK").await;
                }
                Err(failure)
            }
        }
    }

    async fn statements(
        &mut self,
        lease: &mut Lease,
        queries: &Queries,
        worker: &mut Worker,
        statements: &[Prepared],
        row: usize,
    ) -> Result<(), Failure> {
        let Worker { args, chunk } = worker;
        for statement in statements {
            statement.arguments(&queries.rows, row, args);
            let is_prepared = queries.settings.is_prepared && statement.is_preparable();
            lease.start(&Ask { sql: statement.sql(), args, is_prepared }).await?;
            loop {
                while lease.next(chunk).await? {
                    self.first_row.get_or_insert_with(clock::now_ns);
                    self.rows += chunk.len() as u64;
                }
                self.rows_affected += match lease.outcome() {
                    // PostgreSQL counts rows that were read as affected.
                    outcome if outcome.rows == 0 => outcome.rows_affected.unwrap_or_default(),
                    _ => 0,
                };
                if !lease.next_result().await? {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Runs a statement without arguments, and drops its rows.
async fn plain(lease: &mut Lease, worker: &mut Worker, sql: &str) -> Result<(), Failure> {
    let Worker { args, chunk } = worker;
    args.clear();
    lease.start(&Ask { sql, args, is_prepared: false }).await?;
    loop {
        while lease.next(chunk).await? {}
        if !lease.next_result().await? {
            return Ok(());
        }
    }
}
