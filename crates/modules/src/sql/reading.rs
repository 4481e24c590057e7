//! A statement that runs: its connection, the chunks that came, what is known of its end. No JavaScript here.

use std::rc::Rc;

use brunt_fiber::clock::now_ns;
use brunt_sql::{Ask, Chunk, Columns, Driver, Failure, Outcome, Trouble};
use tokio::time::{Instant, timeout_at};

use super::core::SqlCore;
use super::record::Spent;
use super::source::{Held, Ready};

/// The text about a connection that the server closed before the statement.
const BAD_CONNECTION: &str = "driver: bad connection";

/// The results of a statement that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// The first that has columns counts, the rest is passed over.
    First,
    /// The last counts.
    Last,
    /// All of them, one after the other.
    Each,
}

/// A statement that runs.
pub(super) struct Reading {
    core: Rc<SqlCore>,
    driver: Driver,
    results: Results,
    pub(super) deadline: Option<Instant>,
    held: Option<Held>,
    /// Rows that came and were not taken yet.
    pub(super) chunks: Vec<Chunk>,
    /// The columns of these rows; none: the statement has no result.
    pub(super) columns: Columns,
    /// This result has no more rows.
    pub(super) is_over: bool,
    /// Rows that were taken before belong to a result that does not count.
    pub(super) is_anew: bool,
    /// Why rows are missing.
    pub(super) late: Option<Failure>,
    /// It is the failure of a later statement of the text, not of rows.
    pub(super) is_refused: bool,
    pub(super) spent: Spent,
    /// Rows of all results.
    pub(super) rows: u64,
    pub(super) outcome: Outcome,
}

impl Reading {
    pub(super) fn new(
        core: &Rc<SqlCore>,
        driver: Driver,
        results: Results,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            core: Rc::clone(core),
            driver,
            results,
            deadline,
            held: None,
            chunks: Vec::new(),
            columns: Columns::from([]),
            is_over: false,
            is_anew: false,
            late: None,
            is_refused: false,
            spent: Spent::default(),
            rows: 0,
            outcome: Outcome::default(),
        }
    }

    /// Gets a connection, sends the statement, and reads until some rows are there, or their end is.
    ///
    /// # Errors
    /// There is no connection, or the server refuses the statement.
    pub(super) async fn begin(
        &mut self,
        ready: &Ready,
        ask: &Ask<'_>,
        most: usize,
    ) -> Result<(), Failure> {
        let began = now_ns();
        let deadline = self.deadline;
        let held = within(deadline, ready.held()).await.and_then(|held| held);
        self.spent.pool_wait = Some(now_ns().saturating_sub(began));
        let held = self.held.insert(held?);
        self.spent.pool_wait = Some(held.lease().waited_ns());
        self.spent.connecting = held.lease().connecting_ns();
        if !held.is_of_pool() {
            (self.spent.pool_wait, self.spent.connecting) = (None, None);
        }
        let sent = now_ns();
        let mut started = within(deadline, held.start(ask)).await.and_then(|started| started);
        // As in `database/sql`: a connection that was closed while it was idle is replaced.
        if started.as_ref().is_err_and(|failure| failure.text() == BAD_CONNECTION)
            && let Some(before) = self.held.take()
            && let Some(held) =
                within(deadline, ready.held_anew(before)).await.and_then(|held| held)?
        {
            self.spent.connecting = held.lease().connecting_ns();
            let held = self.held.insert(held);
            started = within(deadline, held.start(ask)).await.and_then(|started| started);
        }
        self.spent.waiting = Some(now_ns().saturating_sub(sent));
        if let Err(failure) = started {
            self.held = None;
            return Err(cancelled(failure, self.driver));
        }
        self.columns = self.held.as_ref().map_or_else(|| Columns::from([]), |held| held.columns());
        self.fetch(most).await;
        // The first row came with the first chunk.
        let now = now_ns();
        self.spent.waiting = Some(now.saturating_sub(sent));
        self.spent.receiving = 0;
        // One that comes before the first row is the statement's.
        match self.late.take() {
            Some(failure) if self.rows == 0 || self.is_refused => Err(failure),
            late => {
                self.late = late;
                Ok(())
            }
        }
    }

    /// Reads on until this number of chunks is there, or this result has no more.
    pub(super) async fn fetch(&mut self, most: usize) {
        if self.held.is_none() || self.is_over {
            self.is_over = true;
            return;
        }
        let began = now_ns();
        let read = within(self.deadline, self.read(most)).await.and_then(|read| read);
        self.spent.receiving += now_ns().saturating_sub(began);
        if let Err(failure) = read {
            // In the middle of a statement it goes away, else it goes back.
            self.held = None;
            self.late = Some(cancelled(failure, self.driver));
            self.is_over = true;
        }
    }

    async fn read(&mut self, most: usize) -> Result<(), Failure> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let mut count = 0;
        while count < most {
            let mut chunk = self.core.chunk();
            if held.next(&mut chunk).await? {
                self.rows += chunk.len() as u64;
                count += 1;
                self.chunks.push(chunk);
                continue;
            }
            self.core.keep_chunk(chunk);
            let outcome = held.outcome();
            match self.results {
                Results::Each => {
                    self.outcome = outcome;
                    self.is_over = true;
                    return Ok(());
                }
                // Statements without rows before it are passed over.
                Results::First if !self.columns.is_empty() => {
                    self.outcome = outcome;
                    self.is_over = true;
                    // Later results are passed over, and so are their failures.
                    let mut rest = self.core.chunk();
                    while held.next_result().await.unwrap_or(false) {
                        while held.next(&mut rest).await.unwrap_or(false) {}
                    }
                    self.core.keep_chunk(rest);
                    self.held = None;
                    return Ok(());
                }
                Results::First | Results::Last => {
                    self.outcome = outcome;
                    self.is_refused = true;
                    let goes_on = held.next_result().await?;
                    self.is_refused = false;
                    if !goes_on {
                        self.is_over = true;
                        self.held = None;
                        return Ok(());
                    }
                    self.columns = held.columns();
                    self.is_anew = true;
                    self.rows = 0;
                    while let Some(chunk) = self.chunks.pop() {
                        self.core.keep_chunk(chunk);
                    }
                    count = 0;
                }
            }
        }
        Ok(())
    }

    /// Goes on to the next result, of [`Results::Each`], and reads some of it. `false`: there is none.
    ///
    /// # Errors
    /// The next statement failed.
    pub(super) async fn next_result(&mut self, most: usize) -> Result<bool, Failure> {
        let Some(held) = &mut self.held else { return Ok(false) };
        let began = now_ns();
        let is_there = within(self.deadline, held.next_result()).await.and_then(|there| there);
        self.spent.receiving += now_ns().saturating_sub(began);
        match is_there {
            Ok(true) => {
                self.columns = held.columns();
                self.is_over = false;
                self.fetch(most).await;
                Ok(true)
            }
            Ok(false) => {
                self.held = None;
                Ok(false)
            }
            Err(failure) => {
                self.held = None;
                Err(cancelled(failure, self.driver))
            }
        }
    }

    /// Runs a statement whose rows are not wanted.
    ///
    /// # Errors
    /// As [`Self::begin`]; a later part of the statement failed.
    pub(super) async fn run(&mut self, ready: &Ready, ask: &Ask<'_>) -> Result<(), Failure> {
        self.begin(ready, ask, 1).await?;
        while !self.is_over {
            self.drop_chunks();
            self.fetch(1).await;
        }
        self.drop_chunks();
        self.late.take().map_or(Ok(()), Err)
    }

    /// A chunk was read.
    pub(super) fn drop_chunks(&mut self) {
        while let Some(chunk) = self.chunks.pop() {
            self.core.keep_chunk(chunk);
        }
    }

    /// Lets go of the connection: it goes back if the last row was read, and else it goes away.
    pub(super) fn let_go(&mut self) {
        self.drop_chunks();
        self.held = None;
        self.is_over = true;
    }

    /// Whether it has a connection.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }
}

/// The result of a future, unless a moment comes before.
///
/// # Errors
/// Go's words for it.
pub(super) async fn within<T>(
    deadline: Option<Instant>,
    future: impl Future<Output = T>,
) -> Result<T, Failure> {
    match deadline {
        None => Ok(future.await),
        // A deadline that has passed before anything was begun is one, too.
        Some(deadline) if deadline <= Instant::now() => Err(expired()),
        Some(deadline) => timeout_at(deadline, future).await.map_err(|_| expired()),
    }
}

fn expired() -> Failure {
    Failure::new(Trouble::Timeout, "context deadline exceeded")
}

/// A failure in the middle of a statement. PostgreSQL's driver tells what the server says to its cancel.
fn cancelled(failure: Failure, driver: Driver) -> Failure {
    if failure.trouble() == Trouble::Timeout && driver == Driver::Postgres && failure == expired() {
        let text = "pq: canceling statement due to user request (57014)";
        return Failure::new(Trouble::Timeout, text).with_code("57014", 0);
    }
    failure
}
