//! The seam between `brunt/data` and whoever knows the other processes of a test.
//!
//! Rows that are *leased* are dealt out in blocks. A process that runs the whole test deals them to itself; several ask an
//! implementation of [`Leases`], which `cli` hands in with the options, and which keeps one number for each name: the first row that
//! no process has. Queues and counters have no such seam yet: they are refused where a test has several processes.

use std::fmt::Debug;
use std::ops::Range;

/// Takes the answer, at once or later, on any thread.
pub type Told = Box<dyn FnOnce(Result<Range<u64>, String>) + Send>;

/// Deals out the rows of a test to its processes.
pub trait Leases: Debug + Send + Sync {
    /// Takes the next `count` (1 to 1000) of the `total` rows of this name, counted from 0, and tells which. All processes ask with
    /// the same `total` for a name. No two answers of one test overlap; an empty or shorter one means that there are no more.
    /// An error, a sentence for the user, fails one call of the script; the next call asks again.
    ///
    /// Called on a load core: it must not wait. `told` may be called before this returns.
    fn lease(&self, name: &str, total: u64, count: u64, told: Told);
}
