//! Writes the run file: one transaction for each slice of time.

mod rows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brunt_metrics::{Breach, Frame, Ledger, LedgerConfig, Registry, ThresholdResult};
use brunt_verdict::Signals;
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Value, json};

use self::rows::Rows;
use crate::agent::{self, AgentRow};
use crate::claim::Claim;
use crate::error::RunFileError;
use crate::exchange::Evidence;
use crate::info::{End, Event, Load, RunInfo, width};
use crate::place::Place;
use crate::schema::{APPLICATION_ID, CAPACITY, SCHEMA_VERSION, TABLES};
use crate::slicer::{Slice, Slicer};
use crate::trust;

/// The facts of a slice beside its frames: how things are at its end.
#[derive(Debug, Default)]
pub struct Extras {
    /// Each scenario, counted since its start.
    pub load: Vec<Load>,
    /// The generator, since the slice before.
    pub health: Option<Signals>,
    /// Things that happened.
    pub events: Vec<Event>,
    /// Exchanges that are kept from now on, and that are not kept any more.
    pub evidence: Evidence,
}

/// A run file that is being written. Until [`end`](Self::end) its state is `running`; whoever opens it when its writer is gone
/// finds `died`.
///
/// The database has no lock of its own between two slices, so that anybody may read it. The writer is known by a lock
/// (`flock`) on the file, which the system takes off when the process dies, however it dies.
pub struct Writer {
    path: PathBuf,
    rows: Rows,
    slicer: Slicer,
    /// Judges the thresholds, if there are any.
    ledger: Option<Ledger>,
    width: u64,
    slices: u64,
    /// Slices that could not be written, and why the first one couldn't.
    lost: u64,
    trouble: Option<String>,
    pending: Extras,
    is_told: bool,
    /// Other things that were lost, by name.
    more_lost: BTreeMap<&'static str, u64>,
    /// Given up after the database is closed, before the lock.
    _claim: Claim,
    /// Held until the database is closed: closing any handle of a file takes off SQLite's own locks on it.
    place: Place,
}

impl Writer {
    /// Makes the file and says in it all that is known before the run. An older run file of that name is replaced when the
    /// clock of the run starts, or the run ends: of a writer that is dropped before, nothing is left.
    ///
    /// # Errors
    /// Another run writes to it, something else is there, or the system refuses.
    pub fn create(
        path: &Path,
        info: &RunInfo,
        registry: &Arc<Registry>,
        now: u64,
    ) -> Result<Self, RunFileError> {
        let place = Place::take(path)?;
        let claim = Claim::of(place.file());
        let width = width(info.planned, info.open_ended);
        let connection = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        );
        let connection = connection
            .and_then(|mut connection| {
                lay_out(&mut connection, info, registry, (width.as_millis() as u64, now))?;
                Ok(connection)
            })
            .map_err(RunFileError::database(path, "created"))?;
        let scenarios: Vec<String> = info.scenarios.iter().map(|one| one.name.clone()).collect();
        let width = width.as_nanos() as u64;
        let rows = Rows::new(connection, registry).map_err(RunFileError::io(path, "created"))?;
        Ok(Self {
            path: path.to_owned(),
            rows,
            slicer: Slicer::new(registry, width, &scenarios),
            ledger: judge(info, registry),
            width,
            slices: 0,
            lost: 0,
            trouble: None,
            pending: Extras::default(),
            is_told: false,
            more_lost: BTreeMap::new(),
            _claim: claim,
            place,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The clock of the run started at this moment (nanoseconds since the Unix epoch). The first call counts.
    pub fn start(&mut self, at: u64) {
        self.place.settle();
        self.slicer.start(at);
    }

    /// Takes in what a core saw.
    pub fn frame(&mut self, frame: &Frame) {
        if let Some(ledger) = &mut self.ledger {
            ledger.absorb(frame);
        }
        self.slicer.take_in(frame);
    }

    /// Whether a slice is over at this moment: then [`tick`](Self::tick) is due.
    pub fn is_due(&self, now: u64) -> bool {
        self.slicer.is_due(now)
    }

    /// Writes the slices that are over.
    ///
    /// A slice that can't be written is lost: that is logged once, counted, and told in the file as soon as there is room again.
    pub fn tick(&mut self, now: u64, extras: Extras) {
        let mut closed = Vec::new();
        while let Some(slice) = self.slicer.close(now) {
            closed.push(slice);
        }
        let last = closed.last().map_or(0, |(n, _)| *n);
        self.write(&closed, last, extras);
    }

    fn write(&mut self, closed: &[(u64, Slice)], home: u64, extras: Extras) {
        let Some((last, _)) = closed.last() else {
            self.keep(extras);
            return;
        };
        let last = *last;
        self.keep(extras);
        self.slices = last + 1;
        let elapsed = std::time::Duration::from_nanos((last + 1) * self.width);
        let judged = self.ledger.as_mut().map(|ledger| {
            ledger.evaluate(elapsed, false);
            if ledger.has_looks() {
                ledger.look(elapsed);
            }
            thresholds(ledger, elapsed)
        });
        let written =
            self.rows.write((closed, home), &mut self.slicer, &self.pending, judged.as_deref());
        match written {
            Ok(()) => {
                self.pending = Extras::default();
                if self.lost > 0 && !self.is_told {
                    self.is_told = true;
                    let (lost, at) = (self.lost, self.slicer.started().unwrap_or_default());
                    let text = format!("{lost} slices could not be written and are lost");
                    let at = at + last * self.width;
                    self.pending.events.push(Event {
                        at,
                        kind: "lost".into(),
                        text,
                        scenario: None,
                    });
                }
            }
            Err(error) => {
                self.is_told = false;
                self.lost += closed.len() as u64;
                if self.trouble.is_none() {
                    let (path, text) = (self.path.display().to_string(), error.to_string());
                    log::error!(file = path.as_str(), error = text.as_str();
                        "The run file cannot be written: what is measured now is lost for it, the test goes on");
                    self.trouble = Some(text);
                }
            }
        }
    }

    /// Keeps extras until a slice is written. Bounded: load and health count from slice to slice, the latest tell all.
    fn keep(&mut self, extras: Extras) {
        /// Events that wait; more are dropped.
        const EVENTS_MAX: usize = 1000;
        /// Exchanges that wait; more are dropped.
        const EXCHANGES_MAX: usize = 500;
        let Extras { load, health, events, evidence } = extras;
        if !load.is_empty() {
            self.pending.load = load;
        }
        self.pending.health = health.or(self.pending.health.take());
        let pending = &mut self.pending;
        pending.events.extend(events);
        // Those that are removed before they were written are not written at all.
        let added = &mut pending.evidence.added;
        added.retain(|(number, ..)| !evidence.removed.contains(number));
        added.extend(evidence.added);
        pending.evidence.removed.extend(evidence.removed);
        let dropped = [
            ("events", pending.events.len().saturating_sub(EVENTS_MAX)),
            ("exchanges", added.len().saturating_sub(EXCHANGES_MAX)),
        ];
        pending.events.truncate(EVENTS_MAX);
        added.truncate(EXCHANGES_MAX);
        for (what, count) in dropped {
            self.lose(what, count as u64);
        }
    }

    /// Counts things that had no room on their way here, for `run.lost`.
    pub fn lose(&mut self, what: &'static str, count: u64) {
        *self.more_lost.entry(what).or_default() += count;
    }

    /// All measurements are in: writes what is left. The state is `running` still.
    pub fn finish(&mut self, extras: Extras) {
        let closed = self.slicer.close_all();
        if !closed.is_empty() {
            let home = closed[0].0;
            self.write(&closed, home, extras);
            return;
        }
        // The rest belongs to no slice of its own.
        self.keep(Extras { load: Vec::new(), health: None, ..extras });
        self.pending.load.clear();
        self.pending.health = None;
        let last = [(self.slices.saturating_sub(1), Slice::default())];
        let written = self.rows.write((&last, last[0].0), &mut self.slicer, &self.pending, None);
        match written {
            Ok(()) => self.slices = self.slices.max(1),
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "the last events are lost");
            }
        }
    }

    /// Lets the file grow no more, as a full disk does; or again.
    #[cfg(test)]
    pub(crate) fn fill(&self, is_full: bool) {
        let connection = self.rows.connection();
        let pages: i64 =
            connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap_or(1);
        let most = if is_full { pages } else { 1 << 30 };
        let set = format!("PRAGMA max_page_count = {most}");
        assert!(connection.query_row(&set, [], |row| row.get::<_, i64>(0)).is_ok());
    }

    /// Slices that could not be written, and why.
    pub fn lost(&self) -> (u64, Option<&str>) {
        (self.lost, self.trouble.as_deref())
    }

    /// Series that were folded into others, and kinds of values that had no room: for people.
    pub fn folded(&self) -> u64 {
        self.slicer.catalogue.folded()
    }

    /// Keeps the result of a search for capacity, a JSON text.
    ///
    /// # Errors
    /// It can't be written.
    pub fn keep_capacity(&mut self, text: &str) -> Result<(), RunFileError> {
        let error = RunFileError::database(&self.path, "written");
        let connection = self.rows.connection();
        connection.execute(CAPACITY, []).map_err(&error)?;
        connection.execute("DELETE FROM capacity", []).map_err(&error)?;
        connection
            .execute("INSERT INTO capacity (text) VALUES (?1)", params![text])
            .map_err(&error)?;
        Ok(())
    }

    /// Keeps how each agent of a test on several machines fared.
    ///
    /// # Errors
    /// It can't be written.
    pub fn keep_agents(&mut self, agents: &[AgentRow]) -> Result<(), RunFileError> {
        let error = RunFileError::database(&self.path, "written");
        agent::write(self.rows.connection_mut(), agents).map_err(error)
    }

    /// Says how the run ended, and makes one plain file of it.
    ///
    /// # Errors
    /// It can't be written: its readers will find that the run died.
    pub fn end(mut self, end: &End) -> Result<(), RunFileError> {
        let error = RunFileError::database(&self.path, "written");
        self.place.settle();
        let judged = match &mut self.ledger {
            Some(ledger) if end.judged.is_empty() => {
                ledger.evaluate(end.duration, true);
                thresholds(ledger, end.duration)
            }
            _ => end.judged.iter().map(|one| Standing::new(&one.metric, &one.result)).collect(),
        };
        self.rows.judge(&judged).map_err(&error)?;
        let started = self.slicer.started();
        let ended = started.map(|at| at + end.duration.as_nanos() as u64);
        let lost = self.lost_json();
        let connection = self.rows.connection();
        if let Some(verdict) = &end.verdict {
            trust::write(connection, verdict).map_err(&error)?;
        }
        connection
            .execute(
                "UPDATE run SET state = ?1, ended = ?2, duration = ?3, slices = ?4, passed = ?5, exit_code = ?6,
                 reason = ?7, lost = ?8",
                params![
                    if end.aborted.is_some() { "aborted" } else { "finished" },
                    ended.map(|at| (at / 1000) as i64),
                    end.duration.as_nanos() as i64,
                    self.slices as i64,
                    end.passed,
                    end.exit,
                    end.aborted,
                    lost,
                ],
            )
            .map_err(&error)?;
        // If somebody reads it now, it stays in two files until they are done: readable all the same.
        let plain = connection
            .pragma_update(None, "wal_checkpoint", "TRUNCATE")
            .and_then(|()| connection.pragma_update(None, "journal_mode", "DELETE"));
        if let Err(error) = plain {
            log::debug!(error = error.to_string().as_str(); "the run file stays in two files while it is read");
        }
        Ok(())
    }

    /// Things that had no room, by name; none that are 0.
    fn lost_json(&self) -> String {
        let dropped = self.slicer.lost;
        let all = [
            ("failures", self.slicer.failures.folded()),
            ("slices", self.lost),
            ("series", self.slicer.catalogue.folded()),
            ("checks", dropped.checks + self.slicer.lost_checks),
            ("groups", dropped.groups),
            ("not_numbers", dropped.not_numbers),
            ("resets", dropped.resets),
            ("crowded", dropped.crowded),
            ("stale", dropped.stale),
            ("samples", dropped.samples),
        ];
        let more = self.more_lost.iter().map(|(name, count)| (*name, *count));
        let told = all.into_iter().chain(more).filter(|(_, count)| *count > 0);
        told.map(|(name, count)| (name.to_owned(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
            .into_iter()
            .collect::<Value>()
            .to_string()
    }
}

/// The tables, and all that is known before the run.
fn lay_out(
    connection: &mut Connection,
    info: &RunInfo,
    registry: &Registry,
    times: (u64, u64),
) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Into the file itself, not into a WAL: its head must tell what it is from the first moment on.
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.execute_batch(TABLES)?;
    rows::info(&transaction, info, registry, times)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")
}

/// A ledger for the thresholds alone.
fn judge(info: &RunInfo, registry: &Arc<Registry>) -> Option<Ledger> {
    let thresholds = info.summary.thresholds.clone();
    let is_any = thresholds.iter().any(|set| !set.thresholds.is_empty());
    let warmup = info.summary.warmup;
    let config = LedgerConfig { thresholds, warmup, ..LedgerConfig::default() };
    // A threshold that is wrong is told by whoever runs the test.
    Ledger::new(Arc::clone(registry), config).ok().filter(|_| is_any)
}

/// The state of a threshold.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// The metric as the options name it.
    pub(crate) metric: String,
    pub(crate) text: String,
    pub(crate) ok: bool,
    pub(crate) value: Option<f64>,
    /// The first breach of one in time.
    pub(crate) breach: Option<Breach>,
}

impl Standing {
    fn new(metric: &str, result: &ThresholdResult) -> Self {
        Self {
            metric: metric.to_owned(),
            text: result.label(),
            ok: result.ok,
            value: result.value,
            breach: result.breach.filter(|_| result.timing.is_in_time()),
        }
    }
}

fn thresholds(ledger: &Ledger, elapsed: std::time::Duration) -> Vec<Standing> {
    let summary = ledger.summary(elapsed);
    let all = summary.metrics.iter().chain(&summary.own).flat_map(|metric| {
        metric.thresholds.iter().map(|result| Standing::new(&metric.name, result))
    });
    all.collect()
}
