//! `Server-Timing`: what the server says it spent, phase by phase.

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::Duration;

use hyper::header::HeaderValue;

/// Where one request's time went. A phase that stayed zero is not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Phases {
    /// Waiting for the origin, its queue excluded.
    pub(crate) origin: Duration,
    /// Waiting for Redis.
    pub(crate) redis: Duration,
    /// Computing: compression, hashing, parsing.
    pub(crate) cpu: Duration,
    /// Waiting for a turn: the origin's queue, a processing thread, the CPU budget.
    pub(crate) queue: Duration,
    /// Reading a picture.
    pub(crate) decode: Duration,
    /// Bringing it to its size; with `--synthetic` the whole cost of it.
    pub(crate) resize: Duration,
    /// Writing it.
    pub(crate) encode: Duration,
}

/// Short totals are the rule on the trivial routes: 0.00 to 9.99 ms are made once.
static TOTALS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    (0..1000u32)
        .map(|step| render(&Phases::default(), Duration::from_micros(u64::from(step) * 10)))
        .collect()
});

impl Phases {
    /// Adds what another step of the same request spent.
    pub(crate) fn add(&mut self, other: &Phases) {
        self.origin += other.origin;
        self.redis += other.redis;
        self.cpu += other.cpu;
        self.queue += other.queue;
        self.decode += other.decode;
        self.resize += other.resize;
        self.encode += other.encode;
    }

    /// The header's value: `origin;dur=1003.12, redis;dur=1.20, total;dur=1005.00`, in ms.
    pub(crate) fn header(&self, total: Duration) -> HeaderValue {
        if *self == Self::default()
            && let Some(ready) = TOTALS.get((total.as_micros() / 10) as usize)
        {
            return ready.clone();
        }
        render(self, total)
    }
}

fn render(phases: &Phases, total: Duration) -> HeaderValue {
    let mut text = String::with_capacity(96);
    for (name, spent) in [
        ("origin", phases.origin),
        ("redis", phases.redis),
        ("cpu", phases.cpu),
        ("queue", phases.queue),
        ("decode", phases.decode),
        ("resize", phases.resize),
        ("encode", phases.encode),
    ] {
        if !spent.is_zero() {
            let _ = write!(text, "{name};dur={:.2}, ", milliseconds(spent));
        }
    }
    let _ = write!(text, "total;dur={:.2}", milliseconds(total));
    HeaderValue::try_from(text).expect("names, digits and separators are visible ASCII")
}

/// A duration as a number of milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Now as RFC 3339 in UTC with milliseconds, and as milliseconds since 1970.
pub(crate) fn now_utc() -> (String, i64) {
    let now = jiff::Timestamp::now();
    (format!("{now:.3}"), now.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_took_no_time_are_not_shown() {
        let phases = Phases { origin: Duration::from_micros(1_003_120), ..Phases::default() };
        assert_eq!(
            phases.header(Duration::from_millis(1005)),
            "origin;dur=1003.12, total;dur=1005.00"
        );
        assert_eq!(Phases::default().header(Duration::from_micros(1234)), "total;dur=1.23");
        assert_eq!(Phases::default().header(Duration::from_secs(2)), "total;dur=2000.00");
    }

    #[test]
    fn the_clock_reads_as_rfc_3339() {
        let (text, _) = now_utc();
        assert_eq!(text.len(), "2026-01-01T00:00:00.000Z".len(), "{text}");
        assert!(text.ends_with('Z'));
    }
}
