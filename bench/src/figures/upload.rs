//! A large file from the disk: how fast, and how much memory.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::Bench;
use crate::client::{Client, ScriptRun, exported, exported_count};
use crate::process::{self, Spent};
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::settings::find;
use crate::target::Target;

/// How long one upload may take.
const SECONDS: u64 = 120;

#[derive(Default)]
struct Rounds {
    mb_per_s: Vec<f64>,
    rss_mb: Vec<f64>,
    cpu_ms: Vec<f64>,
    failure: Option<String>,
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let bytes = bench.settings.upload_mb << 20;
    let file = bench.file("upload.bin");
    write(&file, bytes)?;
    let target = Target::start(&bench.settings.brunt, None)?;
    // Only counted: the hash would be the slowest part by far.
    let url = target.url("/sink?hash=0");
    let (mut brunt, mut curl) = (Rounds::default(), Rounds::default());
    for _ in 0..bench.settings.rounds {
        brunt.take(bytes, || with_brunt(bench, &url, &file, bytes));
        curl.take(bytes, || with_curl(&url, &file));
    }
    let rate = |rounds: &Rounds| median(&rounds.mb_per_s);
    let share = rate(&brunt).zip(rate(&curl)).map(|(brunt, curl)| brunt / curl);
    let verdicts = vec![
        Verdict::at_most("at most 60 MB of resident memory", median(&brunt.rss_mb), 60.0),
        Verdict::at_least("at least 0.7 × the rate of curl -T", share, 0.7),
    ];
    let rows = [("brunt (FileStream)", brunt), ("curl -T", curl)];
    let rows = rows.iter().map(|(name, rounds)| match &rounds.failure {
        Some(failure) => failed_row(&format!("{name}: {failure}")),
        None => vec![
            (*name).to_owned(),
            spread(&rounds.mb_per_s),
            spread(&rounds.cpu_ms),
            spread(&rounds.rss_mb),
        ],
    });
    Ok(vec![Figure {
        title: format!("One upload of {} MB from disk", short(bytes as f64 / 1e6)),
        method: format!(
            "PUT to the demo target, which counts the bytes; {} rounds. The rate is bytes over the time \
             of the request, the memory that of the client's process.",
            bench.settings.rounds
        ),
        header: vec!["client", "MB/s", "CPU ms", "peak RSS MB"],
        rows: rows.collect(),
        verdicts,
    }])
}

impl Rounds {
    /// One round, of which `run` tells the measure and the seconds of its request.
    fn take(&mut self, bytes: u64, run: impl FnOnce() -> anyhow::Result<(Spent, f64)>) {
        if self.failure.is_some() {
            return;
        }
        match run() {
            Ok((spent, seconds)) => {
                self.mb_per_s.push(bytes as f64 / 1e6 / seconds);
                self.rss_mb.push(spent.rss_peak_kb as f64 / 1000.0);
                self.cpu_ms.push(spent.cpu.as_secs_f64() * 1e3);
            }
            Err(error) => self.failure = Some(format!("{error:#}")),
        }
    }
}

fn with_brunt(bench: &Bench, url: &str, file: &Path, bytes: u64) -> anyhow::Result<(Spent, f64)> {
    let (spent, metrics) = ScriptRun {
        program: &bench.settings.brunt,
        client: Client::Brunt,
        script: &bench.file("upload.js"),
        flags: Vec::new(),
        env: vec![
            ("URL", url.to_owned()),
            ("FILE", file.display().to_string()),
            ("BYTES", bytes.to_string()),
        ],
        core: None,
        seconds: SECONDS,
    }
    .run()?;
    let count = |key: &str| exported_count(&metrics, "checks", key);
    let (passed, failed) = (count("passes")?, count("fails")?);
    ensure!((passed, failed) == (2, 0), "the upload failed:\n{}", process::tail(&spent.stderr));
    let seconds = exported(&metrics, "http_req_duration", "max")? / 1e3;
    Ok((spent, seconds))
}

fn with_curl(url: &str, file: &Path) -> anyhow::Result<(Spent, f64)> {
    let curl = find("curl").context("curl not found: `apt-get install curl`")?;
    let mut command = process::command(&curl, None);
    command.args(["--silent", "--fail", "--output", "/dev/null"]);
    command.args(["--write-out", "%{time_total}", "-T"]).arg(file).arg(url);
    let spent = process::run(command, Duration::from_secs(SECONDS))?;
    ensure!(spent.code == Some(0), "curl ended with {:?}", spent.code);
    let seconds = spent.stdout.trim().parse().context("curl tells its time")?;
    Ok((spent, seconds))
}

/// Bytes that are not all zero, so that no file system leaves them out.
fn write(path: &Path, bytes: u64) -> anyhow::Result<()> {
    let block: Vec<u8> = (0..1 << 20).map(|at: usize| (at * 31 % 251) as u8).collect();
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..bytes >> 20 {
        file.write_all(&block).context("the file to upload")?;
    }
    Ok(file.flush()?)
}
