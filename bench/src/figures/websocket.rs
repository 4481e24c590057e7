//! The cost of a message on a WebSocket, alone and among others, and of opening one.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::{Bench, missing};
use crate::client::{Client, ScriptRun, exported_count};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::target::Target;

const VUS: u64 = 50;

/// The two modules: what the script calls them, and their titles.
const APIS: [(&str, &str); 2] = [("blocking", "k6/ws"), ("events", "k6/websockets")];

/// How messages come: what the script calls it, what it is, and what is counted.
const PATTERNS: [(&str, &str, &str); 4] = [
    ("one", "one to and fro", "ws_msgs_received"),
    ("ten", "ten to and fro", "ws_msgs_received"),
    ("push", "1 sent, 1000 come", "ws_msgs_received"),
    ("open", "open and close", "ws_sessions"),
];

type Named = (&'static str, &'static str);

/// The name of the smallest possible client in the table.
const BARE: &str = "bare";

/// The rounds of the bare client, in the two patterns where the kernel's part is most of it.
struct Bare {
    pattern: (&'static str, &'static str, &'static str),
    micros: Vec<f64>,
    rate: Vec<f64>,
}

/// The rounds of one client with one module and one pattern.
struct Rounds {
    api: Named,
    pattern: (&'static str, &'static str, &'static str),
    client: Client,
    micros: Vec<f64>,
    rate: Vec<f64>,
    failure: Option<String>,
}

impl Rounds {
    fn is_beside(&self, other: &Self) -> bool {
        self.api == other.api && self.pattern == other.pattern
    }
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let pinned = machine::cores() > 1;
    let target = Target::start(&bench.settings.brunt, pinned.then_some(1))?;
    let url = target.url("/ws/echo");
    let mut results = Vec::new();
    for pattern in PATTERNS {
        for api in APIS {
            for client in [Client::Brunt, Client::K6] {
                let (micros, rate, failure) = (Vec::new(), Vec::new(), None);
                results.push(Rounds { api, pattern, client, micros, rate, failure });
            }
        }
    }
    let mut bare = [PATTERNS[0], PATTERNS[3]].map(|pattern| Bare {
        pattern,
        micros: Vec::new(),
        rate: Vec::new(),
    });
    for _ in 0..bench.settings.rounds {
        for rounds in &mut bare {
            bare_once(bench, &target, pinned, rounds)?;
        }
        for rounds in &mut results {
            if rounds.failure.is_none()
                && let Err(error) = once(bench, &url, pinned, rounds)
            {
                let (what, name) = (rounds.pattern.1, rounds.client.name());
                rounds.failure = Some(format!("{what}, {}, {name}: {error:#}", rounds.api.1));
            }
        }
    }
    Ok(vec![Figure {
        title: format!("Messages of 100 bytes on WebSockets, {VUS} VUs"),
        method: format!(
            "Each VU sends texts to the demo target and waits for their echoes, again and again, for {} s, {} rounds{}. \
             Messages are those received; where connections are opened and closed, each counts as one. `bare` sends and receives the same \
             bytes and does nothing else.",
            bench.settings.seconds,
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "; nothing pinned" }
        ),
        header: vec!["messages", "module", "client", "CPU µs each", "brunt / it", "each second"],
        rows: results
            .iter()
            .map(|rounds| row(&results, rounds))
            .chain(bare.iter().map(|rounds| bare_row(&results, rounds)))
            .collect(),
        verdicts: results
            .iter()
            .filter(|rounds| rounds.client == Client::K6)
            .map(|rounds| {
                let (what, title) = (rounds.pattern.1, rounds.api.1);
                let goal = format!("{title}, {what}: at most 1/5 of k6's CPU");
                Verdict::at_most(goal, ours_over(&results, rounds), 0.2)
            })
            .collect(),
    }])
}

/// Our cost divided by theirs.
fn ours_over(results: &[Rounds], theirs: &Rounds) -> Option<f64> {
    let ours =
        results.iter().find(|ours| ours.client == Client::Brunt && ours.is_beside(theirs))?;
    Some(median(&ours.micros)? / median(&theirs.micros)?)
}

fn row(results: &[Rounds], rounds: &Rounds) -> Vec<String> {
    if let Some(failure) = &rounds.failure {
        return failed_row(failure);
    }
    vec![
        rounds.pattern.1.to_owned(),
        rounds.api.1.to_owned(),
        rounds.client.name().to_owned(),
        spread(&rounds.micros),
        ours_over(results, rounds).map_or("-".into(), short),
        spread(&rounds.rate),
    ]
}

/// How many times as much as the bare client it costs us, with the module that does best.
fn bare_row(results: &[Rounds], bare: &Bare) -> Vec<String> {
    let ours = results
        .iter()
        .filter(|rounds| rounds.client == Client::Brunt && rounds.pattern == bare.pattern)
        .filter_map(|rounds| median(&rounds.micros))
        .min_by(f64::total_cmp);
    let over = ours.zip(median(&bare.micros)).map(|(ours, bare)| ours / bare);
    vec![
        bare.pattern.1.to_owned(),
        "-".to_owned(),
        BARE.to_owned(),
        spread(&bare.micros),
        over.map_or("-".into(), short),
        spread(&bare.rate),
    ]
}

fn bare_once(
    bench: &Bench,
    target: &Target,
    pinned: bool,
    rounds: &mut Bare,
) -> anyhow::Result<()> {
    let seconds = bench.settings.seconds;
    let program = std::env::current_exe().context("the path of this program")?;
    let mut command = process::command(&program, pinned.then_some(0));
    let url = target.url("");
    let address = url.trim_start_matches("http://");
    let (vus, time) = (VUS.to_string(), seconds.to_string());
    command.args([crate::bare::WORD, rounds.pattern.0, address, &vus, &time]);
    let spent = process::run(command, Duration::from_secs(seconds + 10))?;
    let done: u64 = spent.stdout.trim().parse().with_context(|| process::tail(&spent.stderr))?;
    ensure!(done > 0, "the bare client got nothing");
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / done as f64);
    rounds.rate.push(done as f64 / seconds as f64);
    Ok(())
}

fn once(bench: &Bench, url: &str, pinned: bool, rounds: &mut Rounds) -> anyhow::Result<()> {
    let Some(program) = bench.program(rounds.client) else {
        rounds.failure = Some(missing(rounds.client));
        return Ok(());
    };
    let seconds = bench.settings.seconds;
    let (spent, metrics) = ScriptRun {
        program: &program,
        client: rounds.client,
        script: &bench.file("websocket.js"),
        flags: Vec::new(),
        env: vec![
            ("URL", url.to_owned()),
            ("API", rounds.api.0.to_owned()),
            ("PATTERN", rounds.pattern.0.to_owned()),
            ("VUS", VUS.to_string()),
            ("SECONDS", seconds.to_string()),
        ],
        core: pinned.then_some(0),
        seconds,
    }
    .run()?;
    let count = |metric: &str| exported_count(&metrics, metric, "count");
    let (counted, sessions) = (count(rounds.pattern.2)?, count("ws_sessions")?);
    ensure!(
        counted > 0 && sessions >= VUS,
        "{counted} counted in {sessions} sessions:\n{}",
        process::tail(&spent.stderr)
    );
    rounds.micros.push(spent.cpu.as_secs_f64() * 1e6 / counted as f64);
    rounds.rate.push(counted as f64 / seconds as f64);
    Ok(())
}
