//! The clients: how each is called, and how its count of requests is read.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::process::{self, Spent};
use crate::settings::find;

/// The client that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Brunt,
    K6,
    Wrk,
    H2load,
    Oha,
    Vegeta,
    Gatling,
}

/// How to load the server once.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) url: String,
    /// VUs, or connections.
    pub(crate) vus: u64,
    pub(crate) seconds: u64,
    /// Seconds that a scripted client sleeps in each iteration.
    pub(crate) pause: f64,
    /// Requests at once on each connection, over HTTP/2; 0: HTTP/1.1.
    pub(crate) streams: u64,
    /// The core to run on.
    pub(crate) core: Option<usize>,
}

/// The result and the cost of a client.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) requests: u64,
    pub(crate) spent: Spent,
}

impl Client {
    pub(crate) const ALL: [Self; 7] =
        [Self::Brunt, Self::K6, Self::Gatling, Self::Vegeta, Self::Wrk, Self::H2load, Self::Oha];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brunt => "brunt",
            Self::K6 => "k6",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Oha => "oha",
            Self::Vegeta => "vegeta",
            Self::Gatling => "gatling",
        }
    }

    /// The command that installs it.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Brunt => "cargo build --release -p brunt-cli",
            Self::K6 => "go install go.k6.io/k6@v1.8.1",
            Self::Wrk => "apt-get install wrk",
            Self::H2load => "apt-get install nghttp2-client",
            Self::Oha => "cargo install oha",
            Self::Vegeta => "go install github.com/tsenart/vegeta/v12@v12.13.0",
            Self::Gatling => "bench/peers/gatling/run --install",
        }
    }

    /// Whether it can be asked for HTTP/2 here.
    pub(crate) fn has_http2(self) -> bool {
        matches!(self, Self::Brunt | Self::K6 | Self::H2load)
    }

    /// For how long it loads the server where others do so for `seconds`: a JVM compiles its code in the first ones, and its start weighs as
    /// much as a million requests of the fastest.
    pub(crate) fn seconds(self, seconds: u64) -> u64 {
        if self == Self::Gatling { seconds * 5 } else { seconds }
    }

    /// Whether it runs scripts.
    pub(crate) fn is_scripted(self) -> bool {
        matches!(self, Self::Brunt | Self::K6)
    }

    /// Its program; Brunt and k6 are settled by the command line and come in the script call.
    pub(crate) fn find(self) -> Option<PathBuf> {
        if self == Self::Gatling {
            let here = Path::new(env!("CARGO_MANIFEST_DIR"));
            let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
            let target = target.unwrap_or_else(|| here.join("../target"));
            let program = here.join("peers/gatling/run");
            return target.join("gatling/classes/Get.class").exists().then_some(program);
        }
        find(self.name())
    }

    /// Loads the server once with a client that runs no script.
    pub(crate) fn load(self, program: &Path, load: &Load) -> anyhow::Result<Outcome> {
        let mut command = process::command(program, load.core);
        let folder = tempfile::tempdir()?;
        let [targets, results] =
            ["targets.txt", "results.bin"].map(|name| folder.path().join(name));
        let (vus, time) = (load.vus.to_string(), format!("{}s", load.seconds));
        match self {
            Self::Wrk => command.args(["-t1", "-c", &vus, "-d", &time, &load.url]),
            Self::H2load => {
                let (seconds, streams) = (load.seconds.to_string(), load.streams.to_string());
                if load.streams == 0 {
                    command.arg("--h1");
                } else {
                    command.args(["-m", &streams]);
                }
                command.args(["-t1", "-c", &vus, "-D", &seconds, &load.url])
            }
            Self::Oha => command.args([
                "--no-tui",
                "--output-format",
                "json",
                "--insecure",
                "-c",
                &vus,
                "-z",
                &time,
                &load.url,
            ]),
            Self::Vegeta => {
                std::fs::write(&targets, format!("GET {}\n", load.url))?;
                command.args(["attack", "-rate=0", "-insecure", "-duration", &time]);
                command.args(["-workers", &vus, "-max-workers", &vus, "-max-connections", &vus]);
                command.arg("-targets").arg(&targets).arg("-output").arg(&results)
            }
            Self::Gatling => command.args([&load.url, &vus, &load.seconds.to_string()]),
            Self::Brunt | Self::K6 => bail!("{} needs a script", self.name()),
        };
        let spent = process::run(command, limit(load.seconds))?;
        ensure!(spent.code == Some(0), "{}", process::tail(&spent.stderr));
        let requests = match self {
            Self::Wrk => wrk_requests(&spent.stdout),
            Self::H2load => h2load_requests(&spent.stdout),
            Self::Gatling => gatling_requests(&spent.stdout),
            Self::Vegeta => {
                let mut report = Command::new(program);
                let report = report.args(["report", "-type=json"]).arg(&results).output()?;
                vegeta_requests(&report.stdout)
            }
            _ => oha_requests(&spent.stdout),
        };
        let requests = requests.with_context(|| {
            format!(
                "{} said nothing of its requests:\n{}",
                self.name(),
                process::tail(&spent.stdout)
            )
        })?;
        Ok(Outcome { requests, spent })
    }
}

/// A run of a script in Brunt or k6.
#[derive(Debug)]
pub(crate) struct ScriptRun<'a> {
    pub(crate) program: &'a Path,
    pub(crate) client: Client,
    pub(crate) script: &'a Path,
    /// Flags beside those that every run has.
    pub(crate) flags: Vec<String>,
    /// The variables of the script's `__ENV`.
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) core: Option<usize>,
    /// How long it should take; it is killed well after that.
    pub(crate) seconds: u64,
}

impl ScriptRun<'_> {
    /// Runs it: its measure, and the metrics of its `--summary-export`.
    ///
    /// # Errors
    /// If it fails otherwise than by a crossed threshold.
    pub(crate) fn run(&self) -> anyhow::Result<(Spent, Value)> {
        self.run_with(&[])
    }

    /// The same with these variables set.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_with(&self, variables: &[(&str, &str)]) -> anyhow::Result<(Spent, Value)> {
        let folder = tempfile::tempdir()?;
        let export = folder.path().join("export.json");
        let mut command = self.command();
        command.envs(variables.iter().copied());
        command.arg("--summary-export").arg(&export).arg(self.script);
        let spent = process::run(command, limit(self.seconds))?;
        ensure!(
            matches!(spent.code, Some(0 | 99)),
            "{} ended with {:?}:\n{}",
            self.client.name(),
            spent.code,
            process::tail(&spent.stderr)
        );
        let text = std::fs::read_to_string(&export)
            .with_context(|| format!("{} exported nothing", self.client.name()))?;
        let mut summary: Value = serde_json::from_str(&text)?;
        Ok((spent, summary["metrics"].take()))
    }

    fn command(&self) -> Command {
        let mut command = process::command(self.program, self.core);
        command.args(["run", "--quiet"]);
        if self.client == Client::K6 {
            // Its control port is often taken; and no word to the world.
            command.args(["--address", "127.0.0.1:0", "--no-usage-report"]);
        }
        for (key, value) in &self.env {
            command.arg("-e").arg(format!("{key}={value}"));
        }
        command.args(&self.flags);
        command
    }
}

/// A number of an exported metric, such as `http_reqs` / `count`.
pub(crate) fn exported(metrics: &Value, metric: &str, key: &str) -> anyhow::Result<f64> {
    metrics[metric][key].as_f64().with_context(|| format!("no {key} of {metric} was exported"))
}

/// A count of an exported metric, such as `checks` / `passes`.
pub(crate) fn exported_count(metrics: &Value, metric: &str, key: &str) -> anyhow::Result<u64> {
    Ok(exported(metrics, metric, key)?.round() as u64)
}

/// Loads take their time; starting and stopping many VUs may take as long again.
fn limit(seconds: u64) -> Duration {
    Duration::from_secs(seconds + 90)
}

/// `115 requests in 1.00s, 159.36KB read`
fn wrk_requests(stdout: &str) -> Option<u64> {
    stdout.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok())
}

/// `requests: 113 total, 118 started, 113 done, 113 succeeded, …`
fn h2load_requests(stdout: &str) -> Option<u64> {
    let line = stdout.lines().find_map(|line| line.strip_prefix("requests: "))?;
    line.split(", ").find_map(|part| part.strip_suffix(" succeeded")?.parse().ok())
}

/// `> Global | 3,391,123 | 3,391,123 | 0`: all of them, and those that were well; none if one was not. The last of such lines is of the whole.
fn gatling_requests(stdout: &str) -> Option<u64> {
    let line = stdout.lines().rfind(|line| line.starts_with("> Global"))?;
    let mut counts = line.split('|').skip(1).map(|text| text.trim().replace(',', ""));
    let (all, good) = (counts.next()?, counts.next()?);
    (all == good).then(|| all.parse().ok())?
}

/// The count of requests; none if one failed.
fn vegeta_requests(report: &[u8]) -> Option<u64> {
    let report: Value = serde_json::from_slice(report).ok()?;
    (report["success"].as_f64()? >= 1.0).then(|| report["requests"].as_u64())?
}

/// The sum of `statusCodeDistribution`.
fn oha_requests(stdout: &str) -> Option<u64> {
    let report: Value = serde_json::from_str(stdout).ok()?;
    let codes = report["statusCodeDistribution"].as_object()?;
    codes.values().map(Value::as_u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrk_tells_its_requests() {
        let stdout = "Running 1s test\n  1 threads\n  115 requests in 1.00s, 159.36KB read\n";
        assert_eq!(wrk_requests(stdout), Some(115));
        assert_eq!(wrk_requests("unable to connect"), None);
    }

    #[test]
    fn h2load_counts_what_succeeded() {
        let stdout = "finished in 1.00s\nrequests: 113 total, 118 started, 113 done, \
                      112 succeeded, 1 failed, 0 errored, 0 timeout\n";
        assert_eq!(h2load_requests(stdout), Some(112));
    }

    #[test]
    fn oha_tells_its_requests_by_status() {
        let stdout = r#"{"summary":{},"statusCodeDistribution":{"200":40,"404":2}}"#;
        assert_eq!(oha_requests(stdout), Some(42));
        assert_eq!(oha_requests("no JSON"), None);
    }

    #[test]
    fn gatling_and_vegeta_tell_their_requests_if_all_were_well() {
        let line =
            "> Global   | 391 | 391 | 0\n> get | 391 | 391 | 0\n> Global   | 3,391 | 3,391 | 0\n";
        assert_eq!(gatling_requests(line), Some(3391));
        assert_eq!(gatling_requests("> Global   | 3,391 | 3,390 | 1\n"), None);
        assert_eq!(vegeta_requests(br#"{"requests":7,"success":1}"#), Some(7));
        assert_eq!(vegeta_requests(br#"{"requests":7,"success":0.9}"#), None);
    }

    #[test]
    fn an_exported_number_is_found_or_named() {
        let metrics = serde_json::json!({ "http_reqs": { "count": 7 } });
        assert_eq!(exported(&metrics, "http_reqs", "count").ok(), Some(7.0));
        let error = exported(&metrics, "iterations", "count").expect_err("nothing there");
        assert_eq!(error.to_string(), "no count of iterations was exported");
    }
}
