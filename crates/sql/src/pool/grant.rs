//! The gifts to a waiter of a pool.

use std::rc::Rc;

use brunt_fiber::clock::now_ns;

use super::{Lease, Pool, closed};
use crate::connection::Connection;
use crate::failure::Failure;

/// Given to a waiter; dropped, either goes to the next one.
#[derive(Debug)]
pub(super) enum Grant {
    /// A connection that came back.
    Connection(Lease),
    /// The place of one that is gone.
    Place(Place),
}

/// A place among the open connections, for one that is to be made. It is counted until it is given up.
#[derive(Debug)]
pub(super) struct Place(Option<Rc<Pool>>);

impl Place {
    /// One more; whether there is room for it is the caller's affair.
    pub(super) fn taken(pool: &Rc<Pool>) -> Self {
        pool.open.set(pool.open.get() + 1);
        Self(Some(Rc::clone(pool)))
    }

    /// Gives it up without a word to those who wait.
    pub(super) fn give_up(mut self) {
        if let Some(pool) = self.0.take() {
            pool.open.set(pool.open.get().saturating_sub(1));
        }
    }

    /// Opens a connection in it. `began`: when it was asked for, in unix ns.
    pub(super) async fn dial(mut self, began: u64) -> Result<Lease, Failure> {
        let Some(pool) = self.0.clone() else { return Err(closed()) };
        let dialing = now_ns();
        let connection = Connection::open(&pool.config, &pool.dialer).await?;
        if pool.is_closed() {
            connection.close();
            return Err(closed());
        }
        // The connection has the place now.
        self.0 = None;
        let made = now_ns();
        Ok(Lease {
            connection: Some(connection),
            pool,
            made,
            waited_ns: dialing.saturating_sub(began),
            connecting_ns: Some(made.saturating_sub(dialing)),
            is_bounded: false,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.left();
        }
    }
}
