//! The unwritten bytes of calls that give promises, and the calls that wait until there are fewer.

use std::cell::Cell;
use std::rc::Rc;

use brunt_fiber::block_on;
use brunt_quickjs::{Ctx, Thrown};
use tokio::sync::Notify;

use crate::throwing::throw_stopped;

/// The maximum number of unwritten bytes; beyond them, the next call waits.
const MOST: usize = 16 << 20;

/// The cost of a call beside its bytes: a promise and a task.
const CALL_COST: usize = 1 << 10;

/// The backlog of one connection.
#[derive(Default)]
pub(crate) struct Backlog {
    size: Cell<usize>,
    room: Notify,
}

/// The part of one call, until it is dropped.
pub(crate) struct Share {
    backlog: Rc<Backlog>,
    size: usize,
}

impl Backlog {
    /// A call has these bytes to write.
    pub(crate) fn take(self: &Rc<Self>, bytes: usize) -> Share {
        let size = bytes + CALL_COST;
        self.size.set(self.size.get() + size);
        Share { backlog: Rc::clone(self), size }
    }

    /// Whether the one that took the last share must wait.
    fn is_full(&self) -> bool {
        self.size.get() > MOST
    }

    /// Stops the script until there is room, if there is none.
    ///
    /// # Errors
    /// The VU was stopped meanwhile.
    pub(crate) fn wait_for_room(&self, ctx: Ctx<'_>) -> Result<(), Thrown> {
        if self.is_full() && block_on(self.drained()).is_err() {
            return Err(throw_stopped(ctx));
        }
        Ok(())
    }

    /// Waits until there is room.
    async fn drained(&self) {
        loop {
            let room = self.room.notified();
            if !self.is_full() {
                return;
            }
            room.await;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.backlog.size.set(self.backlog.size.get() - self.size);
        self.backlog.room.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_calls_fill_it_too() {
        let backlog = Rc::new(Backlog::default());
        let shares: Vec<_> = (0..MOST / CALL_COST).map(|_| backlog.take(1)).collect();
        assert!(backlog.is_full());
        drop(shares);
        assert!(!backlog.is_full());
        let large = backlog.take(MOST);
        assert!(backlog.is_full());
        drop(large);
        assert!(!backlog.is_full());
    }
}
