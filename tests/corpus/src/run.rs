//! Runs a script and looks at what it leaves behind.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use crate::{Observation, Script, Stage};

/// Seconds after which a run is killed.
const PATIENCE: &str = "90";

/// Metrics that depend on the clock, and one that k6 does not have.
const LEFT_OUT: &[&str] = &["vus", "vus_max", "iteration_lateness", "iteration_duration_planned"];

/// The program that runs the script.
#[derive(Debug, Clone, Copy)]
pub enum Engine<'a> {
    /// k6 1.8, by the path of its binary.
    K6(&'a Path),
    /// Brunt, by the path of its binary.
    Brunt(&'a Path),
}

/// Runs the script to its end and tells what a user sees.
///
/// # Errors
/// If it can't be started, or writes an unreadable metrics file.
pub fn observe(engine: Engine<'_>, script: &Script, stage: &Stage) -> anyhow::Result<Observation> {
    let folder = tempfile::tempdir()?;
    let samples = folder.path().join("samples.json");
    let path = script.path.canonicalize()?;
    let mut command = Command::new("timeout");
    command.arg("--signal=KILL").arg(PATIENCE);
    command.arg(match engine {
        Engine::K6(path) | Engine::Brunt(path) => path.canonicalize().unwrap_or(path.to_owned()),
    });
    command.args(["run", "--quiet", "--log-format", "json"]);
    if matches!(engine, Engine::K6(_)) {
        command.args(["--address", "127.0.0.1:0"]);
    } else {
        command.arg("--no-generator-metrics");
    }
    command.arg("--out").arg(format!("json={}", samples.display()));
    command.args(&script.flags).current_dir(folder.path()).env_clear();
    if script.from_stdin {
        command.arg("-").stdin(std::fs::File::open(&path)?);
    } else {
        command.arg(&path).stdin(Stdio::null());
    }
    command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
    command.env("K6_NO_USAGE_REPORT", "true").env("K6_AUTO_EXTENSION_RESOLUTION", "false");
    command.envs(stage.env.iter().map(|(name, value)| (name, value)));
    command.envs(script.env.iter().map(|(name, value)| (name, value)));
    let output = command.output().context("the `timeout` command")?;

    let wipe = Wipe::new(&path, folder.path(), stage);
    let mut seen =
        Observation { exit: output.status.code().map_or(-1, i64::from), ..Observation::default() };
    read_log(&String::from_utf8_lossy(&output.stderr), &wipe, &mut seen);
    if script.unordered {
        seen.console.sort();
        seen.exceptions.sort();
    }
    if script.prints {
        let text = wipe.text(&String::from_utf8_lossy(&output.stdout));
        seen.stdout = Some(text.lines().map(str::to_owned).collect());
    }
    if samples.exists() {
        read_samples(&samples, script.counted, &mut seen)?;
    }
    Ok(seen)
}

/// Sorts log lines into console lines and exceptions. All other lines are each tool's own wording.
fn read_log(log: &str, wipe: &Wipe, seen: &mut Observation) {
    for line in log.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { continue };
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let message = wipe.text(text("msg"));
        if text("source") == "console" {
            seen.console.push(format!("{}: {message}", text("level")));
        } else if text("source") == "stacktrace"
            || text("hint").contains("script exception")
            || message.starts_with("Uncaught")
        {
            seen.exceptions.push(without_program_counters(&message));
        }
    }
}

/// The same trace without positions in byte code and without native frames, which bear Go's names in k6.
fn without_program_counters(message: &str) -> String {
    let mut kept = Vec::new();
    for line in message.trim_end().lines() {
        let frame = line.trim_start();
        if frame.starts_with("at ") {
            if frame.ends_with("(native)") {
                continue;
            }
            // `…:1:25(3)` and `… (…:1:25(3))`
            let closes = if line.ends_with("))") { ")" } else { "" };
            let cut = line.trim_end_matches(')');
            let digits = cut.trim_end_matches(|c: char| c.is_ascii_digit());
            if let Some(place) = digits.strip_suffix('(')
                && digits.len() < cut.len()
            {
                kept.push(format!("{place}{closes}"));
                continue;
            }
        }
        kept.push(line.to_owned());
    }
    kept.join("\n")
}

/// Counts samples and checks in the file of the `json` output.
fn read_samples(path: &Path, counted: bool, seen: &mut Observation) -> anyhow::Result<()> {
    let mut metrics: BTreeMap<String, u64> = BTreeMap::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        // k6 writes infinite values as they are, which is no JSON: such a value counts as a one.
        let line =
            line?.replace("\"value\":+Inf", "\"value\":1").replace("\"value\":-Inf", "\"value\":1");
        let sample: Value = serde_json::from_str(&line).context("a line of samples")?;
        let name = sample["metric"].as_str().unwrap_or_default();
        if sample["type"] != "Point" || LEFT_OUT.contains(&name) {
            continue;
        }
        *metrics.entry(name.to_owned()).or_default() += 1;
        if name == "checks" {
            let check = sample["data"]["tags"]["check"].as_str().unwrap_or_default();
            let (passes, fails) = seen.checks.entry(check.to_owned()).or_default();
            *if sample["data"]["value"] == 0.0 || sample["data"]["value"] == 0 {
                fails
            } else {
                passes
            } += 1;
        }
    }
    if !counted {
        for count in metrics.values_mut() {
            *count = 1;
        }
    }
    seen.metrics = metrics;
    Ok(())
}

/// The texts that differ from run to run, each with its replacement.
struct Wipe(Vec<(String, String)>);

impl Wipe {
    fn new(script: &Path, folder: &Path, stage: &Stage) -> Self {
        let mut wiped = Vec::new();
        for (name, value) in &stage.env {
            wiped.push((value.clone(), format!("{{{name}}}")));
            if let Some((_, host)) = value.split_once("://") {
                wiped.push((host.to_owned(), format!("{{{name} host}}")));
                // As a part of another address.
                wiped.push((host.replace(':', "%3A"), format!("{{{name} host}}")));
            }
        }
        for path in [script.parent(), Some(folder)].into_iter().flatten() {
            wiped.push((path.display().to_string(), "{folder}".to_owned()));
        }
        Self(wiped)
    }

    fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_keeps_names_and_places() {
        let trace = "Error: boom (1)\n\tat inner (file:///s.js:1:25(3))\n\tat go.Fail-fm (native)\n\tat file:///s.js:2:3(14)\n";
        let kept = "Error: boom (1)\n\tat inner (file:///s.js:1:25)\n\tat file:///s.js:2:3";
        assert_eq!(without_program_counters(trace), kept);
    }
}
