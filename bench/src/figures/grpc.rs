//! CPU time per unary call of gRPC and a check.

use std::fs;

use anyhow::{Context as _, ensure};

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported};
use crate::machine;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::target::Target;

const VUS: u64 = 50;
const PROTO: &str = include_str!("../../../crates/demo/proto/hello.proto");

#[derive(Default)]
struct Rounds {
    micros: Vec<f64>,
    rate: Vec<f64>,
    failure: Option<String>,
}

/// Brunt and k6 on one core, the demo target on another.
pub(super) fn unary(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    fs::write(bench.file("hello.proto"), PROTO)?;
    let pinned = machine::cores() > 1;
    let brunt = bench.program(Client::Brunt).context("there is no brunt")?;
    let target = Target::start(&brunt, pinned.then_some(1))?;
    let mut results = [Client::Brunt, Client::K6].map(|client| (client, Rounds::default()));
    for _ in 0..bench.settings.rounds {
        for (client, rounds) in &mut results {
            if rounds.failure.is_none()
                && let Err(error) = once(bench, *client, &target, pinned, rounds)
            {
                rounds.failure = Some(format!("{}: {error:#}", client.name()));
            }
        }
    }
    let [ours, theirs] = results.each_ref().map(|(_, rounds)| median(&rounds.micros));
    let ratio = ours.zip(theirs).map(|(ours, theirs)| theirs / ours);
    let rows = results
        .iter()
        .map(|(client, rounds)| {
            if let Some(failure) = &rounds.failure {
                return failed_row(failure);
            }
            let compared = if *client == Client::K6 { ratio } else { Some(1.0) };
            vec![
                client.name().to_owned(),
                spread(&rounds.micros),
                compared.map_or("-".into(), short),
                spread(&rounds.rate),
            ]
        })
        .collect();
    Ok(vec![Figure {
        title: format!("Scripted unary gRPC call and check, {VUS} VUs, client on one core"),
        method: format!(
            "{VUS} connections for {} s, {} rounds, `brunt demo` on the other core.",
            bench.settings.seconds, bench.settings.rounds
        ),
        header: vec!["client", "CPU µs/call", "it / brunt", "calls/s"],
        rows,
        verdicts: vec![Verdict::at_least("at least 4 × k6's calls per CPU second", ratio, 4.0)],
    }])
}

fn once(
    bench: &Bench,
    client: Client,
    target: &Target,
    pinned: bool,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let program = bench.program(client).with_context(|| missing(client))?;
    let seconds = bench.settings.seconds;
    let (spent, metrics) = ScriptRun {
        program: &program,
        client,
        script: &bench.file("grpc.js"),
        flags: ["--vus", &VUS.to_string(), "--duration", &format!("{seconds}s")]
            .map(str::to_owned)
            .to_vec(),
        env: vec![("GRPC", target.grpc().to_owned())],
        core: pinned.then_some(0),
        seconds,
    }
    .run()?;
    let calls = exported(&metrics, "checks", "passes")?;
    ensure!(exported(&metrics, "checks", "fails")? == 0.0, "{}'s calls failed", client.name());
    ensure!(calls > 0.0, "{} made no call", client.name());
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / calls);
    rounds.rate.push(calls / seconds as f64);
    Ok(())
}
