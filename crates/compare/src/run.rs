//! A run, as a comparison wants it: plain data that whoever reads runs fills in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use brunt_metrics::TrendSink;

/// One run of a test.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Which run it is, and of what.
    pub identity: Identity,
    /// The planned load of each scenario over time, in any order; empty if it is not known. Then the whole run counts.
    pub stages: Vec<Stage>,
    /// The run in stretches of time, rising, none overlapping another.
    ///
    /// One stretch for the steady part will do where a side has several runs ([`Window`](crate::Window) chooses the
    /// slices to merge). A run that is the only one of its side is resampled by slices: those of five seconds or less
    /// tell most, more than a thousand tell no more.
    pub slices: Vec<Slice>,
    /// The thresholds, as they ended.
    pub thresholds: Vec<Threshold>,
}

/// Which run it is, and of what.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The name to call it by, such as its file's.
    pub name: String,
    /// When it began: microseconds since 1970, UTC. 0 if it is not known.
    pub started_us: i64,
    /// The path of the script.
    pub script: String,
    /// The hash of all of the test's sources, as hexadecimal digits; empty if it is not known: then the path is compared.
    pub script_hash: String,
    /// The consolidated options, as an object.
    pub options: serde_json::Value,
    /// The hosts that requests went to.
    pub targets: BTreeSet<String>,
    /// The version of Brunt that ran it.
    pub brunt_version: String,
    /// The user's notes on it. Runs with other labels may be compared.
    pub labels: BTreeMap<String, String>,
    /// Whether its own figures can be trusted.
    pub trust: Trust,
}

/// A run's verdict on itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// It has none.
    #[default]
    Unknown,
    /// Nothing speaks against its figures.
    Trusted,
    /// Something does; the findings, a sentence each.
    Doubtful(Vec<String>),
    /// Its figures are not to be trusted; the findings, a sentence each.
    Invalid(Vec<String>),
}

/// The planned load of a scenario over some time. A scenario of constant load is one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage {
    /// The scenario.
    pub scenario: String,
    /// Its begin, in seconds since the slices' zero.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
    /// VUs, or iterations per second, at its begin.
    pub from: f64,
    /// The same at its end.
    pub to: f64,
}

/// A stretch of time and all that happened in it.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// Its begin, in seconds since the run's begin.
    pub start_s: f64,
    /// Its width in seconds. The last slice is as wide as the run lasted in it.
    pub width_s: f64,
    /// All requests, and all durations of the test, whatever route they belong to.
    pub all: Part,
    /// The requests of each route.
    pub routes: BTreeMap<Arc<str>, Part>,
    /// Complete iterations.
    pub iterations: u64,
    /// Each check, by group and name.
    pub checks: BTreeMap<Arc<str>, Share>,
}

/// The counts and measurements of some requests.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Requests.
    pub requests: u64,
    /// The failed ones among them.
    pub failures: u64,
    /// Durations in milliseconds, by metric: `http_req_duration`, `iteration_duration`, …
    pub durations: BTreeMap<Arc<str>, TrendSink>,
}

/// Hits among some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The hits: passed checks, failed requests.
    pub hits: u64,
    /// All of them.
    pub total: u64,
}

/// A threshold, as it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Threshold {
    /// Metric and expression: `http_req_duration p(95)<200`.
    pub text: String,
    /// Whether it held.
    pub passed: bool,
    /// The value that it looked at; none without samples.
    pub value: Option<f64>,
    /// Whether that is a share, 0 to 1.
    pub is_share: bool,
    /// Which way is better: `<` and `<=` want less.
    pub better: Option<Better>,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is.
    Less,
    /// More is.
    More,
}

impl Share {
    /// Hits per value; none of none.
    pub fn value(self) -> Option<f64> {
        (self.total > 0).then(|| self.hits as f64 / self.total as f64)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.hits = self.hits.saturating_add(other.hits);
        self.total = self.total.saturating_add(other.total);
    }
}

impl Part {
    /// The failed requests among all.
    pub fn failed(&self) -> Share {
        Share { hits: self.failures.min(self.requests), total: self.requests }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.failures = self.failures.saturating_add(other.failures);
        for (metric, sink) in &other.durations {
            self.durations.entry(Arc::clone(metric)).or_default().merge(sink);
        }
    }
}

impl Slice {
    pub(crate) fn end_s(&self) -> f64 {
        self.start_s + self.width_s
    }

    /// All that happened in some slices; its width is theirs together, its begin the first one's.
    pub(crate) fn merged<'a>(slices: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut whole = Self::default();
        for (index, slice) in slices.into_iter().enumerate() {
            if index == 0 {
                whole.start_s = slice.start_s;
            }
            whole.width_s += slice.width_s.max(0.0);
            whole.all.merge(&slice.all);
            whole.iterations = whole.iterations.saturating_add(slice.iterations);
            for (route, part) in &slice.routes {
                whole.routes.entry(Arc::clone(route)).or_default().merge(part);
            }
            for (check, share) in &slice.checks {
                whole.checks.entry(Arc::clone(check)).or_default().add(*share);
            }
        }
        whole
    }
}
