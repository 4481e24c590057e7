//! The thresholds of a ledger, judged.

use std::time::Duration;

use super::Ledger;
use super::judged::Look;
use super::window::Ring;
use crate::sink::Sink;

/// How the thresholds stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The names of metrics and submetrics with a threshold that fails, sorted.
    pub crossed: Vec<String>,
    /// Whether the test must stop now.
    pub abort: bool,
    /// The exit code of the threshold that broke first among those that fail and have one.
    pub exit_code: Option<u8>,
}

impl Ledger {
    /// Judges all thresholds that are not in time. `elapsed` is the time since the start of the run; counters are divided
    /// by it, and `delay_abort_eval` must be less than it for a test to be stopped. `last` is the
    /// judgement at the end: only then metrics without values are judged too, and nothing is stopped; thresholds in time
    /// whose time never came get their only look.
    pub fn evaluate(&mut self, elapsed: Duration, last: bool) -> Verdict {
        self.judge([elapsed; 2], last, false)
    }

    /// Whether some thresholds are in time: [`look`](Self::look) is for them.
    pub fn has_looks(&self) -> bool {
        let mut all = self.entries.iter().flat_map(|entry| &entry.judged);
        all.any(|judged| judged.threshold.timing.is_in_time())
    }

    /// The scenarios begin, at this time of the run: the values so far are in no window. The first call counts.
    pub fn begin(&mut self, elapsed: Duration) {
        if self.began.is_none() {
            self.began = Some(elapsed);
            self.entries.iter_mut().flat_map(|entry| &mut entry.rings).for_each(Ring::begin);
        }
    }

    /// Looks at the thresholds in time. Call it once a second while scenarios run; `elapsed` is the time since the start of the
    /// run. Without a [beginning](Self::begin) before, the scenarios begin with the first look.
    pub fn look(&mut self, elapsed: Duration) -> Verdict {
        self.look_back(elapsed, elapsed)
    }

    /// Looks as at the time `elapsed`, later: at `whole`, when the values up to `elapsed` and some younger ones have come.
    pub fn look_back(&mut self, elapsed: Duration, whole: Duration) -> Verdict {
        self.judge([elapsed, whole], false, true)
    }

    fn judge(&mut self, [elapsed, whole]: [Duration; 2], last: bool, looks: bool) -> Verdict {
        let mut verdict = Verdict::default();
        if looks {
            self.begin(elapsed);
        }
        let running = elapsed.saturating_sub(self.began.unwrap_or_default());
        let has_warmups = self.left_out.is_some();
        let mut exit = None;
        for entry in self.entries.iter_mut().filter(|entry| !entry.judged.is_empty()) {
            if looks || last {
                entry.rings.iter_mut().for_each(|ring| ring.settle(running));
            }
            let is_warming =
                looks && has_warmups && entry.is_warming(running + whole.saturating_sub(elapsed));
            let look = Look { elapsed, whole, running, last, warm_until: entry.warm_until };
            if let Sink::Trend(trend) = &mut entry.sink {
                trend.sort();
            }
            let mut crossed = false;
            for judged in &mut entry.judged {
                let is_in_time = judged.threshold.timing.is_in_time();
                if is_in_time && (looks || last) && !is_warming {
                    judged.look(&entry.sink, &entry.rings, look);
                } else if !is_in_time && !looks {
                    judged.judge(&entry.sink, look);
                }
                let (threshold, is_broken) = (&judged.threshold, !judged.ok);
                crossed |= is_broken;
                let ripe = threshold.delay_abort_eval.is_none_or(|delay| elapsed > delay);
                verdict.abort |= is_broken && threshold.abort_on_fail && ripe && !last;
                if let Some((at, code)) = judged.asks_for()
                    && exit.is_none_or(|(first, _)| at < first)
                {
                    exit = Some((at, code));
                }
            }
            if crossed {
                verdict.crossed.push(entry.name.clone());
            }
        }
        verdict.crossed.sort_unstable();
        verdict.exit_code = exit.map(|(_, code)| code);
        verdict
    }
}
