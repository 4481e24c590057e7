//! Connections to one database, lent out one at a time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::clock::now_ns;
use brunt_net::Dialer;
use tokio::sync::Notify;

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
    idle: RefCell<VecDeque<Idle>>,
    open: Cell<usize>,
    /// Those who wait are woken in their order.
    room: Notify,
    is_closed: Cell<bool>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    /// Unix ns.
    made: u64,
    since: u64,
}

/// A connection in the hands of one user. Dropped, it goes back to its pool; in the middle of a statement, it goes away and the server is
/// asked to stop the statement.
#[derive(Debug)]
pub struct Lease {
    connection: Option<Connection>,
    pool: Rc<Pool>,
    made: u64,
    waited_ns: u64,
    connecting_ns: Option<u64>,
    /// An open transaction ends the connection rather than go back to the pool with it.
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
            room: Notify::new(),
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
        loop {
            if self.is_closed.get() {
                return Err(closed());
            }
            let mut room = std::pin::pin!(self.room.notified());
            if let Some(idle) = self.take_idle() {
                let waited_ns = now_ns().saturating_sub(began);
                let (made, pool) = (idle.made, Rc::clone(self));
                let connection = Some(idle.connection);
                return Ok(Lease {
                    connection,
                    pool,
                    made,
                    waited_ns,
                    connecting_ns: None,
                    is_bounded: false,
                });
            }
            if self.options.max_open == 0 || self.open.get() < self.options.max_open {
                return self.dial(began).await;
            }
            room.as_mut().enable();
            room.await;
        }
    }

    /// The idle connection that was used last and is still good. Others that are not are closed.
    fn take_idle(&self) -> Option<Idle> {
        let now = now_ns();
        let is_over = |since: u64, limit: Duration| {
            !limit.is_zero() && u128::from(now.saturating_sub(since)) > limit.as_nanos()
        };
        loop {
            let mut idle = self.idle.borrow_mut().pop_back()?;
            let is_old = is_over(idle.made, self.options.max_lifetime)
                || is_over(idle.since, self.options.max_idle_time);
            if !is_old && !idle.connection.is_stale() {
                return Some(idle);
            }
            idle.connection.close();
            self.left();
        }
    }

    async fn dial(self: &Rc<Self>, began: u64) -> Result<Lease, Failure> {
        /// Counts the connection that is being made, until it is made or given up.
        struct Place<'a>(Option<&'a Pool>);
        impl Drop for Place<'_> {
            fn drop(&mut self) {
                if let Some(pool) = self.0.take() {
                    pool.left();
                }
            }
        }
        self.open.set(self.open.get() + 1);
        let mut place = Place(Some(self));
        let dialing = now_ns();
        let connection = Connection::open(&self.config, &self.dialer).await?;
        place.0 = None;
        let made = now_ns();
        Ok(Lease {
            connection: Some(connection),
            pool: Rc::clone(self),
            made,
            waited_ns: dialing.saturating_sub(began),
            connecting_ns: Some(made.saturating_sub(dialing)),
            is_bounded: false,
        })
    }

    /// A connection is gone: there is room for another.
    fn left(&self) {
        self.open.set(self.open.get().saturating_sub(1));
        self.room.notify_one();
    }

    /// Closes idle connections now and lent ones as they come back. Whoever asks for one is refused.
    pub fn close(&self) {
        self.is_closed.set(true);
        for idle in self.idle.take() {
            idle.connection.close();
            self.open.set(self.open.get().saturating_sub(1));
        }
        self.room.notify_waiters();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// The connections that are open now, lent ones among them.
    pub fn open_count(&self) -> usize {
        self.open.get()
    }

    fn take_back(self: &Rc<Self>, connection: Connection, made: u64, is_bounded: bool) {
        if !connection.is_idle() {
            let pool = Rc::clone(self);
            self.left();
            // Without a runtime, in the last moments of a core, the connection just goes.
            if tokio::runtime::Handle::try_current().is_ok() {
                tokio::task::spawn_local(async move { connection.cancel(&pool.dialer).await });
            }
            return;
        }
        let mut idle = self.idle.borrow_mut();
        let is_kept = !self.is_closed.get()
            && idle.len() < self.options.max_idle
            && !(is_bounded && connection.is_in_transaction());
        if is_kept {
            idle.push_back(Idle { connection, made, since: now_ns() });
            drop(idle);
            self.room.notify_one();
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

    /// Its connection does not go back to the pool while a transaction is open on it. Without this it does: a script that says
    /// `BEGIN` and `COMMIT` by statements of their own relies on it.
    pub fn end_with_transaction(&mut self) {
        self.is_bounded = true;
    }

    /// The pool that it came from.
    pub fn pool(&self) -> &Rc<Pool> {
        &self.pool
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
