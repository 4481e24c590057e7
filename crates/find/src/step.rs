//! One step of a search: its load, what was seen, what that means.

use crate::limit::Point;

/// A load to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Iterations per second, or VUs.
    pub load: f64,
    /// The part of the search that asks.
    pub purpose: Purpose,
}

/// Why a load is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// No goal has broken yet.
    Climb,
    /// No load has held yet.
    Descend,
    /// Between a load that held and one that broke.
    Narrow,
    /// The highest load that held, once more and for longer.
    Confirm,
}

/// The meaning of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All goals held.
    Held,
    /// The system did not meet a goal, or did not keep up. The text says which and by how much.
    Broke(String),
    /// The generator was in the way, so nothing is known of the system. The text says how.
    Generator(String),
    /// A goal has no values at all: the goal's name.
    Unmeasured(String),
}

/// One goal after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// As the user wrote it: `http_req_duration p(95)<200`.
    pub name: String,
    /// The measured number; none if nothing was measured.
    pub value: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
    /// The number that it must not pass, if it is an upper bound.
    pub limit: Option<f64>,
    /// The share that it must not fall below, if it is a lower bound on a rate.
    pub share_min: Option<f64>,
    /// The standard error of the value, as a part of it: how much is chance. None if it is not known.
    pub spread: Option<f64>,
    /// Whether it is about a time in milliseconds, to which the generator's own lateness adds.
    pub is_time: bool,
    /// Whether it needs values to say anything: a percentile does, a count does not.
    pub needs_values: bool,
}

impl Goal {
    /// How near the value is to its limit: 1 at the limit, 0 far below. None without a bound that can be neared.
    pub(crate) fn strain(&self) -> Option<f64> {
        let value = self.value?;
        let (value, limit) = match (self.limit, self.share_min) {
            (Some(limit), _) => (value, limit),
            // The part that is not as it should be.
            (None, Some(least)) => (1.0 - value, 1.0 - least),
            (None, None) => return None,
        };
        (limit > 0.0).then(|| (value / limit).max(0.0))
    }
}

/// The standard error of a value that is not known any better, as a part of it.
const SPREAD_UNKNOWN: f64 = 0.1;

/// The measurements of one step, without its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// How long was measured, in seconds.
    pub seconds: f64,
    /// Iterations per second that were due; none where VUs are the load.
    pub due: Option<f64>,
    /// Iterations per second that could not start, because all VUs were busy.
    pub dropped: f64,
    /// Iterations per second that came to their end.
    pub finished: f64,
    /// Good answers per second: requests that did not fail, or iterations if there are no requests.
    pub good: f64,
    /// Failed requests per second.
    pub failed: f64,
    /// The latency to watch, in milliseconds: the percentile of the first goal about a time, else p(95).
    pub latency_ms: Option<f64>,
    /// Its median.
    pub median_ms: Option<f64>,
    /// The mean time of an iteration, in milliseconds.
    pub iteration_ms: Option<f64>,
    /// VUs inside an iteration at the end.
    pub vus: u64,
    /// VUs that there may be, if all there may be were made.
    pub vus_at_limit: Option<u64>,
    /// How late the generator was, in milliseconds (95th percentile): its ticks, its starts.
    pub late_ms: f64,
    /// The sentence of the generator's own verdict, if it found itself wanting.
    pub generator: Option<String>,
    /// How full the fullest load core was: the part of its time at work, 0 to 1.
    pub busy: f64,
    /// The part of its time that it waited for a CPU.
    pub waiting: f64,
    /// Something else took the CPUs, so that a calmer moment may give another answer.
    pub is_disturbed: bool,
    /// The goals, in the user's order.
    pub goals: Vec<Goal>,
}

impl Measured {
    /// How near the nearest goal is to its limit; 0 if no goal has an upper bound.
    pub fn strain(&self) -> f64 {
        self.goals.iter().filter_map(Goal::strain).fold(0.0, f64::max)
    }

    /// The standard error of the goal that is nearest to its limit, as a part of its value.
    fn spread(&self) -> f64 {
        let strained = self.goals.iter().filter_map(|goal| Some((goal.strain()?, goal.spread)));
        let nearest = strained.max_by(|a, b| a.0.total_cmp(&b.0));
        nearest.and_then(|(_, spread)| spread).unwrap_or(SPREAD_UNKNOWN)
    }

    /// Whether chance may have decided on which side of its limit the nearest goal is: within two standard errors.
    pub fn is_undecided(&self) -> bool {
        let strain = self.strain();
        strain > 0.0 && strain.ln().abs() < 2.0 * self.spread()
    }
}

/// A step that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its load.
    pub trial: Trial,
    /// Its numbers.
    pub measured: Measured,
    /// Their meaning.
    pub outcome: Outcome,
}

impl Step {
    /// Whether all goals held.
    pub fn held(&self) -> bool {
        self.outcome == Outcome::Held
    }

    /// Whether the system did not bear it.
    pub fn broke(&self) -> bool {
        matches!(self.outcome, Outcome::Broke(_))
    }

    /// Its word on the limit; none if the generator was in the way.
    pub(crate) fn point(&self) -> Option<Point> {
        let (measured, load) = (&self.measured, self.trial.load);
        let strain = measured.strain();
        let ease = if strain > 0.0 { 1.0 / strain } else { f64::INFINITY };
        let spread = measured.spread();
        match &self.outcome {
            Outcome::Held => Some(Point { load, ease: ease.max(1.0), spread }),
            Outcome::Broke(_) if measured.good <= 0.0 => Some(Point { load, ease: 0.0, spread }),
            Outcome::Broke(_) if ease <= 1.0 => Some(Point { load, ease: ease.min(0.999), spread }),
            // Something else than a bound that can be neared: too few answers.
            Outcome::Broke(_) => {
                let due = measured.due.filter(|due| *due > 0.0);
                let kept_up = due.map_or(0.0, |due| measured.finished / due);
                Some(Point { load, ease: kept_up.clamp(0.0, 0.9), spread: SPREAD_UNKNOWN })
            }
            Outcome::Generator(_) | Outcome::Unmeasured(_) => None,
        }
    }
}

/// A step in which chance may have decided is measured for at most this many holds.
pub const HOLDS_MAX: usize = 3;

/// The slices of a hold of which [`spread`] is told.
pub const SLICES: usize = 8;

/// The standard error of a value, as a part of it, from its values in slices of the time it was measured in: requests that follow
/// each other are no independent samples, slices nearly are. None of fewer than three slices.
pub fn spread(slices: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = slices.flatten().filter(|value| value.is_finite()).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 3 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (count - 1.0) / count).sqrt() / mean)
}
