//! A core's notes about itself while the scenarios run.

use std::cell::{Cell, RefCell};

use brunt_fiber::clock;
use brunt_metrics::TrendSink;

use super::CoreHealth;

/// One core's notes: its lag at each tick, and its CPU time from the first tick to the last.
#[derive(Default)]
pub(crate) struct CoreWatch {
    lag: RefCell<TrendSink>,
    first: Cell<Option<Reading>>,
    last: Cell<Option<Reading>>,
    /// The latest tick since somebody asked, in nanoseconds.
    late: Cell<u64>,
}

/// The clocks of a thread at one moment, in nanoseconds.
#[derive(Clone, Copy)]
struct Reading {
    now: u64,
    /// On a CPU so far.
    cpu: Option<u64>,
}

impl CoreWatch {
    /// A tick ran at `now` (unix ns), `late` ns after it should have. Call it on the core's own thread.
    pub(crate) fn ticked(&self, late: u64, now: u64) {
        self.lag.borrow_mut().add(late as f64 / 1e6);
        self.late.set(self.late.get().max(late));
        let reading = Reading { now, cpu: clock::thread_cpu_ns() };
        if self.first.get().is_none() {
            self.first.set(Some(reading));
        }
        self.last.set(Some(reading));
    }

    /// How late the latest tick was since the last call, in nanoseconds.
    pub(crate) fn take_late(&self) -> u64 {
        self.late.take()
    }

    pub(crate) fn sum_up(&self, core: u32) -> CoreHealth {
        let ends = self.first.get().zip(self.last.get());
        let busy = ends.filter(|(first, last)| last.now > first.now).and_then(|(first, last)| {
            let ran = last.cpu?.saturating_sub(first.cpu?) as f64;
            Some((ran / (last.now - first.now) as f64).min(1.0))
        });
        CoreHealth { core, busy, lag: self.lag.take() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_between_the_first_tick_and_the_last() {
        let watch = CoreWatch::default();
        let at = |now, cpu| Some(Reading { now, cpu: Some(cpu) });
        watch.first.set(at(1000, 500));
        watch.last.set(at(2000, 1000));
        let health = watch.sum_up(3);
        assert_eq!((health.core, health.busy), (3, Some(0.5)));
    }

    #[test]
    fn without_ticks_nothing_is_known() {
        let health = CoreWatch::default().sum_up(0);
        assert_eq!(health.busy, None);
    }
}
