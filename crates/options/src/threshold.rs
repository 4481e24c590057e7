//! Thresholds as they are written.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_metrics::{Threshold, ThresholdSet};
use serde_json::{Value, json};

use crate::error::{Fault, OptionsError};
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
            let list = list.items()?.map(|entry| ThresholdConfig::read(&entry));
            all.insert(metric.into(), list.collect::<Result<_, _>>()?);
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

/// Reads all expressions. A metric with an empty list stays: summaries show what is named.
pub(crate) fn sets(
    configs: &BTreeMap<String, Vec<ThresholdConfig>>,
) -> Result<Vec<ThresholdSet>, OptionsError> {
    let mut sets = Vec::new();
    for (metric, entries) in configs {
        let read = |(index, entry): (usize, &ThresholdConfig)| {
            let source = entry.threshold.as_deref().unwrap_or_default();
            let abort = entry.abort_on_fail.unwrap_or(false);
            Threshold::parse(source, abort, entry.delay_abort_eval).map_err(|error| {
                OptionsError::Threshold { metric: metric.clone(), index, source: Box::new(error) }
            })
        };
        let thresholds = entries.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        sets.push(ThresholdSet { metric: metric.clone(), thresholds });
    }
    Ok(sets)
}
