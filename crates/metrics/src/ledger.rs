//! The test so far.

mod breakdown;
mod distinct;
mod entry;
mod exceptions;
mod failures;
mod judged;
mod judging;
mod requests;
mod routes;
mod tree;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use self::breakdown::Parts;
use self::distinct::Distinct;
use self::entry::Entry;
pub use self::exceptions::ExceptionLog;
use self::failures::Failures;
use self::judged::Judged;
pub use self::judging::Verdict;
use self::requests::Requests;
use self::routes::{Route, Routes};
use self::tree::Tree;
use self::window::Ring;
use crate::frame::{Dropped, Frame};
use crate::metric::{Metric, MetricId, builtin};
use crate::registry::Registry;
use crate::series::Series;
use crate::sink::Sink;
use crate::stat::TrendStat;
use crate::summary::{GroupSummary, LeftOut, Summary};
use crate::tags::WARMUP_TAG;
use crate::threshold::{Selector, ThresholdError, ThresholdSet};

/// The values that a ledger has to keep.
#[derive(Clone, Debug, Default)]
pub struct LedgerConfig {
    /// The thresholds of the options; each selector with tags makes a submetric.
    pub thresholds: Vec<ThresholdSet>,
    /// Which numbers of a trend the user wants to see; the summary carries them on.
    pub trend_stats: Vec<TrendStat>,
    /// Whether `http_req_duration{expected_response:true}` is kept (it is unless the system tag is
    /// off).
    pub expected_response_submetric: bool,
    /// Whether groups and scenarios are kept apart too, for the summary in full.
    pub breakdown: bool,
    /// Selectors whose submetrics are kept though nothing is judged (thresholds are switched off); one that means
    /// nothing is only warned of.
    pub unjudged: Vec<String>,
    /// Whether the system tag `check` is off: then summaries know no checks by name.
    pub no_check_tag: bool,
    /// Whether the system tag `group` is off: then summaries know no groups, and no checks in them.
    pub no_group_tag: bool,
    /// Whether scenarios have warm-ups: then values with [`WARMUP_TAG`] count nowhere, but for how many they are.
    pub warmup: bool,
}

/// All frames so far, put together: totals per metric and submetric, the tree of checks, and (if
/// asked for) parts per group and scenario. Never per series: its memory does not grow with the test
/// nor with the values of tags.
///
/// It lives on the gathering thread. It reads no clock: who asks says how much time has passed.
#[derive(Debug)]
pub struct Ledger {
    registry: Arc<Registry>,
    trend_stats: Vec<TrendStat>,
    entries: Vec<Entry>,
    /// The entries of a metric: first the metric itself, then its submetrics.
    by_metric: FxHashMap<MetricId, Vec<u32>>,
    routes: Routes,
    requests: Requests,
    failures: Failures,
    tree: Tree,
    no_check_tag: bool,
    no_group_tag: bool,
    parts: Option<Parts>,
    distinct: Distinct,
    exceptions: ExceptionLog,
    dropped: Dropped,
    warnings: Vec<String>,
    /// The values of warm-ups, if there may be some.
    left_out: Option<LeftOut>,
    /// When the scenarios began, on the clock of the run.
    began: Option<Duration>,
}

impl Ledger {
    /// An empty ledger. Init code must have run: every metric with a threshold must exist.
    ///
    /// # Errors
    /// A selector that does not parse, an unknown metric, an aggregation that its kind does not have.
    pub fn new(registry: Arc<Registry>, config: LedgerConfig) -> Result<Self, ThresholdError> {
        let mut ledger = Self {
            registry,
            trend_stats: config.trend_stats,
            entries: Vec::new(),
            by_metric: FxHashMap::default(),
            routes: Routes::default(),
            requests: Requests::default(),
            failures: Failures::default(),
            tree: Tree::default(),
            no_check_tag: config.no_check_tag,
            no_group_tag: config.no_group_tag,
            parts: config.breakdown.then(Parts::default),
            distinct: Distinct::default(),
            exceptions: ExceptionLog::default(),
            dropped: Dropped::default(),
            warnings: Vec::new(),
            left_out: config.warmup.then(LeftOut::default),
            began: None,
        };
        for set in config.thresholds {
            ledger.add_thresholds(set)?;
        }
        for metric in config.unjudged {
            if let Err(error) = ledger.add_unjudged(&metric) {
                ledger.warnings.push(error.to_string());
            }
        }
        if config.expected_response_submetric {
            let metric = ledger.registry.get(builtin::HTTP_REQ_DURATION);
            let selector = Selector {
                metric: metric.name.to_string(),
                suffix: Some("expected_response:true".into()),
                tags: vec![("expected_response".into(), "true".into())],
            };
            ledger.entry(metric, &selector);
        }
        Ok(ledger)
    }

    fn add_unjudged(&mut self, name: &str) -> Result<(), ThresholdError> {
        let selector = Selector::parse(name)?;
        let metric = self.find(name, &selector)?;
        self.entry(metric, &selector);
        Ok(())
    }

    fn find(&self, name: &str, selector: &Selector) -> Result<Metric, ThresholdError> {
        self.registry.find(&selector.metric).ok_or_else(|| {
            let (name, metric) = (name.to_owned(), selector.metric.clone());
            ThresholdError::UnknownMetric { name, metric }
        })
    }

    fn add_thresholds(&mut self, set: ThresholdSet) -> Result<(), ThresholdError> {
        let selector = Selector::parse(&set.metric)?;
        let metric = self.find(&set.metric, &selector)?;
        for threshold in &set.thresholds {
            threshold.check_kind(&set.metric, metric.kind)?;
        }
        if let Some(tag) = selector.unmatchable() {
            self.warnings.push(format!(
                "the threshold on \"{}\" can never match: {tag} is metadata of single samples, not a tag",
                set.metric
            ));
        }
        let index = self.entry(metric, &selector) as usize;
        let entry = &mut self.entries[index];
        entry.is_named = true;
        for threshold in set.thresholds {
            let ring = threshold.timing.window.map(|window| entry.ring(window));
            entry.judged.push(Judged::new(threshold, ring));
        }
        Ok(())
    }

    /// The entry of a metric or submetric, made if it is new; that of its metric is made first. Two
    /// selectors of the same pairs are one submetric under the first one's name.
    fn entry(&mut self, metric: Metric, selector: &Selector) -> u32 {
        if selector.suffix.is_some() && !self.by_metric.contains_key(&metric.id) {
            let whole = Selector { suffix: None, tags: Vec::new(), ..selector.clone() };
            self.entry(metric.clone(), &whole);
        }
        let mut tags = selector.tags.clone();
        tags.sort();
        let of_metric = self.by_metric.entry(metric.id).or_default();
        for index in &*of_metric {
            let entry = &self.entries[*index as usize];
            if entry.is_submetric == selector.suffix.is_some() && entry.tags == tags {
                return *index;
            }
        }
        let index = self.entries.len() as u32;
        of_metric.push(index);
        self.entries.push(Entry::new(metric, selector, tags));
        index
    }

    /// Facts about the thresholds that the user should know although they are accepted.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Takes in what was seen in a tick.
    pub fn absorb(&mut self, frame: &Frame) {
        self.take_in(frame, window::Ring::absorb);
    }

    /// The same of a frame that was made elsewhere, and came a while after its values. Windows count them at the time of the run at
    /// which they were measured; `None`, and a time before the scenarios, is in no window.
    pub fn absorb_at(&mut self, frame: &Frame, elapsed: Option<Duration>) {
        let began = self.began.unwrap_or_default();
        let moment = elapsed.and_then(|elapsed| elapsed.checked_sub(began));
        self.take_in(frame, |ring, sink| {
            if let Some(moment) = moment {
                ring.absorb_at(sink, moment);
            }
        });
    }

    fn take_in(&mut self, frame: &Frame, into: impl Fn(&mut Ring, &Sink)) {
        for delta in &frame.series {
            if !self.routes.knows(&delta.series) {
                let route = self.route(&delta.series);
                self.routes.put(&delta.series, route);
            }
            let Some(route) = self.routes.get(&delta.series) else {
                continue;
            };
            if let Some(left_out) = self.left_out.as_mut().filter(|_| route.is_warm) {
                left_out.add(delta.series.metric, &delta.sink);
                continue;
            }
            for entry in &route.entries {
                let entry = &mut self.entries[*entry as usize];
                entry.sink.merge(&delta.sink);
                entry.rings.iter_mut().for_each(|ring| into(ring, &delta.sink));
            }
            if let Some(parts) = &mut self.parts {
                parts.absorb(&route.parts, &delta.sink);
            }
            if let Some(place) = route.requests {
                self.requests.absorb(place, &delta.sink);
            }
            self.failures.absorb(&delta.series, &delta.sink);
        }
        self.dropped.checks += self.tree.absorb(frame);
        self.exceptions.absorb(&frame.exceptions);
        self.dropped.merge(frame.dropped);
    }

    /// Finds out, once per series, where its values belong.
    fn route(&mut self, series: &Arc<Series>) -> Route {
        let is_warm = self.left_out.is_some() && series.tags.get(WARMUP_TAG) == Some("true");
        let requests = if is_warm { None } else { self.requests.place(series) };
        let of_routes = [builtin::HTTP_REQ_BYTES_SENT, builtin::HTTP_REQ_BYTES_RECEIVED];
        if of_routes.contains(&series.metric) && self.registry.is_own(series.metric) {
            // Its numbers are those of routes and no others.
            return Route { requests, ..Route::default() };
        }
        self.distinct.add(series);
        for index in self.by_metric.get(&series.metric).into_iter().flatten() {
            self.entries[*index as usize].meet(&series.tags, is_warm);
        }
        if is_warm {
            return Route { is_warm, ..Route::default() };
        }
        if !self.by_metric.contains_key(&series.metric) {
            let metric = self.registry.get(series.metric);
            let whole =
                Selector { metric: metric.name.to_string(), suffix: None, tags: Vec::new() };
            self.entry(metric, &whole);
        }
        let fits = |index: &&u32| self.entries[**index as usize].has(&series.tags);
        let entries = self.by_metric[&series.metric].iter().filter(fits).copied().collect();
        let registry = &self.registry;
        let parts = self
            .parts
            .as_mut()
            .map(|parts| parts.route(series, || registry.get(series.metric).kind));
        Route { entries, parts: parts.unwrap_or_default(), requests, is_warm: false }
    }

    /// How many different series there were, within 3 % (k6 warns from 100 000 on).
    pub fn series_count(&self) -> u64 {
        self.distinct.count()
    }

    /// The values that cores could not keep so far.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Everything in plain data; thresholds as they were last judged. `run` is the time from the start
    /// of the run to now (or its end): counters are divided by it.
    pub fn summary(&self, run: Duration) -> Summary {
        // By metric, then by submetric: `a{x:y}` comes right after `a` though `ab` would sort between.
        let mut sorted: BTreeMap<(&str, bool, &str), &Entry> = BTreeMap::new();
        // A named part shows the whole, even if nothing was measured.
        let is_named = |entry: &&Entry| entry.is_named;
        let wholes: FxHashSet<MetricId> =
            self.entries.iter().filter(is_named).map(|entry| entry.metric.id).collect();
        for entry in &self.entries {
            let is_shown =
                entry.is_named || (!entry.is_submetric && wholes.contains(&entry.metric.id));
            if is_shown || !entry.sink.is_empty() {
                sorted.insert((&*entry.metric.name, entry.is_submetric, &*entry.name), entry);
            }
        }
        let (scenarios, groups) = match &self.parts {
            Some(parts) => parts.summary(&self.registry, run),
            None => (Vec::new(), Vec::new()),
        };
        let (own, sorted): (Vec<&Entry>, Vec<&Entry>) =
            sorted.into_values().partition(|entry| self.registry.is_own(entry.metric.id));
        let summed =
            |entries: Vec<&Entry>| entries.iter().map(|entry| entry.summary(run)).collect();
        Summary {
            run,
            trend_stats: self.trend_stats.clone(),
            metrics: summed(sorted),
            own: summed(own),
            checks: if self.no_check_tag { Vec::new() } else { self.tree.checks() },
            root: self.root(),
            scenarios,
            groups,
            routes: self.requests.summary(run),
            failures: self.failures.summary(),
            exceptions: self.exceptions.summary(),
            dropped: self.dropped,
            left_out: self.left_out.filter(|left_out| *left_out != LeftOut::default()),
        }
    }
}

impl Ledger {
    /// The tree, with what k6 finds out from the tags of samples.
    fn root(&self) -> GroupSummary {
        fn strip(group: &mut GroupSummary) {
            group.checks.clear();
            group.groups.iter_mut().for_each(strip);
        }
        let mut root =
            if self.no_group_tag { Tree::default().summary() } else { self.tree.summary() };
        if self.no_check_tag {
            strip(&mut root);
        }
        root
    }
}

#[cfg(test)]
mod tests;
