//! A metric or submetric of the ledger.

use std::time::Duration;

use super::judged::Judged;
use super::window::{self, Ring};
use crate::metric::Metric;
use crate::sink::Sink;
use crate::summary::{MetricSummary, is_of_route};
use crate::tags::TagSet;
use crate::threshold::Selector;

/// A metric or submetric and its thresholds.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) metric: Metric,
    /// Empty for the metric itself.
    pub(super) tags: Vec<(String, String)>,
    pub(super) is_submetric: bool,
    pub(super) sink: Sink,
    pub(super) judged: Vec<Judged>,
    /// Its last minutes, for thresholds with windows: one for each width of parts.
    pub(super) rings: Vec<Ring>,
    /// The thresholds name it, perhaps with an empty list.
    pub(super) is_named: bool,
    /// Scenarios whose values are its own began with a warm-up.
    has_warmup: bool,
    /// Its metric has values, be they its own or not, of a warm-up or not.
    is_metric_seen: bool,
    /// The last moment of the scenarios at which there was nothing but a warm-up.
    pub(super) warm_until: Duration,
}

impl Entry {
    /// One without values. `tags`: those of the selector, sorted.
    pub(super) fn new(metric: Metric, selector: &Selector, tags: Vec<(String, String)>) -> Self {
        Self {
            name: selector.name(),
            sink: Sink::empty(metric.kind),
            metric,
            tags,
            is_submetric: selector.suffix.is_some(),
            judged: Vec::new(),
            rings: Vec::new(),
            is_named: false,
            has_warmup: false,
            is_metric_seen: false,
            warm_until: Duration::ZERO,
        }
    }

    /// Whether the values of a series with these tags are its own.
    pub(super) fn has(&self, tags: &TagSet) -> bool {
        is_part(tags, &self.tags)
    }

    /// Takes note of a new series of its metric.
    pub(super) fn meet(&mut self, tags: &TagSet, is_warm: bool) {
        self.is_metric_seen = true;
        self.has_warmup |= is_warm && self.has(tags);
    }

    /// Whether its scenarios have done nothing but warm up until this moment of them: no value is no 0 then. Asked where
    /// there are warm-ups.
    pub(super) fn is_warming(&mut self, running: Duration) -> bool {
        let is_it = self.sink.is_empty() && (self.has_warmup || !self.is_metric_seen);
        if is_it {
            self.warm_until = running;
        }
        is_it
    }

    /// The ring for a window, made if there is none with parts of its width.
    pub(super) fn ring(&mut self, window: Duration) -> usize {
        let width = window::width(window);
        let index = self.rings.iter().position(|ring| ring.width() == width).unwrap_or_else(|| {
            self.rings.push(Ring::new(self.metric.kind, width));
            self.rings.len() - 1
        });
        self.rings[index].reserve(window);
        index
    }

    pub(super) fn summary(&self, run: Duration) -> MetricSummary {
        let thresholds = self.judged.iter().map(Judged::result);
        MetricSummary {
            name: self.name.clone(),
            parent: self.is_submetric.then(|| self.metric.name.to_string()),
            kind: self.metric.kind,
            contains: self.metric.contains,
            values: self.sink.values(run),
            thresholds: thresholds.collect(),
            observed: !self.sink.is_empty(),
            named: self.is_named,
        }
    }
}

/// Whether these tags have each of these pairs. A route that no tag `route` of the script tells is the one that was learned,
/// which may be a tag, too.
fn is_part(tags: &TagSet, pairs: &[(String, String)]) -> bool {
    pairs.iter().all(|(key, value)| match tags.get(key) {
        Some(own) if own == value => true,
        Some(own) => key == "route" && tags.route() == Some(own) && is_of_route(tags, value),
        None => key == "route" && is_of_route(tags, value),
    })
}
