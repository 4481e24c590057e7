//! The longest stretch of a run in which its load is to stay as it is.

use std::time::Duration;

use brunt_schedule::{Executor, Scenario, Stage};

/// A part of a scenario: from, to, and whether its load stays as it is.
type Piece = (Duration, Duration, bool);

/// From the start of the run; nothing if the load changes all the time, or somebody else says what it is.
pub(super) fn longest(scenarios: &[Scenario]) -> Option<(Duration, Duration)> {
    let pieces: Vec<Piece> = scenarios.iter().map(pieces).collect::<Option<Vec<_>>>()?.concat();
    let mut borders: Vec<Duration> = pieces.iter().flat_map(|piece| [piece.0, piece.1]).collect();
    borders.sort_unstable();
    borders.dedup();
    let between = borders.windows(2).filter_map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        let mut active = pieces.iter().filter(|piece| piece.0 <= from && to <= piece.1).peekable();
        active.peek()?;
        active.all(|piece| piece.2).then_some((from, to))
    });
    // Of several as long, the first.
    between.rev().max_by_key(|(from, to)| to.saturating_sub(*from))
}

fn pieces(scenario: &Scenario) -> Option<Vec<Piece>> {
    let start = scenario.start_time;
    let ramp = |first: u64, stages: &[Stage]| {
        let (mut at, mut load) = (start, first);
        let pieces = stages.iter().map(|stage| {
            let (from, before) = (at, load);
            (at, load) = (at.saturating_add(stage.duration), stage.target);
            (from, at, before == load)
        });
        pieces.filter(|piece| piece.0 < piece.1).collect()
    };
    match &scenario.executor {
        Executor::RampingVus { start_vus, stages, .. } => Some(ramp(*start_vus, stages)),
        Executor::RampingArrivalRate { start_rate, stages, .. } => Some(ramp(*start_rate, stages)),
        Executor::ExternallyControlled { .. } => None,
        flat => Some(vec![(start, start.saturating_add(flat.regular_duration()), true)]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn scenario(start: u64, executor: Executor) -> Scenario {
        Scenario {
            name: "a".into(),
            executor,
            start_time: seconds(start),
            graceful_stop: Duration::ZERO,
            exec: "default".into(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            warmup: Duration::ZERO,
            rhythm: brunt_schedule::Rhythm::default(),
        }
    }

    fn flat(start: u64, length: u64) -> Scenario {
        scenario(start, Executor::ConstantVus { vus: 1, duration: seconds(length) })
    }

    fn ramp(start: u64, stages: &[(u64, u64)]) -> Scenario {
        let stage =
            |(length, target): &(u64, u64)| Stage { duration: seconds(*length), target: *target };
        let stages = stages.iter().map(stage).collect();
        let graceful_ramp_down = Duration::ZERO;
        scenario(start, Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down })
    }

    fn of(scenarios: &[Scenario]) -> Option<(u64, u64)> {
        longest(scenarios).map(|(from, to)| (from.as_secs(), to.as_secs()))
    }

    #[test]
    fn the_flat_stage_of_a_ramp_is_steady() {
        assert_eq!(of(&[ramp(5, &[(10, 20), (30, 20), (10, 0)])]), Some((15, 45)));
        assert_eq!(of(&[ramp(0, &[(10, 20), (10, 0)])]), None);
    }

    #[test]
    fn scenarios_are_steady_together_between_their_borders() {
        assert_eq!(of(&[flat(0, 60)]), Some((0, 60)));
        assert_eq!(of(&[flat(0, 60), flat(40, 60)]), Some((0, 40)));
        assert_eq!(of(&[flat(0, 60), ramp(0, &[(10, 5), (20, 5), (30, 0)])]), Some((10, 30)));
    }

    #[test]
    fn a_load_that_somebody_else_sets_is_not_known_to_be_steady() {
        let outside = Executor::ExternallyControlled { vus: 1, max_vus: 2, duration: seconds(60) };
        assert_eq!(of(&[scenario(0, outside), flat(0, 60)]), None);
    }
}
