//! The cost of the run file: CPU, memory, size, and how soon a report is made of it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use brunt_metrics::{Recorder, Registry, TagSet, TrendStat, builtin};
use brunt_runfile::{End, Extras, RunInfo, SummaryInfo, Writer};

use super::{Bench, soak::resident};
use crate::client::{Client, ScriptRun, exported};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, median, short, spread};
use crate::server::{Server, Speech};

const SECOND: u64 = 1_000_000_000;

/// When the injected run starts.
const START: u64 = 1_700_000_000 * SECOND;

/// Routes of the injected run: with the phases, and the iterations, fifty trends.
const ROUTES: usize = 7;

/// Requests of each of them in a second.
const RATE: usize = 100;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![cost(bench)?, memory(bench)?, hour(bench)?])
}

/// 250 VUs with the run file and without, in turn; who is first changes with each round.
fn cost(bench: &Bench) -> anyhow::Result<Figure> {
    let pinned = machine::cores() > 1;
    let server = Server::start(pinned.then_some(1))?;
    let url = server.url(Speech::Plain);
    let core = pinned.then_some(0);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("run.brunt");
    let once = |with: bool| -> anyhow::Result<f64> {
        let seconds = bench.settings.seconds;
        let mut flags = vec!["--vus".to_owned(), "250".to_owned()];
        flags.extend(["--duration".to_owned(), format!("{seconds}s")]);
        if with {
            flags.extend(["--out".to_owned(), format!("run={}", file.display())]);
        }
        let env = vec![("URL", url.clone()), ("PAUSE", "0".to_owned())];
        let (spent, metrics) = run(bench, "get.js", flags, env, core, seconds)?;
        let requests = exported(&metrics, "http_reqs", "count")?;
        ensure!(requests > 0.0, "it made no request");
        ensure!(!spent.stderr.contains("lost"), "{}", spent.stderr);
        Ok(spent.cpu.as_secs_f64() * 1e6 / requests)
    };
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.settings.rounds {
        let first = once(round % 2 == 1)?;
        let second = once(round % 2 == 0)?;
        let (plain, kept) = if round % 2 == 1 { (second, first) } else { (first, second) };
        without.push(plain);
        with.push(kept);
        ratios.push(kept / plain);
    }
    Ok(Figure {
        title: "Scripted GET and check, 250 VUs, with a run file".into(),
        method: format!(
            "{} s, {} rounds, each with and without, in changing order; nginx with one worker{}. The ratio is taken within \
             each round.",
            bench.settings.seconds,
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "" }
        ),
        header: vec!["", "CPU µs/request", "it / none"],
        rows: vec![
            vec!["none".into(), spread(&without), "1".into()],
            vec!["--out run".into(), spread(&with), spread(&ratios)],
        ],
        verdicts: vec![Verdict::at_most(
            "at most 3 % more CPU per request than without",
            median(&ratios),
            1.03,
        )],
    })
}

/// 500 series at full rate, for as long as the other figure of memory.
fn memory(bench: &Bench) -> anyhow::Result<Figure> {
    let server = Server::start(None)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("run.brunt");
    let seconds = bench.settings.soak_seconds;
    let flags = ["--vus", "50", "--duration", &format!("{seconds}s"), "--out"].map(str::to_owned);
    let mut flags = flags.to_vec();
    flags.push(format!("run={}", file.display()));
    let env = vec![("URL", server.url(Speech::Plain))];
    let (spent, metrics) = run(bench, "series.js", flags, env, None, seconds)?;
    let settled = Duration::from_secs((seconds / 6).min(60));
    let end = Duration::from_secs(seconds);
    let window = end.saturating_sub(settled) / 10;
    let early = resident(&spent.rss, settled, settled + window);
    let late = resident(&spent.rss, end.saturating_sub(window), end);
    let growth = early.zip(late).map(|(early, late)| (late - early) / early * 100.0);
    let mb = |kb: Option<f64>| kb.map_or("-".into(), |kb| short(kb / 1000.0));
    Ok(Figure {
        title: format!(
            "Memory of brunt with a run file of 500 series over {seconds} s at full rate"
        ),
        method: format!(
            "50 VUs, GET and check under 60 names; resident memory is read every 50 ms. Early: the {0} s after the first \
             {1} s. Late: the last {0} s. Medians of each.",
            short(window.as_secs_f64()),
            settled.as_secs()
        ),
        header: vec!["early MB", "late MB", "growth %", "peak MB", "requests", "file MB"],
        rows: vec![vec![
            mb(early),
            mb(late),
            growth.map_or("-".into(), short),
            mb(Some(spent.rss_peak_kb as f64)),
            format!("{:.0}", exported(&metrics, "http_reqs", "count")?),
            short(size(&file)? as f64 / 1e6),
        ]],
        verdicts: vec![Verdict::at_most(
            "grows less than 2 % after the first minute of ten",
            growth,
            2.0,
        )],
    })
}

/// An hour with fifty trends, its ticks injected; and the report of it.
fn hour(bench: &Bench) -> anyhow::Result<Figure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hour.brunt");
    let seconds = bench.settings.run_seconds;
    let began = Instant::now();
    inject(&path, seconds)?;
    let written = began.elapsed().as_secs_f64();
    let bytes = size(&path)?;
    let mut took = Vec::new();
    let mut peak = 0;
    for _ in 0..bench.settings.rounds {
        let mut command = process::command(&bench.settings.brunt, None);
        command.arg("report").arg(&path).args(["-format", "json", "-output"]);
        command.arg(folder.path().join("report.json"));
        let began = Instant::now();
        let spent = process::run(command, Duration::from_mins(2))?;
        // The run is looked at every 50 ms: its own time is as good as that.
        took.push(began.elapsed().as_secs_f64());
        ensure!(spent.code == Some(0), "{}", spent.stderr);
        peak = peak.max(spent.rss_peak_kb);
    }
    let megabytes = bytes as f64 / 1e6;
    Ok(Figure {
        title: format!("Run file of {seconds} s, 50 trends"),
        method: format!(
            "{ROUTES} routes with seven trends each, {RATE} requests a second each, and the iterations; ten ticks a second are \
             given to the writer. Then `brunt report -format json`, {} times.",
            bench.settings.rounds
        ),
        header: vec!["file MB", "written in s", "report s", "report MB"],
        rows: vec![vec![
            short(megabytes),
            short(written),
            spread(&took),
            short(peak as f64 / 1000.0),
        ]],
        verdicts: vec![
            Verdict::at_most("an hour is at most 40 MB", Some(megabytes), 40.0),
            Verdict::at_most("a report takes at most 1 s", median(&took), 1.0),
            Verdict::at_most("and at most 100 MB", Some(peak as f64 / 1000.0), 100.0),
        ],
    })
}

fn run(
    bench: &Bench,
    script: &str,
    flags: Vec<String>,
    env: Vec<(&'static str, String)>,
    core: Option<usize>,
    seconds: u64,
) -> anyhow::Result<(process::Spent, serde_json::Value)> {
    let program = &bench.settings.brunt;
    let script = &bench.file(script);
    ScriptRun { program, client: Client::Brunt, script, flags, env, core, seconds }.run()
}

fn size(path: &Path) -> anyhow::Result<u64> {
    Ok(std::fs::metadata(path).with_context(|| path.display().to_string())?.len())
}

/// Writes a run file as a test that lasts for these seconds would.
fn inject(path: &Path, seconds: u64) -> anyhow::Result<()> {
    let registry = Arc::new(Registry::new());
    let duration = Duration::from_secs(seconds);
    let info = RunInfo {
        name: "hour".into(),
        planned: duration,
        summary: SummaryInfo { trend_stats: TrendStat::defaults(), ..SummaryInfo::default() },
        ..RunInfo::default()
    };
    let mut writer = Writer::create(path, &info, &registry, START)?;
    writer.start(START);
    let mut recorder = Recorder::new(Arc::clone(&registry), 0, false);
    let mut draws = Draws(1);
    for tick in 1..=seconds * 10 {
        let at = START + tick * SECOND / 10;
        for route in 0..ROUTES {
            requests(&mut recorder, &mut draws, route, at);
        }
        let mut frame = recorder.take_frame();
        frame.at = at;
        writer.frame(&frame);
        if writer.is_due(at) {
            writer.tick(at, Extras::default());
        }
    }
    writer.finish(Extras::default());
    writer.end(&End { duration, ..End::default() })?;
    Ok(())
}

/// A tenth of a second of a route.
fn requests(recorder: &mut Recorder, draws: &mut Draws, route: usize, at: u64) {
    let trends = [
        builtin::HTTP_REQ_DURATION,
        builtin::HTTP_REQ_BLOCKED,
        builtin::HTTP_REQ_CONNECTING,
        builtin::HTTP_REQ_TLS_HANDSHAKING,
        builtin::HTTP_REQ_SENDING,
        builtin::HTTP_REQ_WAITING,
        builtin::HTTP_REQ_RECEIVING,
    ];
    let counts =
        [builtin::HTTP_REQS, builtin::HTTP_REQ_FAILED, builtin::DATA_SENT, builtin::DATA_RECEIVED];
    let name = format!("/route/{route}");
    let pairs = [("method", "GET"), ("name", &*name), ("scenario", "default"), ("status", "200")];
    let tags = recorder.tags(&TagSet::from_pairs(pairs));
    let trends = trends.map(|metric| recorder.series(metric, tags));
    let counts = counts.map(|metric| recorder.series(metric, tags));
    for _ in 0..RATE / 10 {
        let median = 8.0 + route as f64;
        let values = [
            draws.millis(median, 0.5),
            draws.millis(0.003, 0.3),
            0.0,
            0.0,
            draws.millis(0.02, 0.3),
            draws.millis(median, 0.5),
            draws.millis(0.05, 0.4),
        ];
        for (series, value) in trends.into_iter().zip(values) {
            recorder.add(series, value, at, None);
        }
        for series in counts {
            recorder.add(series, 1.0, at, None);
        }
    }
    if route == 0 {
        let tags = recorder.tags(&TagSet::from_pairs([("scenario", "default")]));
        let series = recorder.series(builtin::ITERATION_DURATION, tags);
        recorder.add(series, draws.millis(80.0, 0.2), at, None);
    }
}

/// Numbers that look drawn, the same each time (SplitMix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Log-normal, in whole nanoseconds as clocks give them.
    fn millis(&mut self, median: f64, spread: f64) -> f64 {
        let part = |word: u64| (word >> 11) as f64 / (1_u64 << 53) as f64;
        let normal: f64 = (0..6).map(|_| part(self.next())).sum::<f64>() - 3.0;
        (median * (normal * spread).exp() * 1e6).round() / 1e6
    }
}
