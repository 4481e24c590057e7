//! The search: from the steps so far to the next one.

use crate::judge::{self, Beside};
use crate::limit::{self, Limit};
use crate::step::{Measured, Outcome, Purpose, Step, Trial};

mod near;

/// The growth of the load while the system does not notice it.
const STRIDE: f64 = 4.0;

/// The growth of the load once it does.
const PACE: f64 = 2.0;

/// The system does not notice a load if its median latency is below this many times that of the first step, or a few milliseconds
/// above,
const UNMOVED: f64 = 1.25;

/// See [`UNMOVED`].
const UNMOVED_MS: f64 = 1.0;

/// and if no goal has come nearer to its limit by more than this since the first step,
const EASY: f64 = 0.25;

/// or this near.
const NARROW: f64 = 0.9;

/// Below the lowest load that broke the next one is a little below the good answers that it had.
const BELOW_PLATEAU: f64 = 0.94;

/// A step with fewer good answers than this part of what was due was overloaded: the system gives no more.
const OVERLOADED: f64 = 0.9;

/// The range of a search, and how near it is to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The first load to try.
    pub from: f64,
    /// The least load to try when the first one breaks.
    pub least: f64,
    /// The highest.
    pub max: f64,
    /// The gap between the load that held and the one that broke, as a part of the first: 0.05.
    pub precision: f64,
    /// Loads are whole numbers (VUs), and good answers per second say nothing about them.
    pub is_whole: bool,
    /// Steps after which the search gives up.
    pub steps_max: usize,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Hold this load, and tell.
    Hold(Trial),
    /// It is over.
    End(End),
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The load is known: the highest that held, for longer too, and the lowest that broke.
    Found,
    /// Even the highest load of the bounds held.
    AllHold,
    /// Even the least load of the bounds broke.
    NoneHolds,
    /// The generator is the limit. The text says how.
    Generator(String),
    /// The system fell over and stayed down.
    Fallen,
    /// No answer was good from the start.
    Down,
    /// This goal has no values: the script measures no such thing.
    Unmeasured(String),
    /// Too many steps: the gap stayed wider than was asked for.
    OutOfSteps,
    /// Somebody stopped it.
    Stopped,
}

/// A search for the highest load that holds.
#[derive(Clone, Debug)]
pub struct Search {
    bounds: Bounds,
    steps: Vec<Step>,
    end: Option<End>,
}

impl Search {
    /// A search that has seen nothing.
    pub fn new(bounds: Bounds) -> Search {
        Search { bounds, steps: Vec::new(), end: None }
    }

    /// All steps so far, in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The step with the least load that was judged.
    pub fn lowest(&self) -> Option<&Step> {
        let known = self.steps.iter().filter(|step| step.held() || step.broke());
        known.min_by(|a, b| a.trial.load.total_cmp(&b.trial.load))
    }

    /// The load that the system bears: the highest that held for longer, else the highest that held and is below all that
    /// broke.
    pub fn held(&self) -> Option<f64> {
        let below = |load: &f64| self.lowest_broken().is_none_or(|broke| *load < broke);
        self.confirmed().or_else(|| self.held_loads().filter(below).reduce(f64::max))
    }

    /// The lowest load above [`held`](Self::held) that broke.
    pub fn broke(&self) -> Option<f64> {
        let held = self.held();
        let above = |load: &f64| held.is_none_or(|held| *load > held);
        self.broken_loads().filter(above).reduce(f64::min)
    }

    /// Whether the load that held has held for longer, too.
    pub fn is_confirmed(&self) -> bool {
        self.confirmed().is_some()
    }

    /// Where the limit seems to be, from all steps together. None before one held and one broke.
    pub fn limit(&self) -> Option<Limit> {
        let refuted = |step: &&Step| !self.is_refuted(step);
        let steps = self.steps.iter().filter(refuted);
        let points: Vec<_> = steps.filter_map(Step::point).collect();
        limit::limit(&points, self.plateau())
    }

    /// The meaning of a step that is over, beside those that were taken in.
    pub fn judge(&self, trial: Trial, measured: &Measured) -> Outcome {
        let below = self.steps.iter().filter(|step| step.held() && step.trial.load < trial.load);
        let beside = Beside {
            lowest: self.lowest().map(|step| &step.measured),
            below: below.max_by(|a, b| a.trial.load.total_cmp(&b.trial.load)),
        };
        judge::judge(trial.load, measured, beside)
    }

    /// Takes in a step that is over.
    pub fn take(&mut self, step: Step) {
        match &step.outcome {
            Outcome::Held => {}
            Outcome::Broke(_) => {
                if self.steps.is_empty() && step.measured.good <= 0.0 {
                    self.end = Some(End::Down);
                }
            }
            Outcome::Generator(why) => self.end = Some(End::Generator(why.clone())),
            Outcome::Unmeasured(goal) => self.end = Some(End::Unmeasured(goal.clone())),
        }
        self.steps.push(step);
    }

    /// Ends it from outside. The first end holds.
    pub fn stop(&mut self, end: End) {
        self.end.get_or_insert(end);
    }

    /// The next step, or the end.
    pub fn next(&self) -> Next {
        if let Some(end) = &self.end {
            return Next::End(end.clone());
        }
        let Bounds { from, least, max, .. } = self.bounds;
        let highest = self.held_loads().reduce(f64::max);
        let (purpose, load) = match (highest, self.lowest_broken()) {
            (None, None) => (Purpose::Climb, from),
            (Some(held), None) if held >= max => return Next::End(End::AllHold),
            (Some(held), None) => (Purpose::Climb, self.tidy(held * self.stride()).min(max)),
            (None, Some(broke)) if broke <= least => return Next::End(End::NoneHolds),
            (None, Some(broke)) => (Purpose::Descend, self.lower(broke)),
            (Some(_), Some(_)) => match self.near() {
                Some(trial) => trial,
                None => return Next::End(End::Found),
            },
        };
        if self.steps.len() >= self.bounds.steps_max {
            return Next::End(End::OutOfSteps);
        }
        Next::Hold(Trial { load, purpose })
    }

    fn held_loads(&self) -> impl Iterator<Item = f64> {
        self.steps.iter().filter(|step| step.held()).map(|step| step.trial.load)
    }

    /// The loads that broke and did not hold later.
    fn broken_loads(&self) -> impl Iterator<Item = f64> {
        let broke = self.steps.iter().filter(|step| step.broke() && !self.is_refuted(step));
        broke.map(|step| step.trial.load)
    }

    fn lowest_broken(&self) -> Option<f64> {
        self.broken_loads().reduce(f64::min)
    }

    /// The highest load that held for longer.
    fn confirmed(&self) -> Option<f64> {
        let held = self.steps.iter().filter(|step| step.held() && is_confirmation(step));
        held.map(|step| step.trial.load).reduce(f64::max)
    }

    /// Whether this step broke by a hiccup: as much or more held clearly afterwards, or held for longer.
    fn is_refuted(&self, step: &Step) -> bool {
        let load = step.trial.load;
        let place = self.steps.iter().position(|other| std::ptr::eq(other, step));
        let later = self.steps.iter().skip(place.map_or(0, |place| place + 1));
        let shows = |other: &Step| {
            other.trial.load >= load
                && other.held()
                && (is_confirmation(other) || other.point().is_some_and(|point| point.is_clear()))
        };
        step.broke() && later.into_iter().any(shows)
    }

    /// The good answers of the system when it was overloaded, as a load; none before it was.
    fn plateau(&self) -> Option<f64> {
        if self.bounds.is_whole {
            return None;
        }
        let known = self.steps.iter().filter(|step| step.held() || step.broke());
        let most = known.max_by(|a, b| a.measured.good.total_cmp(&b.measured.good))?;
        let load = most.measured.good * self.per_iteration();
        let is_overloaded = most.broke() && load < most.trial.load * OVERLOADED;
        (is_overloaded && load > 0.0).then_some(load)
    }

    /// How much more to ask for: four times as much as long as the system does not notice the load, else twice.
    fn stride(&self) -> f64 {
        let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) else {
            return PACE;
        };
        let (first, last) = (&first.measured, &last.measured);
        // The median: a high percentile of a light load is a matter of chance.
        let is_unmoved = match (last.median_ms, first.median_ms) {
            (Some(now), Some(before)) => now <= (before * UNMOVED).max(before + UNMOVED_MS),
            _ => false,
        };
        let is_easy = last.strain() < first.strain().mul_add(UNMOVED, EASY).min(NARROW);
        if is_unmoved && is_easy { STRIDE } else { PACE }
    }

    /// A load below the lowest that broke: near its good answers if there are any.
    fn lower(&self, broke: f64) -> f64 {
        let least = self.bounds.least;
        let good = self.steps.last().map_or(0.0, |step| step.measured.good);
        let quarter = broke / STRIDE;
        let load = if self.bounds.is_whole || good <= 0.0 {
            quarter
        } else {
            (good * BELOW_PLATEAU).clamp(quarter / STRIDE, broke / PACE)
        };
        self.tidy(load).clamp(least, broke)
    }

    /// Iterations for each good answer, by the step with the least load: an iteration may have several requests.
    fn per_iteration(&self) -> f64 {
        let lowest = self.lowest().map(|step| &step.measured);
        lowest
            .filter(|lowest| lowest.good > 0.0)
            .map_or(1.0, |lowest| lowest.finished / lowest.good)
    }

    /// Three digits that count, or a whole number.
    fn tidy(&self, load: f64) -> f64 {
        if self.bounds.is_whole {
            return load.round().max(1.0);
        }
        if load <= 0.0 || !load.is_finite() {
            return load;
        }
        let unit = 10_f64.powf(load.log10().floor() - 2.0);
        // Division by a power of ten gives fewer odd digits than multiplication by its inverse.
        if unit < 1.0 {
            (load / unit).round() / (1.0 / unit).round()
        } else {
            (load / unit).round() * unit
        }
    }
}

fn is_confirmation(step: &Step) -> bool {
    step.trial.purpose == Purpose::Confirm
}

#[cfg(test)]
mod tests;
