//! A threshold and how it is doing.

use std::time::Duration;

use super::window::Ring;
use crate::metric::Kind;
use crate::sink::Sink;
use crate::summary::ThresholdResult;
use crate::threshold::{NoData, Threshold, Timing, Watch};

/// A threshold and how it was found last time.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) threshold: Threshold,
    /// Which ring of its entry has its window.
    ring: Option<usize>,
    pub(super) ok: bool,
    value: Option<f64>,
    /// Whether its time has come yet.
    looked: bool,
    watch: Watch,
}

/// One look.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// The time of the run.
    pub(super) elapsed: Duration,
    /// The time of the run in which all values so far were measured.
    pub(super) whole: Duration,
    /// The time of the scenarios.
    pub(super) running: Duration,
    /// The run is over.
    pub(super) last: bool,
    /// The last moment of the scenarios at which the metric had no values but those of warm-ups.
    pub(super) warm_until: Duration,
}

impl Judged {
    pub(super) fn new(threshold: Threshold, ring: Option<usize>) -> Self {
        let watch = Watch::new(&threshold.timing);
        Self { threshold, ring, ok: true, value: None, looked: false, watch }
    }

    /// Judges it as k6 does: by all values so far, and at the end whether there are any or not.
    pub(super) fn judge(&mut self, sink: &Sink, look: Look) {
        let timing = &self.threshold.timing;
        let is_early = timing.after.is_some_and(|after| look.running < after);
        // Without values a test that lasts may still get some; but somebody has said from when on they must be there.
        let must_have = timing.on_no_data == Some(NoData::Fail) && timing.after.is_some();
        if is_early || (sink.is_empty() && !look.last && !must_have) {
            return;
        }
        self.looked = true;
        self.value = self.threshold.aggregation.of(sink, look.whole);
        let holds = self.value.is_none_or(|value| self.threshold.holds(value));
        self.ok = match timing.on_no_data.filter(|_| sink.is_empty()) {
            None => holds,
            Some(no_data) => no_data != NoData::Fail,
        };
        self.watch.look(look.elapsed, self.ok, self.value);
    }

    /// Looks at it, if its time has come: a window must have passed once, after the warm-up if there is one.
    pub(super) fn look(&mut self, whole: &Sink, rings: &[Ring], look: Look) {
        let timing = &self.threshold.timing;
        let (after, window) = (timing.after.unwrap_or_default(), timing.window.unwrap_or_default());
        // A run that was shorter than it should be is looked at once, at its end.
        let is_due = if look.last {
            !self.looked && look.running >= after
        } else {
            look.running + Timing::SLACK >= after.max(look.warm_until + window)
        };
        if !is_due {
            return;
        }
        self.looked = true;
        let over = self.ring.and_then(|ring| rings.get(ring)).map(|ring| ring.over(window));
        let (sink, took) = over.as_ref().map_or((whole, look.whole), |(sink, took)| (sink, *took));
        let is_empty = sink.is_empty();
        self.value = self.threshold.aggregation.of(sink, took);
        let holds = self.value.is_none_or(|value| self.threshold.holds(value));
        // Nothing was counted: that is a count of 0.
        let counts = sink.kind() == Kind::Counter;
        let Some(holds) = self.threshold.timing.meaning(is_empty, counts, holds) else {
            self.value = None;
            return;
        };
        self.watch.look(look.elapsed, holds, self.value);
        self.ok = self.watch.breach().is_none();
    }

    /// When it broke, if it is broken, and the exit code that it asks for.
    pub(super) fn asks_for(&self) -> Option<(Duration, u8)> {
        let at = self.watch.breach().map_or(Duration::MAX, |breach| breach.at);
        Some((at, self.threshold.timing.exit_code?)).filter(|_| !self.ok)
    }

    pub(super) fn result(&self) -> ThresholdResult {
        ThresholdResult {
            source: self.threshold.source.clone(),
            ok: self.ok,
            value: self.value,
            aggregation: self.threshold.aggregation.to_string(),
            abort_on_fail: self.threshold.abort_on_fail,
            timing: self.threshold.timing.clone(),
            breach: self.watch.breach(),
        }
    }
}
