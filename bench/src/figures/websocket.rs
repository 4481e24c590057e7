//! What a message on a WebSocket costs: one VU, one connection, one echo after the other.

use anyhow::ensure;

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported_count};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::target::Target;

const VUS: u64 = 50;

/// The two modules: what the script calls them, and their titles.
const APIS: [(&str, &str); 2] = [("blocking", "k6/ws"), ("events", "k6/websockets")];

/// The rounds of one client with one module.
#[derive(Default)]
struct Rounds {
    micros: Vec<f64>,
    rate: Vec<f64>,
    failure: Option<String>,
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let pinned = machine::cores() > 1;
    let target = Target::start(&bench.settings.brunt, pinned.then_some(1))?;
    let url = target.url("/ws/echo");
    let mut results: Vec<((&str, &str), Client, Rounds)> = APIS
        .into_iter()
        .flat_map(|api| [Client::Brunt, Client::K6].map(|client| (api, client)))
        .map(|(api, client)| (api, client, Rounds::default()))
        .collect();
    for _ in 0..bench.settings.rounds {
        for (api, client, rounds) in &mut results {
            if rounds.failure.is_none()
                && let Err(error) = once(bench, &url, (api.0, *client), pinned, rounds)
            {
                rounds.failure = Some(format!("{}, {}: {error:#}", api.1, client.name()));
            }
        }
    }
    let of = |api: &str, client: Client| {
        let found = results.iter().find(|((name, _), other, _)| *name == api && *other == client);
        found.and_then(|(_, _, rounds)| median(&rounds.micros))
    };
    let over = |api: &str, client: Client| Some(of(api, Client::Brunt)? / of(api, client)?);
    let rows = results.iter().map(|((name, title), client, rounds)| match &rounds.failure {
        Some(failure) => failed_row(failure),
        None => vec![
            (*title).to_owned(),
            client.name().to_owned(),
            spread(&rounds.micros),
            over(name, *client).map_or("-".into(), short),
            spread(&rounds.rate),
        ],
    });
    let verdicts = APIS.map(|(name, title)| {
        let goal = format!("{title}: at most 1/5 of k6's CPU per message");
        Verdict::at_most(goal, over(name, Client::K6), 0.2)
    });
    Ok(vec![Figure {
        title: format!("Messages of 100 bytes on WebSockets, {VUS} VUs"),
        method: format!(
            "Each VU sends a text to the demo target and waits for its echo, again and again, for {} s, {} rounds{}. \
             Messages are those received.",
            bench.settings.seconds,
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "; nothing pinned" }
        ),
        header: vec!["module", "client", "CPU µs/message", "brunt / it", "messages/s"],
        rows: rows.collect(),
        verdicts: verdicts.into(),
    }])
}

fn once(
    bench: &Bench,
    url: &str,
    (api, client): (&str, Client),
    pinned: bool,
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
        script: &bench.file("websocket.js"),
        flags: Vec::new(),
        env: vec![
            ("URL", url.to_owned()),
            ("API", api.to_owned()),
            ("VUS", VUS.to_string()),
            ("SECONDS", seconds.to_string()),
        ],
        core: pinned.then_some(0),
        seconds,
    }
    .run()?;
    let count = |metric: &str| exported_count(&metrics, metric, "count");
    let (messages, sessions) = (count("ws_msgs_received")?, count("ws_sessions")?);
    ensure!(
        messages > 0 && sessions == VUS,
        "{messages} messages in {sessions} sessions:\n{}",
        process::tail(&spent.stderr)
    );
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / messages as f64);
    rounds.rate.push(messages as f64 / seconds as f64);
    Ok(())
}
