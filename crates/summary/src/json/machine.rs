//! k6's newer machine-readable shape (`--new-machine-readable-summary`).
//!
//! It is smaller than the older ones: six fixed stats of a trend, no groups, no thresholds. It
//! follows the layout of the text in which metrics it tells of.

use brunt_metrics::summary::{MetricSummary, Summary, Values};
use serde_json::{Value, json};

use super::number;
use crate::text::checks::{merged, sum};
use crate::text::listed;
use crate::text::sections::Section;

/// The facts about the run beside its numbers.
#[derive(Clone, Debug)]
pub struct MachineContext<'a> {
    /// The script's source text.
    pub script: &'a str,
    /// `local` or `cloud`.
    pub execution: &'a str,
    /// When it is written, as RFC 3339 text.
    pub generated_at: &'a str,
    /// The k6 version we stand in for, such as `2.2.0`.
    pub k6_version: &'a str,
    /// Whether `--summary-mode` asks for all metrics (`full`) or for the most read ones.
    pub full: bool,
}

/// The summary in the newer shape: the argument of `handleSummary`, or (through
/// [`super::pretty`]) the file of `--summary-export`.
pub fn summary_data(summary: &Summary, context: &MachineContext<'_>) -> Value {
    let checks = merged(&summary.checks);
    let (passes, fails) = sum(&summary.metrics, &checks);
    let total = passes.saturating_add(fails);
    let check_metrics = if total == 0 {
        Vec::new()
    } else {
        let share = |matches: u64| {
            let rate = number(matches as f64 / total as f64);
            json!({ "matches": matches, "rate": rate, "total": total })
        };
        vec![
            entry("checks_total", "counter", "default", &json!({ "count": total })),
            entry("checks_failed", "rate", "default", &share(fails)),
            entry("checks_succeeded", "rate", "default", &share(passes)),
        ]
    };
    let results: Vec<Value> = checks
        .iter()
        .map(|check| json!({ "name": check.name, "passes": check.passes, "fails": check.fails }))
        .collect();
    let metrics: Vec<Value> = listed(&summary.metrics)
        .into_iter()
        .filter(|metric| Section::of(&metric.name, context.full).is_some())
        .map(|metric| {
            let kind = metric.kind.to_string();
            let contains = metric.contains.to_string();
            entry(&metric.name, &kind, &contains, &values(metric, summary))
        })
        .collect();
    json!({
        "version": "1.0.0",
        "config": {
            "duration": number(summary.run.as_secs_f64()),
            "execution": context.execution,
            "script": context.script,
        },
        "metadata": {
            "generated_at": context.generated_at,
            "k6_version": context.k6_version,
        },
        "results": {
            "checks": { "metrics": check_metrics, "results": results },
            "metrics": metrics,
        },
    })
}

fn entry(name: &str, kind: &str, contains: &str, values: &Value) -> Value {
    json!({ "name": name, "type": kind, "contains": contains, "values": values })
}

fn values(metric: &MetricSummary, summary: &Summary) -> Value {
    match &metric.values {
        Values::Counter { count, .. } => json!({ "count": number(*count) }),
        Values::Gauge { value, min, max } => {
            json!({ "max": number(*max), "min": number(*min), "value": number(*value) })
        }
        Values::Rate { rate, passes, fails } => json!({
            "matches": passes,
            "rate": number(rate.unwrap_or(0.0)),
            "total": passes.saturating_add(*fails),
        }),
        Values::Trend(_) => {
            // A stat that the user did not ask for is null, as in k6.
            let asked: Vec<String> = summary.trend_stats.iter().map(ToString::to_string).collect();
            let stat = |key: &str| match metric.values.get(key) {
                Some(value) if asked.iter().any(|asked| asked == key) => number(value),
                _ => Value::Null,
            };
            json!({
                "avg": stat("avg"),
                "max": stat("max"),
                "med": stat("med"),
                "min": stat("min"),
                "p90": stat("p(90)"),
                "p95": stat("p(95)"),
            })
        }
    }
}
