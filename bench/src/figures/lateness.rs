//! How late an open model starts its work.

use super::Bench;
use crate::client::{Client, ScriptRun, exported};
use crate::machine;
use crate::report::{Figure, Verdict, median, spread};

/// Iterations per second.
const RATE: u64 = 10_000;
/// The numbers of `iteration_lateness` that are shown, in milliseconds.
const STATS: [&str; 6] = ["min", "med", "p(90)", "p(99)", "p(99.9)", "max"];

/// Brunt alone: k6 does not measure it.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let mut lateness: [Vec<f64>; STATS.len()] = Default::default();
    let mut done = Vec::new();
    let mut dropped = Vec::new();
    for _ in 0..bench.settings.rounds {
        let (_, metrics) = ScriptRun {
            program: &bench.settings.brunt,
            client: Client::Brunt,
            script: &bench.file("lateness.js"),
            flags: ["--workers", "1", "--lateness-metric"].map(str::to_owned).to_vec(),
            env: vec![("RATE", RATE.to_string()), ("SECONDS", bench.settings.seconds.to_string())],
            core: (machine::cores() > 1).then_some(0),
            seconds: bench.settings.seconds,
        }
        .run()?;
        for (stat, values) in STATS.iter().zip(&mut lateness) {
            values.push(exported(&metrics, "iteration_lateness", stat)? * 1000.0);
        }
        done.push(exported(&metrics, "iterations", "count")? / bench.settings.seconds as f64);
        // Absent when nothing was dropped.
        dropped.push(exported(&metrics, "dropped_iterations", "count").unwrap_or(0.0));
    }
    let mut rows: Vec<Vec<String>> = STATS
        .iter()
        .zip(&lateness)
        .map(|(stat, values)| vec![format!("{stat} lateness, µs"), spread(values)])
        .collect();
    rows.push(vec!["iterations/s".into(), spread(&done)]);
    rows.push(vec!["dropped".into(), spread(&dropped)]);
    Ok(vec![Figure {
        title: format!("Lateness at {RATE} iterations/s, one worker"),
        method: format!(
            "constant-arrival-rate with an empty function for {} s: from the planned start of an \
             iteration to its start. Wants an otherwise idle machine.",
            bench.settings.seconds
        ),
        header: vec!["", "brunt"],
        rows,
        verdicts: vec![Verdict::at_most("p50 lateness below 60 µs", median(&lateness[1]), 60.0)],
    }])
}
