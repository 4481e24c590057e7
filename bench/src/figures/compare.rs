//! Comparisons of runs whose truth is known: how often a verdict is wrong, and how often a change is found.

mod demo;

use std::time::Instant;

use anyhow::Context as _;
use brunt_compare::simulated::{Load, World};
use brunt_compare::{Settings, Verdict as Word, compare};

use super::Bench;
use crate::report::{Figure, Verdict, short};

/// The change that must be found.
const SLOWER: f64 = 1.1;

/// How often, in percent, each word was said.
struct Said {
    changed: f64,
    worse: f64,
    unclear: f64,
}

/// A kind of comparison.
struct Case {
    name: String,
    world: World,
    runs: usize,
    history: usize,
    /// Whether the promises cover it: of false alarms several runs a side; of found ones a spread of 1 %, no failures.
    is_promised: [bool; 2],
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![demo::measure(bench)?, promises(bench)?, speed()?])
}

fn promises(bench: &Bench) -> anyhow::Result<Figure> {
    let count = bench.settings.comparisons;
    let (mut rows, mut alarms, mut found) = (Vec::new(), 0.0_f64, 100.0_f64);
    for case in cases() {
        // The slices of single runs are drawn again 2000 times for each figure.
        let count = if case.runs == 1 { (count / 10).max(10) } else { count };
        let equal = said(&case, 1.0, count)?;
        let slower = said(&case, SLOWER, count)?;
        if case.is_promised[0] {
            alarms = alarms.max(equal.changed);
        }
        if case.is_promised[1] {
            found = found.min(slower.worse);
        }
        let shown = [equal.changed, equal.unclear, slower.worse, slower.unclear];
        rows.push(std::iter::once(case.name).chain(shown.map(short)).collect());
    }
    // Chance alone moves a share of this number by so much.
    let slack = 300.0 * (0.05 * 0.95 / count as f64).sqrt();
    Ok(Figure {
        title: "Verdicts of comparisons, simulated".into(),
        method: format!(
            "{count} comparisons a row and target, a tenth of them with one run a side; runs made by `brunt_compare::simulated` (its page says how): \
             levels that differ from run to run, chained slices, a slow tenth, heavy tails, a cold begin. Percent of \
             comparisons, of equal targets and of one 10 % slower."
        ),
        header: vec!["runs", "equal: said to differ", "unclear", "slower: said worse", "unclear"],
        rows,
        verdicts: vec![
            Verdict::at_most(
                format!("several runs a side: at most 5 % false alarms (+{slack:.1} by chance)"),
                Some(alarms),
                5.0 + slack,
            ),
            Verdict::at_least(
                "3 runs a side that differ by 1 %, none failing: 10 % slower is found in 95 of 100",
                Some(found),
                95.0,
            ),
        ],
    })
}

fn cases() -> Vec<Case> {
    let closed = World::default();
    let open = World { load: Load::Open(100.0), ..World::default() };
    let mut cases = Vec::new();
    let mut add = |name: String, world: World, runs, history, is_promised| {
        cases.push(Case { name, world, runs, history, is_promised });
    };
    for (word, world) in [("closed", &closed), ("open", &open)] {
        for spread in [0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1] {
            let world = World { run_spread: spread, ..world.clone() };
            let name = format!("3 × 20 s, {word}, spread {} %", spread * 100.0);
            add(name, world, 3, 0, [true, spread <= 0.01]);
        }
    }
    for spread in [0.01, 0.02, 0.05] {
        let world = World { run_spread: spread, seconds: 60, ..closed.clone() };
        add(
            format!("3 × 60 s, closed, spread {} %", spread * 100.0),
            world,
            3,
            0,
            [true, spread <= 0.01],
        );
        let world = World { run_spread: spread, ..closed.clone() };
        add(format!("5 × 20 s, closed, spread {} %", spread * 100.0), world, 5, 0, [true, false]);
    }
    let failing = World { failed: 0.01, ..closed.clone() };
    add("3 × 20 s, closed, spread 1 %, 1 % fail".into(), failing, 3, 0, [true, false]);
    let failing = World { failed: 0.01, ..open.clone() };
    add("3 × 20 s, open, spread 1 %, 1 % fail".into(), failing, 3, 0, [true, false]);
    let drifting = World { drift: 0.02, ..closed.clone() };
    add("3 × 20 s, closed, spread 1 %, drift 2 % a run".into(), drifting, 3, 0, [true, false]);
    let sticky = World { slice_spread: 0.1, slice_memory: 0.9, ..closed.clone() };
    add("3 × 20 s, closed, spread 1 %, sticky slices".into(), sticky, 3, 0, [true, false]);
    for spread in [0.0, 0.01, 0.02, 0.05] {
        let world = World { run_spread: spread, seconds: 60, ..closed.clone() };
        add(
            format!("1 × 60 s, closed, spread {} %", spread * 100.0),
            world.clone(),
            1,
            0,
            [false; 2],
        );
        let name = format!("1 × 60 s, closed, spread {} %, 8 earlier runs", spread * 100.0);
        add(name, world, 1, 8, [false; 2]);
    }
    cases
}

fn said(case: &Case, slower: f64, count: usize) -> anyhow::Result<Said> {
    let mut words = [0_usize; 4];
    for seed in 0..count as u64 {
        let [a, b] = case.world.sides(case.runs, slower, seed);
        let [history, _] = case.world.sides(case.history, 1.0, seed ^ (1 << 40));
        let comparison = compare(&a, &b, &history, &Settings::default()).context("comparing")?;
        words[match comparison.verdict {
            Word::Better => 0,
            Word::Worse => 1,
            Word::Unclear => 2,
            Word::Same => 3,
        }] += 1;
    }
    let percent = |number: usize| number as f64 * 100.0 / count as f64;
    Ok(Said {
        changed: percent(words[0] + words[1]),
        worse: percent(words[1]),
        unclear: percent(words[2]),
    })
}

/// The time that a large comparison takes.
fn speed() -> anyhow::Result<Figure> {
    let mut rows = Vec::new();
    let mut worst = 0.0_f64;
    for (name, seconds, routes, runs) in [
        ("1 × 10 min, 50 routes", 600, 50, 1),
        ("1 × 1 h, 50 routes", 3600, 50, 1),
        ("3 × 10 min, 50 routes", 600, 50, 3),
    ] {
        let world = World { seconds, routes, load: Load::Open(500.0), ..World::default() };
        let [a, b] = world.sides(runs, 1.0, 1);
        let began = Instant::now();
        let comparison = compare(&a, &b, &[], &Settings::default()).context("comparing")?;
        let took = began.elapsed().as_secs_f64();
        worst = worst.max(took);
        rows.push(vec![name.into(), comparison.rows.len().to_string(), short(took)]);
    }
    Ok(Figure {
        title: "Time of a comparison".into(),
        method:
            "500 requests a second, one duration for each route; 2000 draws with one run a side."
                .into(),
        header: vec!["runs", "figures", "seconds"],
        rows,
        verdicts: vec![Verdict::at_most("seconds, not minutes: at most 10", Some(worst), 10.0)],
    })
}
