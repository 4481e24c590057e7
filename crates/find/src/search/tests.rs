use super::*;
use crate::step::Measured;

fn bounds() -> Bounds {
    Bounds { from: 10.0, least: 1.0, max: 5000.0, precision: 0.05, is_whole: false, steps_max: 30 }
}

/// A system that bears loads below `capacity`.
fn loads(bounds: Bounds, capacity: f64) -> (Vec<(f64, bool)>, End, Search) {
    let mut search = Search::new(bounds);
    loop {
        let trial = match search.next() {
            Next::Hold(trial) => trial,
            Next::End(end) => {
                let steps = search.steps().iter();
                return (steps.map(|step| (step.trial.load, step.held())).collect(), end, search);
            }
        };
        let holds = trial.load < capacity;
        let good = trial.load.min(capacity);
        let measured = Measured {
            good,
            finished: good,
            latency_ms: Some(1.0),
            median_ms: Some(1.0),
            ..Measured::default()
        };
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
            (378.0, true),
            (443.0, false),
            (405.0, false),
            (397.0, true),
            (397.0, true)
        ]
    );
    assert_eq!((end, search.held(), search.broke()), (End::Found, Some(397.0), Some(405.0)));
}

#[test]
fn any_capacity_is_found_within_the_precision() {
    let random = &mut fastrand::Rng::with_seed(7);
    for _ in 0..500 {
        let capacity = 1.5 * 3000_f64.powf(random.f64());
        let (steps, end, search) = loads(bounds(), capacity);
        assert_eq!(end, End::Found, "{capacity} {steps:?}");
        let held = search.held().unwrap();
        assert!(held < capacity && held * 1.0501 >= capacity, "{held} of {capacity}: {steps:?}");
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
    for (load, tidied) in [(0.123_456, 0.123), (1.239_9, 1.24), (388.0, 388.0), (1234.5, 1230.0)] {
        assert_eq!(search.tidy(load), tidied);
    }
}
