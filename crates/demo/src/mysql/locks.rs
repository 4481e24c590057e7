//! LOCK TABLES: who else may not write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Tables that connections have locked.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    held: Mutex<Vec<Lock>>,
    /// A lock went.
    pub(crate) freed: Notify,
}

#[derive(Debug)]
struct Lock {
    table: String,
    owner: u32,
    is_write: bool,
}

impl Locks {
    fn held(&self) -> MutexGuard<'_, Vec<Lock>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a connection may change these tables: no other has locked one.
    pub(crate) fn lets_write(&self, connection: u32, tables: &[&str]) -> bool {
        let is_in_the_way =
            |lock: &Lock| lock.owner != connection && tables.contains(&lock.table.as_str());
        !self.held().iter().any(is_in_the_way)
    }

    /// Locks tables for a connection, unless another has a lock that excludes it.
    pub(crate) fn take(&self, connection: u32, tables: &[(String, bool)]) -> bool {
        let mut held = self.held();
        let excludes = |lock: &Lock| {
            let of = |(table, is_write): &(String, bool)| {
                *table == lock.table && (*is_write || lock.is_write)
            };
            lock.owner != connection && tables.iter().any(of)
        };
        if held.iter().any(excludes) {
            return false;
        }
        held.extend(tables.iter().map(|(table, is_write)| Lock {
            table: table.clone(),
            owner: connection,
            is_write: *is_write,
        }));
        true
    }

    /// Frees all that a connection has locked.
    pub(crate) fn free(&self, connection: u32) {
        let mut held = self.held();
        let before = held.len();
        held.retain(|lock| lock.owner != connection);
        if held.len() != before {
            self.freed.notify_waiters();
        }
    }
}
