//! `/v1/metrics`: what was measured so far.

use brunt_metrics::{Contains, Kind, MetricSummary, Values};
use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::{
    Told,
    answer::{self, Answer, TEXT},
};

pub(super) async fn all(told: &Told) -> Answer {
    let summary = told.summary().await;
    let metrics = summary.iter().flat_map(|summary| &summary.metrics).map(shown);
    answer::data(TEXT, &metrics.collect())
}

pub(super) async fn one(told: &Told, name: &str) -> Answer {
    let summary = told.summary().await;
    match summary.as_ref().and_then(|summary| summary.metric(name)) {
        Some(metric) => answer::data(TEXT, &shown(metric)),
        None => answer::error(
            StatusCode::NOT_FOUND,
            TEXT,
            "Not Found",
            "No metric with that ID was found",
        ),
    }
}

fn shown(metric: &MetricSummary) -> Value {
    let failed = metric.thresholds.iter().any(|threshold| !threshold.ok);
    let has_verdict = metric.observed && !metric.thresholds.is_empty();
    json!({
        "type": "metrics",
        "id": metric.name,
        "attributes": {
            "type": match metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Rate => "rate",
                Kind::Trend => "trend",
            },
            "contains": match metric.contains {
                Contains::Default => "default",
                Contains::Time => "time",
                Contains::Data => "data",
            },
            "tainted": if has_verdict { Value::Bool(failed) } else { Value::Null },
            "sample": sample(&metric.values),
        },
    })
}

/// Always these numbers of each kind, whatever `summaryTrendStats` says.
fn sample(values: &Values) -> Map<String, Value> {
    let names: &[&str] = match values {
        Values::Counter { .. } => &["count", "rate"],
        Values::Gauge { .. } => &["value"],
        Values::Rate { .. } => &["rate"],
        Values::Trend(_) => &["avg", "max", "med", "min", "p(90)", "p(95)"],
    };
    names.iter().map(|name| ((*name).to_owned(), json_number(values.get(name)))).collect()
}

/// Whole numbers without a point, as Go writes them.
fn json_number(value: Option<f64>) -> Value {
    let value = value.filter(|value| value.is_finite()).unwrap_or(0.0);
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}
