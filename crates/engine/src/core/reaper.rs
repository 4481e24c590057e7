//! Stops those whose time is up.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use brunt_fiber::clock;
use tokio::sync::Notify;

use crate::stop::StopHandle;

/// Holds the stop handle of everyone at work on a core, and stops each at its deadline, within 2 ms.
///
/// A VU that never yields keeps its core from running this; such a one finds its deadline by itself, see
/// [`StopHandle::check`].
#[derive(Default)]
pub(super) struct Reaper {
    inner: RefCell<Inner>,
    /// An earlier deadline has come in.
    sooner: Notify,
}

#[derive(Default)]
struct Inner {
    watched: Vec<Option<StopHandle>>,
    free: Vec<usize>,
    /// (deadline, place). A VU that leaves stays in here until its deadline; then its place is empty, or holds a VU
    /// whose own deadline is later. At most one entry for each time a VU was activated.
    due: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Reaper {
    /// Watches a handle until [`forget`](Self::forget) is called with the answer.
    pub(super) fn watch(&self, stop: &StopHandle) -> usize {
        let mut inner = self.inner.borrow_mut();
        let place = inner.free.pop().unwrap_or_else(|| {
            inner.watched.push(None);
            inner.watched.len() - 1
        });
        inner.watched[place] = Some(stop.clone());
        drop(inner);
        self.expect_at(stop.deadline(), place);
        place
    }

    /// The deadline of a watched handle has been moved to `deadline`.
    pub(super) fn expect_at(&self, deadline: u64, place: usize) {
        let mut inner = self.inner.borrow_mut();
        let is_next = inner.due.peek().is_none_or(|Reverse((first, _))| deadline < *first);
        inner.due.push(Reverse((deadline, place)));
        if is_next {
            self.sooner.notify_one();
        }
    }

    pub(super) fn forget(&self, place: usize) {
        let mut inner = self.inner.borrow_mut();
        inner.watched[place] = None;
        inner.free.push(place);
    }

    /// Stops everyone who hears aborts.
    pub(super) fn stop_all(&self) {
        let watched: Vec<StopHandle> =
            self.inner.borrow().watched.iter().flatten().cloned().collect();
        for stop in watched.iter().filter(|stop| stop.hears_aborts()) {
            stop.stop();
        }
    }

    /// Reaps for ever.
    pub(super) async fn run(&self) {
        loop {
            let next = self.inner.borrow().due.peek().map(|Reverse((deadline, _))| *deadline);
            let now = clock::now_ns();
            match next {
                Some(deadline) if deadline <= now => self.reap(now),
                Some(deadline) => {
                    let wait = Duration::from_nanos(deadline - now);
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.sooner.notified() => {}
                    }
                }
                None => self.sooner.notified().await,
            }
        }
    }

    fn reap(&self, now: u64) {
        loop {
            let mut inner = self.inner.borrow_mut();
            let Some(Reverse((deadline, place))) = inner.due.peek().copied() else {
                return;
            };
            if deadline > now {
                return;
            }
            inner.due.pop();
            let stop = inner.watched[place].clone();
            drop(inner);
            if let Some(stop) = stop.filter(|stop| stop.deadline() <= now) {
                stop.stop();
            }
        }
    }
}
