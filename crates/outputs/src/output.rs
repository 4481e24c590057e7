//! What an output is, and how one is opened.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Registry, Sample, ThresholdSet};
use jiff::tz::TimeZone;

use crate::csv::Csv;
use crate::json::Json;
use crate::spec::{OutputKind, OutputSpec};

/// Takes samples somewhere. Lives on a thread of its own, so it may take its time.
pub trait Output: Send {
    /// As the banner shows it, such as `json (out.json)`.
    fn description(&self) -> String;

    /// After how long [`flush`](Self::flush) is due.
    fn flush_interval(&self) -> Duration;

    /// Writes a batch, into a buffer first.
    fn write(&mut self, samples: &[Sample]) -> io::Result<Written>;

    /// Sends on what is in the buffer.
    fn flush(&mut self) -> io::Result<()>;

    /// Flushes and ends what must be ended (a gzip file has a trailer).
    fn finish(&mut self) -> io::Result<()>;
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Samples that were written.
    pub samples: u64,
    /// Samples that the format cannot say (JSON has no infinity).
    pub lost: u64,
}

/// What outputs need to know of the test.
#[derive(Clone, Debug)]
pub struct Context {
    /// The names and kinds of metrics.
    pub registry: Arc<Registry>,
    /// The thresholds of the options; `json` tells them with each metric.
    pub thresholds: Vec<ThresholdSet>,
    /// Whether `http_req_duration{expected_response:true}` is kept.
    pub expected_response_submetric: bool,
    /// The system tags that are on (in any order): the columns of `csv`.
    pub system_tags: Vec<String>,
    /// The environment, for `K6_CSV_FILENAME` and the like.
    pub env: BTreeMap<String, String>,
    /// What the configuration file says of each output by its type (`collectors`).
    pub collectors: BTreeMap<String, serde_json::Value>,
    /// The zone that times are written in: the machine's.
    pub time_zone: TimeZone,
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
            system_tags,
            env: BTreeMap::new(),
            collectors: BTreeMap::new(),
            time_zone: TimeZone::system(),
        }
    }
}

/// Why an output could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// No such type.
    #[error("unknown output type \"{name}\"; supported are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: &'static str,
    },
    /// k6 has it, we don't.
    #[error("the output \"{name}\" is not supported yet; supported are: {known}")]
    NotYet {
        /// What was asked for.
        name: String,
        /// What there is.
        known: &'static str,
    },
    /// The file cannot be made.
    #[error("could not open the {output} output: \"{path}\" cannot be created: {source}")]
    Create {
        /// `json` or `csv`.
        output: &'static str,
        /// The file.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The argument or a variable says something else than it may.
    #[error("could not open the {output} output: {what}")]
    Setting {
        /// `json` or `csv`.
        output: &'static str,
        /// Which setting, and what it may be.
        what: String,
    },
    /// The system gives no thread.
    #[error("could not start the {output} output: {source}")]
    Thread {
        /// Its description.
        output: String,
        /// The system's answer.
        source: io::Error,
    },
}

/// Opens an output: its file exists (and is empty) from then on.
pub fn open(spec: &OutputSpec, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    Ok(match spec.kind {
        OutputKind::Json => Box::new(Json::open(&spec.arg, context)?),
        OutputKind::Csv => Box::new(Csv::open(&spec.arg, context)?),
    })
}
