use proptest::prelude::*;

use super::*;
use crate::run::{Part, Share, Stage, Threshold};
use crate::simulated::{Load, World};

fn settings() -> Settings {
    Settings::default()
}

fn compared(world: &World, runs: usize, slower: f64, seed: u64) -> Comparison {
    let [a, b] = world.sides(runs, slower, seed);
    compare(&a, &b, &[], &settings()).unwrap()
}

/// How often each verdict is said in `count` comparisons.
fn tally(world: &World, runs: usize, slower: f64, count: u64) -> BTreeMap<Verdict, u64> {
    let mut found = BTreeMap::new();
    for seed in 0..count {
        *found.entry(compared(world, runs, slower, seed).verdict).or_default() += 1;
    }
    found
}

fn said(found: &BTreeMap<Verdict, u64>, verdicts: &[Verdict]) -> u64 {
    verdicts.iter().filter_map(|verdict| found.get(verdict)).sum()
}

fn row<'a>(comparison: &'a Comparison, subject: &Subject, measure: &Measure) -> &'a Row {
    comparison
        .rows
        .iter()
        .find(|row| row.subject == *subject && row.measure == *measure)
        .expect("the row")
}

fn p95() -> Measure {
    Measure::Duration("http_req_duration".into(), Statistic::P95)
}

const CHANGED: [Verdict; 2] = [Verdict::Better, Verdict::Worse];

// The promise, with fewer repetitions than `bench/` has. The seeds are fixed: it holds or it does not.

#[test]
fn at_most_one_in_twenty_equal_comparisons_is_said_to_differ() {
    for run_spread in [0.01, 0.05] {
        for load in [World::default().load, Load::Open(100.0)] {
            let world = World { run_spread, load, failed: 0.01, ..World::default() };
            let found = tally(&world, 3, 1.0, 200);
            assert!(said(&found, &CHANGED) <= 10, "{run_spread} {load:?}: {found:?}");
        }
    }
}

#[test]
fn a_target_ten_percent_slower_is_found() {
    let world = World { run_spread: 0.01, ..World::default() };
    let found = tally(&world, 3, 1.1, 100);
    assert!(said(&found, &[Verdict::Worse]) >= 95, "{found:?}");
    assert_eq!(said(&found, &[Verdict::Better, Verdict::Same]), 0, "{found:?}");
}

#[test]
fn a_drifting_machine_makes_no_verdicts_of_runs_that_take_turns() {
    let world = World { drift: 0.03, ..World::default() };
    let found = tally(&world, 3, 1.0, 200);
    assert!(said(&found, &CHANGED) <= 10, "{found:?}");
}

#[test]
fn single_runs_of_a_calm_machine_are_told_apart_and_not_from_themselves() {
    let world = World { seconds: 60, run_spread: 0.005, ..World::default() };
    let found = tally(&world, 1, 1.0, 60);
    assert!(said(&found, &CHANGED) <= 3, "{found:?}");
    let found = tally(&world, 1, 1.2, 30);
    assert!(said(&found, &[Verdict::Worse]) >= 28, "{found:?}");
}

#[test]
fn a_history_that_spreads_widens_single_runs() {
    let world = World { run_spread: 0.08, seconds: 60, ..World::default() };
    let mut changed = [0, 0];
    for seed in 0..40 {
        let [a, b] = world.sides(1, 1.0, seed);
        let [history, _] = world.sides(8, 1.0, 1000 + seed);
        for (count, history) in changed.iter_mut().zip([&[][..], &history]) {
            let comparison = compare(&a, &b, history, &settings()).unwrap();
            *count += u32::from(CHANGED.contains(&comparison.verdict));
            let told = Warning::OneRunASide { history: history.len() };
            assert!(comparison.warnings.contains(&told));
        }
    }
    assert!(changed[0] >= 15, "without it chance looks like a change: {changed:?}");
    assert!(changed[1] <= 2, "{changed:?}");
}

#[test]
fn four_runs_of_the_history_are_too_few() {
    let [a, b] = World::default().sides(1, 1.0, 1);
    let [history, _] = World::default().sides(4, 1.0, 2);
    let with = compare(&a, &b, &history, &settings()).unwrap();
    let without = compare(&a, &b, &[], &settings()).unwrap();
    assert_eq!(with.draws.unwrap().history, 0);
    assert_eq!(
        row(&with, &Subject::All, &p95()).change,
        row(&without, &Subject::All, &p95()).change
    );
}

#[test]
fn the_same_runs_on_both_sides_are_the_same() {
    let [a, _] = World { failed: 0.01, ..World::default() }.sides(4, 1.0, 3);
    let comparison = compare(&a, &a, &[], &settings()).unwrap();
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.change.is_none_or(|change| change.value.abs() < 1e-12))
    );
    assert!(said_rows(&comparison, &CHANGED) == 0);
}

fn said_rows(comparison: &Comparison, verdicts: &[Verdict]) -> usize {
    comparison.rows.iter().filter(|row| verdicts.contains(&row.verdict)).count()
}

#[test]
fn more_failures_are_worse_and_fewer_better() {
    let good = World { failed: 0.0, ..World::default() };
    let bad = World { failed: 0.03, ..World::default() };
    let [a, _] = good.sides(3, 1.0, 5);
    let [_, b] = bad.sides(3, 1.0, 6);
    let forth = compare(&a, &b, &[], &settings()).unwrap();
    assert_eq!(row(&forth, &Subject::All, &Measure::Failed).verdict, Verdict::Worse);
    assert_eq!(row(&forth, &Subject::All, &Measure::Checks).verdict, Verdict::Worse);
    assert_eq!(forth.verdict, Verdict::Worse);
    let back = compare(&b, &a, &[], &settings()).unwrap();
    assert_eq!(row(&back, &Subject::All, &Measure::Failed).verdict, Verdict::Better);
}

#[test]
fn a_hundred_requests_without_a_failure_prove_nothing() {
    let world = World { load: Load::Open(2.0), ..World::default() };
    let comparison = compared(&world, 3, 1.0, 1);
    let failed = row(&comparison, &Subject::All, &Measure::Failed);
    assert_eq!((failed.verdict, failed.why), (Verdict::Unclear, Some(Why::Wide)));
    let many = compared(&World::default(), 3, 1.0, 1);
    assert_eq!(row(&many, &Subject::All, &Measure::Failed).verdict, Verdict::Same);
}

#[test]
fn the_ramp_is_left_out_unless_it_is_asked_for() {
    let [mut a, b] = World::default().sides(3, 1.0, 3);
    for slice in a.iter_mut().flat_map(|run| &mut run.slices).filter(|slice| slice.start_s < 5.0) {
        slice.all.requests *= 50;
    }
    let rate = |settings: &Settings| {
        let comparison = compare(&a, &b, &[], settings).unwrap();
        row(&comparison, &Subject::All, &Measure::Requests).change.unwrap().value
    };
    assert!(rate(&settings()).abs() < 0.05);
    assert!(rate(&Settings { from_s: Some(0.0), ..settings() }) < -0.5);
    assert!(rate(&Settings { from_s: Some(5.0), to_s: Some(15.0), ..settings() }).abs() < 0.05);
}

#[test]
fn unlike_runs_are_refused_and_forced_ones_warned_of() {
    let [a, mut b] = World::default().sides(3, 1.0, 3);
    b[1].identity.brunt_version = "9".into();
    let refused = compare(&a, &b, &[], &settings()).unwrap_err().to_string();
    assert!(refused.contains("version: A 0.1.0, B 0.1.0 and 9"), "{refused}");
    assert!(refused.contains("--force"), "{refused}");
    let forced = compare(&a, &b, &[], &Settings { force: true, ..settings() }).unwrap();
    assert!(forced.warnings.iter().any(|warning| warning.word() == "unlike"));
}

#[test]
fn two_scripts_may_differ_from_each_other_alone() {
    let [a, mut b] = World::default().sides(2, 1.0, 3);
    let two = Settings { two_scripts: true, ..settings() };
    for run in &mut b {
        run.identity.script_hash = "b".into();
        run.identity.options = serde_json::json!({ "vus": 7 });
    }
    assert!(compare(&a, &b, &[], &settings()).is_err());
    assert!(compare(&a, &b, &[], &two).is_ok());
    b[1].identity.options = serde_json::json!({ "vus": 8 });
    let refused = compare(&a, &b, &[], &two).unwrap_err().to_string();
    assert!(refused.contains("options vus"), "{refused}");
    b[1].identity.options = b[0].identity.options.clone();
    for run in &mut b {
        run.identity.targets = std::collections::BTreeSet::from(["elsewhere.test".to_owned()]);
    }
    let told = compare(&a, &b, &[], &two).unwrap();
    assert_eq!(told.warnings.iter().filter(|one| one.word() == "unlike").count(), 1);
    b[1].identity.targets.clear();
    assert!(compare(&a, &b, &[], &two).is_err());
    b[1].identity.targets = b[0].identity.targets.clone();
    b[1].identity.brunt_version = "9".into();
    assert!(compare(&a, &b, &[], &two).is_err());
}

#[test]
fn doubts_order_and_few_runs_are_told() {
    let words = |a: &[Run], b: &[Run]| -> Vec<&'static str> {
        compare(a, b, &[], &settings()).unwrap().warnings.iter().map(Warning::word).collect()
    };
    let [mut a, mut b] = World::default().sides(3, 1.0, 3);
    assert!(words(&a, &b).is_empty());
    a[0].identity.trust = Trust::Doubtful(vec!["late starts".into()]);
    assert_eq!(words(&a, &b), ["not_trusted"]);
    for run in &mut b {
        run.identity.started_us += 100;
    }
    assert_eq!(words(&a, &b), ["not_trusted", "one_after_the_other"]);
    assert_eq!(words(&a[1..], &b[..1]), ["one_run", "one_after_the_other"]);
    assert_eq!(words(&a[1..2], &b[..1]), ["one_run_a_side"]);
    assert_eq!(words(&a[1..], &b[1..]), ["two_runs", "one_after_the_other"]);
    for run in a.iter_mut().chain(&mut b) {
        run.stages = vec![Stage { end_s: 99.0, to: 5.0, ..Stage::default() }];
    }
    assert!(words(&a, &b).contains(&"never_steady"));
}

#[test]
fn sides_without_runs_and_senseless_settings_are_refused() {
    let [a, b] = World::default().sides(1, 1.0, 3);
    let refused =
        |a: &[Run], settings: &Settings| compare(a, &b, &[], settings).unwrap_err().to_string();
    assert!(refused(&[], &settings()).contains("side A has no run"));
    for tolerance in [0.0, -1.0, f64::NAN, 1.0] {
        assert!(refused(&a, &Settings { tolerance, ..settings() }).contains("the tolerance is"));
    }
    let nowhere = Settings { from_s: Some(500.0), ..settings() };
    assert!(refused(&a, &nowhere).contains("has nothing in the part"));
    let backwards = Settings { from_s: Some(9.0), to_s: Some(3.0), ..settings() };
    assert!(refused(&a, &backwards).contains("behind its begin"));
    assert!(refused(&a, &Settings { draws: 1, ..settings() }).contains("draws"));
    assert!(
        refused(&[Run { slices: Vec::new(), ..a[0].clone() }], &settings()).contains("nothing")
    );
}

#[test]
fn a_run_of_three_tenths_of_a_second_gives_an_answer() {
    let [mut a, mut b] = World::default().sides(1, 1.0, 3);
    for run in a.iter_mut().chain(&mut b) {
        run.stages.clear();
        run.slices.truncate(1);
        run.slices[0].width_s = 0.3;
    }
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    assert_eq!(comparison.verdict, Verdict::Unclear);
    assert_eq!(row(&comparison, &Subject::All, &p95()).why, Some(Why::TooShort));
}

#[test]
fn without_requests_iterations_decide() {
    let [mut a, mut b] = World::default().sides(3, 1.0, 3);
    for slice in a.iter_mut().chain(&mut b).flat_map(|run| &mut run.slices) {
        let sink = slice.all.durations.remove("http_req_duration").unwrap();
        slice.all = Part::default();
        slice.all.durations.insert("iteration_duration".into(), sink);
        slice.routes.clear();
    }
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    let primary: Vec<String> =
        comparison.rows.iter().filter(|row| row.is_primary).map(|row| row.measure.word()).collect();
    let wanted = ["iterations_per_second", "iteration_duration p50", "iteration_duration p95"];
    assert_eq!(primary, wanted);
}

#[test]
fn the_primary_figures_are_four() {
    let comparison = compared(&World::default(), 3, 1.0, 1);
    let primary: Vec<String> =
        comparison.rows.iter().filter(|row| row.is_primary).map(|row| row.measure.word()).collect();
    let wanted =
        ["requests_per_second", "failed", "http_req_duration p50", "http_req_duration p95"];
    assert_eq!(primary, wanted);
}

#[test]
fn routes_are_those_of_both_sides_with_the_most_requests_first() {
    let world = World { routes: 4, ..World::default() };
    let [mut a, mut b] = world.sides(3, 1.0, 3);
    for slice in a.iter_mut().flat_map(|run| &mut run.slices) {
        slice.routes.remove("GET /3");
        slice.routes.get_mut("GET /2").unwrap().requests += 100;
    }
    for slice in b.iter_mut().flat_map(|run| &mut run.slices) {
        slice.routes.remove("GET /0");
    }
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    let mut routes: Vec<&str> = comparison.rows.iter().map(|row| row.subject.name()).collect();
    routes.dedup();
    assert_eq!(routes, ["", "GET /2", "GET /1", "status is 200"]);
    assert_eq!(comparison.only_a, ["GET /0".into()]);
    assert_eq!(comparison.only_b, ["GET /3".into()]);
}

#[test]
fn one_slow_route_among_many_is_found_and_the_others_are_not() {
    let world =
        World { routes: 20, load: Load::Open(400.0), run_spread: 0.005, ..World::default() };
    let [a, mut b] = world.sides(5, 1.0, 3);
    let [_, slow] = world.sides(5, 1.5, 3);
    for (run, slow) in b.iter_mut().zip(&slow) {
        for (slice, slow) in run.slices.iter_mut().zip(&slow.slices) {
            slice.routes.insert("GET /7".into(), slow.routes["GET /7"].clone());
        }
    }
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    let measure = Measure::Duration("http_req_duration".into(), Statistic::P50);
    let changed: Vec<&str> = comparison
        .rows
        .iter()
        .filter(|row| row.measure == measure && CHANGED.contains(&row.verdict))
        .map(|row| row.subject.name())
        .collect();
    assert_eq!(changed, ["GET /7"]);
    let found = row(&comparison, &Subject::Route("GET /7".into()), &measure);
    // Holm's factor for the first of those that are not the same.
    let asked = comparison.rows.iter().filter(|row| {
        row.measure == measure
            && matches!(row.subject, Subject::Route(_))
            && row.verdict != Verdict::Same
    });
    let factor = found.p_corrected.unwrap() / found.p.unwrap();
    assert!((factor - asked.count() as f64).abs() < 1e-6, "{factor}");
}

#[test]
fn thresholds_are_compared_by_their_values() {
    let [mut a, mut b] = World::default().sides(3, 1.0, 3);
    let threshold = |value: f64| Threshold {
        text: "http_req_duration p(95)<200".into(),
        passed: value < 200.0,
        value: Some(value),
        is_share: false,
        better: Some(Better::Less),
    };
    for (place, (run_a, run_b)) in a.iter_mut().zip(&mut b).enumerate() {
        run_a.thresholds = vec![threshold(150.0 + place as f64), Threshold::default()];
        run_b.thresholds = vec![threshold(210.0 + place as f64)];
    }
    let subject = Subject::Threshold("http_req_duration p(95)<200".into());
    let measure = Measure::Threshold { is_share: false };
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    let found = row(&comparison, &subject, &measure);
    assert_eq!((found.verdict, found.held), (Verdict::Worse, Some([3, 0])));
    let single = compare(&a[..1], &b[..1], &[], &settings()).unwrap();
    let found = row(&single, &subject, &measure);
    assert_eq!((found.verdict, found.why), (Verdict::Unclear, Some(Why::NoSpread)));
    assert_eq!(found.held, Some([1, 0]));
    for run in a.iter_mut().chain(&mut b) {
        run.thresholds = vec![threshold(0.0)];
    }
    let zero = compare(&a, &b, &[], &settings()).unwrap();
    assert_eq!(row(&zero, &subject, &measure).verdict, Verdict::Same);
}

#[test]
fn a_seed_gives_one_answer_and_another_seed_nearly_the_same() {
    let [a, b] = World::default().sides(1, 1.05, 3);
    let change = |seed| {
        let comparison = compare(&a, &b, &[], &Settings { seed, ..settings() }).unwrap();
        row(&comparison, &Subject::All, &p95()).change.unwrap()
    };
    assert_eq!(change(1), change(1));
    assert_eq!(change(1).value, change(2).value);
    assert!(change(1) != change(2));
    assert!((change(1).high - change(2).high).abs() < 0.02);
}

#[test]
fn hundreds_of_slices_and_routes_take_little() {
    // Counted, not timed: a draw costs one row of bins for each block, whatever a slice holds.
    let world = World { seconds: 600, routes: 30, load: Load::Open(300.0), ..World::default() };
    let comparison = compared(&world, 1, 1.0, 3);
    assert_eq!(comparison.rows.iter().filter(|row| row.measure == p95()).count(), 31);
    let block = comparison.draws.unwrap().block;
    assert!(block.iter().all(|length| length.is_some_and(|length| length >= 5)), "{block:?}");
}

#[test]
fn numbers_at_the_ends_do_no_harm() {
    let [mut a, mut b] = World::default().sides(3, 1.0, 3);
    for run in a.iter_mut().chain(&mut b) {
        let sink = brunt_metrics::TrendSink::from_values([0.0, 0.0, f64::INFINITY]);
        run.slices[9].all.durations.insert("odd".into(), sink);
        run.slices[10].all.failures = u64::MAX;
        run.slices[11].checks.insert("x".into(), Share { hits: u64::MAX, total: u64::MAX });
        run.slices[12].width_s = 0.0;
        run.slices[13].width_s = f64::NAN;
    }
    let comparison = compare(&a, &b, &[], &settings()).unwrap();
    assert!(comparison.rows.len() > 10);
    compare(&a[..1], &b[..1], &[], &settings()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sides_that_change_places_change_better_for_worse(seed in 0_u64..1000, slower in 0.8..1.25) {
        let [a, b] = World { failed: 0.01, ..World::default() }.sides(3, slower, seed);
        let forth = compare(&a, &b, &[], &settings()).unwrap();
        let back = compare(&b, &a, &[], &settings()).unwrap();
        for (one, other) in forth.rows.iter().zip(&back.rows) {
            let (one_p, other_p) = (one.p.unwrap_or(1.0), other.p.unwrap_or(1.0));
            prop_assert!((one_p - other_p).abs() < 1e-9);
            if let (Some(one), Some(other)) = (one.change, other.change) {
                prop_assert!(one.value * other.value <= 1e-18);
            }
            // A tenth more is no tenth less: at the very tolerance the two ways may differ.
            let opposite = [(Verdict::Better, Verdict::Better), (Verdict::Worse, Verdict::Worse)];
            prop_assert!(!opposite.contains(&(one.verdict, other.verdict)));
        }
    }

    #[test]
    fn the_order_of_a_side_s_runs_tells_nothing(seed in 0_u64..1000) {
        let [mut a, b] = World::default().sides(3, 1.05, seed);
        let forth = compare(&a, &b, &[], &settings()).unwrap();
        a.reverse();
        let back = compare(&a, &b, &[], &settings()).unwrap();
        for (one, other) in forth.rows.iter().zip(&back.rows) {
            prop_assert_eq!(one.verdict, other.verdict);
        }
    }
}
