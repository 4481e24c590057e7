//! The trait of an output, and how one is opened.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Frame, Registry, ThresholdSet};
use brunt_page::Feed;
use jiff::tz::TimeZone;

use crate::dashboard::Viewers;
use crate::run_file::RunFacts;

/// Takes what was measured somewhere. Lives on a thread of its own, so it may take its time; but what
/// waits for it is bounded, so a server's answer is waited for elsewhere.
pub trait Output: Send {
    /// As the banner shows it, such as `json (out.json)`.
    fn description(&self) -> String;

    /// After how long [`flush`](Self::flush) is due.
    fn flush_interval(&self) -> Duration;

    /// Whether it needs each single sample. One that doesn't is shown series, and costs the cores nothing.
    fn wants_samples(&self) -> bool {
        true
    }

    /// Whether it takes the metrics about the generator (`generator_*`).
    fn wants_generator(&self) -> bool {
        true
    }

    /// Takes a frame: its samples, or its series. Into a buffer first.
    fn write(&mut self, frame: &Frame) -> io::Result<Written>;

    /// Sends on what is in the buffer.
    fn flush(&mut self) -> io::Result<()>;

    /// Flushes and ends what must be ended (a gzip file has a trailer). Gives the outcome of samples that
    /// [`write`](Self::write) did not count yet.
    fn finish(&mut self) -> io::Result<Written>;

    /// The first fault on the way that did not stop it.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// The page it shows itself on, if it is that kind of output.
    fn page(&self) -> Option<Page> {
        None
    }
}

/// A page on which a test can be watched.
#[derive(Clone, Debug)]
pub struct Page {
    /// `http://127.0.0.1:5665`; none if the page is not served.
    pub address: Option<String>,
    /// Those who look at it, likewise.
    pub viewers: Option<Viewers>,
    /// Where the page goes at the end, if it does: whoever runs the test writes it, when its run file has its end.
    pub export: Option<String>,
}

/// The outcome of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Samples that were written.
    pub samples: u64,
    /// Samples that are lost: the format cannot say them (JSON has no infinity), or no server took them.
    pub lost: u64,
}

/// The facts about the test that outputs need.
#[derive(Clone, Debug)]
pub struct Context {
    /// The names and kinds of metrics.
    pub registry: Arc<Registry>,
    /// The thresholds of the options; `json` tells them with each metric.
    pub thresholds: Vec<ThresholdSet>,
    /// Whether `http_req_duration{expected_response:true}` is kept.
    pub expected_response_submetric: bool,
    /// Whether scenarios have warm-ups, which thresholds leave out.
    pub warmup: bool,
    /// The system tags that are on (in any order): the columns of `csv`.
    pub system_tags: Vec<String>,
    /// The environment, for `K6_CSV_FILENAME` and the like.
    pub env: BTreeMap<String, String>,
    /// The settings of each output in the configuration file, by its type (`collectors`).
    pub collectors: BTreeMap<String, serde_json::Value>,
    /// The zone that times are written in: the machine's.
    pub time_zone: TimeZone,
    /// The script as its user named it.
    pub script: String,
    /// The names of the scenarios.
    pub scenarios: Vec<String>,
    /// How long the test lasts at most.
    pub longest: Duration,
    /// The content of a run file beside measurements; whoever runs no test has none.
    pub run: Option<RunFacts>,
    /// The run as its page shows it.
    pub feed: Feed,
    /// A tag (name and value) that outputs of samples which several processes send to one server add to each of them: else their
    /// series would be one. A tag of that name that a sample has stays.
    pub instance: Option<(String, String)>,
}

impl Context {
    /// No thresholds, k6's default system tags, an empty environment, the machine's time zone.
    pub fn new(registry: Arc<Registry>) -> Self {
        const SYSTEM_TAGS: [&str; 13] = [
            "check",
            "error",
            "error_code",
            "expected_response",
            "group",
            "method",
            "name",
            "proto",
            "scenario",
            "service",
            "status",
            "subproto",
            "tls_version",
        ];
        let system_tags = SYSTEM_TAGS.into_iter().chain(["url"]).map(String::from).collect();
        Self {
            registry,
            thresholds: Vec::new(),
            expected_response_submetric: true,
            warmup: false,
            system_tags,
            env: BTreeMap::new(),
            collectors: BTreeMap::new(),
            time_zone: TimeZone::system(),
            script: String::new(),
            scenarios: Vec::new(),
            longest: Duration::ZERO,
            run: None,
            feed: Feed::default(),
            instance: None,
        }
    }
}

/// Why an output could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// No such type.
    #[error("invalid output type '{name}', {known}")]
    Unknown {
        /// The type that was asked for.
        name: String,
        /// The type that was perhaps meant, and all types.
        known: String,
    },
    /// A type that Brunt has not, on purpose.
    #[error("could not create the '{name}' output: {instead}")]
    Absent {
        /// The type that was asked for.
        name: &'static str,
        /// Why, and what there is instead.
        instead: &'static str,
    },
    /// The file cannot be made.
    #[error("could not create the '{output}' output: \"{path}\" cannot be created: {source}")]
    Create {
        /// `json` or `csv`.
        output: &'static str,
        /// The file.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The argument or a variable says something else than it may.
    #[error("could not create the '{output}' output: {what}")]
    Setting {
        /// Its type.
        output: &'static str,
        /// Which setting, and what it may be.
        what: String,
    },
    /// The system gives no thread.
    #[error("could not start the '{output}' output: {source}")]
    Thread {
        /// Its description.
        output: String,
        /// The system's answer.
        source: io::Error,
    },
}
