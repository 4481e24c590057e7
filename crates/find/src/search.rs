//! The search: from the steps so far to the next one.

use crate::step::{Outcome, Purpose, Step, Trial};

/// The growth of the load while the system does not notice it.
const STRIDE: f64 = 4.0;

/// The growth of the load once it does.
const PACE: f64 = 2.0;

/// Below this part of the limit of every goal the system does not notice the load.
const EASY: f64 = 0.5;

/// Nor does it if its latency is below this many times that of the first step, or a few milliseconds above.
const UNMOVED: f64 = 1.5;

/// See [`UNMOVED`].
const UNMOVED_MS: f64 = 1.0;

/// The first guess between two loads is the plateau of good answers, less a little.
const BELOW_PLATEAU: f64 = 0.97;

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
    /// The lowest load that broke.
    broke: Option<f64>,
    /// The load of which a longer hold held.
    confirmed: Option<f64>,
    /// The first guess between two loads has been made; it was this.
    guess: Option<f64>,
    end: Option<End>,
}

impl Search {
    /// A search that has seen nothing.
    pub fn new(bounds: Bounds) -> Search {
        Search { bounds, steps: Vec::new(), broke: None, confirmed: None, guess: None, end: None }
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

    /// The highest load that held and is below all that broke.
    pub fn held(&self) -> Option<f64> {
        let below = |load: &f64| self.broke.is_none_or(|broke| *load < broke);
        let held = self.steps.iter().filter(|step| step.held()).map(|step| step.trial.load);
        held.filter(below).reduce(f64::max)
    }

    /// The lowest load that broke.
    pub fn broke(&self) -> Option<f64> {
        self.broke
    }

    /// Whether the highest load that held has held for longer, too.
    pub fn is_confirmed(&self) -> bool {
        self.confirmed.is_some() && self.confirmed == self.held()
    }

    /// Takes in a step that is over.
    pub fn take(&mut self, step: Step) {
        let load = step.trial.load;
        match &step.outcome {
            Outcome::Held if step.trial.purpose == Purpose::Confirm => self.confirmed = Some(load),
            Outcome::Held => {}
            Outcome::Broke(_) => {
                self.broke = Some(self.broke.map_or(load, |broke| broke.min(load)));
                let is_first = self.steps.is_empty();
                if is_first && step.measured.good <= 0.0 {
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
        let (held, broke) = (self.held(), self.broke);
        let purpose_and_load = match (held, broke) {
            (None, None) => (Purpose::Climb, from),
            (Some(held), None) if held >= max => return Next::End(End::AllHold),
            (Some(held), None) => (Purpose::Climb, self.tidy(held * self.stride()).min(max)),
            (None, Some(broke)) if broke <= least => return Next::End(End::NoneHolds),
            (None, Some(broke)) => (Purpose::Descend, self.lower(broke)),
            (Some(held), Some(broke)) if self.is_near(held, broke) => {
                if self.is_confirmed() {
                    return Next::End(End::Found);
                }
                (Purpose::Confirm, held)
            }
            (Some(held), Some(broke)) => (Purpose::Narrow, self.between(held, broke)),
        };
        if self.steps.len() >= self.bounds.steps_max {
            return Next::End(End::OutOfSteps);
        }
        let (purpose, load) = purpose_and_load;
        Next::Hold(Trial { load, purpose })
    }

    /// Remembers that this trial is under way, so that its guess is made once.
    pub fn begin(&mut self, trial: Trial) {
        if trial.purpose == Purpose::Narrow && self.guess.is_none() {
            self.guess = Some(trial.load);
        }
    }

    /// How much more to ask for: four times as much as long as the system does not notice the load, else twice.
    fn stride(&self) -> f64 {
        let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) else {
            return PACE;
        };
        let is_unmoved = match (last.measured.latency_ms, first.measured.latency_ms) {
            (Some(now), Some(before)) => now <= (before * UNMOVED).max(before + UNMOVED_MS),
            _ => false,
        };
        if last.measured.strain() < EASY && is_unmoved { STRIDE } else { PACE }
    }

    /// A load below the lowest that broke: near its good answers if there are any.
    fn lower(&self, broke: f64) -> f64 {
        let least = self.bounds.least;
        let good = self.steps.last().map_or(0.0, |step| step.measured.good);
        let quarter = broke / STRIDE;
        let load = if self.bounds.is_whole || good <= 0.0 {
            quarter
        } else {
            (good * BELOW_PLATEAU * BELOW_PLATEAU).clamp(quarter / STRIDE, broke / PACE)
        };
        self.tidy(load).clamp(least, broke)
    }

    /// Whether the gap is as narrow as was asked for.
    fn is_near(&self, held: f64, broke: f64) -> bool {
        let gap = broke - held;
        let is_one = self.bounds.is_whole && gap <= 1.0;
        // A hair more, because loads are rounded.
        is_one || gap <= held * self.bounds.precision * 1.001
    }

    /// A load between one that held and one that broke. The first guess is the plateau, the next one is just above a
    /// guess that held; all others halve the gap.
    fn between(&self, held: f64, broke: f64) -> f64 {
        let precision = 1.0 + self.bounds.precision;
        let inside = |load: f64| load > held * precision && load < broke / precision;
        if !self.bounds.is_whole {
            let plateau =
                crate::figures::plateau(&self.steps).unwrap_or(0.0) * self.per_iteration();
            let guess = self.tidy(plateau * BELOW_PLATEAU);
            if self.guess.is_none() && inside(guess) {
                return guess;
            }
            let above = self.tidy(held * precision);
            if self.guess == Some(held) && above > held && above < broke {
                return above;
            }
        }
        let middle = self.tidy((held * broke).sqrt());
        if middle > held && middle < broke { middle } else { held.midpoint(broke) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Measured;

    fn bounds() -> Bounds {
        Bounds {
            from: 10.0,
            least: 1.0,
            max: 5000.0,
            precision: 0.05,
            is_whole: false,
            steps_max: 30,
        }
    }

    /// A system that bears loads below `capacity`.
    fn loads(bounds: Bounds, capacity: f64) -> (Vec<(f64, bool)>, End, Search) {
        let mut search = Search::new(bounds);
        loop {
            let trial = match search.next() {
                Next::Hold(trial) => trial,
                Next::End(end) => {
                    let steps = search.steps().iter();
                    return (
                        steps.map(|step| (step.trial.load, step.held())).collect(),
                        end,
                        search,
                    );
                }
            };
            search.begin(trial);
            let holds = trial.load < capacity;
            let good = trial.load.min(capacity);
            let measured =
                Measured { good, finished: good, latency_ms: Some(1.0), ..Measured::default() };
            let outcome = if holds { Outcome::Held } else { Outcome::Broke("x".to_owned()) };
            search.take(Step { trial, measured, outcome });
        }
    }

    #[test]
    fn it_climbs_goes_back_to_the_plateau_and_confirms() {
        let (steps, end, search) = loads(bounds(), 400.0);
        assert_eq!(
            steps,
            [
                (10.0, true),
                (40.0, true),
                (160.0, true),
                (640.0, false),
                (388.0, true),
                (407.0, false),
                (388.0, true)
            ]
        );
        assert_eq!((end, search.held(), search.broke()), (End::Found, Some(388.0), Some(407.0)));
    }

    #[test]
    fn any_capacity_is_found_within_the_precision() {
        let random = &mut fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let capacity = 1.5 * 3000_f64.powf(random.f64());
            let (steps, end, search) = loads(bounds(), capacity);
            assert_eq!(end, End::Found, "{capacity} {steps:?}");
            let held = search.held().unwrap();
            assert!(
                held < capacity && held * 1.0501 >= capacity,
                "{held} of {capacity}: {steps:?}"
            );
            assert!(steps.len() <= 12, "{} steps for {capacity}", steps.len());
        }
    }

    #[test]
    fn goals_that_all_loads_meet_or_none_end_at_the_bounds() {
        let (steps, end, _) = loads(bounds(), f64::INFINITY);
        assert_eq!((steps.last(), end), (Some(&(5000.0, true)), End::AllHold));
        let (steps, end, _) = loads(bounds(), 0.5);
        assert_eq!((steps.last(), end), (Some(&(1.0, false)), End::NoneHolds));
    }

    #[test]
    fn vus_are_whole_and_one_is_enough_of_a_gap() {
        let bounds = Bounds { from: 1.0, least: 1.0, max: 1000.0, is_whole: true, ..bounds() };
        for capacity in [1.5, 2.5, 7.5, 100.5] {
            let (steps, end, search) = loads(bounds, capacity);
            assert!(steps.iter().all(|(load, _)| load.fract() == 0.0), "{steps:?}");
            assert_eq!(end, End::Found);
            let held = search.held().unwrap();
            assert!(held < capacity && held >= (capacity / 1.06).floor(), "{held} of {capacity}");
        }
    }

    #[test]
    fn a_confirmation_that_breaks_lowers_the_load() {
        let mut search = Search::new(bounds());
        let mut confirmations = 0;
        let end = loop {
            let trial = match search.next() {
                Next::Hold(trial) => trial,
                Next::End(end) => break end,
            };
            search.begin(trial);
            // A system that bears 400/s for a while, and 300/s for longer.
            let capacity = if trial.purpose == Purpose::Confirm { 300.0 } else { 400.0 };
            confirmations += usize::from(trial.purpose == Purpose::Confirm);
            let good = trial.load.min(capacity);
            let measured = Measured { good, finished: good, ..Measured::default() };
            let outcome =
                if trial.load < capacity { Outcome::Held } else { Outcome::Broke("x".to_owned()) };
            search.take(Step { trial, measured, outcome });
        };
        assert_eq!(end, End::Found);
        assert!(confirmations > 1);
        let held = search.held().unwrap();
        assert!(held < 300.0 && held > 160.0, "{held}");
    }

    #[test]
    fn a_target_without_one_good_answer_is_down_and_a_search_can_be_stopped() {
        let mut search = Search::new(bounds());
        let trial = Trial { load: 10.0, purpose: Purpose::Climb };
        let outcome = Outcome::Broke("x".to_owned());
        search.take(Step { trial, measured: Measured::default(), outcome });
        assert_eq!(search.next(), Next::End(End::Down));
        let mut search = Search::new(bounds());
        search.stop(End::Stopped);
        search.stop(End::Fallen);
        assert_eq!(search.next(), Next::End(End::Stopped));
    }

    #[test]
    fn loads_have_three_digits() {
        let search = Search::new(bounds());
        for (load, tidied) in
            [(0.123_456, 0.123), (1.239_9, 1.24), (388.0, 388.0), (1234.5, 1230.0)]
        {
            assert_eq!(search.tidy(load), tidied);
        }
    }
}
