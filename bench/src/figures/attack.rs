//! `brunt attack`: what a hit costs, how exactly the schedule is kept, whether the percentiles are true.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::{Bench, missing};
use crate::client::{Client, Load, ScriptRun, exported};
use crate::machine;
use crate::process::{self, Spent};
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::server::{Server, Speech};
use crate::stamps::{Stall, Stamp, Stamps, behind};

/// Workers of the closed model.
const WORKERS: u64 = 250;
/// Hits per second of the open one.
const RATES: [u64; 3] = [1000, 5000, 10_000];
/// Hits per second at the server that stalls.
const STALLED_RATE: u64 = 100;
/// Connections that a peer may have in the open model.
const PEER_CONNECTIONS: u64 = 200;

/// One attack and the file of its results.
struct Attack {
    spent: Spent,
    results: PathBuf,
}

/// Runs `brunt attack` to its end; the file is written anew by each.
fn attack(bench: &Bench, url: &str, seconds: u64, flags: &[&str]) -> anyhow::Result<Attack> {
    let (targets, results) = (bench.file("targets.txt"), bench.file("results.bin"));
    fs::write(&targets, format!("GET {url}\n"))?;
    let mut command = process::command(&bench.settings.brunt, client_core());
    command.arg("attack").args(flags).arg(format!("-duration={seconds}s"));
    command.arg("-targets").arg(&targets).arg("-output").arg(&results);
    let spent = process::run(command, Duration::from_secs(seconds + 60))?;
    ensure!(spent.code == Some(0), "brunt attack: {}", process::tail(&spent.stderr));
    Ok(Attack { spent, results })
}

impl Attack {
    /// The output of `brunt report -type=json` about it.
    fn report(&self, bench: &Bench) -> anyhow::Result<Value> {
        let output = Command::new(&bench.settings.brunt)
            .args(["report", "-type=json"])
            .arg(&self.results)
            .output()?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("`brunt report -type=json` gives JSON: {}", process::tail(&said))
        })
    }

    /// When each hit was due and when it was sent, in nanoseconds since 1970, by number.
    fn moments(&self, bench: &Bench) -> anyhow::Result<Vec<(i64, i64)>> {
        let output = Command::new(&bench.settings.brunt)
            .args(["encode", "-to", "json"])
            .arg(&self.results)
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let mut moments: Vec<(u64, (i64, i64))> = Vec::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)?;
            let due = record["planned"].as_i64().context("a record tells when it was due")?;
            let sent = record["timestamp"].as_str().context("a record tells when it was sent")?;
            let sent = sent.parse::<jiff::Timestamp>()?.as_nanosecond() as i64;
            moments.push((record["seq"].as_u64().unwrap_or(0), (due, sent)));
        }
        moments.sort_by_key(|(seq, _)| *seq);
        Ok(moments.into_iter().map(|(_, moment)| moment).collect())
    }
}

/// With a single core there is nothing to share out.
fn client_core() -> Option<usize> {
    (machine::cores() > 1).then_some(0)
}

fn server_core() -> Option<usize> {
    (machine::cores() > 1).then_some(1)
}

/// CPU per hit as fast as 250 workers can, beside those who do nothing else.
pub(super) fn cost(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    const CLIENTS: [Client; 5] =
        [Client::Brunt, Client::Wrk, Client::Vegeta, Client::H2load, Client::Oha];
    let server = Server::start(server_core())?;
    let url = server.url(Speech::Plain);
    let seconds = bench.settings.seconds;
    let mut micros: [Vec<f64>; 5] = Default::default();
    let mut rates: [Vec<f64>; 5] = Default::default();
    let mut failures: [Option<String>; 5] = Default::default();
    let once = |client: Client| -> anyhow::Result<(u64, Spent)> {
        if client == Client::Brunt {
            let workers = WORKERS.to_string();
            let flags = ["-rate=0", "-workers", &workers, "-max-workers", &workers];
            let attack = attack(bench, &url, seconds, &flags)?;
            let report = attack.report(bench)?;
            ensure!(report["success"].as_f64() == Some(1.0), "hits failed: {}", report["errors"]);
            let requests = report["requests"].as_u64().context("a report counts the requests")?;
            return Ok((requests, attack.spent));
        }
        let program = bench.program(client).with_context(|| missing(client))?;
        let load = Load {
            url: url.clone(),
            vus: WORKERS,
            seconds,
            pause: 0.0,
            streams: 0,
            core: client_core(),
        };
        let outcome = client.load(&program, &load)?;
        Ok((outcome.requests, outcome.spent))
    };
    for _ in 0..bench.settings.rounds {
        for (index, client) in CLIENTS.into_iter().enumerate() {
            if failures[index].is_some() {
                continue;
            }
            match once(client) {
                Ok((requests, spent)) => {
                    micros[index].push(spent.cpu.as_secs_f64() * 1e6 / requests.max(1) as f64);
                    rates[index].push(requests as f64 / seconds as f64);
                }
                Err(error) => failures[index] = Some(format!("{}: {error:#}", client.name())),
            }
        }
    }
    let ratio = |index: usize| Some(median(&micros[0])? / median(&micros[index])?);
    let rows = CLIENTS
        .iter()
        .enumerate()
        .map(|(index, client)| {
            failures[index].as_deref().map_or_else(
                || {
                    vec![
                        client.name().to_owned(),
                        spread(&micros[index]),
                        ratio(index).map_or("-".into(), short),
                        spread(&rates[index]),
                    ]
                },
                failed_row,
            )
        })
        .collect();
    Ok(vec![Figure {
        title: format!("brunt attack -rate=0, {WORKERS} workers, client on one core"),
        method: format!(
            "GET for {seconds} s, {} rounds, nginx with one worker; client on core 0, server on core 1. \
             Brunt and vegeta write a record of every hit to a file.",
            bench.settings.rounds
        ),
        header: vec!["client", "CPU µs/request", "brunt / it", "requests/s"],
        rows,
        verdicts: vec![Verdict::at_most("at most 1.15 × wrk's CPU per request", ratio(1), 1.15)],
    }])
}

/// The results of one client's rounds at one rate.
#[derive(Default)]
struct Punctuality {
    /// Sent − due, by its own word: median and 99th percentile, µs.
    own: [Vec<f64>; 2],
    /// Arrived − due, by the server's.
    seen: [Vec<f64>; 2],
    micros: Vec<f64>,
    rate: Vec<f64>,
}

impl Punctuality {
    fn take(&mut self, stamps: &[Stamp], rate: u64, spent: &Spent) {
        let late = micros(behind(stamps, rate as f64, |stamp| stamp.arrived));
        self.seen[0].extend(quantile(&late, 0.5));
        self.seen[1].extend(quantile(&late, 0.99));
        self.micros.push(spent.cpu.as_secs_f64() * 1e6 / stamps.len().max(1) as f64);
        if let [first, .., last] = stamps {
            let took = (last.arrived - first.arrived) as f64 / 1e9;
            self.rate.push((stamps.len() - 1) as f64 / took);
        }
    }

    fn row(&self, name: &str, rate: u64) -> Vec<String> {
        let both = |two: &[Vec<f64>; 2]| [spread(&two[0]), spread(&two[1])];
        let [own, own99] = both(&self.own);
        let [seen, seen99] = both(&self.seen);
        let rest = [own, own99, seen, seen99, spread(&self.micros), spread(&self.rate)];
        [name.to_owned(), rate.to_string()].into_iter().chain(rest).collect()
    }
}

/// How exactly the open model keeps its schedule.
pub(super) fn schedule(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let seconds = bench.settings.seconds;
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    for rate in RATES {
        let mut brunt = Punctuality::default();
        let mut oha = Punctuality::default();
        let peer = bench.program(Client::Oha);
        for _ in 0..bench.settings.rounds {
            let server = Stamps::start(server_core(), None)?;
            let attack = attack(bench, &server.url(), seconds, &[&format!("-rate={rate}/s")])?;
            let stamps = server.finish()?;
            let due = attack.moments(bench)?;
            ensure!(!due.is_empty(), "no hits were recorded");
            let late: Vec<f64> =
                due.iter().map(|(due, sent)| (sent - due).abs() as f64 / 1000.0).collect();
            brunt.own[0].extend(quantile(&late, 0.5));
            brunt.own[1].extend(quantile(&late, 0.99));
            brunt.take(&stamps, rate, &attack.spent);
            // By the clock of the schedule itself, not by one laid through the arrivals.
            let arrived: Vec<f64> = stamps
                .iter()
                .filter_map(|stamp| Some((stamp, due.get(stamp.seq? as usize)?)))
                .map(|(stamp, (due, _))| (stamp.arrived - due) as f64 / 1000.0)
                .collect();
            if !arrived.is_empty() {
                for (values, q) in brunt.seen.iter_mut().zip([0.5, 0.99]) {
                    values.pop();
                    values.extend(quantile(&arrived, q));
                }
            }
            if let Some(program) = &peer {
                let server = Stamps::start(server_core(), None)?;
                let mut command = process::command(program, client_core());
                command.args(["--no-tui", "-q", &rate.to_string()]);
                command.args(["-c", &PEER_CONNECTIONS.to_string(), "-z", &format!("{seconds}s")]);
                command.arg(server.url());
                let spent = process::run(command, Duration::from_secs(seconds + 60))?;
                oha.take(&server.finish()?, rate, &spent);
            }
        }
        rows.push(brunt.row("brunt", rate));
        rows.push(if peer.is_some() {
            oha.row("oha", rate)
        } else {
            failed_row(&missing(Client::Oha))
        });
        for (who, two) in [("by itself", &brunt.own), ("by the server", &brunt.seen)] {
            let at_most = |goal: &str, values: &[f64], limit| {
                Verdict::at_most(format!("{rate}/s, {who}: {goal}"), median(values), limit)
            };
            verdicts.push(at_most("p50 at most 60 µs late", &two[0], 60.0));
            verdicts.push(at_most("p99 at most 1500 µs late", &two[1], 1500.0));
        }
    }
    Ok(vec![Figure {
        title: "How late hits are sent".into(),
        method: format!(
            "GET at a constant rate for {seconds} s, {} rounds; client on core 0, a server on core 1 that \
             stamps each arrival. Seen: arrived − due; for oha, which tells no plan, behind an even \
             schedule laid so that no arrival is early. Microseconds. Wants an otherwise idle machine.",
            bench.settings.rounds
        ),
        header: vec![
            "client",
            "rate",
            "sent late p50",
            "p99",
            "seen late p50",
            "p99",
            "CPU µs/request",
            "arrivals/s",
        ],
        rows,
        verdicts,
    }])
}

/// Whether percentiles are true when the server pauses.
pub(super) fn stall(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let length = Duration::from_millis(bench.settings.stall_ms);
    let stall = Stall { length, period: length * 10 };
    let seconds = (length.as_secs_f64() * 20.0).ceil() as u64;
    let ms = |values: &[f64]| quantile(values, 0.99).map(|p99| p99 * 1000.0);
    let mut rows = Vec::new();

    let server = Stamps::start(server_core(), Some(stall))?;
    let flags = [format!("-rate={STALLED_RATE}/s")];
    let attack = attack(bench, &server.url(), seconds, &[&flags[0]])?;
    let stamps = server.finish()?;
    let truth = ms(&behind(&stamps, STALLED_RATE as f64, |stamp| stamp.answered));
    let report = attack.report(bench)?;
    let reported = report["schedule"]["waited"]["99th"].as_f64().map(|ns| ns / 1e6);
    let off = truth.zip(reported).map(|(truth, reported)| (reported / truth - 1.0).abs() * 100.0);
    let shown = |value: Option<f64>| value.map_or("-".into(), short);
    rows.push(vec![
        "brunt attack".into(),
        stamps.len().to_string(),
        shown(truth),
        shown(reported),
        shown(off),
    ]);
    // A script, from the planned start of its iterations on.
    let server = Stamps::start(server_core(), Some(stall))?;
    let (_, metrics) = ScriptRun {
        program: &bench.settings.brunt,
        client: Client::Brunt,
        script: &bench.file("stalled.js"),
        flags: vec!["--workers".into(), "1".into()],
        env: vec![
            ("RATE", STALLED_RATE.to_string()),
            ("SECONDS", seconds.to_string()),
            ("URL", server.url()),
        ],
        core: client_core(),
        seconds,
    }
    .run()?;
    let stamps = server.finish()?;
    let truth = ms(&behind(&stamps, STALLED_RATE as f64, |stamp| stamp.answered));
    let reported = exported(&metrics, "iteration_duration_planned", "p(99)").ok();
    let off_script =
        truth.zip(reported).map(|(truth, reported)| (reported / truth - 1.0).abs() * 100.0);
    rows.push(vec![
        "brunt run".into(),
        stamps.len().to_string(),
        shown(truth),
        shown(reported),
        shown(off_script),
    ]);
    // A closed model with one user: it waits with the server and asks nothing meanwhile.
    let closed = [
        (Client::Wrk, ["-t1", "-c1", "--latency", "-d"].as_slice(), "wrk, 1 connection"),
        (Client::Oha, ["--no-tui", "-c", "1", "-z"].as_slice(), "oha, 1 connection"),
    ];
    for (client, flags, name) in closed {
        let Some(program) = bench.program(client) else {
            rows.push(failed_row(&missing(client)));
            continue;
        };
        let server = Stamps::start(server_core(), Some(stall))?;
        let mut command = process::command(&program, client_core());
        command.args(flags).arg(format!("{seconds}s")).arg(server.url());
        let spent = process::run(command, Duration::from_secs(seconds + 60))?;
        let stamps = server.finish()?;
        rows.push(vec![
            name.into(),
            stamps.len().to_string(),
            "-".into(),
            shown(said_p99(&spent.stdout)),
            "-".into(),
        ]);
    }
    Ok(vec![Figure {
        title: format!(
            "A server that stalls {} ms each {} s",
            length.as_millis(),
            stall.period.as_secs_f64()
        ),
        method: format!(
            "{STALLED_RATE} hits/s for {seconds} s. Truth: from the moment each hit was due to the server's answer, \
             by the server's own log. Reported: what the client says of its latencies. Milliseconds. With one \
             connection a client asks nothing while it waits: oha hardly sees the stalls; wrk guesses what it missed."
        ),
        header: vec!["client", "requests", "true p99", "reported p99", "off by %"],
        rows,
        verdicts: vec![
            Verdict::at_most("p99 from the schedule within 2 % of the truth", off, 2.0),
            Verdict::at_most("p99 of a script within 1 % of the truth", off_script, 1.0),
        ],
    }])
}

/// The 99th percentile in milliseconds that wrk or oha prints.
fn said_p99(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with("99"))?;
    let rest = line.split('%').nth(1)?.trim_start_matches(" in").trim();
    let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let number: f64 = rest[..digits].parse().ok()?;
    let unit = rest[digits..].split_whitespace().next()?;
    let factor = match unit {
        "ns" => 1e-6,
        "us" | "µs" => 1e-3,
        "ms" => 1.0,
        "s" | "sec" | "secs" => 1e3,
        _ => return None,
    };
    Some(number * factor)
}

fn micros(seconds: Vec<f64>) -> Vec<f64> {
    seconds.into_iter().map(|value| value * 1e6).collect()
}

/// The value at this share of the sorted values, by nearest rank.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_say_their_percentiles_in_their_own_way() {
        assert_eq!(
            said_p99("  Latency Distribution\n     50%  20us\n     99%    1.02ms\n"),
            Some(1.02)
        );
        assert_eq!(said_p99("     99%  850.00us\n"), Some(0.85));
        assert_eq!(said_p99("  99.00% in 0.0008 sec\n  99.90% in 1.0 sec\n"), Some(0.8));
        assert_eq!(said_p99("nothing"), None);
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!([quantile(&values, 0.5), quantile(&values, 0.99)], [Some(2.0), Some(4.0)]);
        assert_eq!(quantile(&[], 0.5), None);
    }
}
