//! The client of PostgreSQL.
//!
//! ```text
//! Connection ─► login     dialing, TLS, SCRAM
//!     │      ─► bulk      COPY, INSERT with many rows, batches
//!     ▼
//! Session: statements out, results in ─► Wire: messages of a connection of brunt-net
//! row: reads rows as they came
//! ```

mod bulk;
mod clock;
mod describe;
mod fault;
mod literal;
mod login;
pub(crate) mod row;
mod session;
mod wire;

use std::rc::Rc;
use std::time::Duration;

use brunt_net::Dialer;
use tokio::time::timeout;

use self::session::{Session, State};
use crate::args::Args;
use crate::chunk::Chunk;
use crate::column::Columns;
use crate::config::postgres::Settings;
use crate::connection::{Ask, Insert, Way};
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// How long stopping a statement may take.
const CANCEL: Duration = Duration::from_secs(1);

/// `Terminate`.
const FAREWELL: [u8; 5] = [b'X', 0, 0, 0, 4];

/// A connection to it.
#[derive(Debug)]
pub struct Connection {
    session: Session,
    /// For the second connection that stops a statement of this one.
    settings: Rc<Settings>,
}

impl Connection {
    pub(crate) async fn open(settings: &Settings, dialer: &Rc<Dialer>) -> Result<Self, Failure> {
        let session = login::open(settings, dialer).await?;
        Ok(Self { session, settings: Rc::new(settings.clone()) })
    }

    pub(crate) async fn start(&mut self, ask: &Ask<'_>) -> Result<(), Failure> {
        self.session.take_up()?;
        let result = if ask.args.is_empty() && !ask.is_prepared {
            self.session.query(ask.sql).await
        } else {
            self.session.ask(ask.sql, ask.args, ask.is_prepared).await
        };
        self.session.settle(result)
    }

    pub(crate) fn columns(&self) -> Columns {
        Rc::clone(&self.session.columns)
    }

    pub(crate) async fn next(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        let result = self.session.rows(chunk).await;
        self.session.settle(result)
    }

    pub(crate) async fn next_result(&mut self) -> Result<bool, Failure> {
        let result = self.session.next_result().await;
        self.session.settle(result)
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.session.outcome.clone()
    }

    pub(crate) async fn batch(
        &mut self,
        sql: &str,
        width: usize,
        args: &Args,
    ) -> Result<Outcome, Failure> {
        if args.is_empty() {
            return Ok(Outcome { rows_affected: Some(0), ..Outcome::default() });
        }
        check_rows(args.len(), width)?;
        self.session.take_up()?;
        let result = bulk::batch(&mut self.session, sql, width, args).await;
        self.finished(result)
    }

    pub(crate) async fn insert(&mut self, insert: &Insert<'_>) -> Result<Outcome, Failure> {
        check_rows(insert.values.len(), insert.columns.len())?;
        self.session.take_up()?;
        let result = match insert.way {
            Way::Fastest | Way::Copy => bulk::copy(&mut self.session, insert).await,
            Way::Values => bulk::insert(&mut self.session, insert).await,
            Way::LoadData => {
                let why = "LOAD DATA is MySQL's: for PostgreSQL, write \"copy\" or \"values\"";
                Err(Failure::new(Trouble::Usage, why))
            }
        };
        self.finished(result)
    }

    /// The end of a statement whose results were all read.
    fn finished(&mut self, result: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        let outcome = self.session.settle(result)?;
        self.session.rest();
        self.session.columns = Rc::new([]);
        self.session.outcome = outcome.clone();
        Ok(outcome)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.session.state == State::Idle
    }

    pub(crate) fn is_stale(&mut self) -> bool {
        self.session.wire.is_stale()
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.session.transaction != b'I'
    }

    pub(crate) async fn cancel(self, dialer: &Rc<Dialer>) {
        if self.session.state == State::Broken {
            return;
        }
        let stopping = async {
            for host in &self.settings.hosts {
                let Ok(stream) = login::dial(host, dialer).await else { continue };
                let mut wire = wire::Wire::new(stream);
                // The statement may have ended meanwhile. The server closes the connection when it has done so.
                if wire.send(&bulk::cancel_request(self.session.key)).await.is_ok() {
                    let _ = wire.byte().await;
                }
            }
        };
        let _ = timeout(CANCEL, stopping).await;
    }

    pub(crate) fn close(self) {
        self.session.wire.close(&FAREWELL);
    }

    pub(crate) fn take_bytes(&mut self) -> (u64, u64) {
        self.session.wire.take_counts()
    }
}

fn check_rows(count: usize, width: usize) -> Result<(), Failure> {
    if width > 0 && count.is_multiple_of(width) {
        return Ok(());
    }
    let why = format!("sql: {count} values are no rows of {width}");
    Err(Failure::new(Trouble::Usage, why))
}
