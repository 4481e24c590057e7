//! Thresholds as they are written.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_metrics::{Kind, Registry, Selector, Threshold, ThresholdError, ThresholdSet};
use serde_json::{Value, json};

use crate::error::{Fault, Layer, OptionsError};
use crate::json::Json;
use crate::value::{OptionValue, record};

record! {
    /// An entry of `thresholds`, its expression not yet read.
    pub struct ThresholdConfig {
        /// The expression: `p(95)<500`.
        threshold: String = "threshold",
        /// Whether the test stops when it fails.
        abort_on_fail: bool = "abortOnFail",
        /// How long it may fail without that.
        delay_abort_eval: Duration = "delayAbortEval",
    }
}

impl ThresholdConfig {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut config = Self::default();
        match json.value() {
            Value::String(text) => config.threshold = Some(text.clone()),
            Value::Object(_) => {
                for (name, value) in json.entries()? {
                    match Self::key(name) {
                        Some(key) => config.read_key(key, &value)?,
                        None => json.note_unknown(name),
                    }
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

    fn print(&self) -> Value {
        if self.abort_on_fail == Some(true) {
            Self::KEYS.iter().map(|key| ((*key).to_string(), self.print_key(key))).collect()
        } else {
            json!(self.threshold.as_deref().unwrap_or_default())
        }
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

    fn print(&self) -> Value {
        let list = |list: &Vec<ThresholdConfig>| -> Value {
            list.iter().map(ThresholdConfig::print).collect()
        };
        self.iter().map(|(metric, entries)| (metric.clone(), list(entries))).collect()
    }
}

/// Reads all expressions. A metric with an empty list stays: summaries show what is named. With a registry, each must
/// also fit a metric of it.
pub(crate) fn sets(
    configs: &BTreeMap<String, Vec<ThresholdConfig>>,
    layer: Option<Layer>,
    registry: Option<&Registry>,
    errors: &mut Vec<OptionsError>,
) -> Vec<ThresholdSet> {
    let mut sets = Vec::new();
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
                Ok(threshold) => read.push((index, threshold)),
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
