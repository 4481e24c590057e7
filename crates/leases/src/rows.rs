//! Rows that are used once in the whole test: blocks of places go to whoever asks next, and the next one is asked for when half of
//! one is used.

use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::ask::Gate;
use crate::cell::{Cell, State};
use crate::wire::{ABSENT, LIMIT, Late};

/// Rows of a block at most: a process that is lost takes as many with it, twice at most.
const BLOCK_MAX: u64 = 1000;

/// A block is at most this part of an even share of the rows that are left, but 1 at least: so processes that are equally quick
/// run dry at about the same time, with a row or two in their hands.
const SHARE: u64 = 4;

/// The rows of one name, as one process gives them out.
#[derive(Debug)]
pub struct Rows {
    wire: Arc<Late>,
    key: String,
    rules: Rules,
    cell: OnceLock<Cell<Next>>,
    held: Mutex<Held>,
    /// An answer has come.
    told: Notify,
}

/// Two blocks at most.
#[derive(Debug, Default)]
struct Held {
    now: Range<u64>,
    /// Rows of that block when it came.
    size: u64,
    next: Option<Range<u64>>,
    is_asking: bool,
    /// Answers so far.
    answers: u64,
    /// There are no more blocks.
    is_over: bool,
    /// The fault of the last answer.
    fault: Option<String>,
}

/// The answer to a caller.
#[derive(Debug, PartialEq, Eq)]
pub enum Lease {
    /// The row's place among all rows, which no other caller gets.
    Place(u64),
    /// All rows have been leased, and those of this process have been given out.
    None,
    /// An answer must come first, after this number of them: see [`Rows::answered`].
    Later(u64),
}

/// The first place that no process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Next(u64);

#[derive(Clone, Copy, Debug)]
struct Rules {
    total: u64,
    processes: u64,
}

impl State for Next {
    type Rules = Rules;
    type Ask = ();
    type Told = Range<u64>;

    fn first(_: &Rules) -> Self {
        Self(0)
    }

    fn apply(&mut self, rules: &Rules, (): &()) -> Result<Range<u64>, String> {
        let left = rules.total.saturating_sub(self.0);
        let block = (left / (SHARE * rules.processes)).clamp(1, BLOCK_MAX).min(left);
        let from = self.0;
        self.0 += block;
        Ok(from..self.0)
    }
}

impl Rows {
    /// All rows are this process's.
    pub fn alone(total: u64) -> Arc<Self> {
        let held = Held { now: 0..total, size: total, is_over: true, ..Held::default() };
        Self::new(&Arc::default(), String::new(), (total, 1), held)
    }

    pub(crate) fn shared(wire: &Arc<Late>, key: String, total: u64, processes: u32) -> Arc<Self> {
        Self::new(wire, key, (total, processes), Held::default())
    }

    fn new(wire: &Arc<Late>, key: String, (total, processes): (u64, u32), held: Held) -> Arc<Self> {
        Arc::new(Self {
            wire: Arc::clone(wire),
            key,
            rules: Rules { total, processes: u64::from(processes.max(1)) },
            cell: OnceLock::new(),
            held: Mutex::new(held),
            told: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next place. Never waits.
    pub fn take(self: &Arc<Self>) -> Lease {
        let (lease, asks) = self.lock().take();
        if asks {
            self.ask();
        }
        lease
    }

    /// Waits until more answers than `before` have come.
    ///
    /// # Errors
    /// The last of them was an error, or none came in time.
    pub async fn answered(&self, before: u64) -> Result<(), String> {
        loop {
            let mut told = pin!(self.told.notified());
            // From here on no answer is missed.
            told.as_mut().enable();
            {
                let held = self.lock();
                if held.answers != before {
                    return held.fault.clone().map_or(Ok(()), Err);
                }
            }
            told.await;
        }
    }

    /// Asks for a block, until it is there: a block that comes late is as good. Callers that wait hear of each delay of [`LIMIT`].
    fn ask(self: &Arc<Self>) {
        let Some(wire) = self.wire.get() else {
            self.hear(Err(ABSENT.to_owned()), true);
            return;
        };
        let this = Arc::clone(self);
        let trouble = Arc::clone(&wire);
        wire.runtime.spawn(async move {
            let open = || Cell::open(&trouble, this.key.clone(), this.rules);
            let cell = this.cell.get_or_init(open);
            let gate = Gate::new(this.wire.over());
            let mut block = pin!(cell.ask((), &gate));
            loop {
                tokio::select! {
                    biased;
                    told = &mut block => return this.hear(told, true),
                    () = sleep(LIMIT) => this.hear(Err(trouble.late()), false),
                }
            }
        });
    }

    fn hear(&self, told: Result<Range<u64>, String>, is_end: bool) {
        let mut held = self.lock();
        held.is_asking &= !is_end;
        held.answers += 1;
        held.fault = None;
        match told {
            Ok(block) if block.is_empty() => held.is_over = true,
            Ok(block) => held.next = Some(block),
            Err(why) => held.fault = Some(why),
        }
        drop(held);
        self.told.notify_waiters();
    }
}

impl Held {
    /// A place, and whether the next block must be asked for.
    fn take(&mut self) -> (Lease, bool) {
        if self.now.is_empty()
            && let Some(next) = self.next.take()
        {
            self.size = next.end - next.start;
            self.now = next;
        }
        let lease = match self.now.next() {
            Some(place) => Lease::Place(place),
            None if self.is_over => Lease::None,
            None => Lease::Later(self.answers),
        };
        let left = self.now.end - self.now.start;
        let wants = self.next.is_none() && left <= self.size / 2;
        let asks = wants && !self.is_over && !self.is_asking;
        self.is_asking |= asks;
        (lease, asks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_alone_has_all_rows_in_order() {
        for total in [0, 1, 2, 100_001] {
            let rows = Rows::alone(total);
            for place in 0..total {
                assert_eq!(rows.take(), Lease::Place(place));
            }
            assert_eq!(rows.take(), Lease::None);
        }
    }

    #[test]
    fn blocks_are_a_thousand_and_smaller_near_the_end() {
        let rules = Rules { total: 100_000, processes: 4 };
        let mut next = Next::first(&rules);
        let block = |next: &mut Next| {
            let block = next.apply(&rules, &()).unwrap();
            block.end - block.start
        };
        let sizes: Vec<u64> =
            std::iter::repeat_with(|| block(&mut next)).take_while(|size| *size > 0).collect();
        assert_eq!(sizes.iter().sum::<u64>(), 100_000);
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        assert_eq!((sizes[0], sizes[83], sizes[sizes.len() - 1]), (1000, 1000, 1));
        // 85 of a thousand, then fewer and fewer.
        assert!((150..250).contains(&sizes.len()), "{}", sizes.len());
    }

    #[test]
    fn the_next_block_is_asked_for_at_half_and_once() {
        let mut held = Held::default();
        assert_eq!(held.take(), (Lease::Later(0), true));
        assert_eq!(held.take(), (Lease::Later(0), false));
        (held.next, held.is_asking) = (Some(0..10), false);
        for place in 0..4 {
            assert_eq!(held.take(), (Lease::Place(place), false));
        }
        assert_eq!(held.take(), (Lease::Place(4), true));
        assert_eq!(held.take(), (Lease::Place(5), false));
        (held.next, held.is_asking) = (Some(100..102), false);
        for place in 6..10 {
            assert_eq!(held.take(), (Lease::Place(place), false));
        }
        assert_eq!(held.take(), (Lease::Place(100), true));
        held.is_over = true;
        assert_eq!(held.take(), (Lease::Place(101), false));
        assert_eq!(held.take(), (Lease::None, false));
    }

    #[test]
    fn without_a_store_a_row_is_a_fault_of_each_question() {
        let rows = crate::Leases::new(2).rows("r", 10);
        assert_eq!(rows.take(), Lease::Later(0));
        assert_eq!(rows.lock().answers, 1);
        let wait = futures_util::FutureExt::now_or_never(rows.answered(0));
        assert!(wait.expect("it has come").unwrap_err().contains("no connection"));
        assert_eq!(rows.take(), Lease::Later(1));
    }
}
