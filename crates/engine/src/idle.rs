//! How many idle VUs a core has: a number that every core may take from.

use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire};

/// No more reservations: the scenario is over on that core.
const CLOSED: u32 = u32::MAX;

/// Counts the idle VUs of one core that are not reserved yet.
///
/// The core itself holds the list of its idle VUs. Lowering the count by one gives a claim on one
/// of them: the core's own pacer takes a VU from the list at once, another core sends a parcel. So the
/// list is always as long as the count and the parcels under way together.
#[derive(Debug, Default)]
pub(crate) struct IdleCount(AtomicU32);

impl IdleCount {
    /// Claims one idle VU; false if there is none.
    pub(crate) fn reserve(&self) -> bool {
        let claim = |count: u32| match count {
            0 | CLOSED => None,
            some => Some(some - 1),
        };
        self.0.fetch_update(AcqRel, Acquire, claim).is_ok()
    }

    /// One more VU is idle; false if it is over and the VU may go.
    pub(crate) fn release(&self) -> bool {
        let more = |count: u32| (count != CLOSED).then(|| count + 1);
        self.0.fetch_update(AcqRel, Acquire, more).is_ok()
    }

    /// Ends all reserving.
    pub(crate) fn close(&self) {
        self.0.store(CLOSED, std::sync::atomic::Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_can_be_reserved_than_were_released() {
        let idle = IdleCount::default();
        assert!(!idle.reserve());
        assert!(idle.release());
        assert!(idle.reserve());
        assert!(!idle.reserve());
    }

    #[test]
    fn a_closed_count_gives_and_takes_nothing() {
        let idle = IdleCount::default();
        idle.release();
        idle.close();
        assert!(!idle.reserve());
        assert!(!idle.release());
    }

    #[test]
    fn threads_never_reserve_the_same_vu() {
        let idle = IdleCount::default();
        for _ in 0..1000 {
            idle.release();
        }
        let taken: u32 = std::thread::scope(|scope| {
            let taker = || (0..600).map(|_| u32::from(idle.reserve())).sum::<u32>();
            let takers = [scope.spawn(taker), scope.spawn(taker)];
            takers.map(|taker| taker.join().unwrap()).iter().sum()
        });
        assert_eq!(taken, 1000);
    }
}
