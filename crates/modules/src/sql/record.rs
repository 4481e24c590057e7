//! From a statement to its samples.

use std::rc::Rc;

use brunt_js::{Host, Phase, SlotKey};
use brunt_metrics::{Contains, Kind, MetricId, Recorder, SeriesId, TagsId};
use brunt_quickjs::{Ctx, JsResult};
use brunt_sql::Failure;
use rustc_hash::FxHashMap;

use super::core::{Label, Marks, SqlCore};
use crate::extension::meters::{Meters, offer};
use crate::state::{Tags, VuState};

/// The metrics. Scripts of xk6-sql may have metrics of these names, which win.
#[derive(Clone, Copy)]
pub(super) struct SqlMeters {
    queries: MetricId,
    duration: MetricId,
    waiting: MetricId,
    receiving: MetricId,
    pool_wait: MetricId,
    connecting: MetricId,
    rows: MetricId,
    rows_affected: MetricId,
    failed: MetricId,
    retries: MetricId,
}

impl Meters for SqlMeters {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn declare(ctx: Ctx<'_>) -> JsResult<'_, Self> {
        let counter = |name| offer(ctx, name, Kind::Counter, Contains::Default);
        let time = |name| offer(ctx, name, Kind::Trend, Contains::Time);
        Ok(Self {
            queries: counter("sql_queries")?,
            duration: time("sql_duration")?,
            waiting: time("sql_waiting")?,
            receiving: time("sql_receiving")?,
            pool_wait: time("sql_pool_wait")?,
            connecting: time("sql_connecting")?,
            rows: counter("sql_rows")?,
            rows_affected: counter("sql_rows_affected")?,
            failed: offer(ctx, "sql_failed", Kind::Rate, Contains::Default)?,
            retries: counter("sql_retries")?,
        })
    }
}

/// The times of a statement, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    /// For a connection of the pool; `None`: none came.
    pub(super) pool_wait: Option<u64>,
    /// For a new connection, if one was made.
    pub(super) connecting: Option<u64>,
    /// From the sending until the first row, or the end; `None`: it was not sent.
    pub(super) waiting: Option<u64>,
    /// From the first row to the last, as far as the script waited for them.
    pub(super) receiving: u64,
}

/// A statement that is over.
pub(super) struct Told<'a> {
    pub(super) label: &'a Rc<Label>,
    pub(super) marks: &'a Rc<Marks>,
    pub(super) spent: Spent,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) failure: Option<&'a Failure>,
}

/// The series of one set of tags; `None`: the script has a metric of that name.
#[derive(Clone, Copy)]
struct Block {
    queries: Option<SeriesId>,
    duration: Option<SeriesId>,
    waiting: Option<SeriesId>,
    receiving: Option<SeriesId>,
    pool_wait: Option<SeriesId>,
    connecting: Option<SeriesId>,
    rows: Option<SeriesId>,
    rows_affected: Option<SeriesId>,
    failed: Option<SeriesId>,
}

/// Sets of tags that are remembered; a test that makes up tags without end starts over.
const KNOWN_MAX: usize = 4096;

/// Series that were used on this core: by the VU's tags, the marks, the statement.
#[derive(Default)]
pub(super) struct SeriesCache {
    epoch: u32,
    known: FxHashMap<(TagsId, u32, u32), Block>,
}

/// Records the samples of a statement, under the tags that the VU had as it was called.
pub(super) fn record(host: &Host, core: &SqlCore, meters: SqlMeters, tags: &Tags, told: &Told<'_>) {
    let Some(engine) = host.core().filter(|_| is_counted(host)) else { return };
    let state = host.slot::<VuState>();
    let at = engine.now();
    let recorder = &mut *engine.recorder().borrow_mut();
    let base = tags.id(recorder);
    let block = match told.failure {
        None => known(recorder, core, meters, base, told),
        Some(failure) => {
            let has_code = state.shared.config().system_tags.error_code;
            make(recorder, meters, base, told, has_code.then(|| failure.code()))
        }
    };
    let mut add = |series: Option<SeriesId>, value| {
        if let Some(series) = series {
            state.add_to(recorder, series, value, at);
        }
    };
    let ms = |ns: u64| ns as f64 / 1e6;
    add(block.queries, 1.0);
    add(block.failed, f64::from(u8::from(told.failure.is_some())));
    if let Some(waited) = told.spent.pool_wait {
        add(block.pool_wait, ms(waited));
    }
    if let Some(connecting) = told.spent.connecting {
        add(block.connecting, ms(connecting));
    }
    if let Some(waiting) = told.spent.waiting {
        add(block.duration, ms(waiting + told.spent.receiving));
        add(block.waiting, ms(waiting));
        add(block.receiving, ms(told.spent.receiving));
    }
    if told.rows > 0 {
        add(block.rows, told.rows as f64);
    }
    if told.affected > 0 {
        add(block.rows_affected, told.affected as f64);
    }
}

/// Counts a transaction that is tried again.
pub(super) fn record_retry(host: &Host, meters: SqlMeters, tags: &Tags, marks: &Marks) {
    let Some(engine) = host.core().filter(|_| is_counted(host)) else { return };
    let recorder = &mut *engine.recorder().borrow_mut();
    let base = tags.id(recorder);
    let pairs = marks.pairs();
    let with = recorder.tags_with(base, &pairs);
    if let Some(series) = series_of(recorder, meters.retries, with) {
        host.slot::<VuState>().add_to(recorder, series, 1.0, engine.now());
    }
}

/// The series of a metric, unless the script has one of its name.
fn series_of(recorder: &mut Recorder, metric: MetricId, tags: TagsId) -> Option<SeriesId> {
    let is_ours = recorder.registry().is_taken(metric);
    is_ours.then(|| recorder.series(metric, tags))
}

fn is_counted(host: &Host) -> bool {
    !matches!(host.phase(), Phase::Init | Phase::Summary)
}

impl Marks {
    fn pairs(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<(&str, &str)> =
            self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        pairs.push(("db", &self.db));
        if let Some(name) = &self.name {
            pairs.push(("name", name));
        }
        pairs
    }
}

fn known(
    recorder: &mut Recorder,
    core: &SqlCore,
    meters: SqlMeters,
    base: TagsId,
    told: &Told<'_>,
) -> Block {
    let cache = &mut *core.series.borrow_mut();
    if cache.epoch != recorder.epoch() || cache.known.len() > KNOWN_MAX {
        cache.known.clear();
        cache.epoch = recorder.epoch();
    }
    let key = (base, told.marks.id, told.label.id);
    *cache.known.entry(key).or_insert_with(|| make(recorder, meters, base, told, None))
}

fn make(
    recorder: &mut Recorder,
    meters: SqlMeters,
    base: TagsId,
    told: &Told<'_>,
    code: Option<&str>,
) -> Block {
    let mut pairs = told.marks.pairs();
    if told.marks.name.is_none() {
        pairs.push(("statement", &told.label.text));
    }
    pairs.extend(code.map(|code| ("error_code", code)));
    let tags = recorder.tags_with(base, &pairs);
    let mut series = |metric| series_of(recorder, metric, tags);
    Block {
        queries: series(meters.queries),
        duration: series(meters.duration),
        waiting: series(meters.waiting),
        receiving: series(meters.receiving),
        pool_wait: series(meters.pool_wait),
        connecting: series(meters.connecting),
        rows: series(meters.rows),
        rows_affected: series(meters.rows_affected),
        failed: series(meters.failed),
    }
}
