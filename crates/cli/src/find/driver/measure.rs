//! One hold: the load settles, then it is measured in slices.

use std::time::{Duration, Instant};

use brunt_find::{HOLDS_MAX, Measured, Purpose, SLICES, Trial};

use super::{Driver, Over};
use crate::find::{
    generator::{self, Clocks},
    window::Seen,
};

/// The beginning of a step that is not measured, as a part of its hold.
const SETTLING: f64 = 0.25;

/// Nor longer than this.
const SETTLING_MAX: Duration = Duration::from_secs(10);

/// But as long as this many mean iterations.
const LONGEST: f64 = 1.25;

/// A goal that is missed by this factor needs no second half of its hold.
const HOPELESS: f64 = 3.0;

impl Driver {
    /// Waits until the load has settled: at first fewer iterations end than begin, for as long as one takes.
    pub(super) fn settle(&mut self, trial: Trial, number: usize) -> Result<Seen, Over> {
        let usual = self.request.hold.mul_f64(SETTLING).min(SETTLING_MAX);
        let most = self.request.hold + SETTLING_MAX;
        let (begun, mut until) = (Instant::now(), usual);
        self.window.begin();
        loop {
            self.wait_telling(until.saturating_sub(begun.elapsed()), |left| {
                format!("step {number}: {}, settling, {left}", self.request.load(trial.load))
            })?;
            let seen = self.window.seen(begun.elapsed(), &self.goals);
            self.iteration_ms = self.iteration_ms.or(seen.iteration_ms);
            let lowest = self.search.lowest().and_then(|step| step.measured.iteration_ms);
            let each_ms = lowest.or(seen.iteration_ms);
            let wanted = each_ms
                .map_or(until + usual, |ms| Duration::from_secs_f64(ms * LONGEST / 1000.0))
                .clamp(usual, most);
            if until >= wanted {
                return Ok(seen);
            }
            until = wanted;
        }
    }

    /// Measures in slices for the time of the hold; for half of it if the step is hopeless, and up to three times as long while chance may
    /// have decided on which side of its limit a goal is.
    pub(super) fn measure(
        &self,
        hold: Duration,
        trial: Trial,
        number: usize,
    ) -> Result<Seen, Over> {
        let slice = hold / SLICES as u32;
        let begun = Instant::now();
        let mut slices: Vec<Vec<Option<f64>>> = Vec::new();
        loop {
            let part = slices.len() + 1;
            let until = slice.saturating_mul(part as u32).saturating_sub(begun.elapsed());
            self.wait_telling(until, |_| {
                let what = match (trial.purpose, part > SLICES) {
                    (_, true) => "measuring for longer: a goal is too near to its limit,",
                    (Purpose::Confirm, _) => "confirming",
                    _ => "measuring",
                };
                let all = part.div_ceil(SLICES) * SLICES;
                let left = slice.saturating_mul(all as u32).saturating_sub(begun.elapsed());
                let load = self.request.load(trial.load);
                format!("step {number}: {load}, {what} {} s left", left.as_secs() + 1)
            })?;
            slices.push(self.window.slice(slice, &self.goals));
            let is_whole = slices.len().is_multiple_of(SLICES);
            if !is_whole && slices.len() < SLICES / 2 {
                continue;
            }
            let mut seen = self.window.seen(begun.elapsed(), &self.goals);
            for (index, goal) in seen.goals.iter_mut().enumerate() {
                goal.spread = brunt_find::spread(slices.iter().map(|slice| slice[index]));
            }
            let measured = Measured { goals: seen.goals.clone(), ..Measured::default() };
            let is_over = if is_whole {
                slices.len() >= HOLDS_MAX * SLICES || !measured.is_undecided()
            } else {
                slices.len() < SLICES && measured.strain() >= HOPELESS
            };
            if is_over {
                return Ok(seen);
            }
        }
    }

    pub(super) fn measured(
        &self,
        seen: &Seen,
        elapsed: Duration,
        due: Option<f64>,
        clocks: &Clocks,
    ) -> Measured {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let per_second = |count: f64| count / seconds;
        let verdict = generator::verdict(clocks, seen);
        Measured {
            seconds,
            due: due.map(per_second),
            dropped: per_second(seen.dropped),
            finished: per_second(seen.finished),
            good: per_second(seen.good),
            failed: per_second(seen.failed),
            latency_ms: seen.latency_ms,
            median_ms: seen.median_ms,
            iteration_ms: seen.iteration_ms,
            vus: self.live.control().vus_active(),
            vus_at_limit: self.has_all_vus().then_some(self.request.vus_max),
            late_ms: verdict.late_ms,
            generator: verdict.sentence,
            busy: verdict.busy,
            waiting: verdict.waiting,
            is_disturbed: verdict.is_disturbed,
            goals: seen.goals.clone(),
        }
    }

    /// Iterations that were due so far, of all scenarios; none where VUs are the load.
    pub(super) fn due(&self) -> Option<f64> {
        let all = self.live.scenarios().iter().map(|state| state.steered_so_far());
        all.sum::<Option<u64>>().map(|due| due as f64)
    }
}
