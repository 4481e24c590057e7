//! Reads run files: finished ones, those of runs that died, and those that are being written.

mod agents;
mod examples;
mod plan;
mod summary;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brunt_metrics::{Contains, Kind, Sink, Sum, TrendSink};
use brunt_verdict::Verdict;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::Value;

pub use self::examples::Examples;
use crate::claim;
use crate::error::RunFileError;
use crate::histogram::Unpacker;
use crate::info::SummaryInfo;
use crate::place::beside;
use crate::schema::{Head, SCHEMA_VERSION, head};
use crate::trust;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being written.
    Running,
    /// It came to its end.
    Finished,
    /// It was cut short.
    Aborted,
    /// Its process is gone without a word.
    Died,
}

impl State {
    /// As the file says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Aborted => "aborted",
            Self::Died => "died",
        }
    }
}

/// The row of the table `run`. Moments are microseconds since the Unix epoch.
#[derive(Clone, Debug)]
pub struct About {
    /// A UUID.
    pub id: String,
    /// `run` or `attack`.
    pub kind: String,
    /// A name for people.
    pub name: String,
    /// Its state.
    pub state: State,
    /// When it started.
    pub started: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// How long it took (so far): rates are divided by it.
    pub duration: Duration,
    /// How long it was to take at most.
    pub planned: Duration,
    /// The width of a slice.
    pub width: Duration,
    /// How many slices there are.
    pub slices: u64,
    /// Whether all thresholds hold; none if there are none, or it is not over.
    pub passed: Option<bool>,
    /// The exit code, once it is over.
    pub exit: Option<i64>,
    /// Why it was cut short.
    pub reason: Option<String>,
    /// The version of Brunt.
    pub brunt: String,
    /// The script.
    pub script: Option<String>,
    /// The SHA-256 of its text, in hex.
    pub sha256: Option<String>,
    /// The command line.
    pub arguments: Value,
    /// The options of all layers together.
    pub options: Value,
    /// Names of variables.
    pub environment: Value,
    /// The machine's name.
    pub host: Option<String>,
    /// Its kernel.
    pub kernel: Option<String>,
    /// Its processor.
    pub cpu: Option<String>,
    /// Threads that carried VUs.
    pub cores: Option<i64>,
    /// Bytes of memory.
    pub memory: Option<i64>,
    /// The seed of what is random.
    pub seed: Option<String>,
    /// The commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The address of the build.
    pub build: Option<String>,
    /// `--label`
    pub labels: BTreeMap<String, String>,
    /// Things that had no room, by name.
    pub lost: Value,
    /// How the summary is made.
    pub summary: SummaryInfo,
    /// Whether the numbers can be trusted; none until the end, and if nothing looked at the generator.
    pub verdict: Option<Verdict>,
}

/// A metric of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRow {
    /// Its number in the file.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// How its values are put together.
    pub kind: Kind,
    /// The meaning of its values.
    pub contains: Contains,
}

/// A series of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRow {
    /// Its number in the file.
    pub id: u32,
    /// The number of its metric.
    pub metric: u32,
    /// Its tags, sorted by name.
    pub tags: BTreeMap<String, String>,
}

/// A run file, open for reading.
pub struct RunFile {
    path: PathBuf,
    connection: Connection,
    about: About,
    metrics: Vec<MetricRow>,
    /// Closed after the database: closing any handle of a file takes off the process's own locks on it, SQLite's too. None of
    /// a file that this process writes, of which the writer's locks would go.
    _file: Option<File>,
}

impl RunFile {
    /// Whether a file that begins so is a run file, of whatever version. A hundred bytes are enough.
    pub fn is_one(first: &[u8]) -> bool {
        head(first) != Head::Other
    }

    /// Opens a file.
    ///
    /// # Errors
    /// The file is not there, is no run file, is damaged, or was written by a newer Brunt.
    pub fn open(path: &Path) -> Result<Self, RunFileError> {
        let io = RunFileError::io(path, "read");
        let metadata = std::fs::metadata(path).map_err(&io)?;
        if !metadata.is_file() {
            return Err(RunFileError::NoRunFile(path.to_owned()));
        }
        let (file, is_written) = if claim::is_ours(&metadata) {
            (None, true)
        } else {
            let (file, is_written) = foreign(path)?;
            (Some(file), is_written)
        };
        let has_log = beside(path, "-wal").exists();
        let database = RunFileError::database(path, "read");
        let mut connection = connect(path).map_err(&database)?;
        let mut seen = about(&connection).map_err(&database)?;
        if seen.state == State::Running && !is_written {
            drop(connection);
            // Each slice goes into the log first, and a copy may lack it.
            let reason = (!has_log).then_some(LOG_IS_MISSING);
            bury(path, reason);
            connection = connect(path).map_err(&database)?;
            let buried = about(&connection).map_err(&database)?;
            let reason = buried.reason.or(reason.map(str::to_owned));
            seen = About { state: State::Died, reason, ..buried };
        }
        if seen.width.is_zero() || seen.slices > SLICES_MAX {
            return Err(RunFileError::damaged(path, "its slices are none"));
        }
        let metrics = metrics(&connection).map_err(&database)?;
        Ok(Self { path: path.to_owned(), connection, about: seen, metrics, _file: file })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All that is known of the run.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Looks again at a run that was being written.
    pub fn refresh(&mut self) -> Result<(), RunFileError> {
        let new = about(&self.connection).map_err(self.error())?;
        self.about = if self.about.state == State::Died && new.state == State::Running {
            About { state: State::Died, reason: self.about.reason.take(), ..new }
        } else {
            new
        };
        self.metrics = metrics(&self.connection).map_err(self.error())?;
        Ok(())
    }

    /// All metrics, by their numbers.
    pub fn metrics(&self) -> &[MetricRow] {
        &self.metrics
    }

    /// All series, by their numbers.
    pub fn series(&self) -> Result<Vec<SeriesRow>, RunFileError> {
        self.rows("SELECT id, metric, tags FROM series ORDER BY id", [], |row| {
            let tags: String = row.get(2)?;
            Ok(SeriesRow {
                id: row.get(0)?,
                metric: row.get(1)?,
                tags: serde_json::from_str(&tags).unwrap_or_default(),
            })
        })
    }

    /// The slices of a stretch of time: all that overlap it.
    pub fn slices(&self, from: Option<Duration>, to: Option<Duration>) -> Range<u64> {
        let width = self.about.width.as_nanos().max(1);
        let from = from.map_or(0, |from| (from.as_nanos() / width) as u64);
        let to = to.map_or(self.about.slices, |to| to.as_nanos().div_ceil(width) as u64);
        let to = to.min(self.about.slices);
        from.min(to)..to
    }

    /// How long a range of slices is: the last slice of the run ends with the run.
    pub fn length(&self, slices: &Range<u64>) -> Duration {
        let width = self.about.width;
        let at = |slice: u64| width * u32::try_from(slice).unwrap_or(u32::MAX);
        let end =
            if slices.end >= self.about.slices { self.about.duration } else { at(slices.end) };
        end.saturating_sub(at(slices.start))
    }

    /// Shows each series' values in each slice of a range, by rising slice and series.
    pub fn each(
        &self,
        slices: &Range<u64>,
        mut show: impl FnMut(u64, u32, Sink),
    ) -> Result<(), RunFileError> {
        let kinds: BTreeMap<u32, Kind> =
            self.metrics.iter().map(|metric| (metric.id, metric.kind)).collect();
        // Without their tags, which are not needed here.
        let of_series = self.rows("SELECT id, metric FROM series", [], |row| {
            Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))
        })?;
        let of_series: BTreeMap<u32, Kind> =
            of_series.iter().filter_map(|(id, of)| Some((*id, *kinds.get(of)?))).collect();
        let damaged = |what: &str| RunFileError::damaged(&self.path, what);
        let mut unpacker = Unpacker::new().map_err(RunFileError::io(&self.path, "read"))?;
        let mut statement = self
            .connection
            .prepare(
                "SELECT n, series, count, sum, min, max, last, hits, histogram, sum_rest, at
                 FROM slice WHERE n >= ?1 AND n < ?2 ORDER BY n, series",
            )
            .map_err(self.error())?;
        let mut rows =
            statement.query([slices.start as i64, slices.end as i64]).map_err(self.error())?;
        while let Some(row) = rows.next().map_err(self.error())? {
            let (n, series) = key(row).map_err(self.error())?;
            let kind = of_series.get(&series).ok_or_else(|| damaged("a series has no metric"))?;
            let sink = sink(row, *kind, &mut unpacker).map_err(self.error())?;
            show(n, series, sink.ok_or_else(|| damaged("a histogram is none"))?);
        }
        Ok(())
    }

    /// Whether the file has this table: those of earlier versions lack some.
    pub(crate) fn has_table(&self, name: &str) -> Result<bool, RunFileError> {
        let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        Ok(!self.rows(query, [name], |_| Ok(()))?.is_empty())
    }

    /// All rows of a query.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, RunFileError> {
        let all = self.connection.prepare(query).and_then(|mut statement| {
            let rows = statement.query_map(parameters, |row| read(row))?;
            rows.collect()
        });
        all.map_err(self.error())
    }

    pub(crate) fn error(&self) -> impl Fn(rusqlite::Error) -> RunFileError + use<> {
        RunFileError::database(&self.path, "read")
    }
}

/// The reason of a run that died, when its file came without the log.
const LOG_IS_MISSING: &str = "The file that SQLite keeps beside it (FILE-wal) is missing, and with it the last measurements: copy both";

/// More slices no run has: years of them.
const SLICES_MAX: u64 = 20_000_000;

/// Looks at a file that this process does not write; and whether another one does.
fn foreign(path: &Path) -> Result<(File, bool), RunFileError> {
    let io = RunFileError::io(path, "read");
    let mut file = File::open(path).map_err(&io)?;
    let mut first = Vec::new();
    (&mut file).take(100).read_to_end(&mut first).map_err(&io)?;
    let (version, bytes) = match head(&first) {
        Head::Run { version, bytes } => (version, bytes),
        Head::Other if first.len() < 72 && first.starts_with(b"SQLite format 3\0") => {
            return Err(RunFileError::damaged(path, "its head is cut off"));
        }
        Head::Other => return Err(RunFileError::NoRunFile(path.to_owned())),
    };
    if version > SCHEMA_VERSION {
        return Err(RunFileError::Newer { path: path.to_owned(), version });
    }
    let is_written = match file.try_lock_shared() {
        Ok(()) => {
            drop(file.unlock());
            false
        }
        Err(TryLockError::WouldBlock) => true,
        // A file system without locks: it is not known.
        Err(TryLockError::Error(_)) => false,
    };
    let size = file.metadata().map_err(&io)?.len();
    if !is_written && size < bytes && !beside(path, "-wal").exists() {
        let what = format!("{size} of {bytes} bytes are there");
        return Err(RunFileError::damaged(path, &what));
    }
    Ok((file, is_written))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let look = |connection: Connection| {
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    let plain = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY);
    plain.and_then(look).or_else(|error| {
        // In a folder that may not be written, what SQLite wants beside a file of a run that died can't be made.
        if error.sqlite_error_code() != Some(rusqlite::ErrorCode::CannotOpen) {
            return Err(error);
        }
        let name =
            path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let address = format!("file:{name}?immutable=1");
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(address, flags).and_then(look)
    })
}

/// Writes into the file of a run that died that it did, and makes one plain file of it. If that can't be, nothing is lost.
fn bury(path: &Path, reason: Option<&str>) {
    let Ok(lock) = OpenOptions::new().read(true).write(true).open(path) else { return };
    if lock.try_lock().is_err() {
        return;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let buried = Connection::open_with_flags(path, flags).and_then(|connection| {
        let change =
            "UPDATE run SET state = 'died', reason = coalesce(reason, ?1) WHERE state = 'running'";
        connection.execute(change, [reason])?;
        connection.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
        connection.pragma_update(None, "journal_mode", "DELETE")
    });
    if let Err(error) = buried {
        log::debug!(error = error.to_string().as_str(); "the file of a run that died is left as it is");
    }
    drop(lock);
}

fn about(connection: &Connection) -> rusqlite::Result<About> {
    let verdict = trust::read(connection)?;
    connection.query_row("SELECT * FROM run", [], |row| {
        let json = |key: &str| -> rusqlite::Result<Value> {
            Ok(serde_json::from_str(&row.get::<_, String>(key)?).unwrap_or_default())
        };
        let state = match row.get::<_, String>("state")?.as_str() {
            "running" => State::Running,
            "finished" => State::Finished,
            "aborted" => State::Aborted,
            _ => State::Died,
        };
        let micros = |micros: i64| Duration::from_micros(u64::try_from(micros).unwrap_or_default());
        let nanos = |nanos: i64| Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
        let width = Duration::from_millis(row.get::<_, u32>("slice_width")?.into());
        let slices: u32 = row.get("slices")?;
        let labels = json("labels")?;
        Ok(About {
            id: row.get("id")?,
            kind: row.get("kind")?,
            name: row.get("name")?,
            state,
            started: row.get("started")?,
            ended: row.get("ended")?,
            duration: row.get::<_, Option<i64>>("duration")?.map_or(width * slices, nanos),
            planned: micros(row.get("planned")?),
            width,
            slices: slices.into(),
            passed: row.get("passed")?,
            exit: row.get("exit_code")?,
            reason: row.get("reason")?,
            brunt: row.get("brunt")?,
            script: row.get("script")?,
            sha256: row.get("sha256")?,
            arguments: json("arguments")?,
            options: json("options")?,
            environment: json("environment")?,
            host: row.get("host")?,
            kernel: row.get("kernel")?,
            cpu: row.get("cpu")?,
            cores: row.get("cores")?,
            memory: row.get("memory")?,
            seed: row.get("seed")?,
            commit: row.get("commit")?,
            branch: row.get("branch")?,
            build: row.get("build")?,
            labels: serde_json::from_value(labels).unwrap_or_default(),
            lost: json("lost")?,
            summary: crate::settings::read(&row.get::<_, String>("summary")?),
            verdict: verdict.clone(),
        })
    })
}

fn metrics(connection: &Connection) -> rusqlite::Result<Vec<MetricRow>> {
    let mut statement =
        connection.prepare("SELECT id, name, type, contains FROM metric ORDER BY id")?;
    let rows = statement.query_map([], |row| {
        let kind = match row.get::<_, String>(2)?.as_str() {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "rate" => Kind::Rate,
            _ => Kind::Trend,
        };
        let contains = match row.get::<_, String>(3)?.as_str() {
            "time" => Contains::Time,
            "data" => Contains::Data,
            _ => Contains::Default,
        };
        Ok(MetricRow { id: row.get(0)?, name: row.get(1)?, kind, contains })
    })?;
    rows.collect()
}

fn key(row: &Row<'_>) -> rusqlite::Result<(u64, u32)> {
    Ok((u64::from(row.get::<_, u32>(0)?), row.get(1)?))
}

/// The values in a row of `slice`; nothing if its histogram is damaged.
fn sink(row: &Row<'_>, kind: Kind, unpacker: &mut Unpacker) -> rusqlite::Result<Option<Sink>> {
    let float = |place: usize| -> rusqlite::Result<f64> {
        Ok(row.get::<_, Option<f64>>(place)?.unwrap_or_default())
    };
    let whole = |place: usize| -> rusqlite::Result<u64> {
        let number = row.get::<_, Option<i64>>(place)?.unwrap_or_default();
        Ok(u64::try_from(number).unwrap_or_default())
    };
    Ok(Some(match kind {
        Kind::Counter => Sink::Counter { sum: float(3)?, rest: float(9)?, first_at: Some(0) },
        Kind::Gauge => Sink::Gauge {
            min: float(4)?,
            max: float(5)?,
            last: float(6)?,
            at: row.get::<_, Option<i64>>(10)?.and_then(|at| u64::try_from(at).ok()),
        },
        Kind::Rate => Sink::Rate { hits: whole(7)?, total: whole(2)? },
        Kind::Trend => {
            let packed = row.get_ref(8)?.as_blob_or_null().ok().flatten().unwrap_or_default();
            let Some(distribution) = unpacker.unpack(packed) else { return Ok(None) };
            let sum = Sum { high: float(3)?, low: float(9)? };
            Sink::Trend(TrendSink::from_parts(sum, (float(4)?, float(5)?), distribution))
        }
    }))
}
