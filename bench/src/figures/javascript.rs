//! JavaScript alone: no network, one VU.

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported};
use crate::machine;
use crate::report::{Figure, Verdict, median, short, spread};

/// The metrics that the script records, in milliseconds per piece of work, and how many times faster than k6 each is to be.
const WORK: [(&str, &str, f64); 4] = [
    ("fib_25", "fib(25)", 3.0),
    ("sort_10000", "sort of 10 000 numbers", 3.0),
    ("json_100kb", "JSON round trip of 100 kB", 3.0),
    ("html_100kb", "HTML of 100 kB, parsed, and one selector", 1.5),
];
/// Samples that the script takes of each piece.
const SAMPLES: u64 = 7;

/// Milliseconds of the pieces of work, over the rounds.
type Times = [Vec<f64>; WORK.len()];

/// Both engines in turn, on one core.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let core = (machine::cores() > 1).then_some(0);
    let clients = bench.scripted();
    let mut results: Vec<(Client, Times)> =
        clients.iter().map(|(client, _)| (*client, Times::default())).collect();
    for _ in 0..bench.settings.rounds {
        for ((client, program), (_, times)) in clients.iter().zip(&mut results) {
            let (_, metrics) = ScriptRun {
                program,
                client: *client,
                script: &bench.file("javascript.js"),
                flags: Vec::new(),
                env: vec![
                    ("SLICE", bench.settings.slice_ms.to_string()),
                    ("ROUNDS", SAMPLES.to_string()),
                ],
                core,
                seconds: 60,
            }
            .run()?;
            for ((metric, ..), times) in WORK.iter().zip(times) {
                times.push(exported(&metrics, metric, "med")?);
            }
        }
    }
    let of = |client: Client, at: usize| {
        let (_, times) = results.iter().find(|(other, _)| *other == client)?;
        median(&times[at])
    };
    let faster: Vec<Option<f64>> =
        (0..WORK.len()).map(|at| Some(of(Client::K6, at)? / of(Client::Brunt, at)?)).collect();
    let rows = WORK.iter().enumerate().map(|(at, (_, name, _))| {
        let shown = |client: Client| {
            let found = results.iter().find(|(other, _)| *other == client);
            found.map_or_else(|| missing(client), |(_, times)| spread(&times[at]))
        };
        let times = faster[at].map_or("-".into(), |faster| format!("{} ×", short(faster)));
        vec![(*name).to_owned(), shown(Client::Brunt), shown(Client::K6), times]
    });
    Ok(vec![Figure {
        title: "JavaScript, one VU on one core".into(),
        method: format!(
            "Milliseconds per piece of work by the script's own clock; the median of {SAMPLES} samples \
             of at least {} ms each is one round.",
            bench.settings.slice_ms
        ),
        header: vec!["work", "brunt ms", "k6 ms", "brunt is faster by"],
        rows: rows.collect(),
        verdicts: WORK
            .iter()
            .zip(&faster)
            .map(|((_, name, goal), faster)| {
                Verdict::at_least(format!("{name}: at least {goal} × k6"), *faster, *goal)
            })
            .collect(),
    }])
}
