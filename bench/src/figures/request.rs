//! CPU time per request: one GET and a check, in several settings.

use anyhow::ensure;

use super::{Bench, missing};
use crate::client::{Client, Load, Outcome, ScriptRun, exported};
use crate::machine;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::server::{Server, Speech};

/// A setting to measure in.
struct Setting {
    /// The action and its place; the number of VUs goes between them.
    title: [&'static str; 2],
    vus: u64,
    speech: Speech,
    /// Requests at once on each connection, over HTTP/2; 0: HTTP/1.1.
    streams: u64,
    pause: f64,
    /// Brunt's script; k6 runs `get.js`.
    script: &'static str,
    /// Whether client and server get a core each.
    pinned: bool,
    /// The goals: brunt's CPU per request over that of a peer, at most.
    goals: &'static [(Client, f64, &'static str)],
}

/// 250 VUs over HTTP/1.1 keep-alive, on a core each and then free to roam.
pub(super) fn http(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = |title, pinned| Setting {
        title,
        vus: 250,
        speech: Speech::Plain,
        streams: 0,
        pause: 0.0,
        script: "get.js",
        pinned,
        goals: &[
            (Client::Wrk, 1.5, "at most 1.5 × wrk's CPU per request"),
            (Client::K6, 1.0 / 6.0, "at most 1/6 of k6's (0.167)"),
        ],
    };
    Ok(vec![
        measure(bench, &setting(["Scripted GET and check", "client on one core"], true))?,
        measure(bench, &setting(["Scripted GET and check", "all cores"], false))?,
    ])
}

/// The same over TLS 1.3.
pub(super) fn tls(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = Setting {
        title: ["Scripted GET and check over TLS 1.3", "client on one core"],
        vus: 250,
        speech: Speech::Tls,
        streams: 0,
        pause: 0.0,
        script: "get.js",
        pinned: true,
        goals: &[(Client::K6, 0.25, "at most 1/4 of k6's CPU per request (0.25)")],
    };
    Ok(vec![measure(bench, &setting)?])
}

/// The same over HTTP/2: one request at a time on 250 connections, and ten at a time on 50.
pub(super) fn http2(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = |title, vus, streams, script| Setting {
        title,
        vus,
        speech: Speech::Http2,
        streams,
        pause: 0.0,
        script,
        pinned: true,
        goals: &[
            (Client::H2load, 1.5, "at most 1.5 × h2load's CPU per request"),
            (Client::K6, 0.2, "at most 1/5 of k6's (0.2)"),
        ],
    };
    let one = ["Scripted GET and check over HTTP/2", "client on one core"];
    let ten = ["Scripted batches of 10 GETs and checks over HTTP/2", "client on one core"];
    Ok(vec![
        measure(bench, &setting(one, 250, 1, "get.js"))?,
        measure(bench, &setting(ten, 50, 10, "streams.js"))?,
    ])
}

/// The same with many more VUs.
pub(super) fn crowd(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = Setting {
        title: ["Scripted GET and check", "client on one core"],
        vus: bench.settings.crowd,
        speech: Speech::Plain,
        streams: 0,
        pause: 0.0,
        script: "get.js",
        pinned: true,
        goals: &[(Client::K6, 0.2, "at most 1/5 of k6's CPU per request (0.2)")],
    };
    Ok(vec![measure(bench, &setting)?])
}

/// The same with a pause, so that the client is mostly idle.
pub(super) fn paced(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = Setting {
        title: ["Scripted GET, check and sleep(0.1)", "client on one core"],
        vus: 250,
        speech: Speech::Plain,
        streams: 0,
        pause: 0.1,
        script: "get.js",
        pinned: true,
        goals: &[(Client::K6, 0.2, "at most 1/5 of k6's CPU per request (0.2)")],
    };
    Ok(vec![measure(bench, &setting)?])
}

/// The same through `k6/x/fasthttp`; k6, which lacks it, runs the plain script.
pub(super) fn fasthttp(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let setting = Setting {
        title: ["GET and checkstatus through k6/x/fasthttp", "client on one core"],
        vus: 250,
        speech: Speech::Plain,
        streams: 0,
        pause: 0.0,
        script: "fasthttp.js",
        pinned: true,
        goals: &[(Client::Wrk, 1.25, "at most 1.25 × wrk's CPU per request")],
    };
    Ok(vec![measure(bench, &setting)?])
}

/// The results of one client's rounds.
#[derive(Default)]
struct Rounds {
    micros: Vec<f64>,
    rate: Vec<f64>,
    rss_mb: Vec<f64>,
    failure: Option<String>,
}

fn measure(bench: &Bench, setting: &Setting) -> anyhow::Result<Figure> {
    // With a single core there is nothing to share out.
    let pinned = setting.pinned && machine::cores() > 1;
    let server = Server::start(pinned.then_some(1))?;
    let load = Load {
        url: server.url(setting.speech),
        vus: setting.vus,
        // Paced, a client does little in a second: its start would weigh more than its work.
        seconds: bench.settings.seconds * if setting.pause > 0.0 { 6 } else { 1 },
        pause: setting.pause,
        streams: setting.streams,
        core: pinned.then_some(0),
    };
    let clients: Vec<Client> = Client::ALL
        .into_iter()
        // Only a script can pause.
        .filter(|client| setting.pause == 0.0 || client.is_scripted())
        .filter(|client| setting.streams == 0 || client.has_http2())
        .collect();
    let mut results: Vec<Rounds> = clients.iter().map(|_| Rounds::default()).collect();
    for _ in 0..bench.settings.rounds {
        for (client, rounds) in clients.iter().zip(&mut results) {
            if rounds.failure.is_some() {
                continue;
            }
            let load = Load { seconds: client.seconds(load.seconds), ..load.clone() };
            match once(bench, *client, setting.script, &load) {
                Ok(Some(outcome)) => rounds.take(&outcome, &load),
                Ok(None) => rounds.failure = Some(missing(*client)),
                Err(error) => rounds.failure = Some(format!("{}: {error:#}", client.name())),
            }
        }
    }

    let micros = |client: Client| {
        let at = clients.iter().position(|other| *other == client)?;
        median(&results[at].micros)
    };
    let ratio = |client: Client| Some(micros(Client::Brunt)? / micros(client)?);
    let rows = clients
        .iter()
        .zip(&results)
        .map(|(client, rounds)| {
            if let Some(failure) = &rounds.failure {
                return failed_row(failure);
            }
            vec![
                client.name().to_owned(),
                spread(&rounds.micros),
                ratio(*client).map_or("-".into(), short),
                spread(&rounds.rate),
                spread(&rounds.rss_mb),
            ]
        })
        .collect();
    Ok(Figure {
        title: format!("{}, {} VUs, {}", setting.title[0], setting.vus, setting.title[1]),
        method: format!(
            "{} connections for {} s{}, {} rounds, nginx with one worker{}.",
            setting.vus,
            load.seconds,
            if clients.contains(&Client::Gatling) { " (gatling five times as long)" } else { "" },
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "; nothing pinned" }
        ),
        header: vec!["client", "CPU µs/request", "brunt / it", "requests/s", "peak RSS MB"],
        rows,
        verdicts: setting
            .goals
            .iter()
            .map(|(client, limit, goal)| Verdict::at_most(*goal, ratio(*client), *limit))
            .collect(),
    })
}

impl Rounds {
    fn take(&mut self, outcome: &Outcome, load: &Load) {
        let requests = outcome.requests as f64;
        self.micros.push(outcome.spent.cpu.as_secs_f64() * 1e6 / requests);
        self.rate.push(requests / load.seconds as f64);
        self.rss_mb.push(outcome.spent.rss_peak_kb as f64 / 1000.0);
    }
}

/// k6 lacks fasthttp.
fn script_of(client: Client, script: &str) -> &str {
    if client == Client::K6 && script == "fasthttp.js" { "get.js" } else { script }
}

/// One round of one client; none if it is not there.
fn once(
    bench: &Bench,
    client: Client,
    script: &str,
    load: &Load,
) -> anyhow::Result<Option<Outcome>> {
    let Some(program) = bench.program(client) else {
        return Ok(None);
    };
    let outcome = if client.is_scripted() {
        let (spent, metrics) = ScriptRun {
            program: &program,
            client,
            script: &bench.file(script_of(client, script)),
            flags: ["--vus", &load.vus.to_string(), "--duration", &format!("{}s", load.seconds)]
                .map(str::to_owned)
                .to_vec(),
            env: vec![
                ("URL", load.url.clone()),
                ("PAUSE", load.pause.to_string()),
                ("STREAMS", load.streams.to_string()),
            ],
            core: load.core,
            seconds: load.seconds,
        }
        .run()?;
        let failed = exported(&metrics, "http_req_failed", "value")?;
        ensure!(failed == 0.0, "{}'s requests failed (share {failed})", client.name());
        Outcome { requests: exported(&metrics, "http_reqs", "count")? as u64, spent }
    } else {
        client.load(&program, load)?
    };
    ensure!(outcome.requests > 0, "{} made no request", client.name());
    Ok(Some(outcome))
}
