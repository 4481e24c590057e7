//! All metrics of a test, by name and by number.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::metric::{Contains, Kind, Metric, MetricId, builtin};
use crate::tags::{TagSet, veil_long};

/// The longest name of a metric.
const NAME_MAX: usize = 129;
/// The maximum number of metrics of a test; a script that makes more names them by its data, which is the purpose of
/// tags.
const METRICS_MAX: usize = 100_000;

/// The metrics of a test: the built-in ones in front, the script's own as init code makes them.
///
/// Grows only. Its lock is taken when metrics and series are made, never when values are added.
#[derive(Debug)]
pub struct Registry {
    inner: Mutex<Inner>,
    veil: OnceLock<Veil>,
    /// Brunt's own metrics that stay out of what k6's users read, a bit for each.
    own: AtomicU64,
}

/// Looks at the value of a tag: what is to be shown instead, if it must not be seen.
pub type Veil = fn(&str) -> Option<String>;

#[derive(Debug, Default)]
struct Inner {
    metrics: Vec<Metric>,
    by_name: FxHashMap<Arc<str>, MetricId>,
    offers: FxHashMap<MetricId, Offer>,
}

/// The fate of a metric that Brunt offers under a name of its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    /// The name is still free.
    Open,
    /// Brunt records it.
    Taken,
    /// The script has a metric of that name.
    Refused,
}

/// Why a metric could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name breaks k6's rule.
    #[error(
        "Invalid metric name: '{0}'. Metric names must only include up to 128 ASCII letters, numbers, or \
         underscores and start with a letter or an underscore."
    )]
    Name(String),
    /// The name is in use for a metric of another kind. In k6's words, as the others that scripts can catch.
    #[error("metric '{name}' already exists but with type {was}, instead of {wanted}")]
    OtherKind {
        /// The name.
        name: String,
        /// The kind that it has.
        was: Kind,
        /// The kind that was asked for.
        wanted: Kind,
    },
    /// The name is in use for values of another sort.
    #[error("metric '{name}' already exists but with a value type {was}, instead of {wanted}")]
    OtherContents {
        /// The name.
        name: String,
        /// The content that it has.
        was: Contains,
        /// The content that was asked for.
        wanted: Contains,
    },
    /// There are too many.
    #[error("a test can have {METRICS_MAX} metrics at most; use tags to tell values apart")]
    Full,
}

/// A metric that was made (or was there), with what the user should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterOutcome {
    /// The metric.
    pub id: MetricId,
    /// A sentence about a name that is accepted for old scripts' sake; none if the metric was there
    /// already, so that it is said once.
    pub warning: Option<String>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// The built-in metrics, in the order of [`builtin`].
    pub fn new() -> Self {
        let mut inner = Inner::default();
        for (name, kind, contains) in builtin::ALL {
            inner.push(name, *kind, *contains);
        }
        inner.offers.extend(builtin::GIVE_WAY.map(|id| (id, Offer::Open)));
        let own = [builtin::HTTP_REQ_BYTES_SENT, builtin::HTTP_REQ_BYTES_RECEIVED].map(bit);
        let own = AtomicU64::new(own[0] | own[1]);
        Self { inner: Mutex::new(inner), veil: OnceLock::new(), own }
    }

    /// From now on the tags of new series are shown through this, and in this process texts that are too long before they are
    /// cut. The first call counts.
    pub fn veil_tags(&self, veil: Veil) {
        veil_long(veil);
        let _ = self.veil.set(veil);
    }

    /// The tags as a series shows them.
    pub(crate) fn veiled(&self, tags: &TagSet) -> TagSet {
        let Some(veil) = self.veil.get() else { return tags.clone() };
        let route = tags.route().map(|route| (TagSet::ROUTE, route));
        let hidden: Vec<_> =
            tags.iter().chain(route).filter_map(|(key, value)| Some((key, veil(value)?))).collect();
        if hidden.is_empty() {
            return tags.clone();
        }
        let pairs: Vec<_> = hidden.iter().map(|(key, value)| (*key, value.as_str())).collect();
        tags.with_all(&pairs)
    }

    /// A text as it may be shown.
    pub(crate) fn veiled_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let hidden = self.veil.get().and_then(|veil| veil(text));
        hidden.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// From now on `iteration_lateness` and `iteration_duration_planned`, which k6 does not have, stay out of samples and of
    /// [`Summary::metrics`]: they are read by programs that know k6's metrics. Their numbers are in [`Summary::own`].
    ///
    /// [`Summary::metrics`]: crate::Summary::metrics
    /// [`Summary::own`]: crate::Summary::own
    pub fn hide_own(&self) {
        self.hide_own_unless(|_| false);
    }

    /// The same, but for those that somebody asked for by name.
    pub fn hide_own_unless(&self, is_asked: impl Fn(&str) -> bool) {
        for id in builtin::SHOWN_IF_ASKED {
            let inner = self.lock();
            let is_the_scripts = inner.offers.get(&id) == Some(&Offer::Refused);
            if !is_the_scripts && !is_asked(&inner.metrics[id.0 as usize].name) {
                self.own.fetch_or(bit(id), Relaxed);
            }
        }
        for id in [builtin::HTTP_REQ_BYTES_SENT, builtin::HTTP_REQ_BYTES_RECEIVED] {
            if is_asked(&self.get(id).name) {
                self.own.fetch_and(!bit(id), Relaxed);
            }
        }
    }

    /// Whether a metric stays out of what k6's users read.
    pub fn is_own(&self, metric: MetricId) -> bool {
        self.own.load(Relaxed) & bit(metric) != 0
    }

    /// Brunt's metric of this name and kind that gives way to the script's, if the script has none: for those who read what
    /// was written of an earlier run.
    pub fn find_giving_way(&self, name: &str, kind: Kind, contains: Contains) -> Option<MetricId> {
        let inner = self.lock();
        let metric = inner.find(name)?;
        let is_ours = builtin::GIVE_WAY.contains(&metric.id)
            && inner.offers.get(&metric.id) != Some(&Offer::Refused);
        (is_ours && (metric.kind, metric.contains) == (kind, contains)).then_some(metric.id)
    }

    /// Makes a metric, or finds the one of that name, kind and contents.
    ///
    /// A name is a letter or `_`, then 1 to 127 letters, digits or `_` (k6's rule).
    pub fn register(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        self.make(name, kind, contains, is_valid(name)).map(|(id, _)| id)
    }

    /// As [`register`](Self::register), but lets spaces through with a warning: k6 allowed them once
    /// and many scripts have them.
    pub fn register_lenient(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
    ) -> Result<RegisterOutcome, RegisterError> {
        let strictly = is_valid(name);
        let leniently = strictly
            || (name.starts_with(|first| first != ' ')
                && !name.ends_with(' ')
                && is_valid(&name.replace(' ', "_")));
        let (id, new) = self.make(name, kind, contains, leniently)?;
        let warning = (new && !strictly).then(|| {
            format!(
                "the metric name \"{name}\" has spaces, which k6 no longer allows; \
                 \"{}\" would work everywhere",
                name.replace(' ', "_")
            )
        });
        Ok(RegisterOutcome { id, warning })
    }

    /// Makes a metric that gives way to the script's own of the same name, whichever comes first: the name is not k6's, and
    /// scripts of k6 may have it for something else. [`is_taken`](Self::is_taken) tells who has it.
    ///
    /// # Errors
    /// If there are too many.
    pub fn offer(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        let mut inner = self.lock();
        let (id, offer) = match inner.find(name) {
            Some(metric) => (metric.id, Offer::Refused),
            None if inner.metrics.len() >= METRICS_MAX => return Err(RegisterError::Full),
            None => (inner.push(name, kind, contains), Offer::Open),
        };
        inner.offers.entry(id).or_insert(offer);
        Ok(id)
    }

    /// Whether values of a metric that was [offered](Self::offer) are to be recorded; asked before the first one. From then on
    /// the name is Brunt's.
    pub fn is_taken(&self, id: MetricId) -> bool {
        let mut inner = self.lock();
        let Some(offer) = inner.offers.get_mut(&id) else { return true };
        if *offer == Offer::Open {
            *offer = Offer::Taken;
        }
        *offer == Offer::Taken
    }

    fn make(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
        valid: bool,
    ) -> Result<(MetricId, bool), RegisterError> {
        let mut inner = self.lock();
        if let Some(id) = inner.by_name.get(name).copied()
            && let Some(offer @ Offer::Open) = inner.offers.get_mut(&id)
        {
            *offer = Offer::Refused;
            self.own.fetch_and(!bit(id), Relaxed);
            let metric = &mut inner.metrics[id.0 as usize];
            (metric.kind, metric.contains) = (kind, contains);
            return Ok((id, true));
        }
        if let Some(metric) = inner.find(name) {
            if (metric.kind, metric.contains) == (kind, contains) {
                return Ok((metric.id, false));
            }
            let name = name.to_owned();
            return Err(if metric.kind == kind {
                RegisterError::OtherContents { name, was: metric.contains, wanted: contains }
            } else {
                RegisterError::OtherKind { name, was: metric.kind, wanted: kind }
            });
        }
        if !valid {
            return Err(RegisterError::Name(name.to_owned()));
        }
        if inner.metrics.len() >= METRICS_MAX {
            return Err(RegisterError::Full);
        }
        Ok((inner.push(name, kind, contains), true))
    }

    /// The metric of that name.
    pub fn find(&self, name: &str) -> Option<Metric> {
        self.lock().find(name).cloned()
    }

    /// The metric of that id.
    ///
    /// # Panics
    /// If the id is of another registry, which has more metrics.
    pub fn get(&self, id: MetricId) -> Metric {
        self.lock().metrics[id.0 as usize].clone()
    }

    /// All metrics, in the order of their ids.
    pub fn all(&self) -> Vec<Metric> {
        self.lock().metrics.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code that can panic runs under the lock with the tables half changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn find(&self, name: &str) -> Option<&Metric> {
        let id = self.by_name.get(name)?;
        self.metrics.get(id.0 as usize)
    }

    fn push(&mut self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        let id = MetricId(self.metrics.len() as u32);
        let name: Arc<str> = Arc::from(name);
        self.by_name.insert(Arc::clone(&name), id);
        self.metrics.push(Metric { id, name, kind, contains });
        id
    }
}

/// The place of a built-in metric among bits; others have none.
fn bit(id: MetricId) -> u64 {
    1u64.checked_shl(id.0).unwrap_or_default()
}

fn is_valid(name: &str) -> bool {
    (2..=NAME_MAX).contains(&name.len())
        && !name.as_bytes()[0].is_ascii_digit()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_metrics_have_the_ids_of_their_constants() {
        let registry = Registry::new();
        assert_eq!(registry.find("vus").unwrap().id, builtin::VUS);
        assert_eq!(&*registry.get(builtin::HTTP_REQ_DURATION).name, "http_req_duration");
        assert_eq!(&*registry.get(builtin::ITERATION_LATENESS).name, "iteration_lateness");
        assert_eq!(registry.all().len(), builtin::ALL.len());
    }

    #[test]
    fn the_same_metric_twice_is_one_and_another_kind_is_an_error() {
        let registry = Registry::new();
        let id = registry.register("mine", Kind::Trend, Contains::Time).unwrap();
        assert_eq!(registry.register("mine", Kind::Trend, Contains::Time), Ok(id));
        let error = registry.register("mine", Kind::Trend, Contains::Default).unwrap_err();
        assert_eq!(
            error.to_string(),
            "metric 'mine' already exists but with a value type time, instead of default"
        );
        let error = registry.register("mine", Kind::Rate, Contains::Default).unwrap_err();
        assert_eq!(
            error.to_string(),
            "metric 'mine' already exists but with type trend, instead of rate"
        );
        assert!(registry.register("http_reqs", Kind::Counter, Contains::Default).is_ok());
        assert!(registry.register("http_reqs", Kind::Rate, Contains::Default).is_err());
    }

    #[test]
    fn a_script_may_have_the_names_of_ours_for_something_else() {
        let registry = Registry::new();
        registry.hide_own();
        assert!(registry.is_own(builtin::ITERATION_DURATION_PLANNED));
        assert!(registry.is_taken(builtin::HTTP_REQ_BYTES_SENT));
        let id = registry.register("iteration_duration_planned", Kind::Rate, Contains::Default);
        assert_eq!(id, Ok(builtin::ITERATION_DURATION_PLANNED));
        assert!(!registry.is_own(builtin::ITERATION_DURATION_PLANNED));
        assert!(!registry.is_taken(builtin::ITERATION_DURATION_PLANNED));
        assert!(registry.is_own(builtin::ITERATION_LATENESS));
        assert!(registry.is_own(builtin::HTTP_REQ_BYTES_SENT));
        let found = registry.find_giving_way("http_req_bytes_sent", Kind::Counter, Contains::Data);
        assert_eq!(found, Some(builtin::HTTP_REQ_BYTES_SENT));
        assert_eq!(
            registry.find_giving_way("iteration_duration_planned", Kind::Rate, Contains::Default),
            None
        );
    }

    #[test]
    fn own_metrics_that_are_asked_for_are_shown() {
        let registry = Registry::new();
        registry.hide_own_unless(|name| name == "iteration_lateness");
        assert!(!registry.is_own(builtin::ITERATION_LATENESS));
        assert!(registry.is_own(builtin::ITERATION_DURATION_PLANNED));
        registry.hide_own_unless(|name| name == "http_req_bytes_sent");
        assert!(!registry.is_own(builtin::HTTP_REQ_BYTES_SENT));
        assert!(registry.is_own(builtin::HTTP_REQ_BYTES_RECEIVED));
    }

    #[test]
    fn an_offered_metric_gives_way_to_the_script_s_until_it_is_taken() {
        let registry = Registry::new();
        let offer = |name| registry.offer(name, Kind::Trend, Contains::Time).unwrap();
        let id = offer("sql_duration");
        assert_eq!(registry.register("sql_duration", Kind::Rate, Contains::Default), Ok(id));
        assert_eq!(registry.get(id).kind, Kind::Rate);
        assert!(registry.register("sql_duration", Kind::Trend, Contains::Time).is_err());
        assert_eq!(offer("sql_duration"), id);
        assert!(!registry.is_taken(id));
        let first = registry.register("sql_rows", Kind::Trend, Contains::Time).unwrap();
        assert_eq!(offer("sql_rows"), first);
        assert!(!registry.is_taken(first), "the same kind is the script's, too");
        let ours = offer("sql_failed");
        assert!(registry.is_taken(ours));
        assert!(registry.register("sql_failed", Kind::Rate, Contains::Default).is_err());
        assert_eq!(registry.register("sql_failed", Kind::Trend, Contains::Time), Ok(ours));
        assert!(registry.is_taken(ours));
    }

    #[test]
    fn names_follow_k6() {
        let registry = Registry::new();
        let long = "a".repeat(129);
        for name in ["ab", "_1", "a_b9", &long] {
            assert!(registry.register(name, Kind::Counter, Contains::Default).is_ok(), "{name}");
        }
        let too_long = "a".repeat(130);
        for name in ["", "a", "1a", "a-b", "a.b", "a b", "é1", &too_long] {
            assert!(registry.register(name, Kind::Counter, Contains::Default).is_err(), "{name}");
        }
    }

    #[test]
    fn spaces_are_let_through_with_one_warning_where_asked() {
        let registry = Registry::new();
        let lenient = |name| registry.register_lenient(name, Kind::Trend, Contains::Time);
        let first = lenient("get cached item").unwrap();
        assert!(first.warning.unwrap().contains("get_cached_item"));
        let second = lenient("get cached item").unwrap();
        assert_eq!((second.id, second.warning), (first.id, None));
        assert_eq!(lenient("plain").unwrap().warning, None);
        for name in ["a-b c", "a", " a", "ab ", "  ", "1 a"] {
            assert!(lenient(name).is_err(), "{name:?}");
        }
    }
}
