//! The client of MySQL and MariaDB.
//!
//! ```text
//! Connection ─► login    greeting, auth, TLS
//!     │      ─► prepared, insert, load_data, batch: the ways of a statement
//!     ▼
//! Session: a command out, results in ─► Wire: packets of a connection of brunt-net
//! row: reads rows as they came
//! ```

mod auth;
mod batch;
mod bulk;
mod definition;
mod greeting;
mod insert;
mod lexer;
mod literal;
mod load_data;
mod login;
mod packet;
mod prepared;
pub(crate) mod row;
mod session;
mod shapes;
mod squeezed;
mod wire;
mod zone;

use std::rc::Rc;
use std::time::Duration;

use brunt_net::Dialer;
use tokio::time::timeout;

use self::insert::Form;
use self::prepared::Kept;
use self::session::{Session, State, command};
use crate::args::Args;
use crate::chunk::Chunk;
use crate::column::Columns;
use crate::config::mysql::Settings;
use crate::connection::{Ask, Insert, Way};
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// How long stopping a statement may take.
const CANCEL: Duration = Duration::from_secs(1);

/// A connection to it.
#[derive(Debug)]
pub struct Connection {
    session: Session,
    kept: Kept,
    /// For the second connection that stops a statement of this one.
    settings: Settings,
}

impl Connection {
    pub(crate) async fn open(settings: &Settings, dialer: &Rc<Dialer>) -> Result<Self, Failure> {
        let session = login::open(settings, dialer).await?;
        Ok(Self { session, kept: Kept::default(), settings: settings.clone() })
    }

    pub(crate) async fn start(&mut self, ask: &Ask<'_>) -> Result<(), Failure> {
        self.session.take_up()?;
        let result = self.ask(ask).await;
        self.session.settle(result)
    }

    async fn ask(&mut self, ask: &Ask<'_>) -> Result<(), Failure> {
        let Self { session, kept, .. } = self;
        if ask.args.is_empty() && !ask.is_prepared {
            return session.query(ask.sql.as_bytes()).await;
        }
        if session.options.interpolate_params && !ask.args.is_empty() {
            // With another number of arguments the server shall say how many it wants.
            if let Some(sql) = prepared::interpolated(session, ask.sql, ask.args) {
                return session.query(&sql).await;
            }
        }
        prepared::run(session, kept, ask.sql, ask.args, ask.is_prepared).await
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
        self.session.take_up()?;
        let result = batch::run(&mut self.session, &mut self.kept, sql, width, args).await;
        self.finished(result)
    }

    pub(crate) async fn insert(&mut self, insert: &Insert<'_>) -> Result<Outcome, Failure> {
        let width = insert.columns.len();
        if width == 0 || !insert.values.len().is_multiple_of(width) {
            let count = insert.values.len();
            let why = format!("sql: {count} values are no rows of {width} columns");
            return Err(Failure::new(Trouble::Usage, why));
        }
        self.session.take_up()?;
        let result = match insert.way {
            Way::Fastest | Way::Values => {
                let (head, parts) = (insert::head(insert), insert::parts(width));
                let form = Form { head: &head, parts: &parts, tail: b"" };
                insert::run(&mut self.session, form, insert.values, insert.batch).await
            }
            Way::LoadData => load_data::run(&mut self.session, insert).await,
            Way::Copy => {
                let why = "COPY is PostgreSQL's: for MySQL, write \"load\" or \"values\"";
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
        self.session.options.check_liveness && self.session.wire.is_stale()
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.session.is_in_transaction()
    }

    pub(crate) async fn cancel(self, dialer: &Rc<Dialer>) {
        if self.session.state == State::Broken {
            return;
        }
        let mut settings = self.settings;
        settings.options.variables.clear();
        settings.options.charsets.clear();
        let kill = format!("KILL QUERY {}", self.session.id);
        let stopping = async {
            if let Ok(mut second) = login::open(&settings, dialer).await {
                // The statement may have ended meanwhile.
                let _ = second.run(kill.as_bytes()).await;
                close(second);
            }
        };
        let _ = timeout(CANCEL, stopping).await;
    }

    pub(crate) fn close(self) {
        close(self.session);
    }

    pub(crate) fn take_bytes(&mut self) -> (u64, u64) {
        self.session.wire.take_counts()
    }
}

fn close(session: Session) {
    session.wire.close(&[1, 0, 0, 0, command::QUIT]);
}
