//! `rps`: the limit of requests per second, over all VUs of the process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::shared::Shared;

/// The limiter of the test.
#[derive(Default)]
struct OfTest(OnceLock<Arc<Limiter>>);

/// The limit of the process, if there is one.
pub(super) fn of(shared: &Shared) -> Option<Arc<Limiter>> {
    let rps = shared.config().rps;
    let make = || Arc::new(Limiter::new(rps));
    (rps > 0.0).then(|| Arc::clone(shared.slot::<OfTest>().0.get_or_init(make)))
}

/// A token bucket with room for one token: requests are spaced evenly, and waiting saves up nothing.
#[derive(Debug)]
pub(super) struct Limiter {
    interval_ns: u64,
    /// Unix ns from which the next request may go.
    next: AtomicU64,
}

impl Limiter {
    pub(super) fn new(per_second: f64) -> Self {
        Self { interval_ns: (1e9 / per_second) as u64, next: AtomicU64::new(0) }
    }

    /// Takes the next place in the queue. Returns how long it is from `now`, in Unix ns, until then.
    pub(super) fn reserve(&self, now: u64) -> Duration {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let mine = next.max(now);
            let after = mine + self.interval_ns;
            match self.next.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Duration::from_nanos(mine - now),
                Err(seen) => next = seen,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_one_interval_apart() {
        let limiter = Limiter::new(10.0);
        let now = 1_700_000_000_000_000_000;
        let wait = |after_ms: u64| limiter.reserve(now + after_ms * 1_000_000).as_millis();
        assert_eq!([0, 0, 30, 250].map(wait), [0, 100, 170, 50]);
        // Waiting saves up nothing.
        assert_eq!([5000, 5000].map(wait), [0, 100]);
    }
}
