//! The user's settings.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Parser, ValueEnum};

use crate::machine;

/// Measures what a request costs: Brunt beside k6, wrk, h2load and oha.
#[derive(Debug, Parser)]
#[command(name = "brunt-bench", version)]
pub(crate) struct Arguments {
    /// Which figure to measure.
    #[arg(value_enum, default_value = "all")]
    pub(crate) what: What,
    /// The brunt to measure; by default the release build of this workspace.
    #[arg(long)]
    brunt: Option<PathBuf>,
    /// The k6 to measure; by default the one in PATH or in ~/go/bin.
    #[arg(long)]
    k6: Option<PathBuf>,
    /// Rounds; medians are taken over them.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds that each client loads the server in each round.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Seconds of the flat-memory run.
    #[arg(long, default_value_t = 600)]
    soak_seconds: u64,
    /// A flat-memory run of one minute.
    #[arg(long)]
    short: bool,
    /// Simulated comparisons of each kind; 2000 is the long form.
    #[arg(long, default_value_t = 200)]
    comparisons: usize,
    /// Runs of the demo target of which comparisons are dealt, of each of two kinds; at least 6.
    #[arg(long, default_value_t = 12)]
    compared_runs: usize,
    /// Seconds of each of them; 20 is the long form.
    #[arg(long, default_value_t = 5)]
    compared_seconds: u64,
    /// Everything small and once: does the harness work?
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where to write the page; `all` writes bench/RESULTS.md by default, single figures nothing.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// All of them.
    All,
    /// CPU per scripted GET and check, 250 VUs, HTTP/1.1.
    Http,
    /// The same over TLS 1.3.
    Tls,
    /// The same over HTTP/2, one request and ten requests at once on each connection.
    Http2,
    /// The same with 2000 VUs.
    Crowd,
    /// The same with a pause of 0.1 s in each iteration.
    Paced,
    /// Memory of 10 000 VUs, and how soon they are ready.
    Many,
    /// Memory over the length of a test.
    Soak,
    /// JavaScript alone.
    Javascript,
    /// The cost of a page of HTML: parsed, and searched once.
    Html,
    /// How late an open model starts its work.
    Lateness,
    /// CPU per upload of a picture, in each form in which scripts send it.
    Bodies,
    /// CPU per GET and check through `k6/x/fasthttp`, 250 VUs.
    Fasthttp,
    /// CPU per unary gRPC call and check, 50 VUs.
    Grpc,
    /// Rate and memory of a large upload from disk.
    Upload,
    /// The memory that a `SharedArray` adds to each VU.
    Shared,
    /// CPU per message on a WebSocket, to and fro.
    Websocket,
    /// The cost that outputs add to a request.
    Outputs,
    /// The cost of the run file: CPU, memory, size, the time of a report.
    Runfile,
    /// The cost of a hundred browsers on the live page.
    Live,
    /// CPU per hit of `brunt attack`, 250 workers, as fast as they can.
    Attack,
    /// How exactly `brunt attack` keeps its schedule, as the server sees it.
    Schedule,
    /// Whether the reported percentiles are true when the server stalls.
    Stall,
    /// How fast `brunt report` reads its records.
    Reading,
    /// How often comparisons are wrong, on simulated runs.
    Compare,
}

/// Sizes and paths of this run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) brunt: PathBuf,
    pub(crate) k6: Option<PathBuf>,
    pub(crate) rounds: usize,
    pub(crate) seconds: u64,
    pub(crate) soak_seconds: u64,
    /// VUs of the figure about memory.
    pub(crate) many: u64,
    /// VUs of the crowded figure.
    pub(crate) crowd: u64,
    /// Milliseconds of one JavaScript sample.
    pub(crate) slice_ms: u64,
    /// VUs of the figure about shared data.
    pub(crate) sharing: u64,
    /// MiB of the large upload.
    pub(crate) upload_mb: u64,
    /// Milliseconds of a stall; it comes every ten times that.
    pub(crate) stall_ms: u64,
    /// Records of a report.
    pub(crate) records: u64,
    /// Seconds of the run whose ticks are injected into a run file.
    pub(crate) run_seconds: u64,
    /// Simulated comparisons of each kind.
    pub(crate) comparisons: usize,
    /// Runs of the demo target of which comparisons are dealt, of each of two kinds.
    pub(crate) compared_runs: usize,
    /// Seconds of each of them.
    pub(crate) compared_seconds: u64,
}

impl Settings {
    /// VUs that have a library each: k6 needs some 2 MB and several milliseconds for one, and the
    /// share that one VU takes hardly depends on how many there are.
    pub(crate) fn many_with_library(&self) -> u64 {
        let fit = machine::memory_available_kb() / 2 / 2000;
        self.many.min(2000).min(fit.max(100) / 100 * 100)
    }
}

impl Arguments {
    /// Settles paths and sizes.
    ///
    /// # Errors
    /// If there is no brunt to measure, or nothing to take a median of.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let brunt = self.brunt.clone().unwrap_or_else(default_brunt);
        if !brunt.is_file() {
            bail!(
                "no brunt at {}: build it with `cargo build --release -p brunt-cli`, or say --brunt PATH",
                brunt.display()
            );
        }
        if self.rounds == 0 || self.seconds == 0 {
            bail!("--rounds and --seconds must be at least 1");
        }
        let soak_seconds = if self.short { 60 } else { self.soak_seconds };
        let settings = Settings {
            brunt,
            k6: self.k6.clone().or_else(|| find("k6")),
            rounds: self.rounds,
            seconds: self.seconds,
            soak_seconds: soak_seconds.max(5),
            many: 10_000,
            crowd: 2000,
            slice_ms: 200,
            sharing: 1000,
            upload_mb: 1024,
            stall_ms: 1000,
            records: 10_000_000,
            run_seconds: 3600,
            comparisons: self.comparisons.max(10),
            compared_runs: self.compared_runs.max(6),
            compared_seconds: self.compared_seconds.max(1),
        };
        if self.quick {
            return Ok(Settings {
                rounds: 1,
                seconds: 1,
                soak_seconds: 5,
                many: 200,
                crowd: 300,
                slice_ms: 20,
                sharing: 100,
                upload_mb: 64,
                stall_ms: 100,
                records: 200_000,
                run_seconds: 60,
                comparisons: 20,
                compared_runs: 6,
                compared_seconds: 1,
                ..settings
            });
        }
        Ok(settings)
    }
}

fn default_brunt() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    target.join("release").join("brunt")
}

/// The program of this name in PATH, or where Go and Cargo install theirs.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), home.join("go/bin"), home.join(".cargo/bin")])
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
