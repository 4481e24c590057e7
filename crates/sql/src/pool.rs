//! Connections to one database, lent out one at a time.
//!
//! ```text
//!              an idle one ─────────────► Lease ── dropped ──► to whoever waits, or idle, or closed
//! lease() ──┬─ room for one more: dial ──►                       ▲
//!           └─ else wait, in order ── Grant: a connection, or ───┘ the place of one that is gone
//! ```
//!
//! A connection, or its place, goes straight to whoever has waited longest: none who comes later overtakes. A waiter that is dropped
//! with a grant in its hands passes the grant on.

mod grant;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::clock::now_ns;
use brunt_net::Dialer;
use tokio::sync::oneshot;

use self::grant::{Grant, Place};
use crate::config::Config;
use crate::connection::Connection;
use crate::failure::{Failure, Trouble};

/// The limits of a pool, as Go's `database/sql` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// The most connections at once; 0: no limit.
    pub max_open: usize,
    /// The most that wait for work.
    pub max_idle: usize,
    /// A connection that is older is not lent again; zero: no limit.
    pub max_lifetime: Duration,
    /// A connection that was idle for longer is not lent again; zero: no limit.
    pub max_idle_time: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            max_open: 0,
            max_idle: 2,
            max_lifetime: Duration::ZERO,
            max_idle_time: Duration::ZERO,
        }
    }
}

/// Connections to one database. It connects when the first is asked for.
#[derive(Debug)]
pub struct Pool {
    config: Rc<Config>,
    dialer: Rc<Dialer>,
    options: PoolOptions,
    /// The one that was used last is the last.
    idle: RefCell<VecDeque<Idle>>,
    /// With those that are lent, being made, or being called back.
    open: Cell<usize>,
    /// Those who wait, in their order. As many as there are users of the pool, at most.
    waiters: RefCell<VecDeque<oneshot::Sender<Grant>>>,
    /// Connections of SQLite that stop their statement and come back.
    recalled: Cell<usize>,
    is_closed: Cell<bool>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    /// Unix ns.
    made: u64,
    since: u64,
}

/// A connection in the hands of one user. Dropped, it goes back to its pool as it is, with the transaction that is open on it. In the
/// middle of a statement, it goes away and the server is asked to stop the statement; one of SQLite stops its statement and goes back.
#[derive(Debug)]
pub struct Lease {
    connection: Option<Connection>,
    pool: Rc<Pool>,
    made: u64,
    waited_ns: u64,
    connecting_ns: Option<u64>,
    /// An open transaction does not go back to the pool with the connection.
    is_bounded: bool,
}

fn closed() -> Failure {
    Failure::new(Trouble::Usage, "sql: database is closed")
}

impl Pool {
    /// A pool without a connection.
    pub fn new(config: Rc<Config>, dialer: Rc<Dialer>, options: PoolOptions) -> Rc<Self> {
        Rc::new(Self {
            config,
            dialer,
            options,
            idle: RefCell::default(),
            open: Cell::new(0),
            waiters: RefCell::default(),
            recalled: Cell::new(0),
            is_closed: Cell::new(false),
        })
    }

    /// The database.
    pub fn config(&self) -> &Rc<Config> {
        &self.config
    }

    /// The way to its server.
    pub fn dialer(&self) -> &Rc<Dialer> {
        &self.dialer
    }

    /// A connection: an idle one, or a new one, or the next that comes back.
    ///
    /// # Errors
    /// Why none could be opened; the pool was closed.
    pub async fn lease(self: &Rc<Self>) -> Result<Lease, Failure> {
        let began = now_ns();
        if self.is_closed.get() {
            return Err(closed());
        }
        if let Some(idle) = self.take_idle() {
            return Ok(self.lent(idle.connection, idle.made, now_ns().saturating_sub(began)));
        }
        // A database in memory comes back with its connection: a new one would be another database.
        if self.has_room() && self.recalled.get() == 0 {
            return Place::taken(self).dial(began).await;
        }
        let (sender, grant) = oneshot::channel();
        self.waiters.borrow_mut().push_back(sender);
        match grant.await {
            Ok(Grant::Connection(mut lease)) => {
                lease.waited_ns = now_ns().saturating_sub(began);
                Ok(lease)
            }
            Ok(Grant::Place(place)) => place.dial(began).await,
            Err(_) => Err(closed()),
        }
    }

    /// A connection that is made now, for a statement that failed on an idle one because the server had closed it. All idle ones are
    /// closed: they were there when the server went.
    ///
    /// # Errors
    /// As [`Self::lease`].
    pub async fn lease_new(self: &Rc<Self>) -> Result<Lease, Failure> {
        for idle in self.idle.take() {
            idle.connection.close();
            self.left();
        }
        self.lease().await
    }

    fn has_room(&self) -> bool {
        self.options.max_open == 0 || self.open.get() < self.options.max_open
    }

    fn lent(self: &Rc<Self>, connection: Connection, made: u64, waited_ns: u64) -> Lease {
        let pool = Rc::clone(self);
        Lease {
            connection: Some(connection),
            pool,
            made,
            waited_ns,
            connecting_ns: None,
            is_bounded: false,
        }
    }

    fn is_over(since: u64, limit: Duration) -> bool {
        !limit.is_zero() && u128::from(now_ns().saturating_sub(since)) > limit.as_nanos()
    }

    /// The idle connection that was used last and is still good. Others that are not are closed.
    fn take_idle(self: &Rc<Self>) -> Option<Idle> {
        let is_good = |idle: &mut Idle| {
            !Self::is_over(idle.made, self.options.max_lifetime)
                && !Self::is_over(idle.since, self.options.max_idle_time)
                && !idle.connection.is_stale()
        };
        loop {
            let mut idle = self.idle.borrow_mut().pop_back()?;
            if is_good(&mut idle) {
                return Some(idle);
            }
            idle.connection.close();
            self.left();
        }
    }

    /// A connection is gone: there is room for another.
    fn left(self: &Rc<Self>) {
        self.open.set(self.open.get().saturating_sub(1));
        self.serve();
    }

    /// Lets those who wait dial, as far as there is room.
    fn serve(self: &Rc<Self>) {
        while self.has_room() && self.recalled.get() == 0 {
            let Some(waiter) = self.waiters.borrow_mut().pop_front() else { return };
            if let Err(Grant::Place(place)) = waiter.send(Grant::Place(Place::taken(self))) {
                // It waits no more. The next one is served by this loop.
                place.give_up();
            }
        }
    }

    /// Closes idle connections now and lent ones as they come back. Calls that ask for one, or wait for one, are refused.
    pub fn close(&self) {
        self.is_closed.set(true);
        for idle in self.idle.take() {
            idle.connection.close();
            self.open.set(self.open.get().saturating_sub(1));
        }
        drop(self.waiters.take());
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// The connections that are open now, lent ones among them.
    pub fn open_count(&self) -> usize {
        self.open.get()
    }

    /// `is_bounded`: the transaction that is open on it ends here.
    fn take_back(self: &Rc<Self>, connection: Connection, made: u64, is_bounded: bool) {
        let ends_transaction = is_bounded && connection.is_in_transaction();
        if connection.is_idle() && !ends_transaction {
            self.keep(connection, made);
            return;
        }
        // Without a runtime, in the last moments of a core, the connection just goes.
        if tokio::runtime::Handle::try_current().is_err() {
            self.left();
            return;
        }
        let pool = Rc::clone(self);
        match connection {
            Connection::Sqlite(mut file) if !self.is_closed.get() => {
                self.recalled.set(self.recalled.get() + 1);
                tokio::task::spawn_local(async move {
                    file.recall(is_bounded).await;
                    pool.recalled.set(pool.recalled.get() - 1);
                    if file.is_idle() && !(is_bounded && file.is_in_transaction()) {
                        pool.keep(Connection::Sqlite(file), made);
                    } else {
                        drop(file);
                        pool.left();
                    }
                    pool.serve();
                });
            }
            connection if connection.is_idle() => {
                connection.close();
                self.left();
            }
            connection => {
                self.left();
                brunt_fiber::core::spawn_last(async move {
                    connection.cancel(&pool.dialer).await;
                });
            }
        }
    }

    /// Gives a good connection to whoever waits, or keeps it. Open transactions stay open on it, as in `database/sql`: scripts that
    /// begin and commit by `exec` rely on it, with `max_open_conns: 1`.
    fn keep(self: &Rc<Self>, connection: Connection, made: u64) {
        if self.is_closed.get() || Self::is_over(made, self.options.max_lifetime) {
            connection.close();
            self.left();
            return;
        }
        let mut lease = self.lent(connection, made, 0);
        loop {
            let Some(waiter) = self.waiters.borrow_mut().pop_front() else { break };
            match waiter.send(Grant::Connection(lease)) {
                Err(Grant::Connection(back)) => lease = back,
                _ => return,
            }
        }
        let Some(connection) = lease.connection.take() else { return };
        let mut idle = self.idle.borrow_mut();
        if idle.len() < self.options.max_idle {
            idle.push_back(Idle { connection, made, since: now_ns() });
        } else {
            drop(idle);
            connection.close();
            self.left();
        }
    }
}

impl Lease {
    /// How long it was waited for, in nanoseconds, without connecting.
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns
    }

    /// How long connecting took, in nanoseconds, if it was made for this lease.
    pub fn connecting_ns(&self) -> Option<u64> {
        self.connecting_ns
    }

    /// Closes the connection instead of giving it back.
    pub fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close();
            self.pool.left();
        }
    }

    /// Its connection does not go back to the pool while a transaction is open on it: it is closed, or, one of SQLite, which may be a
    /// database in memory, rolled back. Without this it does: a script that says `BEGIN` and `COMMIT` by statements of their own relies on it.
    pub fn end_with_transaction(&mut self) {
        self.is_bounded = true;
    }

    /// The pool that it came from.
    pub fn pool(&self) -> &Rc<Pool> {
        &self.pool
    }

    /// Whether it was used before it was lent: a server that was restarted since then has closed it, and a statement that breaks on it
    /// before its first answer may be sent again on [`Pool::lease_new`], as `database/sql` does. Not with a transaction open on it,
    /// which is lost.
    pub fn was_idle(&self) -> bool {
        self.connecting_ns.is_none()
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a lease has its connection until it is dropped")
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a lease has its connection until it is dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.take_back(connection, self.made, self.is_bounded);
        }
    }
}

#[cfg(test)]
mod tests;
