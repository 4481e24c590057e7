//! One core's tables: where values are added.

mod checks;
mod exceptions;
mod interner;

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::checks::Checks;
use self::exceptions::Exceptions;
use self::interner::Interner;
use crate::frame::{Dropped, Frame, NumbersDone, Retired, SeriesDelta};
use crate::metric::{Kind, MetricId};
use crate::registry::Registry;
use crate::series::{Sample, Series};
use crate::sink::Sink;
use crate::tags::{Metadata, TagSet};
use crate::trend::{PagePool, TrendCell};

pub use self::checks::CheckId;
pub use self::interner::{OTHERS, TagsId};

/// A core with more series (or tag sets) than this empties its tables at the next tick.
pub const SERIES_MAX: usize = 100_000;
/// Series of tags that there was no room for ([`OTHERS`]), in one epoch. Of more only the metric is known.
const EXTRA_SERIES_MAX: usize = 10_000;
/// Single samples kept between two ticks (42 MiB); more are dropped and counted.
pub const SAMPLES_MAX: usize = 1 << 20;

/// The place of a slot without values in this tick.
const UNTOUCHED: u32 = u32::MAX;

/// A series in a [`Recorder`]. Valid until the recorder's epoch changes; numbers are not used again, so that an old one adds
/// to no other series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeriesId(u32);

/// One core's tables of tags, series and checks.
///
/// Adding a value is an index and an addition; names and tags are looked up when a series is made,
/// so keep its id. Ids are valid within one [`epoch`](Self::epoch): when a script makes more than
/// [`SERIES_MAX`] series (a tag with a different value in each request), the tables are emptied after
/// the next [`take_frame`](Self::take_frame), and everyone who keeps ids makes them anew. A value for an old id
/// is dropped and counted ([`Dropped::stale`]): no number is given twice.
///
/// New tags have a bound for each frame, too: beyond it their values are told as [`OTHERS`], so that a sample
/// with new tags costs a few lookups. Each value counts in its metric all the same.
#[derive(Debug)]
pub struct Recorder {
    registry: Arc<Registry>,
    core: u32,
    want_samples: bool,
    epoch: u32,
    interner: Interner,
    by_key: FxHashMap<(MetricId, TagsId), SeriesId>,
    /// The number of the first slot.
    first: u32,
    slots: Vec<Slot>,
    /// Series made though there was no room.
    extra: usize,
    /// The places of the slots that got values since the last frame, in the order of the first one.
    touched: Vec<u32>,
    pool: PagePool,
    samples: Vec<Sample>,
    done: Vec<NumbersDone>,
    checks: Checks,
    exceptions: Exceptions,
    dropped: Dropped,
    /// It belongs to a core: not `Send`.
    _local: PhantomData<Rc<()>>,
}

#[derive(Debug)]
struct Slot {
    /// Its place in `touched`, or [`UNTOUCHED`].
    place: u32,
    /// Whether its single values are kept, if any are.
    is_sampled: bool,
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
            first: 0,
            slots: Vec::new(),
            extra: 0,
            touched: Vec::new(),
            pool: PagePool::default(),
            samples: Vec::new(),
            done: Vec::new(),
            checks: Checks::default(),
            exceptions: Exceptions::default(),
            dropped: Dropped::default(),
            _local: PhantomData,
        }
    }

    /// The metrics of the test.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Counts how often the tables were emptied: every id of an earlier epoch is void.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether single samples are kept. Builders of metadata may ask before.
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
    pub fn tag_set(&mut self, id: TagsId) -> TagSet {
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
        if self.interner.is_full() {
            if self.extra >= EXTRA_SERIES_MAX && tags != TagsId::EMPTY {
                self.interner.crowded += 1;
                return self.series(metric, TagsId::EMPTY);
            }
            self.extra += 1;
        }
        let id = SeriesId(self.first + self.slots.len() as u32);
        let tags_shown = self.registry.veiled(&self.interner.get(tags));
        self.slots.push(Slot {
            place: UNTOUCHED,
            is_sampled: !self.registry.is_own(metric),
            cell: Cell::new(self.registry.get(metric).kind),
            series: Arc::new(Series { metric, tags: tags_shown }),
        });
        self.by_key.insert((metric, tags), id);
        self.interner.count_series();
        id
    }

    /// Adds a value. `at` is nanoseconds since the Unix epoch; `meta` matters only to single samples.
    /// A NaN is dropped and counted, and so is a value of a series of an earlier epoch.
    #[inline]
    pub fn add(&mut self, series: SeriesId, value: f64, at: u64, meta: Option<&Metadata>) {
        // The number of an old one is less than the first: it wraps to where no slot is.
        let index = series.0.wrapping_sub(self.first);
        let Some(slot) = self.slots.get_mut(index as usize) else {
            self.dropped.stale += 1;
            return;
        };
        if value.is_nan() {
            self.dropped.not_numbers += 1;
            return;
        }
        if slot.place == UNTOUCHED {
            slot.place = self.touched.len() as u32;
            self.touched.push(index);
        }
        slot.cell.add(value, at, &mut self.pool);
        if self.want_samples && slot.is_sampled {
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
        if let Some(id) = self.checks.find(group, name) {
            return id;
        }
        let (group, name) = (self.registry.veiled_text(group), self.registry.veiled_text(name));
        self.checks.check(&group, &name)
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
        if self.checks.has_entered(path) {
            return;
        }
        if !self.checks.enter(&self.registry.veiled_text(path)) {
            self.dropped.groups += 1;
        }
    }

    /// Counts an iteration that ended in an exception: `text` is what was thrown, with the place behind it.
    pub fn exception(&mut self, text: &str) {
        self.exceptions.add(exceptions::beginning(&self.registry.veiled_text(text)));
    }

    /// Notes that the iteration with this number in the process came to its end: for scenarios of which somebody must know.
    pub fn done(&mut self, scenario: u32, number: u64) {
        match self.done.last_mut() {
            Some(last) if last.scenario == scenario && last.last + 1 == number => {
                last.last = number;
            }
            _ => self.done.push(NumbersDone { scenario, first: number, last: number }),
        }
    }

    /// The measurements since the last frame. The cost grows with the number of series that got values.
    pub fn take_frame(&mut self) -> Frame {
        let mut series = Vec::with_capacity(self.touched.len());
        for index in self.touched.drain(..) {
            let slot = &mut self.slots[index as usize];
            slot.place = UNTOUCHED;
            let sink = slot.cell.drain(&mut self.pool);
            series.push(SeriesDelta { series: Arc::clone(&slot.series), sink });
        }
        let (checks, groups) = self.checks.take();
        let exceptions = self.exceptions.take();
        // The next frame will have about as many samples.
        let room = self.samples.len() + self.samples.len() / 8;
        let samples = std::mem::replace(&mut self.samples, Vec::with_capacity(room));
        self.dropped.crowded += std::mem::take(&mut self.interner.crowded);
        self.dropped.stale += std::mem::take(&mut self.interner.stale);
        self.interner.begin();
        let is_spent = self.slots.len() > SERIES_MAX || self.interner.is_spent() || self.extra > 0;
        let retired = if is_spent { self.reset() } else { Retired::default() };
        let dropped = std::mem::take(&mut self.dropped);
        Frame {
            core: self.core,
            at: 0,
            late: 0,
            series,
            checks,
            groups,
            exceptions,
            samples,
            done: std::mem::take(&mut self.done),
            dropped,
            retired,
        }
    }

    /// Empties the tables of tags and series; the one of checks is bounded by itself, but follows,
    /// so that one rule serves all ids. Their memory is given away: freeing it takes its time.
    fn reset(&mut self) -> Retired {
        let first = self.first.checked_add(self.slots.len() as u32);
        // After four billion series no table is emptied any more, as numbers would be used again.
        let Some(first) = first.filter(|first| first.checked_add(4 * SERIES_MAX as u32).is_some())
        else {
            return Retired::default();
        };
        let Some(tags) = self.interner.reset() else { return Retired::default() };
        self.first = first;
        self.epoch += 1;
        self.dropped.resets += 1;
        self.extra = 0;
        self.touched = Vec::new();
        self.checks.reset();
        let slots = std::mem::take(&mut self.slots);
        let series: Vec<_> = slots.into_iter().map(|slot| slot.series).collect();
        Retired::new((tags, std::mem::take(&mut self.by_key), series))
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

    /// The gathered values; the cell is empty afterwards. Called only on cells that got a value.
    fn drain(&mut self, pool: &mut PagePool) -> Sink {
        let (sink, kind) = match self {
            Self::Trend(trend) => return Sink::Trend(trend.drain(pool)),
            Self::Counter { sum, first_at } => {
                let first_at = Some(*first_at);
                (Sink::Counter { sum: *sum, rest: 0.0, first_at }, Kind::Counter)
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
