//! The way of a process to the store.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::store::{Entry, Put, Store};

/// A script waits no longer than this for one answer.
pub const LIMIT: Duration = Duration::from_secs(10);

/// From one attempt to the next, after an error of the store.
const AGAIN: Duration = Duration::from_millis(200);

/// A write of which nothing can be learned is given up after this.
const UNSURE: Duration = Duration::from_secs(90);

/// The error of a process that has no wire.
pub(crate) const ABSENT: &str = "this process has no connection to NATS";

/// A wire that is there a moment later than the things that use it.
#[derive(Debug, Default)]
pub(crate) struct Late {
    wire: OnceLock<Arc<Wire>>,
    /// The test is over for this process.
    over: Arc<AtomicBool>,
}

impl Late {
    pub(crate) fn open(&self, store: Arc<dyn Store>, runtime: Handle) {
        let owner = format!("{:x}", fastrand::u64(..));
        let over = Arc::clone(&self.over);
        let (writes, trouble) = (AtomicU64::new(0), Mutex::default());
        // A second store would be that of the same test.
        drop(self.wire.set(Arc::new(Wire { store, runtime, owner, writes, trouble, over })));
    }

    pub(crate) fn get(&self) -> Option<Arc<Wire>> {
        self.wire.get().cloned()
    }

    pub(crate) fn over(&self) -> &Arc<AtomicBool> {
        &self.over
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Relaxed);
    }
}

/// A store, and the thread that speaks with it.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) runtime: Handle,
    /// A name that no other process has.
    owner: String,
    writes: AtomicU64,
    /// The last error of the store.
    trouble: Mutex<String>,
    over: Arc<AtomicBool>,
}

/// How a write ended, as far as can be known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    Done(u64),
    Lost,
    /// Perhaps it was done: it must not be repeated.
    Unsure,
}

impl Wire {
    /// A name for a write that no other write of any process has.
    pub(crate) fn sign(&self) -> String {
        format!("{}.{}", self.owner, self.writes.fetch_add(1, Relaxed))
    }

    /// Waits a moment after an error.
    pub(crate) async fn suffer(&self, why: String) {
        log::debug!("shared data: {why}");
        self.note(why);
        sleep(AGAIN).await;
    }

    fn note(&self, why: String) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// The error of who has waited too long.
    pub(crate) fn late(&self) -> String {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let why = if trouble.is_empty() { String::new() } else { format!(" ({trouble})") };
        let limit = LIMIT.as_secs();
        format!("no answer of NATS within {limit} s{why}")
    }

    /// The key as it is, after as many attempts as it takes while `goes_on`.
    ///
    /// # Errors
    /// It does not go on.
    pub(crate) async fn read(
        &self,
        key: &str,
        goes_on: impl Fn() -> bool,
    ) -> Result<Option<Entry>, String> {
        while goes_on() && !self.over.load(Relaxed) {
            match self.store.get(key).await {
                Ok(entry) => {
                    self.note(String::new());
                    return Ok(entry);
                }
                Err(why) => self.suffer(why).await,
            }
        }
        Err(self.late())
    }

    /// Writes a key once, whatever becomes of answers. `is_own` tells, of the value that came after `expected`, whether this write
    /// made it; `None` if the value came later and tells nothing.
    pub(crate) async fn write(
        &self,
        key: &str,
        value: &[u8],
        expected: u64,
        is_own: impl Fn(&[u8]) -> Option<bool>,
    ) -> Wrote {
        let until = Instant::now() + UNSURE;
        let mut is_first = true;
        while Instant::now() < until && !self.over.load(Relaxed) {
            // A copy of it that is on its way does no harm: it expects the same revision, and one of them comes first.
            match self.store.put(key, value.to_vec(), expected).await {
                Ok(Put::Done(revision)) => return Wrote::Done(revision),
                Ok(Put::Lost) if is_first => return Wrote::Lost,
                Ok(Put::Lost) => match self.store.after(key, expected).await {
                    Ok(Some(entry)) => match is_own(&entry.value) {
                        Some(true) => return Wrote::Done(entry.revision),
                        Some(false) => return Wrote::Lost,
                        None => return Wrote::Unsure,
                    },
                    // It was done, and removed since.
                    Ok(None) => return Wrote::Unsure,
                    Err(why) => self.suffer(why).await,
                },
                Err(why) => self.suffer(why).await,
            }
            is_first = false;
        }
        Wrote::Unsure
    }
}
