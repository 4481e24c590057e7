//! The cost of a page of HTML: parsed, and searched once.

use anyhow::ensure;

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported_count};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};

/// How many pages there are, and what that shows.
const CASES: [(u64, &str); 2] = [(1, "the same page"), (64, "64 pages in turn")];

/// The rounds of one client in one case.
#[derive(Default)]
struct Rounds {
    micros: Vec<f64>,
    rate: Vec<f64>,
    failure: Option<String>,
}

#[allow(clippy::unnecessary_wraps, reason = "all figures are measured by functions of one type")]
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let core = (machine::cores() > 1).then_some(0);
    let mut results: Vec<((u64, &str), Client, Rounds)> = CASES
        .into_iter()
        .flat_map(|case| [Client::Brunt, Client::K6].map(|client| (case, client)))
        .map(|(case, client)| (case, client, Rounds::default()))
        .collect();
    for _ in 0..bench.settings.rounds {
        for ((pages, title), client, rounds) in &mut results {
            if rounds.failure.is_none()
                && let Err(error) = once(bench, *pages, *client, core, rounds)
            {
                rounds.failure = Some(format!("{title}, {}: {error:#}", client.name()));
            }
        }
    }
    let of = |pages: u64, client: Client| {
        let found = results.iter().find(|((case, _), other, _)| *case == pages && *other == client);
        found.and_then(|(_, _, rounds)| median(&rounds.micros))
    };
    let over = |pages: u64, client: Client| Some(of(pages, Client::Brunt)? / of(pages, client)?);
    let rows = results.iter().map(|((pages, title), client, rounds)| match &rounds.failure {
        Some(failure) => failed_row(failure),
        None => vec![
            (*title).to_owned(),
            client.name().to_owned(),
            spread(&rounds.micros),
            over(*pages, *client).map_or("-".into(), short),
            spread(&rounds.rate),
        ],
    });
    let verdicts = CASES.map(|(pages, title)| {
        let goal = format!("{title}: at most 0.7 of k6's CPU (the aim is 0.5)");
        Verdict::at_most(goal, over(pages, Client::K6), 0.7)
    });
    Ok(vec![Figure {
        title: "HTML of 100 kB, parsed, and one selector".into(),
        method: format!(
            "One VU{} parses a page and looks for `div.item > form input[name=id]`, again and again, for {} s, {} \
             rounds. All CPU of the process, its start and the making of the pages included, over the iterations.",
            if core.is_some() { " on core 0" } else { "" },
            bench.settings.seconds,
            bench.settings.rounds
        ),
        header: vec!["pages", "client", "CPU µs/iteration", "brunt / it", "iterations/s"],
        rows: rows.collect(),
        verdicts: verdicts.into(),
    }])
}

fn once(
    bench: &Bench,
    pages: u64,
    client: Client,
    core: Option<usize>,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let Some(program) = bench.program(client) else {
        rounds.failure = Some(missing(client));
        return Ok(());
    };
    let seconds = bench.settings.seconds;
    let (spent, metrics) = ScriptRun {
        program: &program,
        client,
        script: &bench.file("html.js"),
        flags: Vec::new(),
        env: vec![("PAGES", pages.to_string()), ("SECONDS", seconds.to_string())],
        core,
        seconds,
    }
    .run()?;
    let iterations = exported_count(&metrics, "iterations", "count")?;
    ensure!(iterations > 0, "no iteration:\n{}", process::tail(&spent.stderr));
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / iterations as f64);
    rounds.rate.push(iterations as f64 / seconds as f64);
    Ok(())
}
