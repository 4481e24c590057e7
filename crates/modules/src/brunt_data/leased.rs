//! Leased rows: blocks of places, taken from the [`Leases`] of the test, the next one asked for when half of one is used.

use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::leases::{Leases, Told};

/// Rows of a block at most: a process that is lost takes as many with it, twice at most.
const BLOCK_MAX: u64 = 1000;
/// Blocks that all rows are cut into at least, if they are as many: so all processes run dry at about the same time.
const BLOCKS: u64 = 64;

/// The rows of one name, as one process leases them.
#[derive(Debug)]
pub(super) struct Leased {
    name: String,
    total: u64,
    block: u64,
    leases: Arc<dyn Leases>,
    held: Mutex<Held>,
    /// An answer has come.
    told: Notify,
}

/// Two blocks at most.
#[derive(Debug, Default)]
struct Held {
    now: Range<u64>,
    next: Option<Range<u64>>,
    is_asking: bool,
    /// Answers so far.
    answers: u64,
    /// There are no more blocks.
    is_over: bool,
    /// The fault of the last answer, for one caller.
    fault: Option<String>,
}

/// The answer to a caller.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lease {
    /// The row's place among all rows, which no other caller gets.
    Place(u64),
    /// All rows have been given out.
    None,
    /// An answer of the leases must come first, after this number of them: see [`Leased::answered`].
    Later(u64),
    /// The rows can't be had now.
    Fault(String),
}

impl Leased {
    pub(super) fn new(name: String, total: u64, leases: Arc<dyn Leases>) -> Arc<Self> {
        let block = (total / BLOCKS).clamp(1, BLOCK_MAX);
        let (held, told) = (Mutex::default(), Notify::new());
        Arc::new(Self { name, total, block, leases, held, told })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next place.
    pub(super) fn take(self: &Arc<Self>) -> Lease {
        loop {
            let (lease, asks) = self.lock().take(self.block);
            if asks {
                self.ask();
            }
            // The answer may be there at once.
            if !asks || !matches!(lease, Lease::Later(_)) {
                return lease;
            }
        }
    }

    /// Waits until more answers than `before` have come.
    pub(super) async fn answered(&self, before: u64) {
        loop {
            let mut told = pin!(self.told.notified());
            // From here on no answer is missed.
            told.as_mut().enable();
            if self.lock().answers != before {
                return;
            }
            told.await;
        }
    }

    fn ask(self: &Arc<Self>) {
        let this = Arc::clone(self);
        let told: Told = Box::new(move |answer| {
            let mut held = this.lock();
            held.is_asking = false;
            held.answers += 1;
            match answer {
                Ok(range) if range.start < range.end.min(this.total) => {
                    held.next = Some(range.start..range.end.min(this.total));
                }
                Ok(_) => held.is_over = true,
                Err(why) => held.fault = Some(why),
            }
            drop(held);
            this.told.notify_waiters();
        });
        self.leases.lease(&self.name, self.total, self.block, told);
    }
}

impl Held {
    /// A place, and whether the next block must be asked for.
    fn take(&mut self, block: u64) -> (Lease, bool) {
        if self.now.is_empty()
            && let Some(next) = self.next.take()
        {
            self.now = next;
        }
        let lease = match self.now.next() {
            Some(place) => Lease::Place(place),
            None => match self.fault.take() {
                Some(why) => return (Lease::Fault(why), false),
                None if self.is_over => Lease::None,
                None => Lease::Later(self.answers),
            },
        };
        let left = self.now.end - self.now.start;
        let wants = self.next.is_none() && left <= block / 2 && self.fault.is_none();
        let asks = wants && !self.is_over && !self.is_asking;
        self.is_asking |= asks;
        (lease, asks)
    }
}

/// The allocator of a process that runs the whole test.
#[derive(Debug, Default)]
pub(super) struct OwnLeases(AtomicU64);

impl Leases for OwnLeases {
    fn lease(&self, _: &str, total: u64, count: u64, told: Told) {
        // No caller asks again at the end of the rows: the sum stays small.
        let from = self.0.fetch_add(count, Relaxed);
        told(Ok(from.min(total)..from.saturating_add(count).min(total)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(leased: &Arc<Leased>) -> Vec<u64> {
        std::iter::from_fn(|| match leased.take() {
            Lease::Place(place) => Some(place),
            Lease::None => None,
            other => panic!("{other:?}"),
        })
        .collect()
    }

    #[test]
    fn a_process_alone_leases_all_rows_in_order() {
        for total in [0, 1, 2, 63, 64, 1000, 100_001] {
            let leased = Leased::new("r".to_owned(), total, Arc::new(OwnLeases::default()));
            assert!(all(&leased).into_iter().eq(0..total), "{total}");
            assert_eq!(leased.take(), Lease::None);
        }
    }

    #[test]
    fn processes_with_one_allocator_share_all_rows() {
        let leases = Arc::new(OwnLeases::default());
        let seats: Vec<_> =
            (0..3).map(|_| Leased::new("r".to_owned(), 10_000, Arc::clone(&leases) as _)).collect();
        let mut seen: Vec<u64> = std::thread::scope(|scope| {
            let all = |leased| move || all(leased);
            let threads: Vec<_> =
                seats.iter().chain(&seats).map(|leased| scope.spawn(all(leased))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..10_000));
    }

    /// Keeps the questions until the test answers them.
    #[derive(Debug, Default)]
    struct Slow(Mutex<Vec<Question>>);

    struct Question(u64, Told);

    impl std::fmt::Debug for Question {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}", self.0)
        }
    }

    impl Leases for Slow {
        fn lease(&self, _: &str, _: u64, count: u64, told: Told) {
            self.0.lock().unwrap().push(Question(count, told));
        }
    }

    impl Slow {
        fn answer(&self, answer: Result<Range<u64>, String>) {
            let Question(_, told) = self.0.lock().unwrap().pop().expect("a question waits");
            told(answer);
        }

        fn questions(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    #[test]
    fn the_next_block_is_asked_for_at_half_and_once() {
        let slow = Arc::new(Slow::default());
        let leased = Leased::new("r".to_owned(), 640, Arc::clone(&slow) as _);
        assert_eq!([leased.take(), leased.take()], [Lease::Later(0), Lease::Later(0)]);
        assert_eq!(slow.questions(), 1);
        slow.answer(Ok(0..10));
        for place in 0..4 {
            assert_eq!((leased.take(), slow.questions()), (Lease::Place(place), 0));
        }
        assert_eq!((leased.take(), slow.questions()), (Lease::Place(4), 1));
        assert_eq!((leased.take(), slow.questions()), (Lease::Place(5), 1));
        slow.answer(Ok(100..110));
        for place in (6..10).chain(100..104) {
            assert_eq!((leased.take(), slow.questions()), (Lease::Place(place), 0));
        }
        assert_eq!((leased.take(), slow.questions()), (Lease::Place(104), 1));
        slow.answer(Ok(640..640));
        for place in 105..110 {
            assert_eq!(leased.take(), Lease::Place(place));
        }
        assert_eq!((leased.take(), slow.questions()), (Lease::None, 0));
    }

    #[test]
    fn a_fault_fails_one_call_and_the_next_asks_again() {
        let slow = Arc::new(Slow::default());
        let leased = Leased::new("r".to_owned(), 640, Arc::clone(&slow) as _);
        assert_eq!(leased.take(), Lease::Later(0));
        slow.answer(Err("no broker".to_owned()));
        assert_eq!(leased.take(), Lease::Fault("no broker".to_owned()));
        assert_eq!((leased.take(), slow.questions()), (Lease::Later(1), 1));
        slow.answer(Ok(0..10));
        assert_eq!(leased.take(), Lease::Place(0));
    }

    #[tokio::test]
    async fn who_waits_hears_of_an_answer_before_and_after() {
        let slow = Arc::new(Slow::default());
        let leased = Leased::new("r".to_owned(), 640, Arc::clone(&slow) as _);
        assert_eq!(leased.take(), Lease::Later(0));
        let waits = [leased.answered(0), leased.answered(0)];
        let answer = async {
            tokio::task::yield_now().await;
            slow.answer(Ok(0..10));
        };
        tokio::join!(futures_util::future::join_all(waits), answer);
        leased.answered(0).await;
        assert_eq!(leased.take(), Lease::Place(0));
    }
}
