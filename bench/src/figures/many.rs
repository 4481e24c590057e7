//! Ten thousand VUs: what one weighs, and how soon all are ready.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{Bench, missing};
use crate::client::{Client, ScriptRun};
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::server::{Server, Speech};
use crate::settings::find;

/// How long the VUs work: every one makes a few requests.
const SECONDS: u64 = 8;

/// The tiny script, and the one with a library.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let tiny = Question {
        script: "many.js",
        title: "GET and sleep".into(),
        share_of_k6: 0.65,
        absolute: true,
        vus: bench.settings.many,
    };
    let what = library(bench)?;
    let title = format!("GET and sleep, with {what} in the script");
    let heavy = Question {
        script: "many_library.js",
        title,
        share_of_k6: 0.6,
        absolute: false,
        vus: bench.settings.many_with_library(),
    };
    Ok(vec![figure(bench, &tiny)?, figure(bench, &heavy)?])
}

struct Question {
    script: &'static str,
    title: String,
    /// The goal: so much of k6's memory at most.
    share_of_k6: f64,
    /// Whether the goals without k6 are asked too.
    absolute: bool,
    vus: u64,
}

/// The results of one client's rounds.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) kb_per_vu: Vec<f64>,
    pub(super) ready_s: Vec<f64>,
    pub(super) failure: Option<String>,
}

/// The call that every round runs.
pub(super) struct Call {
    pub(super) script: &'static str,
    pub(super) vus: u64,
    pub(super) seconds: u64,
}

/// The client whose turn it is, the `__ENV` of its script, and its rounds.
pub(super) type Turn = (Client, Vec<(&'static str, String)>, Rounds);

/// Lets the clients take turns, as often as the settings say. One that fails runs no more.
pub(super) fn take_turns(bench: &Bench, call: &Call, results: &mut [Turn]) {
    let Call { script, vus, seconds } = *call;
    for _ in 0..bench.settings.rounds {
        for (client, env, rounds) in &mut *results {
            if rounds.failure.is_some() {
                continue;
            }
            let Some(program) = bench.program(*client) else {
                rounds.failure = Some(missing(*client));
                continue;
            };
            let run = ScriptRun {
                program: &program,
                client: *client,
                script: &bench.file(script),
                flags: ["--vus", &vus.to_string(), "--duration", &format!("{seconds}s")]
                    .map(str::to_owned)
                    .to_vec(),
                env: env.clone(),
                core: None,
                seconds,
            };
            match once(&run, vus) {
                Ok((kb, ready)) => {
                    rounds.kb_per_vu.push(kb);
                    rounds.ready_s.push(ready);
                }
                Err(error) => rounds.failure = Some(format!("{}: {error:#}", client.name())),
            }
        }
    }
}

fn figure(bench: &Bench, question: &Question) -> anyhow::Result<Figure> {
    let server = Server::start(None)?;
    let Question { vus, share_of_k6, .. } = *question;
    let mut results = [Client::Brunt, Client::K6]
        .map(|client| (client, vec![("URL", server.url(Speech::Plain))], Rounds::default()));
    take_turns(bench, &Call { script: question.script, vus, seconds: SECONDS }, &mut results);
    let [(_, _, brunt), (_, _, k6)] = &results;
    let kb = median(&brunt.kb_per_vu);
    let ratio = kb.zip(median(&k6.kb_per_vu)).map(|(brunt, k6)| brunt / k6);
    let mut verdicts = vec![Verdict::at_most(
        format!("at most {share_of_k6} × k6's resident memory"),
        ratio,
        share_of_k6,
    )];
    if question.absolute {
        verdicts.push(Verdict::at_most("at most 150 kB per VU", kb, 150.0));
        verdicts.push(Verdict::at_most("all ready within 2 s", median(&brunt.ready_s), 2.0));
    }
    let rows = results.iter().map(|(client, _, rounds)| {
        if let Some(failure) = &rounds.failure {
            return failed_row(failure);
        }
        vec![
            client.name().to_owned(),
            spread(&rounds.kb_per_vu),
            median(&rounds.kb_per_vu).map_or("-".into(), |kb| short(kb * vus as f64 / 1000.0)),
            spread(&rounds.ready_s),
        ]
    });
    Ok(Figure {
        title: format!("{vus} VUs: {}", question.title),
        method: format!(
            "Peak resident memory of the process, divided by its VUs, over {SECONDS} s; and the time \
             from its start until `setup()` runs, which is when all VUs are initialised."
        ),
        header: vec!["client", "kB per VU", "MB in all", "ready after s"],
        rows: rows.collect(),
        verdicts,
    })
}

/// Kilobytes per VU, and seconds until all were ready.
fn once(run: &ScriptRun<'_>, vus: u64) -> anyhow::Result<(f64, f64)> {
    let (spent, _) = run.run()?;
    let ready_ms = ready(&spent.stderr)
        .or_else(|| ready(&spent.stdout))
        .with_context(|| format!("{} never ran setup()", run.client.name()))?;
    ensure!(ready_ms >= spent.started_ms, "the clock went backwards");
    let seconds = (ready_ms - spent.started_ms) as f64 / 1000.0;
    Ok((spent.rss_peak_kb as f64 / vus as f64, seconds))
}

/// The moment that the script's `setup()` logged.
fn ready(log: &str) -> Option<u64> {
    let (_, after) = log.split_once("READY ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Puts a library of some 70 kB beside the script: lodash if npm can get it, else one made up.
fn library(bench: &Bench) -> anyhow::Result<&'static str> {
    let target = bench.file("library.js");
    if let Some(text) = find("npm").and_then(|npm| lodash(&npm).ok()) {
        fs::write(target, text)?;
        return Ok("lodash (minified, 73 kB)");
    }
    fs::write(target, made_up(70_000))?;
    Ok("a made-up library of 70 kB (npm gave no lodash)")
}

fn lodash(npm: &Path) -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let packed = Command::new(npm)
        .args(["pack", "lodash@4.17.21", "--silent"])
        .current_dir(folder.path())
        .output()?;
    ensure!(packed.status.success(), "npm pack failed");
    let file = String::from_utf8(packed.stdout)?;
    let unpacked =
        Command::new("tar").args(["-xzf", file.trim()]).current_dir(folder.path()).status()?;
    ensure!(unpacked.success(), "tar failed");
    Ok(fs::read_to_string(folder.path().join("package/lodash.min.js"))?)
}

/// Many small functions and tables in the shape of a CommonJS library.
fn made_up(size: usize) -> String {
    let mut out = String::from(
        "exports.chunk = function (list, size) {\n  var out = [];\n  for (var i = 0; i < \
         list.length; i += size) out.push(list.slice(i, i + size));\n  return out;\n};\n",
    );
    let mut number = 0;
    while out.len() < size {
        out.push_str(&[
            "exports.work", &number.to_string(),
            " = function (list, key, fallback) {\n  var table = { first: 1, second: 'two', third: [3] };\n  \
             if (!list || !list.length) return fallback;\n  return list.filter(function (item) {\n    \
             return item && item[key] !== table.second;\n  }).map(function (item) {\n    return item[key] || table;\n  });\n};\n",
        ].concat());
        number += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moment_of_readiness_is_read_from_a_log_line() {
        let log =
            "time=\"2026-11-21T21:32:37Z\" level=info msg=\"READY 1795296757147\" source=console";
        assert_eq!(ready(log), Some(1_795_296_757_147));
        assert_eq!(ready("level=info msg=other"), None);
    }

    #[test]
    fn a_made_up_library_has_the_size_asked_for() {
        let size = made_up(70_000).len();
        assert!((70_000..71_000).contains(&size), "{size}");
    }
}
