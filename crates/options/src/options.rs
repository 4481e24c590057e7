//! All options of a layer, each of which may be unset.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::dns::Dns;
use crate::error::{Fault, Layer, OptionsError};
use crate::hosts::{HostAddress, HostPattern, Network};
use crate::json::{Json, Notes};
use crate::local_ips::LocalIps;
use crate::scenario::ScenarioConfig;
use crate::size::Size;
use crate::stage::StageConfig;
use crate::system_tags::SystemTags;
use crate::threshold::ThresholdConfig;
use crate::time_unit::SummaryTimeUnit;
use crate::tls::{TlsAuth, TlsCipherSuite, TlsVersions};
use crate::value::record;

record! {
    /// The options of one layer, or of all together. `None` is unset; what that means is told by the
    /// method of the same name, where there is one.
    pub struct Options {
        /// Make the VUs, then wait for somebody to let them start.
        paused: bool = "paused",
        /// Shortcut: VUs of the scenario `default`.
        vus: i64 = "vus",
        /// Shortcut: how long they iterate.
        duration: Duration = "duration",
        /// Shortcut: how many iterations they share.
        iterations: i64 = "iterations",
        /// Shortcut: how many VUs there are when.
        stages: Vec<StageConfig> = "stages",
        /// Scenarios by name.
        scenarios: BTreeMap<String, ScenarioConfig> = "scenarios",
        /// The share of the test that runs here: `1/4:1/2`.
        execution_segment: String = "executionSegment",
        /// The points at which the test is cut: `0,1/4,1/2,1`.
        execution_segment_sequence: String = "executionSegmentSequence",
        /// Leave `setup()` out.
        no_setup: bool = "noSetup",
        /// How long `setup()` may take.
        setup_timeout: Duration = "setupTimeout",
        /// Leave `teardown()` out.
        no_teardown: bool = "noTeardown",
        /// How long `teardown()` may take.
        teardown_timeout: Duration = "teardownTimeout",
        /// How long `handleSummary()` may take.
        handle_summary_timeout: Duration = "handleSummaryTimeout",
        /// The most requests per second of this process; 0 or less is no limit.
        rps: i64 = "rps",
        /// How host names are resolved.
        dns: Dns = "dns",
        /// The most redirects a request follows.
        max_redirects: i64 = "maxRedirects",
        /// The `User-Agent` of requests; empty sends none.
        user_agent: String = "userAgent",
        /// The most requests of a batch at once; also idle connections of a VU.
        batch: i64 = "batch",
        /// The same for one host.
        batch_per_host: i64 = "batchPerHost",
        /// Log requests and responses: `full` with bodies, anything else without.
        http_debug: String = "httpDebug",
        /// Accept any certificate.
        insecure_skip_tls_verify: bool = "insecureSkipTLSVerify",
        /// The cipher suites that may be used (TLS 1.2 and below).
        tls_cipher_suites: Vec<TlsCipherSuite> = "tlsCipherSuites",
        /// The TLS versions that may be spoken.
        tls_version: TlsVersions = "tlsVersion",
        /// Client certificates.
        tls_auth: Vec<TlsAuth> = "tlsAuth",
        /// Failed requests throw.
        throw: bool = "throw",
        /// Metric name (and tags) to what it must hold.
        thresholds: BTreeMap<String, Vec<ThresholdConfig>> = "thresholds",
        /// Networks that are never dialed.
        blacklist_ips: Vec<Network> = "blacklistIPs",
        /// Hosts that are never dialed.
        block_hostnames: Vec<HostPattern> = "blockHostnames",
        /// `host[:port]` or `*.host[:port]`, and where it goes instead.
        hosts: BTreeMap<String, HostAddress> = "hosts",
        /// A new connection for every request.
        no_connection_reuse: bool = "noConnectionReuse",
        /// New connections for every iteration.
        no_vu_connection_reuse: bool = "noVUConnectionReuse",
        /// The least time from the start of an iteration to the next.
        min_iteration_duration: Duration = "minIterationDuration",
        /// Settings of a cloud service; nothing here reads them.
        cloud: Value = "cloud",
        /// Settings of extensions; nothing here reads them.
        ext: Map<String, Value> = "ext",
        /// Which numbers of a trend the summary shows.
        summary_trend_stats: Vec<String> = "summaryTrendStats",
        /// The unit of times in the summary.
        summary_time_unit: SummaryTimeUnit = "summaryTimeUnit",
        /// Which tags samples get by themselves.
        system_tags: SystemTags = "systemTags",
        /// Tags of every sample.
        tags: BTreeMap<String, String> = "tags",
        /// How many bunches of samples may wait for the outputs.
        metric_samples_buffer_size: i64 = "metricSamplesBufferSize",
        /// Keep cookies from one iteration to the next.
        no_cookies_reset: bool = "noCookiesReset",
        /// Throw bodies away unless a request wants its own.
        discard_response_bodies: bool = "discardResponseBodies",
        /// The largest body that is kept; k6 has no such option.
        max_body_size: Size = "maxBodySize",
        /// The limit of all bodies together; k6 has no such option.
        max_body_memory: Size = "maxBodyMemory",
        /// The limit of one VU's heap; k6 has no such option.
        vu_memory: Size = "vuMemory",
        /// Where all randomness of the test begins; k6 has no such option.
        seed: i64 = "seed",
        /// A file for `console.*`; flags and variables only.
        console_output: String = "consoleOutput",
        /// The addresses VUs connect from; flags and variables only.
        local_ips: LocalIps = "localIPs",
    }
}

/// Options that scripts and config files cannot set.
pub(crate) const NOT_IN_SCRIPTS: [&str; 2] = ["consoleOutput", "localIPs"];

/// Options that k6 doesn't have: they are shown only if they are set.
pub(crate) const OURS: [&str; 4] = ["maxBodySize", "maxBodyMemory", "vuMemory", "seed"];

/// The message about unknown keys: in k6's words, which name the first one, and in ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKeys {
    /// The line.
    pub message: String,
    /// The first key, for the field `error`.
    pub error: String,
    /// The key that was perhaps meant, and the other keys, for the field `hint`.
    pub hint: Option<String>,
}

/// The result of reading a layer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The options that were set.
    pub options: Options,
    /// Paths of keys that mean nothing; k6 warns about them and goes on.
    pub unknown: Vec<String>,
}

impl Parsed {
    /// The warning about unknown keys; `None` if there are none.
    pub fn warning(&self, layer: Layer) -> Option<UnknownKeys> {
        let (first, others) = self.unknown.split_first()?;
        let others = (!others.is_empty()).then(|| format!("also unknown: {}", others.join(", ")));
        let hints: Vec<String> = self.meant().into_iter().chain(others).collect();
        let places =
            if layer == Layer::Script { "exported in the script" } else { "of the config file" };
        Some(UnknownKeys {
            message: format!("There were unknown fields in the options {places}"),
            error: format!("json: unknown field \"{first}\""),
            hint: (!hints.is_empty()).then(|| hints.join("; ")),
        })
    }

    /// The keys that were perhaps meant by unknown ones.
    fn meant(&self) -> Option<String> {
        let threshold = ThresholdConfig::keys().iter().copied();
        let of_key = |path: &String| {
            let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
            let meant = match parent.split(['.', '[']).next().unwrap_or_default() {
                "" => brunt_spelling::nearest(key, Options::names()),
                "thresholds" => brunt_spelling::nearest(key, threshold.clone()),
                "stages" => brunt_spelling::nearest(key, ["duration", "target"]),
                "tlsAuth" => brunt_spelling::nearest(key, ["cert", "key", "password", "domains"]),
                "dns" => brunt_spelling::nearest(key, ["ttl", "select", "policy"]),
                _ => None,
            };
            meant.map(|meant| format!("{meant} for {key}"))
        };
        let meant: Vec<String> = self.unknown.iter().filter_map(of_key).collect();
        (!meant.is_empty()).then(|| format!("did you mean {}?", meant.join(", ")))
    }
}

impl Options {
    /// Reads the plain data of a script's `options` export (or of archive metadata). `null` is unset, as
    /// is every key in it that is `null`.
    ///
    /// # Errors
    /// [`OptionsError::Value`] for every value of the wrong type, text that means nothing, unknown
    /// executor, or unknown key in a scenario.
    pub fn from_json(json: &Value, layer: Layer) -> Result<Parsed, OptionsError> {
        let (parsed, errors) = Self::read_json(json, layer);
        OptionsError::all(errors).map_or(Ok(parsed), Err)
    }

    /// The same, with what could be read although some of it is wrong.
    pub fn read_json(json: &Value, layer: Layer) -> (Parsed, Vec<OptionsError>) {
        let notes = Notes::default();
        let root = Json::root(json, &notes);
        let options = root.kept(read(&root)).unwrap_or_default();
        let mut unknown = notes.unknown.into_inner();
        // k6 names the alphabetically first of the options themselves.
        unknown.sort_by_cached_key(|path| (path.contains(['.', '[']), path.clone()));
        let faults = notes.faults.into_inner().into_iter();
        let errors = faults.map(|fault| OptionsError::Value { layer, fault }).collect();
        (Parsed { options, unknown }, errors)
    }

    /// The names of all options.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::KEYS.iter().copied()
    }
}

fn read(root: &Json<'_>) -> Result<Options, Fault> {
    let mut options = Options::default();
    if root.is_null() {
        return Ok(options);
    }
    for (name, value) in root.entries()? {
        match Options::key(name).filter(|key| !NOT_IN_SCRIPTS.contains(key)) {
            Some(key) => {
                root.kept(options.read_key(key, &value));
            }
            None => root.note_unknown(name),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests;
