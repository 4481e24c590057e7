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
    /// Ready to run, and waiting for a CPU, so far.
    waited: Option<u64>,
}

impl CoreWatch {
    /// A tick ran at `now` (unix ns), `late` ns after it should have. Call it on the core's own thread.
    pub(crate) fn ticked(&self, late: u64, now: u64) {
        self.lag.borrow_mut().add(late as f64 / 1e6);
        self.late.set(self.late.get().max(late));
        let reading = Reading { now, cpu: clock::thread_cpu_ns(), waited: waited_ns() };
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
        let (mut busy, mut starved) = (None, None);
        if let (Some(first), Some(last)) = (self.first.get(), self.last.get())
            && last.now > first.now
        {
            let whole = (last.now - first.now) as f64;
            let part = |from: Option<u64>, to: Option<u64>| {
                Some((to?.saturating_sub(from?) as f64 / whole).min(1.0))
            };
            busy = part(first.cpu, last.cpu);
            starved = part(first.waited, last.waited);
        }
        CoreHealth { core, busy, starved, lag: self.lag.take() }
    }
}

/// How long this thread has waited for a CPU, in nanoseconds; `None` where the system does not tell.
///
/// The second number of Linux's `schedstat` (time on the CPU, time on a run queue, slices).
fn waited_ns() -> Option<u64> {
    if cfg!(not(target_os = "linux")) {
        return None;
    }
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_between_the_first_tick_and_the_last() {
        let watch = CoreWatch::default();
        let at = |now, cpu, waited| Some(Reading { now, cpu: Some(cpu), waited: Some(waited) });
        watch.first.set(at(1000, 500, 100));
        watch.last.set(at(2000, 1000, 350));
        let health = watch.sum_up(3);
        assert_eq!((health.core, health.busy, health.starved), (3, Some(0.5), Some(0.25)));
    }

    #[test]
    fn without_ticks_nothing_is_known() {
        let health = CoreWatch::default().sum_up(0);
        assert_eq!((health.busy, health.starved), (None, None));
    }
}
