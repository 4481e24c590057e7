//! Laws of the whole: what goes in as frames comes out as the summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{
    CheckDelta, Contains, ExceptionDelta, ExceptionDeltas, Frame, Kind, Ledger, LedgerConfig,
    Metric, Recorder, Registry, Summary, TagSet, Threshold, ThresholdSet, TrendStat, Values,
};
use brunt_verdict::{Core, Shortages, Signals};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::*;

mod guide;
mod old;
mod pages;

const SECOND: u64 = 1_000_000_000;
/// When every run here starts.
const START: u64 = 1_700_000_000 * SECOND;

/// A run without a run: cores, a ledger as the engine has one, and a run file.
struct Play {
    folder: tempfile::TempDir,
    registry: Arc<Registry>,
    cores: Vec<Recorder>,
    ledger: Ledger,
    writer: Writer,
}

fn registry() -> Arc<Registry> {
    let registry = Arc::new(Registry::new());
    for kind in [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend] {
        registry.register(&format!("my_{kind}"), kind, Contains::Default).unwrap();
    }
    registry
}

fn thresholds() -> Vec<ThresholdSet> {
    let parse = |text: &str| Threshold::parse(text, false, None).unwrap();
    vec![
        ThresholdSet {
            metric: "my_trend{name:a}".into(),
            thresholds: vec![parse("p(95)<100"), parse("avg>=0")],
        },
        ThresholdSet { metric: "my_rate".into(), thresholds: vec![parse("rate<0.5")] },
    ]
}

fn info(planned: Duration) -> RunInfo {
    RunInfo {
        name: "play".into(),
        brunt: "0.0.0".into(),
        planned,
        scenarios: vec![ScenarioInfo {
            name: "one".into(),
            executor: "constant-vus".into(),
            ..ScenarioInfo::default()
        }],
        sources: vec![Source { path: "play.js".into(), text: Some("export default 1".into()) }],
        summary: SummaryInfo {
            thresholds: thresholds(),
            trend_stats: TrendStat::defaults(),
            expected_response_submetric: true,
            ..SummaryInfo::default()
        },
        ..RunInfo::default()
    }
}

impl Play {
    fn new(cores: u32) -> Self {
        Self::of(cores, registry(), &info(Duration::from_mins(1)))
    }

    fn of(cores: u32, registry: Arc<Registry>, info: &RunInfo) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = LedgerConfig {
            thresholds: info.summary.thresholds.clone(),
            trend_stats: TrendStat::defaults(),
            expected_response_submetric: true,
            breakdown: true,
            ..LedgerConfig::default()
        };
        let ledger = Ledger::new(Arc::clone(&registry), config).unwrap();
        let mut writer =
            Writer::create(&folder.path().join("a.brunt"), info, &registry, START).unwrap();
        writer.start(START);
        let cores = (0..cores).map(|n| Recorder::new(Arc::clone(&registry), n, false)).collect();
        Self { folder, registry, cores, ledger, writer }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.brunt")
    }

    fn metric(&self, name: &str) -> Metric {
        self.registry.find(name).unwrap()
    }

    fn add(&mut self, core: usize, metric: &str, tags: &[(&str, &str)], value: f64, at: u64) {
        let id = self.metric(metric).id;
        let recorder = &mut self.cores[core];
        let tags = recorder.tags(&TagSet::from_pairs(tags.iter().copied()));
        let series = recorder.series(id, tags);
        recorder.add(series, value, at, None);
    }

    /// The end of a tick of a core.
    fn tick(&mut self, core: usize, at: u64) {
        let mut frame = self.cores[core].take_frame();
        frame.at = at;
        self.see(&frame);
    }

    fn see(&mut self, frame: &Frame) {
        self.ledger.absorb(frame);
        self.writer.frame(frame);
        if self.writer.is_due(frame.at) {
            self.writer.tick(frame.at, Extras::default());
        }
    }

    /// Ends the run; its folder, and its summary as it would be printed.
    fn end(mut self, duration: Duration) -> (tempfile::TempDir, Summary) {
        self.ledger.evaluate(duration, true);
        let summary = self.ledger.summary(duration);
        self.writer.finish(Extras::default());
        self.writer.end(&End { duration, passed: Some(true), ..End::default() }).unwrap();
        (self.folder, summary)
    }
}

fn open(folder: &Path) -> RunFile {
    RunFile::open(&folder.join("a.brunt")).unwrap()
}

/// All that a summary shows, bit by bit; of trends many percentiles.
fn told(summary: &Summary) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    let metrics = |metrics: &[brunt_metrics::MetricSummary], out: &mut String| {
        for metric in metrics {
            let _ = write!(
                out,
                "{} {:?} {:?} {} {}: ",
                metric.name, metric.kind, metric.thresholds, metric.observed, metric.named
            );
            match &metric.values {
                Values::Trend(trend) => {
                    let _ = write!(
                        out,
                        "{} {} {} {} {}",
                        trend.count(),
                        trend.sum(),
                        trend.min(),
                        trend.max(),
                        trend.is_exact()
                    );
                    for tenth in 0..=1000 {
                        let _ = write!(out, " {}", trend.percentile(f64::from(tenth) / 10.0));
                    }
                }
                values => {
                    let _ = write!(out, "{values:?}");
                }
            }
            out.push('\n');
        }
    };
    metrics(&summary.metrics, &mut out);
    metrics(&summary.own, &mut out);
    let _ = writeln!(
        out,
        "{:?}\n{:?}\n{:?}\n{:?}",
        summary.run, summary.checks, summary.root, summary.exceptions
    );
    let mut parts: Vec<_> = summary.scenarios.iter().chain(&summary.groups).collect();
    while let Some(part) = parts.pop() {
        let _ = writeln!(out, "{} {:?}", part.name, part.checks);
        metrics(&part.metrics, &mut out);
        parts.extend(&part.groups);
    }
    out
}

/// A core that was busy half of its time, and waited for a quarter of it.
fn half() -> Core {
    Core { busy: 0.5, waiting: 0.25, late_ns: 0 }
}

#[test]
fn the_summary_of_all_slices_is_the_summary_of_the_run() {
    let mut play = Play::new(2);
    let mut random = fastrand::Rng::with_seed(5);
    for tick in 1..=45u64 {
        for core in 0..2 {
            let at = START + tick * SECOND / 10 + core as u64;
            for _ in 0..random.usize(..300) {
                let name = ["a", "b", "c"][random.usize(..3)];
                let tags = [("name", name), ("scenario", "one"), ("expected_response", "true")];
                play.add(core, "my_trend", &tags, random.f64() * 500.0 / 7.0, at);
                play.add(core, "my_counter", &tags[..1], random.f64(), at);
                play.add(core, "my_rate", &tags, f64::from(random.bool()), at);
                play.add(core, "my_gauge", &[("core", &core.to_string())], random.f64(), at);
            }
            let check = play.cores[core].check("::g", ["x", "y"][core]);
            play.cores[core].add_check(check, random.bool());
            play.cores[core].exception(&format!("Error: {}\n\tat a.js:1:1", random.u8(..3)));
            play.tick(core, at);
        }
    }
    let (folder, summary) = play.end(Duration::from_millis(4_567));
    let file = open(folder.path());
    assert_eq!(file.about().state, State::Finished);
    let all = file.slices(None, None);
    assert_eq!(told(&file.summary(&all, true).unwrap()), told(&summary));
    // A part and the rest of it have all values together.
    let count = |summary: &Summary| summary.metric("my_trend").unwrap().values.get("count");
    let [one, other] = [0..2, 2..all.end].map(|part| file.summary(&part, true).unwrap());
    assert_eq!(count(&one).unwrap() + count(&other).unwrap(), count(&summary).unwrap());
    assert_eq!((one.run, other.run), (Duration::from_secs(2), Duration::from_millis(2_567)));
}

/// A tick of a core: the values of each series.
type Tick = (usize, u8, Vec<(u8, f64)>);

fn ticks() -> impl Strategy<Value = Vec<Tick>> {
    let value = prop_oneof![
        0.001..60_000.0,
        (1u32..90_000_000).prop_map(|ns| f64::from(ns) / 1e6),
        Just(0.0),
        (-3i8..100).prop_map(f64::from)
    ];
    let tick = (0usize..3, 0u8..30, prop::collection::vec((0u8..9, value), 0..700));
    prop::collection::vec(tick, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_measured_comes_out_of_any_split(ticks in ticks()) {
        let mut play = Play::new(3);
        let mut at = START;
        for (core, tenths, values) in ticks {
            at += u64::from(tenths) * SECOND / 10;
            for (series, value) in values {
                let name = ["a", "b", "c"][series as usize % 3];
                let metric = ["my_trend", "my_rate", "my_gauge"][series as usize / 3];
                play.add(core, metric, &[("name", name), ("scenario", "one")], value, at);
                play.add(core, "my_counter", &[], value, at);
            }
            // Cores don't keep time with each other.
            play.tick(core, at + core as u64 * SECOND / 5);
        }
        let (folder, summary) = play.end(Duration::from_secs(20));
        let file = open(folder.path());
        prop_assert_eq!(told(&file.summary(&file.slices(None, None), true).unwrap()), told(&summary));
    }
}

#[test]
fn a_file_that_nobody_writes_any_more_says_that_the_run_died() {
    let mut play = Play::new(1);
    for tick in 1..=25 {
        play.add(0, "my_trend", &[("name", "a")], 1.5, START);
        play.tick(0, START + tick * SECOND / 10);
    }
    let running = open(play.folder.path());
    assert_eq!(running.about().state, State::Running);
    assert_eq!(running.about().slices, 2);
    let seen = running.summary(&running.slices(None, None), false).unwrap();
    assert!(seen.metric("my_trend").is_some());
    drop(running);
    // As kill -9 leaves it: all files as they are, no lock.
    let copy = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let name = format!("a.brunt{ending}");
        std::fs::copy(play.folder.path().join(&name), copy.path().join(&name)).unwrap();
    }
    for _ in 0..2 {
        let died = open(copy.path());
        assert_eq!((died.about().state, died.about().slices), (State::Died, 2));
        let trend = died.summary(&died.slices(None, None), false).unwrap();
        let count = trend.metric("my_trend").unwrap().values.get("count");
        assert_eq!(count, Some(19.0));
    }
}

#[test]
fn other_files_are_refused_each_in_one_sentence() {
    let play = Play::new(1);
    let registry = Arc::clone(&play.registry);
    let path = play.path();
    let said = |path: &Path| match RunFile::open(path) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string().replace(&path.display().to_string(), "F"),
    };
    // Two runs to one file.
    let again = Writer::create(&path, &info(Duration::ZERO), &registry, START);
    let again = again.err().unwrap().to_string();
    assert!(
        again.ends_with("is being written by another run: give this one another file"),
        "{again}"
    );
    let (folder, _) = play.end(Duration::from_secs(1));
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text"), "no run").unwrap();
    assert_eq!(said(&at("text")), "\"F\" is no run file; `brunt run --out run=FILE` writes one");
    assert!(
        said(&at("none")).starts_with("\"F\" can't be read: No such file"),
        "{}",
        said(&at("none"))
    );
    let occupied = Writer::create(&at("text"), &info(Duration::ZERO), &registry, START);
    assert!(occupied.err().unwrap().to_string().ends_with("it is not overwritten"));
    assert_eq!(std::fs::read(at("text")).unwrap(), b"no run");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(at("cut"), &whole[..whole.len() / 2]).unwrap();
    let cut = said(&at("cut"));
    assert!(cut.starts_with("\"F\" is damaged (") && cut.contains("bytes are there"), "{cut}");
    let mut newer = whole;
    newer[60..64].copy_from_slice(&7u32.to_be_bytes());
    std::fs::write(at("newer"), &newer).unwrap();
    assert!(
        said(&at("newer"))
            .contains("newer version of Brunt (its schema is 7, this one reads up to 2)")
    );
    // A finished one makes room for the next, when that begins.
    let bytes = std::fs::read(&path).unwrap();
    drop(Writer::create(&path, &info(Duration::ZERO), &registry, START).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let mut next = Writer::create(&path, &info(Duration::ZERO), &registry, START).unwrap();
    next.start(START);
    drop(next);
    assert_eq!(open(folder.path()).about().slices, 0);
    assert!(!at("a.brunt.before").exists());
}

#[test]
fn tables_have_bounds_and_totals_stay_right() {
    let mut play = Play::new(1);
    for n in 0..10_500 {
        play.add(0, "my_counter", &[("n", &n.to_string())], 1.0, START);
        let tags = [("name", "a"), ("status", "0"), ("error", &*format!("error {n}"))];
        if n < 1100 {
            play.add(0, "http_req_failed", &tags, 1.0, START);
        }
        // The number of new tags that a core tells in a frame has a bound.
        if n % 4000 == 0 {
            play.tick(0, START + SECOND / 4);
        }
    }
    play.tick(0, START + SECOND / 2);
    let folder = play.end(Duration::from_secs(1)).0;
    let file = open(folder.path());
    let summary = file.summary(&file.slices(None, None), false).unwrap();
    let get = |name: &str, value: &str| summary.metric(name).unwrap().values.get(value);
    assert_eq!(get("my_counter", "count"), Some(10_500.0));
    assert_eq!(get("http_req_failed", "passes"), Some(1100.0));
    assert!(file.series().unwrap().len() <= 10_000 + 2);
    let sql = Connection::open(folder.path().join("a.brunt")).unwrap();
    let one = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(one("SELECT count(*) FROM series WHERE tags = '{\"other\":\"true\"}'"), 1);
    assert_eq!(one("SELECT count(*) FROM failure"), 1001);
    assert_eq!(one("SELECT sum(count) FROM failure_slice"), 1100);
    assert!(one("SELECT json_extract(lost, '$.series') FROM run") > 500);
}

#[test]
fn a_clock_that_is_set_back_rewrites_nothing() {
    let mut play = Play::new(1);
    for at in [1, 2, 3, 4, 1, 2, 5] {
        play.add(0, "my_counter", &[], 1.0, START);
        play.tick(0, START + at * SECOND);
    }
    let (folder, summary) = play.end(Duration::from_secs(6));
    let file = open(folder.path());
    assert_eq!(told(&file.summary(&file.slices(None, None), true).unwrap()), told(&summary));
    let mut seen = Vec::new();
    file.each(&(0..100), |n, _, _| seen.push(n)).unwrap();
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}

#[test]
fn a_full_disk_loses_slices_and_says_so() {
    let mut play = Play::new(1);
    play.writer.fill(true);
    for at in 1..=5 {
        for n in 0..2000 {
            play.add(0, "my_trend", &[("n", &(n % 500).to_string())], f64::from(n) / 7.0, START);
        }
        play.tick(0, START + at * SECOND);
    }
    let (lost, why) = play.writer.lost();
    assert!(lost >= 3, "{lost}");
    assert!(why.unwrap().contains("full"), "{why:?}");
    play.writer.fill(false);
    for at in 6..=8 {
        play.add(0, "my_counter", &[], 1.0, START);
        play.tick(0, START + at * SECOND);
    }
    let folder = play.end(Duration::from_secs(9)).0;
    let file = open(folder.path());
    assert_eq!(file.about().lost["slices"], lost);
    let summary = file.summary(&file.slices(None, None), false).unwrap();
    assert_eq!(summary.metric("my_counter").unwrap().values.get("count"), Some(3.0));
    let told = file.rows("SELECT text FROM event WHERE kind = 'lost'", [], |row| row.get(0));
    let told: Vec<String> = told.unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn the_facts_of_slices_are_kept() {
    let mut play = Play::new(1);
    let load = |started, done| Load {
        vus_planned: Some(5),
        vus_started: 5,
        vus_active: 4,
        iterations_started: started,
        iterations_done: done,
        iterations_planned: Some(started + 1),
        ..Load::default()
    };
    for (at, started) in [(1, 10), (2, 25), (3, 30)] {
        let tags = [("scenario", "one")];
        play.add(0, "iteration_lateness", &tags, 2.5, START);
        play.add(0, "dropped_iterations", &tags, 3.0, START);
        let mut frame = play.cores[0].take_frame();
        (frame.at, frame.late) = (START + at * SECOND - 1, 7_000_000);
        frame.checks = vec![CheckDelta {
            group: "::g".into(),
            name: "ok".into(),
            passes: 2,
            fails: at,
            first_at_order: 1,
        }];
        frame.groups = vec![(0, "::g".into())];
        let exception = ExceptionDelta { text: "Error: x".into(), count: 2, order: 9 };
        frame.exceptions = ExceptionDeltas { told: vec![exception], others: 1 };
        play.writer.frame(&frame);
        let event = Event {
            at: START + at * SECOND,
            kind: "note".into(),
            text: "<b>".into(),
            scenario: None,
        };
        let exchange = exchange::Exchange {
            method: "GET".into(),
            url: "http://h/".into(),
            status: 500,
            at: START,
            ..exchange::Exchange::default()
        };
        let added = vec![(at, exchange::Why::Slow, exchange)];
        let evidence =
            exchange::Evidence { added, removed: if at == 3 { vec![1] } else { vec![] } };
        let health =
            Some(Signals { cores: [(0, half())].into(), files: Some(9), ..Signals::default() });
        let extras = Extras {
            load: vec![load(started, started - 1)],
            events: vec![event],
            health,
            evidence,
        };
        play.writer.tick(START + at * SECOND + SECOND / 2, extras);
    }
    let folder = play.end(Duration::from_secs(3)).0;
    let sql = Connection::open(folder.path().join("a.brunt")).unwrap();
    let all = |query: &str| -> String {
        sql.query_row(&format!("SELECT group_concat(v, ' ') FROM ({query})"), [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(all("SELECT iterations_started AS v FROM load ORDER BY n"), "10 15 5");
    assert_eq!(all("SELECT iterations_done AS v FROM load ORDER BY n"), "9 15 5");
    assert_eq!(all("SELECT iterations_planned AS v FROM load ORDER BY n"), "11 15 5");
    assert_eq!(all("SELECT iterations_dropped AS v FROM load ORDER BY n"), "3 3 3");
    assert_eq!(all("SELECT length(lateness) > 2 AS v FROM load"), "1 1 1");
    assert_eq!(
        all(
            "SELECT busy || '/' || waiting || '/' || late || '/' || late_max AS v FROM health_core"
        ),
        "0.5/0.25/7.0/7.0 0.5/0.25/7.0/7.0 0.5/0.25/7.0/7.0"
    );
    assert_eq!(all("SELECT files AS v FROM health ORDER BY n"), "9 9 9");
    assert_eq!(all("SELECT passes || ':' || fails AS v FROM checks"), "6:6");
    assert_eq!(all("SELECT fails AS v FROM checks_slice ORDER BY n"), "1 2 3");
    assert_eq!(
        all("SELECT message || '=' || count AS v FROM failure ORDER BY id"),
        "Error: x=6 (others)=3"
    );
    assert_eq!(all("SELECT id AS v FROM exchange ORDER BY id"), "2 3");
    assert_eq!(all("SELECT curl AS v FROM exchange LIMIT 1"), "curl http://h/");
    assert_eq!(
        all("SELECT text || at AS v FROM event ORDER BY at"),
        "<b>1000000 <b>2000000 <b>3000000"
    );
    assert_eq!(all("SELECT text AS v FROM source"), "export default 1");
}

#[test]
fn the_first_breach_of_a_threshold_is_told_with_its_moment() {
    let mut play = Play::new(1);
    for (at, value) in [(1, 50.0), (2, 5000.0), (3, 1.0)] {
        play.add(0, "my_trend", &[("name", "a")], value, START);
        play.tick(0, START + at * SECOND - 1);
        play.writer.tick(START + at * SECOND + SECOND / 2, Extras::default());
    }
    let folder = play.end(Duration::from_secs(3)).0;
    let sql = Connection::open(folder.path().join("a.brunt")).unwrap();
    let row = |text: &str| {
        let query = "SELECT passed, breached FROM threshold WHERE text = ?1";
        sql.query_row(query, [text], |row| {
            Ok((row.get::<_, Option<bool>>(0)?, row.get::<_, Option<i64>>(1)?))
        })
        .unwrap()
    };
    assert_eq!(row("p(95)<100"), (Some(false), Some(2_000_000)));
    assert_eq!(row("avg>=0"), (Some(true), None));
    let looks: i64 = sql
        .query_row("SELECT count(*) FROM threshold_slice WHERE value IS NOT NULL", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(looks, 6);
}

/// Closing a handle of a file takes off its process's locks on it: then another program could take the log away.
#[test]
#[cfg(unix)]
fn whoever_reads_in_the_process_of_the_writer_takes_none_of_its_locks() {
    let mut play = Play::new(1);
    for at in 1..=3 {
        play.add(0, "my_counter", &[], 1.0, START);
        play.tick(0, START + at * SECOND);
    }
    for _ in 0..2 {
        let running = open(play.folder.path());
        assert_eq!(running.about().state, State::Running);
        drop(running);
    }
    // Another program: the last one to close would check the log in and delete it.
    let mut other = std::process::Command::new("sqlite3");
    other.arg(play.path()).arg("SELECT count(*) FROM run");
    assert!(other.output().expect("tools/need installs sqlite3").status.success());
    assert!(play.folder.path().join("a.brunt-wal").exists());
    play.add(0, "my_counter", &[], 1.0, START);
    play.tick(0, START + 4 * SECOND);
    let (folder, summary) = play.end(Duration::from_secs(5));
    let file = open(folder.path());
    assert_eq!(told(&file.summary(&file.slices(None, None), true).unwrap()), told(&summary));
}

#[test]
fn files_of_others_and_hostile_ones_are_damaged_not_a_trap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.brunt");
    let said = || RunFile::open(&path).err().map(|error| error.to_string()).unwrap_or_default();
    let sql = Connection::open(&path).unwrap();
    sql.pragma_update(None, "application_id", 0x4252_4e54).unwrap();
    sql.execute_batch("CREATE TABLE x (a)").unwrap();
    assert!(said().contains("is damaged (no such table: run"), "{}", said());
    sql.execute_batch(crate::schema::TABLES).unwrap();
    assert!(said().contains("is damaged"), "{}", said());
    drop(sql);
    let (folder, _) = Play::new(1).end(Duration::from_secs(1));
    let path = folder.path().join("a.brunt");
    for change in [
        "slice_width = 0",
        "slices = 4000000000",
        "slices = -1",
        "name = NULL",
        "slice_width = 'x'",
    ] {
        let (again, _) = Play::new(1).end(Duration::from_secs(1));
        let path = again.path().join("a.brunt");
        // `NOT NULL` is not asked of whoever writes the schema anew.
        let sql = Connection::open(&path).unwrap();
        let _ = sql.execute_batch(&format!("UPDATE run SET {change}"));
        drop(sql);
        if let Err(error) = RunFile::open(&path) {
            assert!(error.to_string().contains("is damaged"), "{change}: {error}");
        } else {
            assert_eq!(change, "name = NULL");
        }
    }
    drop(RunFile::open(&path).unwrap());
}

#[test]
fn names_of_any_kind_come_back_as_they_are() {
    let mut play = Play::new(1);
    let long = "x".repeat(10_000);
    for name in
        ["<script>", "'\"; DROP TABLE run; --", "\u{202e}rtl", "\0\u{1}", "é\u{1f600}", &long]
    {
        play.add(0, "my_trend", &[("name", name), ("scenario", "one")], 1.0, START);
        let check = play.cores[0].check(&format!("::{name}"), name);
        play.cores[0].add_check(check, true);
        play.cores[0].exception(name);
    }
    play.tick(0, START + SECOND / 2);
    let (folder, summary) = play.end(Duration::from_secs(1));
    let file = open(folder.path());
    let back = file.summary(&file.slices(None, None), true).unwrap();
    assert_eq!(format!("{:?}", back.checks), format!("{:?}", summary.checks));
    assert_eq!(told(&back), told(&summary));
    let names: Vec<String> = file
        .series()
        .unwrap()
        .into_iter()
        .filter_map(|row| row.tags.get("name").cloned())
        .collect();
    assert!(
        names.contains(&"\u{202e}rtl".to_owned()) && names.contains(&"\0\u{1}".to_owned()),
        "{names:?}"
    );
}
