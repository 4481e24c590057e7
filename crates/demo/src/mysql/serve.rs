//! Connections in, and all that they share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::config::MysqlConfig;
use super::costs::Costs;
use super::database::Database;
use super::login::login;
use super::reply;
use super::session::Session;
use super::trouble::Trouble;
use super::wire::Wire;
use crate::stats::Gauge;

/// A login that takes longer is given up.
const LOGIN_MAX: Duration = Duration::from_secs(10);

/// The stand-in, as its connections know it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: MysqlConfig,
    database: Mutex<Database>,
    is_filled: AtomicBool,
    pub(crate) costs: Costs,
    pub(crate) counts: Counts,
    living: Mutex<HashMap<u32, Arc<Living>>>,
    next: AtomicU32,
}

/// A connection, as KILL knows it.
#[derive(Debug, Default)]
pub(crate) struct Living {
    pub(crate) is_killed: AtomicBool,
    pub(crate) is_interrupted: AtomicBool,
    pub(crate) wake: Notify,
}

/// The server's truth.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) connections: Gauge,
    pub(crate) refused: AtomicU64,
    pub(crate) statements: AtomicU64,
    pub(crate) prepares: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) rollbacks: AtomicU64,
    pub(crate) rows_written: AtomicU64,
    pub(crate) rows_read: AtomicU64,
    pub(crate) rows_sent: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) deadlocks: AtomicU64,
    pub(crate) cut: AtomicU64,
}

impl Counts {
    fn numbers(&self) -> [(&'static str, &AtomicU64); 12] {
        [
            ("refused", &self.refused),
            ("statements", &self.statements),
            ("prepares", &self.prepares),
            ("writes", &self.writes),
            ("commits", &self.commits),
            ("rollbacks", &self.rollbacks),
            ("rows_written", &self.rows_written),
            ("rows_read", &self.rows_read),
            ("rows_sent", &self.rows_sent),
            ("errors", &self.errors),
            ("deadlocks", &self.deadlocks),
            ("cut", &self.cut),
        ]
    }
}

impl Shared {
    pub(crate) fn new(config: MysqlConfig) -> Self {
        Self {
            database: Mutex::new(Database::new(config.max_rows)),
            is_filled: AtomicBool::new(false),
            costs: Costs::new(&config),
            counts: Counts::default(),
            living: Mutex::default(),
            next: AtomicU32::new(1),
            config,
        }
    }

    /// The tables, in the hands of one.
    pub(crate) fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the rows of `bulktest`, the first time.
    pub(crate) fn fill(&self) {
        let mut database = self.database();
        if !self.is_filled.swap(true, Relaxed) {
            database.fill(self.config.rows, self.config.seed);
        }
    }

    /// KILL: the statement of a connection, or all of it. `false`: there is none of this number.
    pub(crate) fn kill(&self, connection: u64, is_whole: bool) -> bool {
        let living = self.living();
        let found = u32::try_from(connection).ok().and_then(|number| living.get(&number));
        if let Some(found) = found {
            found.is_interrupted.store(true, Relaxed);
            found.is_killed.fetch_or(is_whole, Relaxed);
            found.wake.notify_one();
        }
        found.is_some()
    }

    fn living(&self) -> MutexGuard<'_, HashMap<u32, Arc<Living>>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts for `/_demo/stats`.
    pub(crate) fn report(&self) -> Value {
        let mut report = serde_json::Map::new();
        report.insert("connections".to_owned(), self.counts.connections.report());
        for (name, count) in self.counts.numbers() {
            report.insert(name.to_owned(), count.load(Relaxed).into());
        }
        let rows = json!(self.database().rows());
        report.insert("rows".to_owned(), rows);
        report.into()
    }

    /// Counters to zero. Tables stay.
    pub(crate) fn reset(&self) {
        self.counts.connections.forget();
        self.counts.numbers().iter().for_each(|(_, count)| count.store(0, Relaxed));
    }
}

/// Takes connections until the server ends.
pub(crate) async fn serve(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut halted: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            // An error means that the handle is gone, which is an end, too.
            _ = halted.wait_for(|halted| *halted) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(connection(Arc::clone(&shared), stream));
            }
            Err(error) => {
                log::warn!(error = error.to_string().as_str(); "demo: accept failed");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Counts a connection until it is dropped.
struct Place<'a> {
    shared: &'a Shared,
    number: u32,
}

impl<'a> Place<'a> {
    /// `None`: there are too many.
    fn take(shared: &'a Shared, living: Arc<Living>) -> Option<Self> {
        let mut all = shared.living();
        if all.len() as u64 >= shared.config.max_connections {
            shared.counts.refused.fetch_add(1, Relaxed);
            return None;
        }
        let number = shared.next.fetch_add(1, Relaxed);
        all.insert(number, living);
        shared.counts.connections.up();
        Some(Self { shared, number })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.shared.living().remove(&self.number);
        self.shared.counts.connections.down();
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    // A failure here means that the client has gone already; reading will tell.
    let _ = stream.set_nodelay(true);
    let mut wire = Wire::new(stream);
    let living = Arc::new(Living::default());
    let Some(place) = Place::take(&shared, Arc::clone(&living)) else {
        let trouble = Trouble::new(1040, "08004", "Too many connections");
        reply::refuse(&mut wire.packets, &trouble);
        let _ = wire.flush().await;
        return;
    };
    let password = shared.config.password.as_deref();
    let login = timeout(LOGIN_MAX, login(&mut wire, place.number, password)).await;
    let Ok(Some(guest)) = login else {
        shared.counts.errors.fetch_add(1, Relaxed);
        return;
    };
    shared.fill();
    Session::new(&shared, &living, place.number, guest, wire).run().await;
}
