//! One core's tables: where values are added.

mod checks;
mod interner;

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::checks::Checks;
use self::interner::Interner;
use crate::frame::{Dropped, Frame, SeriesDelta};
use crate::metric::{Kind, MetricId};
use crate::registry::Registry;
use crate::series::{Sample, Series};
use crate::sink::Sink;
use crate::tags::{Metadata, TagSet};
use crate::trend::{PagePool, TrendCell};

pub use self::checks::CheckId;
pub use self::interner::TagsId;

/// A core with more series (or tag sets) than this empties its tables at the next tick.
pub const SERIES_MAX: usize = 100_000;
/// Single samples kept between two ticks (42 MiB); more are dropped and counted.
pub const SAMPLES_MAX: usize = 1 << 20;

/// The place of a slot without values in this tick.
const UNTOUCHED: u32 = u32::MAX;

/// A series in a [`Recorder`]. Valid until the recorder's epoch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeriesId(u32);

/// One core's tables of tags, series and checks.
///
/// Adding a value is an index and an addition; names and tags are looked up when a series is made,
/// so keep its id. Ids are valid within one [`epoch`](Self::epoch): when a script makes more than
/// [`SERIES_MAX`] series (a tag with a different value in each request), the tables are emptied after
/// the next [`take_frame`](Self::take_frame), and everyone who keeps ids makes them anew. An old id
/// does no harm but adds to a wrong series, or none.
#[derive(Debug)]
pub struct Recorder {
    registry: Arc<Registry>,
    core: u32,
    want_samples: bool,
    epoch: u32,
    interner: Interner,
    by_key: FxHashMap<(MetricId, TagsId), SeriesId>,
    slots: Vec<Slot>,
    /// The slots that got values since the last frame, in the order of the first one.
    touched: Vec<SeriesId>,
    pool: PagePool,
    samples: Vec<Sample>,
    checks: Checks,
    dropped: Dropped,
    /// It belongs to a core: not `Send`.
    _local: PhantomData<Rc<()>>,
}

#[derive(Debug)]
struct Slot {
    /// Where it stands in `touched`, or [`UNTOUCHED`].
    place: u32,
    cell: Cell,
    series: Arc<Series>,
}

#[derive(Debug)]
enum Cell {
    Counter { sum: f64, first_at: u64 },
    Gauge { last: f64, min: f64, max: f64, at: u64 },
    Rate { hits: u64, total: u64 },
    Trend(TrendCell),
}

impl Recorder {
    /// Empty tables. With `want_samples` it also keeps each single value for the frame.
    pub fn new(registry: Arc<Registry>, core: u32, want_samples: bool) -> Self {
        Self {
            registry,
            core,
            want_samples,
            epoch: 0,
            interner: Interner::new(),
            by_key: FxHashMap::default(),
            slots: Vec::new(),
            touched: Vec::new(),
            pool: PagePool::default(),
            samples: Vec::new(),
            checks: Checks::default(),
            dropped: Dropped::default(),
            _local: PhantomData,
        }
    }

    /// Counts how often the tables were emptied: every id of an earlier epoch is void.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether single samples are kept. Who builds metadata may ask before.
    pub fn wants_samples(&self) -> bool {
        self.want_samples
    }

    /// The id of a tag set.
    pub fn tags(&mut self, set: &TagSet) -> TagsId {
        self.interner.intern(set)
    }

    /// The id of the tags of `base` and these; they win over those of `base`, later ones over earlier
    /// ones. Cheap when asked again: it allocates only the first time.
    pub fn tags_with(&mut self, base: TagsId, pairs: &[(&str, &str)]) -> TagsId {
        self.interner.derive(base, pairs)
    }

    /// The tags of an id.
    pub fn tag_set(&self, id: TagsId) -> TagSet {
        self.interner.get(id)
    }

    /// The id of a metric under these tags.
    ///
    /// # Panics
    /// If the metric is not of this recorder's registry.
    pub fn series(&mut self, metric: MetricId, tags: TagsId) -> SeriesId {
        if let Some(id) = self.by_key.get(&(metric, tags)) {
            return *id;
        }
        let id = SeriesId(self.slots.len() as u32);
        let tags_shown = self.registry.veiled(&self.interner.get(tags));
        self.slots.push(Slot {
            place: UNTOUCHED,
            cell: Cell::new(self.registry.get(metric).kind),
            series: Arc::new(Series { metric, tags: tags_shown }),
        });
        self.by_key.insert((metric, tags), id);
        id
    }

    /// Adds a value. `at` is nanoseconds since the Unix epoch; `meta` matters only to single samples.
    /// A NaN is dropped and counted.
    #[inline]
    pub fn add(&mut self, series: SeriesId, value: f64, at: u64, meta: Option<&Metadata>) {
        let Some(slot) = self.slots.get_mut(series.0 as usize) else {
            return;
        };
        if value.is_nan() {
            self.dropped.not_numbers += 1;
            return;
        }
        if slot.place == UNTOUCHED {
            slot.place = self.touched.len() as u32;
            self.touched.push(series);
        }
        slot.cell.add(value, at, &mut self.pool);
        if self.want_samples {
            if self.samples.len() < SAMPLES_MAX {
                let metadata = meta.map(|meta| self.registry.veiled(meta));
                let series = slot.place;
                self.samples.push(Sample { series, at, value, metadata });
            } else {
                self.dropped.samples += 1;
            }
        }
    }

    /// The id of a check in a group (`""` or `::outer::inner`).
    pub fn check(&mut self, group: &str, name: &str) -> CheckId {
        self.checks.check(group, name)
    }

    /// Counts one result of a check in the tree of checks. (The metric `checks` is apart.)
    pub fn add_check(&mut self, id: CheckId, pass: bool) {
        if !self.checks.add(id, pass) {
            self.dropped.checks += 1;
        }
    }

    /// Says that a group was entered (`::outer::inner`), so that it is known even if nothing is
    /// measured in it. Cheap when said again.
    pub fn group(&mut self, path: &str) {
        if !self.checks.enter(path) {
            self.dropped.groups += 1;
        }
    }

    /// What was seen since the last frame. Costs as much as there were series with values.
    pub fn take_frame(&mut self) -> Frame {
        let mut series = Vec::with_capacity(self.touched.len());
        for id in self.touched.drain(..) {
            let slot = &mut self.slots[id.0 as usize];
            slot.place = UNTOUCHED;
            let sink = slot.cell.drain(&mut self.pool);
            series.push(SeriesDelta { series: Arc::clone(&slot.series), sink });
        }
        let (checks, groups) = self.checks.take();
        // The next frame will have about as many samples.
        let room = self.samples.len() + self.samples.len() / 8;
        let samples = std::mem::replace(&mut self.samples, Vec::with_capacity(room));
        if self.slots.len() > SERIES_MAX || self.interner.len() > SERIES_MAX {
            self.reset();
        }
        let dropped = std::mem::take(&mut self.dropped);
        Frame { core: self.core, series, checks, groups, samples, dropped }
    }

    /// Empties the tables of tags and series; the one of checks is bounded by itself, but follows,
    /// so that one rule serves all ids.
    fn reset(&mut self) {
        self.epoch += 1;
        self.dropped.resets += 1;
        self.interner = Interner::new();
        self.by_key = FxHashMap::default();
        self.slots = Vec::new();
        self.touched = Vec::new();
        self.checks.reset();
    }
}

impl Cell {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter { sum: 0.0, first_at: 0 },
            Kind::Gauge => {
                Self::Gauge { last: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, at: 0 }
            }
            Kind::Rate => Self::Rate { hits: 0, total: 0 },
            Kind::Trend => Self::Trend(TrendCell::new()),
        }
    }

    #[inline]
    fn add(&mut self, value: f64, now: u64, pool: &mut PagePool) {
        match self {
            Self::Trend(trend) => trend.add(value, pool),
            Self::Counter { sum, first_at } => {
                *sum += value;
                if *first_at == 0 || now < *first_at {
                    *first_at = now;
                }
            }
            Self::Rate { hits, total } => {
                *total += 1;
                *hits += u64::from(value != 0.0);
            }
            Self::Gauge { last, min, max, at } => {
                if now >= *at {
                    (*last, *at) = (value, now);
                }
                *min = min.min(value);
                *max = max.max(value);
            }
        }
    }

    /// What was gathered; the cell is empty afterwards. Called only on cells that got a value.
    fn drain(&mut self, pool: &mut PagePool) -> Sink {
        let (sink, kind) = match self {
            Self::Trend(trend) => return Sink::Trend(trend.drain(pool)),
            Self::Counter { sum, first_at } => {
                (Sink::Counter { sum: *sum, first_at: Some(*first_at) }, Kind::Counter)
            }
            Self::Rate { hits, total } => (Sink::Rate { hits: *hits, total: *total }, Kind::Rate),
            Self::Gauge { last, min, max, at } => {
                (Sink::Gauge { last: *last, min: *min, max: *max, at: Some(*at) }, Kind::Gauge)
            }
        };
        *self = Self::new(kind);
        sink
    }
}

#[cfg(test)]
mod tests;
