//! Computing apart from the VUs: one thread beside each core, which takes the jobs of its VUs in turn.
//!
//! As many jobs wait as VUs have promises for. The promises count as memory of the VU, and `vuMemory` bounds them. The core
//! does none of them itself: a large key takes minutes, in which no other VU would move and a signal would not be heard.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The thread beside this core; it ends with it.
    static BESIDE: RefCell<Option<Sender<Job>>> = const { RefCell::new(None) };
}

/// Has a job done. A job whose result is no longer awaited is not begun.
pub(super) fn compute<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<T> {
    let (tell, told) = oneshot::channel();
    let job: Job = Box::new(move || {
        if !tell.is_closed() {
            let _ = tell.send(job());
        }
    });
    let left = BESIDE.with_borrow_mut(|beside| {
        if beside.is_none() {
            *beside = start();
        }
        match beside {
            Some(queue) => queue.send(job).err().map(|refused| refused.0),
            None => Some(job),
        }
    });
    if let Some(job) = left {
        job();
    }
    told
}

#[expect(
    clippy::disallowed_methods,
    reason = "each job has a promise, which counts as memory of its VU: vuMemory is the bound"
)]
fn start() -> Option<Sender<Job>> {
    let (queue, jobs) = channel();
    let thread = std::thread::Builder::new().name("brunt-crypto".to_owned());
    thread.spawn(move || work(&jobs)).ok().map(|_| queue)
}

fn work(jobs: &Receiver<Job>) {
    for job in jobs {
        // A panic costs its own promise alone.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_elsewhere_and_a_panic_takes_only_its_own_along() {
        let here = std::thread::current().id();
        let there = compute(std::thread::current).blocking_recv().unwrap();
        assert_ne!(there.id(), here);
        assert!(compute(|| panic!("as it may happen")).blocking_recv().is_err());
        assert_eq!(compute(|| 5).blocking_recv(), Ok(5));
    }
}
