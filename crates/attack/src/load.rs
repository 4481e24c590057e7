//! A kind of load: the work of a core's workers for a hit.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use brunt_records::Record;

use crate::sink::Sink;
use crate::target::Target;
use crate::targets::TargetStream;

/// The work of the workers of one core. [`Core`](crate::core) tells them when.
pub(crate) trait Load: 'static {
    /// The own state of a worker.
    type Worker: 'static;

    /// A new worker.
    fn worker(&self) -> Self::Worker;

    /// The targets that are read meanwhile, if each hit takes its own from there.
    fn stream(&self) -> Option<&TargetStream>;

    /// One hit, from its beginning to its record. `target` comes from the stream.
    async fn hit(
        &self,
        books: &Books,
        worker: &mut Self::Worker,
        target: Option<&Target>,
        turn: Turn,
    );
}

/// The number of a hit, and its moments (unix ns).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) seq: u64,
    pub(crate) began: u64,
    /// When it was due, if there is a schedule.
    pub(crate) planned: Option<u64>,
}

/// The report of a core at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) ended: u64,
    pub(crate) failed: u64,
    pub(crate) lag_max: u64,
    pub(crate) lag_sum: u64,
    /// When the last hit was begun (unix ns).
    pub(crate) last: u64,
    /// From the start until no more hits were begun.
    pub(crate) paced_ns: u64,
    /// How long hits that were due waited for a worker.
    pub(crate) at_cap_ns: u64,
    /// How long no hit was begun because the sink had no room.
    pub(crate) full_ns: u64,
    /// How long hits that were due waited for a target.
    pub(crate) hungry_ns: u64,
    pub(crate) sockets_refused: u64,
    /// The part of its time that it worked while hits were begun.
    pub(crate) busy: f64,
    /// Targets or schedule ended before the time.
    pub(crate) ran_dry: bool,
}

/// Where the records of a core go.
pub(crate) struct Books {
    pub(crate) sink: RefCell<Box<dyn Sink>>,
    pub(crate) report: RefCell<Report>,
}

impl Books {
    pub(crate) fn new(sink: Box<dyn Sink>) -> Self {
        Self { sink: RefCell::new(sink), report: RefCell::default() }
    }

    /// A hit has ended. `is_refused`: the system had no socket for it.
    pub(crate) fn enter(&self, record: &Record, turn: Turn, is_refused: bool) {
        {
            let mut report = self.report.borrow_mut();
            report.ended += 1;
            report.failed += u64::from(!record.is_success());
            let lag = record.lag();
            report.lag_max = report.lag_max.max(lag);
            report.lag_sum += lag;
            report.last = report.last.max(turn.began);
            report.sockets_refused += u64::from(is_refused);
        }
        self.sink.borrow_mut().take(record);
    }
}

/// Work that panics, which is a fault of ours, is a hit that failed, and ends nothing else.
pub(crate) async fn unless_panic<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    instead: impl Fn() -> T,
) -> T {
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))).unwrap_or_else(|_| {
            log::error!("a hit panicked, a fault in Brunt: it failed, and the attack goes on. Please report this");
            Poll::Ready(instead())
        })
    })
    .await
}

/// Replaces a text, unless it is the same.
pub(crate) fn put(text: &mut String, new: &str) {
    if text != new {
        text.clear();
        text.push_str(new);
    }
}

/// A number in digits, at the end of `into`.
pub(crate) fn decimal(mut number: u64, into: &mut String) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    into.push_str(std::str::from_utf8(&digits[at..]).expect("digits are ASCII"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_digits() {
        let mut text = String::new();
        for number in [0, 7, 10, u64::MAX] {
            decimal(number, &mut text);
            text.push(' ');
        }
        assert_eq!(text, "0 7 10 18446744073709551615 ");
    }
}
