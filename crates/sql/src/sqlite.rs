//! The client of SQLite, in the process itself.
//!
//! ```text
//! core: Connection ── Desk (the file, the statement, its arguments) ──► threads: runs it
//!            ▲                                                            │
//!            └──── Parcels: columns, packed rows, outcome, and the Desk ──┘
//! ```
//!
//! SQLite blocks. While no statement runs, the [`Desk`] lies at the core and there is no thread; a statement takes it to one, and the
//! last parcel brings it back. A result that fits into one parcel is one way there and one back. Two parcels of
//! [`ROOM`](crate::ROOM) bytes are under way at most: one that lies ready, and one that the thread packs.

mod code;
mod desk;
pub(crate) mod row;
mod threads;
mod time;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::InterruptHandle;
use tokio::sync::{mpsc, oneshot};

use self::desk::{Desk, Heading, Parcel, Task};
use self::row::Packed;
use crate::args::Args;
use crate::chunk::{Chunk, Format};
use crate::column::Columns;
use crate::config::sqlite::Settings;
use crate::connection::{Ask, Insert, Way};
use crate::failure::{Failure, Trouble};
use crate::outcome::Outcome;

/// A connection to a file.
pub struct Connection {
    /// Here while no statement runs.
    desk: Option<Box<Desk>>,
    parcels: mpsc::Receiver<Parcel>,
    interrupt: Arc<InterruptHandle>,
    columns: Columns,
    /// The columns that the thread was told of last, as its desk remembers them: it sends no columns twice.
    known: Columns,
    /// Rows that were received and not read.
    rows: Packed,
    /// The end of the result at hand, after its rows.
    end: Option<Result<Outcome, Failure>>,
    outcome: Outcome,
    is_in_transaction: bool,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("is_idle", &self.is_idle()).finish_non_exhaustive()
    }
}

fn lost() -> Failure {
    Failure::new(
        Trouble::Broken,
        "the thread of the statement is gone: the system gave no thread, or SQLite failed",
    )
}

impl Connection {
    pub(crate) async fn open(settings: &Settings) -> Result<Self, Failure> {
        // One lies ready, one is packed.
        let (sender, parcels) = mpsc::channel(1);
        let (made, desk) = oneshot::channel();
        let settings = settings.clone();
        let open = move || {
            let _ = made.send(desk::open(&settings, sender).map(Box::new));
        };
        threads::run(Box::new(open), false);
        let desk = desk.await.map_err(|_| lost())??;
        let interrupt = Arc::new(desk.db.get_interrupt_handle());
        Ok(Self {
            desk: Some(desk),
            parcels,
            interrupt,
            columns: Rc::new([]),
            known: Rc::new([]),
            rows: Packed::default(),
            end: None,
            outcome: Outcome::default(),
            is_in_transaction: false,
        })
    }

    pub(crate) async fn start(&mut self, ask: &Ask<'_>) -> Result<(), Failure> {
        let desk = self.desk()?;
        desk.sql.push_str(ask.sql);
        desk.args.copy_from(ask.args);
        desk.is_prepared = ask.is_prepared;
        self.hand_over(Task::Run);
        self.next_result().await.map(|_| ())
    }

    /// The desk, for the next statement.
    fn desk(&mut self) -> Result<&mut Box<Desk>, Failure> {
        self.rows.clear();
        self.end = None;
        self.outcome = Outcome::default();
        self.desk.as_mut().ok_or_else(|| {
            Failure::new(Trouble::Broken, "the connection is in the middle of a statement")
        })
    }

    fn hand_over(&mut self, task: Task) {
        if let Some(desk) = self.desk.take() {
            threads::run(Box::new(move || desk.work(&task)), self.is_in_transaction);
        }
    }

    /// The next parcel; its parts are put where they belong. Says whether a result began.
    async fn receive(&mut self) -> Result<bool, Failure> {
        let parcel = self.parcels.recv().await.ok_or_else(lost)?;
        if let Some(home) = parcel.home {
            self.is_in_transaction = !home.db.is_autocommit();
            self.desk = Some(home);
        }
        self.rows = parcel.rows;
        self.end = parcel.end;
        if let Some(fault) = parcel.fault {
            return Err(fault);
        }
        match parcel.heading {
            Some(Heading::New(columns)) => {
                self.known = columns.into();
                self.columns = Rc::clone(&self.known);
                Ok(true)
            }
            Some(Heading::Same) => {
                self.columns = Rc::clone(&self.known);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    pub(crate) fn columns(&self) -> Columns {
        Rc::clone(&self.columns)
    }

    pub(crate) async fn next(&mut self, chunk: &mut Chunk) -> Result<bool, Failure> {
        chunk.begin(Format::Sqlite);
        loop {
            if !self.rows.rows.is_empty() {
                let (bytes, rows) = chunk.parts();
                std::mem::swap(bytes, &mut self.rows.bytes);
                std::mem::swap(rows, &mut self.rows.rows);
                self.rows.clear();
                return Ok(true);
            }
            if let Some(end) = self.end.take() {
                self.outcome = end?;
                return Ok(false);
            }
            if self.desk.is_some() {
                return Ok(false);
            }
            self.receive().await?;
        }
    }

    pub(crate) async fn next_result(&mut self) -> Result<bool, Failure> {
        // Rows without a reader are left out.
        while self.desk.is_none() {
            if self.receive().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }

    pub(crate) async fn batch(
        &mut self,
        sql: &str,
        width: usize,
        args: &Args,
    ) -> Result<Outcome, Failure> {
        if !args.len().is_multiple_of(width.max(1)) {
            let text = format!("{} values are no rows of {width}", args.len());
            return Err(Failure::new(Trouble::Usage, text));
        }
        let desk = self.desk()?;
        desk.sql.push_str(sql);
        desk.args.copy_from(args);
        self.hand_over(Task::Batch { width });
        self.whole().await
    }

    pub(crate) async fn insert(&mut self, insert: &Insert<'_>) -> Result<Outcome, Failure> {
        let usage = |text: String| Err(Failure::new(Trouble::Usage, text));
        if !matches!(insert.way, Way::Fastest | Way::Values) {
            return usage("SQLite has no COPY and no LOAD DATA: use VALUES".to_owned());
        }
        let width = insert.columns.len();
        if width == 0 {
            return usage("an insert needs the names of its columns".to_owned());
        }
        if !insert.values.len().is_multiple_of(width) {
            return usage(format!("{} values are no rows of {width}", insert.values.len()));
        }
        let desk = self.desk()?;
        desk.args.copy_from(insert.values);
        self.hand_over(Task::Insert {
            table: insert.table.to_owned(),
            columns: insert.columns.to_vec(),
            batch: insert.batch,
        });
        self.whole().await
    }

    /// The outcome of a task without rows.
    async fn whole(&mut self) -> Result<Outcome, Failure> {
        self.receive().await?;
        self.columns = Rc::new([]);
        self.outcome = self.end.take().unwrap_or_else(|| Err(lost()))?;
        Ok(self.outcome.clone())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.desk.is_some()
    }

    pub(crate) fn is_stale(&mut self) -> bool {
        // A file is not closed from afar.
        !self.is_idle()
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.is_in_transaction
    }

    /// Stops the statement and waits until the file is back, for a second at most: a database in memory lives as long as its connection.
    /// A statement that waits for the lock of another may take as long as `_busy_timeout` says, and is given up. `rolls_back`: a
    /// transaction that is open then is rolled back.
    pub(crate) async fn recall(&mut self, rolls_back: bool) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const ONCE_MORE: Duration = Duration::from_millis(20);
        let interrupt = Arc::clone(&self.interrupt);
        let recall = async {
            while self.desk.is_none() {
                interrupt.interrupt();
                // A statement that had not begun was not interrupted.
                match tokio::time::timeout(ONCE_MORE, self.receive()).await {
                    Ok(Err(failure)) if failure.trouble() == Trouble::Broken => break,
                    _ => {}
                }
            }
            if rolls_back && self.is_in_transaction && self.is_idle() {
                let ask = Ask { sql: "ROLLBACK", args: &Args::new(), is_prepared: false };
                let _ = self.start(&ask).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, recall).await;
        self.rows.clear();
        self.end = None;
    }

    #[expect(clippy::unused_self, reason = "to be dropped is all there is to do")]
    pub(crate) fn close(self) {}

    #[expect(clippy::unused_self, reason = "the other databases count bytes")]
    pub(crate) fn take_bytes(&mut self) -> (u64, u64) {
        (0, 0)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(desk) = self.desk.take() {
            // To close a file may write to it.
            threads::run(Box::new(move || drop(desk)), self.is_in_transaction);
            return;
        }
        self.parcels.close();
        self.interrupt.interrupt();
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        // A statement that had not begun was not interrupted: once more, when it has.
        let handle = Arc::clone(&self.interrupt);
        tokio::task::spawn_local(async move {
            for wait in [5, 50, 500] {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                handle.interrupt();
            }
        });
    }
}
