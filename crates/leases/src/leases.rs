//! All shared things of a test, as one process knows them.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tokio::runtime::Handle;

use crate::counter::Counter;
use crate::queue::{Bounds, Queue};
use crate::rows::Rows;
use crate::store::Store;
use crate::wire::Late;

/// The shared things of one test, as one run of a process has them: its blocks of rows are its own.
///
/// It may be asked for things before it is opened; what is asked of the things before that is an error.
#[derive(Debug)]
pub struct Leases {
    processes: u32,
    wire: Arc<Late>,
    known: Mutex<Known>,
}

/// Each by its name: as many as the script has.
#[derive(Debug, Default)]
struct Known {
    rows: FxHashMap<String, Arc<Rows>>,
    counters: FxHashMap<String, Arc<Counter>>,
    queues: FxHashMap<String, Arc<Queue>>,
}

impl Leases {
    /// Of a test of this many processes.
    pub fn new(processes: u32) -> Arc<Self> {
        Arc::new(Self { processes, wire: Arc::default(), known: Mutex::default() })
    }

    /// Names the store, and the runtime on which it is asked: that of a thread that carries no load.
    pub fn open(&self, store: Arc<dyn Store>, runtime: Handle) {
        self.wire.open(store, runtime);
    }

    /// The rows of a name; `total` is the same in all processes.
    pub fn rows(&self, name: &str, total: u64) -> Arc<Rows> {
        let make = || Rows::shared(&self.wire, key("rows", name), total, self.processes);
        Arc::clone(self.known().rows.entry(name.to_owned()).or_insert_with(make))
    }

    /// The counter of a name; `start` is the same in all processes.
    pub fn counter(&self, name: &str, start: i64) -> Arc<Counter> {
        let make = || Arc::new(Counter::new(&self.wire, key("counter", name), start));
        Arc::clone(self.known().counters.entry(name.to_owned()).or_insert_with(make))
    }

    /// The queue of a name; its bounds are the same in all processes.
    pub fn queue(&self, name: &str, bounds: Bounds) -> Arc<Queue> {
        let make = || Arc::new(Queue::new(&self.wire, key("queue", name), bounds));
        Arc::clone(self.known().queues.entry(name.to_owned()).or_insert_with(make))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        self.wire.end();
    }
}

/// `rows.NAME`, with all but letters, digits, `-` and `_` as `=` and two hexadecimal digits.
fn key(kind: &str, name: &str) -> String {
    let mut key = format!("{kind}.");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            key.push(char::from(byte));
        } else {
            write!(key, "={byte:02x}").expect("a text takes text");
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_one_token_of_a_key() {
        assert_eq!(key("rows", "my_Users-2"), "rows.my_Users-2");
        assert_eq!(key("queue", "a.b=*>"), "queue.a=2eb=3d=2a=3e");
        assert_eq!(key("counter", "ä "), "counter.=c3=a4=20");
    }

    #[test]
    fn all_runs_of_a_process_find_the_same_things() {
        let leases = Leases::new(2);
        assert!(Arc::ptr_eq(&leases.rows("a", 5), &leases.rows("a", 5)));
        assert!(!Arc::ptr_eq(&leases.counter("a", 5), &leases.counter("b", 5)));
    }
}
