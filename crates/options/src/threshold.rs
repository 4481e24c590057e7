//! Thresholds as they are written.

mod flag;
mod timing;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use brunt_metrics::{
    Kind, NoData, Registry, Selector, Threshold, ThresholdError, ThresholdSet, Timing,
};
use brunt_schedule::{Scenario, regular_duration};
use serde_json::{Value, json};

use crate::error::{Fault, Layer, OptionsError};
use crate::json::Json;
use crate::value::{OptionValue, Place, record};

record! {
    /// An entry of `thresholds`, its expression not yet read.
    pub struct ThresholdConfig {
        /// The expression: `p(95)<500`.
        threshold: String = "threshold",
        /// Whether the test stops when it fails.
        abort_on_fail: bool = "abortOnFail",
        /// How long it may fail without that.
        delay_abort_eval: Duration = "delayAbortEval",
        /// Look at the last so long only; k6 has neither this nor the keys that follow.
        window: Duration = "window",
        /// Don't look before.
        after: Duration = "after",
        /// It is broken only if it stays so for this long.
        hold: Duration = "for",
        /// The meaning of a look without values.
        on_no_data: NoData = "onNoData",
        /// The exit code of a run that it fails.
        exit_code: i64 = "exitCode",
        /// Its name for people.
        name: String = "name",
    }
}

/// The keys that k6 has, too.
const OF_K6: [&str; 3] = ["threshold", "abortOnFail", "delayAbortEval"];

impl ThresholdConfig {
    /// The keys that an unknown one may have meant.
    pub(crate) fn keys() -> &'static [&'static str] {
        Self::KEYS
    }

    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut config = Self::default();
        match json.value() {
            Value::String(text) => config.threshold = Some(text.clone()),
            Value::Object(_) => {
                let mut unknown = Vec::new();
                for (name, value) in json.entries()? {
                    match Self::key(name) {
                        Some(key) => config.read_key(key, &value)?,
                        None => unknown.push((name, value)),
                    }
                }
                for (name, value) in unknown {
                    // k6 warns of a key that it doesn't know. Where ours are, it is a slip in one of ours.
                    if config.is_ours() {
                        let meant = brunt_spelling::question(name, Self::KEYS.iter().copied());
                        let meant = meant.map_or(String::new(), |meant| format!(": {meant}"));
                        return Err(value.fault(format!("unknown field{meant}")));
                    }
                    json.note_unknown(name);
                }
            }
            _ => {
                return Err(
                    json.expected("an expression such as \"p(95)<500\", or an object with one")
                );
            }
        }
        Ok(config)
    }

    /// Whether it has keys that k6 doesn't have.
    fn is_ours(&self) -> bool {
        Self::KEYS.iter().any(|key| !OF_K6.contains(key) && self.is_set(key))
    }

    fn print(&self) -> Value {
        if self.abort_on_fail == Some(true) || self.is_ours() {
            let shown = Self::KEYS.iter().filter(|key| OF_K6.contains(key) || self.is_set(key));
            shown.map(|key| ((*key).to_string(), self.print_key(key))).collect()
        } else {
            json!(self.threshold.as_deref().unwrap_or_default())
        }
    }
}

impl ThresholdConfig {
    /// The keys that k6 doesn't have. A wrong exit code is told by [`timing::faults`].
    fn timing(&self) -> Timing {
        Timing {
            window: self.window,
            after: self.after,
            hold: self.hold,
            on_no_data: self.on_no_data,
            exit_code: self.exit_code.and_then(Timing::exit_code),
            name: self.name.clone(),
        }
    }
}

impl OptionValue for NoData {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let read = json.value().as_str().and_then(Self::parse);
        read.ok_or_else(|| json.expected("\"fail\", \"pass\" or \"ignore\""))
    }

    fn print(&self) -> Value {
        self.name().into()
    }
}

/// The `thresholds` option: metric name to entries.
impl OptionValue for BTreeMap<String, Vec<ThresholdConfig>> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut all = Self::new();
        for (metric, list) in json.entries()? {
            let Some(list) = json.kept(list.items()) else { continue };
            // A threshold that can't be read keeps its place, so that those after it keep their numbers.
            let list =
                list.map(|entry| json.kept(ThresholdConfig::read(&entry)).unwrap_or_default());
            all.insert(metric.into(), list.collect());
        }
        Ok(all)
    }

    /// After a flag, one threshold each time: `http_req_duration: p(95)<200 window=30s`.
    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        if place == Place::Variable {
            return crate::value::parse_json(texts);
        }
        let mut all = Self::new();
        for text in texts {
            let (metric, config) = flag::read(text)?;
            all.entry(metric).or_default().push(config);
        }
        Ok(all)
    }

    fn print(&self) -> Value {
        let list = |list: &Vec<ThresholdConfig>| -> Value {
            list.iter().map(ThresholdConfig::print).collect()
        };
        self.iter().map(|(metric, entries)| (metric.clone(), list(entries))).collect()
    }
}

/// The facts that thresholds are held against.
#[derive(Clone, Copy)]
pub(crate) struct Against<'a> {
    /// Each must fit a metric of it, if it is known.
    pub(crate) registry: Option<&'a Registry>,
    /// The length of the test bounds all times.
    pub(crate) scenarios: &'a [Scenario],
}

/// Reads all expressions. A metric with an empty list stays: summaries show what is named.
pub(crate) fn sets(
    configs: &BTreeMap<String, Vec<ThresholdConfig>>,
    layer: Option<Layer>,
    against: Against<'_>,
    errors: &mut Vec<OptionsError>,
) -> Vec<ThresholdSet> {
    let registry = against.registry;
    // Where scenarios are wrong, the length is not known.
    let is_known = errors.is_empty() && !against.scenarios.is_empty();
    let length = if is_known { regular_duration(against.scenarios) } else { Duration::MAX };
    let mut sets = Vec::new();
    let mut names = BTreeSet::new();
    for (metric, entries) in configs {
        let mut wrong = |index, source: ThresholdError| {
            let hint = meant(&source, registry);
            let (metric, source) = (metric.clone(), Box::new(source));
            errors.push(OptionsError::Threshold { metric, index, source, hint, layer });
        };
        let mut read = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let source = entry.threshold.as_deref().unwrap_or_default();
            let abort = entry.abort_on_fail.unwrap_or(false);
            match Threshold::parse(source, abort, entry.delay_abort_eval) {
                Ok(threshold) => {
                    let timing = entry.timing();
                    let faults = timing::faults(entry, length).into_iter();
                    for (key, reason) in faults.chain(timing::faults_of_metric(entry, metric)) {
                        let source_text = source.to_owned();
                        wrong(Some(index), ThresholdError::Timing { source_text, key, reason });
                    }
                    if let Some(name) = &timing.name
                        && !names.insert(name.clone())
                    {
                        let (source_text, key) = (source.to_owned(), "name");
                        let reason =
                            format!("{name:?} is there twice: each threshold needs its own");
                        wrong(Some(index), ThresholdError::Timing { source_text, key, reason });
                    }
                    read.push((index, Threshold { timing, ..threshold }));
                }
                Err(error) => wrong(Some(index), error),
            }
        }
        if let Some(registry) = registry {
            match kind_of(metric, registry) {
                Err(error) => wrong(None, error),
                Ok(kind) => {
                    for (index, threshold) in &read {
                        if let Err(error) = threshold.check_kind(metric, kind) {
                            wrong(Some(*index), error);
                        }
                    }
                }
            }
        }
        let thresholds = read.into_iter().map(|(_, threshold)| threshold).collect();
        sets.push(ThresholdSet { metric: metric.clone(), thresholds });
    }
    sets
}

/// The kind of the metric that the key of a threshold names.
fn kind_of(name: &str, registry: &Registry) -> Result<Kind, ThresholdError> {
    let selector = Selector::parse(name)?;
    let found = registry.find(&selector.metric).map(|metric| metric.kind);
    found.ok_or_else(|| ThresholdError::UnknownMetric {
        name: name.to_owned(),
        metric: selector.metric,
    })
}

/// The word that was perhaps meant.
fn meant(error: &ThresholdError, registry: Option<&Registry>) -> Option<String> {
    match error {
        ThresholdError::UnknownMetric { metric, .. } => {
            let all = registry?.all();
            brunt_spelling::question(metric, all.iter().map(|metric| &*metric.name))
        }
        ThresholdError::Aggregation { left, .. } => {
            // `p95` and `p(95` are what people write.
            let digits = left.trim_start_matches(['p', 'P', '(', '[']).trim_end_matches([')', ']']);
            let is_percentile = left.starts_with(['p', 'P']) && digits.parse::<f64>().is_ok();
            let known = ["value", "count", "rate", "avg", "min", "med", "max"];
            let synonym = match left.to_ascii_lowercase().as_str() {
                "mean" | "average" => Some("avg"),
                "median" => Some("med"),
                "maximum" => Some("max"),
                "minimum" => Some("min"),
                "sum" | "total" => Some("count"),
                _ => brunt_spelling::nearest(left, known),
            };
            match synonym {
                _ if is_percentile => Some(format!("did you mean \"p({digits})\"?")),
                synonym => synonym.map(|meant| format!("did you mean \"{meant}\"?")),
            }
        }
        _ => None,
    }
}
