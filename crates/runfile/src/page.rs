//! The data of the report's page, made of a run file: all at once for a saved page, in parts while the run goes on.
//!
//! A document is `BRNP`, a byte with its version, and records: a byte that tells their kind (1 = JSON, 2 = a chunk of a series, 3 = forget
//! all that came before), a varint of their length, their bytes.

mod columns;
mod draft;
mod extra;
mod facts;

use std::collections::BTreeMap;
use std::ops::Range;

use brunt_metrics::{Contains, Kind, Sink};
use serde_json::{Map, Value, json};

use self::columns::Columns;
pub use self::draft::Draft;
use crate::error::RunFileError;
use crate::reader::RunFile;
use crate::varint::put;

/// More slices than this are merged for the page.
const SLICES_MAX: u64 = 1500;
/// Fewer slices than this a page does not come to for its weight alone.
const SLICES_MIN: u64 = 120;
/// How many slices of the file may be one of the page.
const FACTORS: [u64; 14] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 7200, 14_400];
/// As many values a series may have to be told exactly.
const EXACT_MAX: u64 = 4096;

/// The kinds of records.
const JSON: u8 = 1;
const CHUNK: u8 = 2;
const RESET: u8 = 3;

/// The source of a series of the page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A series of the file.
    Series(u32),
    /// A column of the load of a scenario.
    Load(&'static str, i64),
    /// A number about the generator: of a core, of sockets in a state, or of all.
    Health(&'static str, String),
    /// A check.
    Check(i64),
    /// A kind of failure.
    Failure(i64),
    /// A threshold.
    Threshold(i64),
}

/// A metric of the page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageMetric {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) contains: &'static str,
    pub(crate) family: &'static str,
}

impl PageMetric {
    fn new(name: &str, kind: Kind, contains: Contains, family: &'static str) -> Self {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        };
        let contains = match contains {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        };
        Self { name: name.to_owned(), kind, contains, family }
    }

    fn told(&self) -> Value {
        let Self { name, kind, contains, family } = self;
        json!({ "name": name, "type": kind, "contains": contains, "family": family })
    }
}

/// Makes documents of a run file. One of them serves one page, or all that watch the same run.
pub struct Page {
    factor: u64,
    metrics: BTreeMap<PageMetric, usize>,
    series: BTreeMap<Origin, usize>,
    /// Slices of the file that were told.
    told: u64,
    /// Events that were told.
    events: usize,
    /// Metrics and series as they were told, for those who come late.
    known: News,
}

/// Metrics and series that are new in a document.
#[derive(Default)]
struct News {
    metrics: Vec<Value>,
    series: Vec<Value>,
}

impl Page {
    /// For a run that is still going on: slices are merged as its planned duration demands.
    pub fn live(file: &RunFile) -> Self {
        let about = file.about();
        let planned = about.planned.as_nanos() / about.width.as_nanos().max(1);
        Self::of(factor(u64::try_from(planned).unwrap_or(u64::MAX).max(about.slices)))
    }

    fn of(factor: u64) -> Self {
        Self {
            factor,
            metrics: BTreeMap::new(),
            series: BTreeMap::new(),
            told: 0,
            events: 0,
            known: News::default(),
        }
    }

    /// All there is so far, as one document; a page that knew something before forgets it.
    pub fn everything(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        *self = Self::of(self.factor);
        self.document(file, true)
    }

    /// All that came since the last document.
    pub fn news(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        self.document(file, false)
    }

    /// All that was told so far, for a page that comes late: behind it the next [`news`](Self::news) follow as for the others.
    pub fn so_far(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        let mut news = News::default();
        let mut chunks = self.chunks(file, 0..self.told, &mut news)?;
        // New metrics and series are told with the next news.
        let (metrics, series) = (self.known.metrics.len(), self.known.series.len());
        self.metrics.retain(|_, place| *place < metrics);
        self.series.retain(|_, id| *id < series);
        chunks.retain(|(id, _)| *id < series);
        let events: Vec<Value> = facts::events(file, 0)?.into_iter().take(self.events).collect();
        let mut facts = facts::all(file, self, &self.known.metrics, &self.known.series, &events)?;
        facts["time"]["slices"] = json!(self.told.div_ceil(self.factor));
        Ok(document(true, &facts, &chunks))
    }

    /// The slices of the file that were told so far.
    pub fn slices(&self) -> u64 {
        self.told
    }

    fn document(&mut self, file: &RunFile, is_reset: bool) -> Result<Vec<u8>, RunFileError> {
        let slices = file.about().slices;
        // The slice of the page that was still growing is told again.
        let from = self.told / self.factor * self.factor;
        let mut news = News::default();
        let chunks = self.chunks(file, from..slices, &mut news)?;
        let events = facts::events(file, self.events)?;
        self.events += events.len();
        let facts = facts::all(file, self, &news.metrics, &news.series, &events)?;
        self.known.metrics.extend(news.metrics);
        self.known.series.extend(news.series);
        self.told = slices;
        Ok(document(is_reset, &facts, &chunks))
    }

    /// The chunks of all series with values in a range of slices.
    fn chunks(
        &mut self,
        file: &RunFile,
        slices: Range<u64>,
        news: &mut News,
    ) -> Result<Vec<(usize, Vec<u8>)>, RunFileError> {
        let totals: BTreeMap<u32, u64> = file
            .rows(
                "SELECT series, sum(count) FROM slice WHERE n < ?1 AND histogram IS NOT NULL GROUP BY series",
                [slices.end as i64],
                |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)),
            )?
            .into_iter()
            .collect();
        self.announce(file, news)?;
        let mut all: BTreeMap<usize, Columns> = BTreeMap::new();
        let mut open: BTreeMap<usize, (Sink, bool)> = BTreeMap::new();
        let mut present = slices.start / self.factor;
        file.each(&slices, |n, series, sink| {
            let now = n / self.factor;
            if now != present {
                close(&mut all, &mut open, present);
                present = now;
            }
            let Some(id) = self.series.get(&Origin::Series(series)) else { return };
            let binned = totals.get(&series).is_some_and(|total| *total > EXACT_MAX);
            match open.get_mut(id) {
                Some((all, _)) => all.merge(&sink),
                None => drop(open.insert(*id, (sink, binned))),
            }
        })?;
        close(&mut all, &mut open, present);
        // By slice of the page and series: what the other tables tell.
        let mut others: BTreeMap<(u64, usize), Sink> = BTreeMap::new();
        for extra in extra::all(file, &slices)? {
            let id = self.series_of(extra.origin, &extra.metric, &extra.tags, news);
            let key = (extra.n / self.factor, id);
            match others.get_mut(&key) {
                Some(all) => all.merge(&extra.sink),
                None => drop(others.insert(key, extra.sink)),
            }
        }
        for ((n, id), sink) in others {
            all.entry(id).or_default().push(n, &sink, false);
        }
        Ok(all.into_iter().map(|(id, columns)| (id, columns.chunk(id as u64))).collect())
    }

    /// Gives the file's series their numbers: those of a metric together, in so far as they are known now.
    fn announce(&mut self, file: &RunFile, news: &mut News) -> Result<(), RunFileError> {
        let mut rows = file.series()?;
        rows.sort_by_key(|row| (row.metric, row.id));
        let metrics: BTreeMap<u32, PageMetric> = file
            .metrics()
            .iter()
            .map(|metric| {
                let page = PageMetric::new(&metric.name, metric.kind, metric.contains, "metric");
                (metric.id, page)
            })
            .collect();
        for row in rows {
            let Some(metric) = metrics.get(&row.metric) else { continue };
            let tags: Map<_, _> =
                row.tags.into_iter().map(|(key, value)| (key, json!(value))).collect();
            self.series_of(Origin::Series(row.id), metric, &tags, news);
        }
        Ok(())
    }

    /// The number of a series, which may be new.
    fn series_of(
        &mut self,
        origin: Origin,
        metric: &PageMetric,
        tags: &Map<String, Value>,
        news: &mut News,
    ) -> usize {
        if let Some(id) = self.series.get(&origin) {
            return *id;
        }
        let known = self.metrics.get(metric).copied();
        let place = known.unwrap_or_else(|| {
            let place = self.metrics.len();
            news.metrics.push(metric.told());
            self.metrics.insert(metric.clone(), place);
            place
        });
        let id = self.series.len();
        news.series.push(json!([place, tags]));
        self.series.insert(origin, id);
        id
    }

    /// The number of a series, for facts that name it.
    pub(crate) fn number(&self, origin: &Origin) -> Value {
        self.series.get(origin).map_or(Value::Null, |id| json!(id))
    }

    /// How many slices of the file are one of the page.
    pub(crate) fn factor(&self) -> u64 {
        self.factor
    }
}

/// The whole of a run as one document for a saved page: merged as far as that must be for its weight, which `weigh` tells (the bytes of
/// the finished page).
pub fn saved(file: &RunFile, weigh: impl Fn(&[u8]) -> u64) -> Result<Vec<u8>, RunFileError> {
    const MEGABYTE: u64 = 1 << 20;
    let about = file.about();
    let most = match about.duration.as_secs() {
        0..=600 => MEGABYTE,
        601..=3600 => 8 * MEGABYTE,
        _ => 40 * MEGABYTE,
    };
    let least = factor(about.slices);
    let mut best = None;
    for factor in FACTORS.into_iter().filter(|factor| *factor >= least) {
        if best.is_some() && about.slices / factor < SLICES_MIN {
            break;
        }
        let document = Page::of(factor).document(file, false)?;
        let fits = weigh(&document) <= most;
        best = Some(document);
        if fits {
            break;
        }
    }
    Ok(best.unwrap_or_default())
}

/// The least factor with which these slices are few enough.
fn factor(slices: u64) -> u64 {
    let fits = |factor: &&u64| slices.div_ceil(**factor) <= SLICES_MAX;
    *FACTORS.iter().find(fits).unwrap_or(&FACTORS[FACTORS.len() - 1])
}

/// Puts what a slice of the page holds into the columns.
fn close(all: &mut BTreeMap<usize, Columns>, open: &mut BTreeMap<usize, (Sink, bool)>, slice: u64) {
    while let Some((id, (sink, binned))) = open.pop_first() {
        all.entry(id).or_default().push(slice, &sink, binned);
    }
}

/// A document of one JSON record and the chunks of series.
fn document(is_reset: bool, facts: &Value, chunks: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"BRNP\x01".to_vec();
    if is_reset {
        record(&mut out, RESET, &[]);
    }
    record(&mut out, JSON, facts.to_string().as_bytes());
    for (_, chunk) in chunks {
        record(&mut out, CHUNK, chunk);
    }
    out
}

fn record(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.push(kind);
    put(out, payload.len() as u64);
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_merged_until_they_are_few() {
        assert_eq!([0, 1, 1500, 1501, 3600, 15_000, 86_400].map(factor), [1, 1, 1, 2, 5, 10, 60]);
    }
}
