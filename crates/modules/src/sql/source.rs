//! Where a statement gets its connection from: a pool, or a connection that is kept for several statements.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use brunt_js::Host;
use brunt_net::Dialer;
use brunt_sql::{Connection, Failure, Lease, Pool, PoolOptions};
use tokio::sync::Notify;

use super::core::{Place, SqlCore};
use super::failing::usage;
use crate::connections::{Connections, CoreNetwork};
use crate::extension::Link;

/// The source of connections.
#[derive(Clone)]
pub(super) enum Source {
    Pool(Rc<PoolHere>),
    Pinned(Rc<Pinned>),
}

/// A pool as one VM has it.
pub(super) struct PoolHere {
    pub(super) place: Rc<Place>,
    pub(super) core: Rc<SqlCore>,
    pool: OnceCell<Rc<Pool>>,
    options: PoolOptions,
    is_shared: bool,
    is_closed: Cell<bool>,
    /// Connections in the hands of objects of the script, which only the script gives back.
    kept: Cell<usize>,
}

impl PoolHere {
    pub(super) fn new(
        place: Rc<Place>,
        core: Rc<SqlCore>,
        options: PoolOptions,
        is_shared: bool,
    ) -> Rc<Self> {
        Rc::new(Self {
            place,
            core,
            pool: OnceCell::new(),
            options,
            is_shared,
            is_closed: Cell::new(false),
            kept: Cell::new(0),
        })
    }

    /// The pool, made at the first call.
    ///
    /// # Errors
    /// It was closed; its network cannot be used.
    pub(super) fn pool(&self, host: &Host) -> Result<Rc<Pool>, Failure> {
        if self.is_closed.get() {
            return Err(usage("sql: database is closed"));
        }
        if let Some(pool) = self.pool.get() {
            return Ok(Rc::clone(pool));
        }
        let make = || {
            let dialer = self.dialer(host)?;
            Ok(Pool::new(Rc::clone(&self.place.config), dialer, self.options))
        };
        let pool = if self.is_shared {
            self.core.shared_pool(&self.place, self.options, make)?
        } else {
            make()?
        };
        Ok(Rc::clone(self.pool.get_or_init(|| pool)))
    }

    fn dialer(&self, host: &Host) -> Result<Rc<Dialer>, Failure> {
        match self.place.network(host)? {
            Some(network) => Ok(host.slot::<Connections>().dialer_on(&network)),
            // SQLite dials no server.
            None => Ok(Dialer::new(Rc::clone(host.core_slot::<CoreNetwork>().0.net()), None)),
        }
    }

    /// Closes it for this VM. A pool that others share goes on.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
        if !self.is_shared
            && let Some(pool) = self.pool.get()
        {
            pool.close();
        }
    }

    /// Whether all connections are in the hands of the script that asks for one more.
    fn is_used_up(&self) -> bool {
        let most = self.options.max_open;
        most > 0 && self.kept.get() >= most && !self.is_shared
    }
}

/// A connection of a pool is in the hands of an object of the script.
pub(super) struct Kept(Rc<PoolHere>);

impl Kept {
    pub(super) fn new(pool: &Rc<PoolHere>) -> Self {
        pool.kept.set(pool.kept.get() + 1);
        Self(Rc::clone(pool))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.kept.set(self.0.kept.get() - 1);
    }
}

/// A connection for one statement.
pub(super) struct Held {
    lease: Option<Lease>,
    /// Those that it goes back to, the next one last; none: its pool.
    homes: Vec<Rc<Pinned>>,
}

impl Held {
    pub(super) fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("a connection is held until it is dropped")
    }
}

impl Held {
    /// Whether it comes from its pool for this statement alone.
    pub(super) fn is_of_pool(&self) -> bool {
        self.homes.is_empty()
    }
}

impl Deref for Held {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.lease()
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Connection {
        self.lease.as_mut().expect("a connection is held until it is dropped")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let (Some(home), Some(lease)) = (self.homes.pop(), self.lease.take()) {
            home.put(Self { lease: Some(lease), homes: std::mem::take(&mut self.homes) });
        }
    }
}

/// A connection that is kept for several statements, one after the other.
pub(super) struct Pinned {
    pub(super) pool: Rc<PoolHere>,
    held: RefCell<Option<Held>>,
    free: Notify,
    /// The words for whoever comes after the end.
    end: Cell<Option<&'static str>>,
    /// An object of the script has it: rows that are being read, a transaction.
    is_lent: Cell<bool>,
    /// Until it is given back.
    kept: Cell<Option<Kept>>,
}

impl Pinned {
    /// Keeps a connection. `is_of_pool`: it came from there, not from another one that is kept.
    pub(super) fn new(pool: &Rc<PoolHere>, mut held: Held) -> Rc<Self> {
        if let Some(lease) = &mut held.lease {
            lease.end_with_transaction();
        }
        let kept = held.is_of_pool().then(|| Kept::new(pool));
        Rc::new(Self {
            pool: Rc::clone(pool),
            held: RefCell::new(Some(held)),
            free: Notify::new(),
            end: Cell::new(None),
            is_lent: Cell::new(false),
            kept: Cell::new(kept),
        })
    }

    fn put(&self, held: Held) {
        if self.end.get().is_none() {
            if held.is_idle() {
                *self.held.borrow_mut() = Some(held);
            } else {
                // It goes away, and the server is asked to stop its statement.
                self.end.set(Some("driver: bad connection"));
                drop(self.kept.take());
            }
        }
        self.free.notify_one();
    }

    async fn take(self: &Rc<Self>) -> Result<Held, Failure> {
        loop {
            if let Some(end) = self.end.get() {
                // Another one may wait, too.
                self.free.notify_one();
                return Err(usage(end));
            }
            let held = self.held.borrow_mut().take();
            if let Some(mut held) = held {
                held.homes.push(Rc::clone(self));
                return Ok(held);
            }
            self.free.notified().await;
        }
    }

    /// Gives it back; `why` is said to whoever asks for it afterwards.
    pub(super) fn finish(&self, why: &'static str) {
        if self.end.get().is_none() {
            self.end.set(Some(why));
        }
        let held = self.held.borrow_mut().take();
        drop((held, self.kept.take()));
        self.free.notify_waiters();
        self.free.notify_one();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.end.get().is_some()
    }
}

impl Link for Pinned {
    fn cut(&self) {
        self.finish("sql: connection is already closed");
    }
}

/// A kept connection is in the hands of an object of the script.
pub(super) struct Lent(Rc<Pinned>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.is_lent.set(false);
    }
}

impl Source {
    pub(super) fn pool(&self) -> &Rc<PoolHere> {
        match self {
            Self::Pool(pool) => pool,
            Self::Pinned(pinned) => &pinned.pool,
        }
    }

    /// A way to wait for a connection, as far as one can come.
    ///
    /// # Errors
    /// The database was closed.
    pub(super) fn ready(&self, host: &Host) -> Result<Ready, Failure> {
        match self {
            Self::Pool(here) => Ok(Ready::Pool(here.pool(host)?)),
            Self::Pinned(pinned) => Ok(Ready::Pinned(Rc::clone(pinned))),
        }
    }

    /// Refuses a call that would wait for ever: the script that makes it has what it waits for.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Pinned(pinned) if pinned.is_lent.get() => Err(usage(
                "the connection is in use: rows of it are being read, or a transaction runs on it; read them to their end or \
                 call close() first",
            )),
            Self::Pool(pool) if pool.is_used_up() => Err(usage(format!(
                "all {} connections that max_open_conns allows are in use by rows, transactions and connections of this script \
                 that are open: close one first",
                pool.options.max_open
            ))),
            _ => Ok(()),
        }
    }

    /// From now on it is in the hands of an object of the script.
    pub(super) fn lend(&self) -> (Option<Lent>, Option<Kept>) {
        match self {
            Self::Pinned(pinned) => {
                pinned.is_lent.set(true);
                (Some(Lent(Rc::clone(pinned))), None)
            }
            Self::Pool(pool) => (None, Some(Kept::new(pool))),
        }
    }
}

/// A source that can be waited for.
pub(super) enum Ready {
    Pool(Rc<Pool>),
    Pinned(Rc<Pinned>),
}

impl Ready {
    /// A connection.
    ///
    /// # Errors
    /// Why none came.
    pub(super) async fn held(&self) -> Result<Held, Failure> {
        match self {
            Self::Pool(pool) => Ok(Held { lease: Some(pool.lease().await?), homes: Vec::new() }),
            Self::Pinned(pinned) => pinned.take().await,
        }
    }

    /// A connection that is made now, in place of one that the server had closed; `None`: that one may not be replaced.
    ///
    /// # Errors
    /// Why none came.
    pub(super) async fn held_anew(&self, before: Held) -> Result<Option<Held>, Failure> {
        match self {
            Self::Pool(pool) if before.lease().was_idle() => {
                drop(before);
                Ok(Some(Held { lease: Some(pool.lease_new().await?), homes: Vec::new() }))
            }
            _ => Ok(None),
        }
    }
}
