//! The numbers of series: in the order of their first appearance, the same for all cores.

use std::sync::Arc;

use brunt_metrics::{MetricId, Registry, Series, TagSet, WARMUP_TAG};
use rustc_hash::FxHashMap;

/// Series that are told apart; the values of more are those of one series of their metric, tagged `other`.
pub(crate) const SERIES_MAX: usize = 10_000;
/// Series of a metric and a route for the values of more, which know nothing but how they ended.
const OTHERS_MAX: usize = 5000;
/// The bytes of their tags; when there are more, likewise.
const BYTES_MAX: usize = 64 << 20;
/// Addresses that are remembered; when there are more, all are forgotten and found out anew.
const ADDRESSES_MAX: usize = 50_000;

/// A series that is new.
#[derive(Clone, Debug)]
pub(crate) struct NewSeries {
    pub(crate) id: u32,
    pub(crate) metric: MetricId,
    pub(crate) tags: TagSet,
}

/// All series so far.
#[derive(Default)]
pub(crate) struct Catalogue {
    /// By the address of a core's own series, which is kept so that its address can't become another's.
    by_address: FxHashMap<usize, (Arc<Series>, u32)>,
    by_value: FxHashMap<Arc<Series>, u32>,
    /// The series of others, by metric and what is left of the tags.
    others: FxHashMap<(MetricId, TagSet), u32>,
    /// By number: whether it is one of `others`.
    is_other: Vec<bool>,
    /// Those that are not written yet.
    new: Vec<NewSeries>,
    /// By number: values so far, to know whether they are kept exactly.
    totals: Vec<u64>,
    bytes: usize,
    folded: u64,
}

impl Catalogue {
    pub(crate) fn find(&mut self, series: &Arc<Series>, registry: &Registry) -> u32 {
        let address = Arc::as_ptr(series) as usize;
        if let Some((_, id)) = self.by_address.get(&address) {
            return *id;
        }
        let id = match self.by_value.get(series) {
            Some(id) => *id,
            None => self.make(series, registry),
        };
        if self.by_address.len() >= ADDRESSES_MAX {
            self.by_address.clear();
        }
        self.by_address.insert(address, (Arc::clone(series), id));
        id
    }

    fn make(&mut self, series: &Arc<Series>, registry: &Registry) -> u32 {
        let is_full = self.by_value.len() >= SERIES_MAX || self.bytes >= BYTES_MAX;
        if !is_full {
            let id = self.push(series.metric, series.tags.clone());
            self.bytes += series.tags.size();
            self.by_value.insert(Arc::clone(series), id);
            return id;
        }
        if self.folded == 0 {
            log::warn!(
                "the run file tells {SERIES_MAX} series apart at most; the values of more are together in one series of \
                 each metric, tagged \"other\". Give requests with changing URLs a common `name` tag"
            );
        }
        self.folded += 1;
        let tags = self.tags_of_other(&series.tags);
        let key = (series.metric, tags.clone());
        if let Some(id) = self.others.get(&key) {
            return *id;
        }
        log::debug!(metric = &*registry.get(series.metric).name; "has a series of others");
        let id = self.push(series.metric, tags);
        self.is_other[id as usize] = true;
        self.others.insert(key, id);
        id
    }

    /// The tags of the series of others: the route of requests and how they ended, as long as there is room.
    fn tags_of_other(&self, tags: &TagSet) -> TagSet {
        let mut pairs = vec![("other", "true")];
        if let Some(route) = tags.route().filter(|_| self.others.len() < OTHERS_MAX) {
            pairs.push((TagSet::ROUTE, route));
            let kept = ["method", "expected_response", "status", "error_code", "error", WARMUP_TAG];
            pairs.extend(kept.into_iter().filter_map(|key| Some((key, tags.get(key)?))));
        }
        TagSet::from_pairs(pairs)
    }

    fn push(&mut self, metric: MetricId, tags: TagSet) -> u32 {
        let id = self.totals.len() as u32;
        self.totals.push(0);
        self.is_other.push(false);
        self.new.push(NewSeries { id, metric, tags });
        id
    }

    /// The number, if it is that of one series alone.
    pub(crate) fn own(&self, id: u32) -> Option<u32> {
        Some(id).filter(|id| !self.is_other[*id as usize])
    }

    /// The series that came since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<NewSeries> {
        std::mem::take(&mut self.new)
    }

    /// They could not be written: they are new still.
    pub(crate) fn put_back(&mut self, mut new: Vec<NewSeries>) {
        new.append(&mut self.new);
        self.new = new;
    }

    /// Counts values, and tells how many there were so far.
    pub(crate) fn count(&mut self, series: u32, values: u64) -> u64 {
        let total = &mut self.totals[series as usize];
        *total += values;
        *total
    }

    /// How often a series was folded into that of others.
    pub(crate) fn folded(&self) -> u64 {
        self.folded
    }
}
