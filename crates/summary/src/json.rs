//! The summary as JSON, in k6's three shapes.
//!
//! - [`handle_summary_data`]: the argument of a script's `handleSummary`;
//! - [`summary_export`]: the older file of `--summary-export`, flatter, with thresholds inverted; [`exported`] makes it of
//!   the argument of `handleSummary`, as the script left it;
//! - [`machine`]: k6's newer shape, which `--new-machine-readable-summary` asks for in both places.
//!
//! Keys come in a fixed order, metrics by name; k6 leaves the order open.

pub mod machine;
pub mod own;

use std::time::Duration;

use brunt_metrics::summary::{
    CheckSummary, GroupSummary, MetricSummary, Summary, ThresholdResult, Values,
};
use md5::{Digest, Md5};
use serde_json::{Map, Number, Value, json, value::RawValue};

use crate::humanize::Unit;
use crate::text::listed;

/// The facts for `handleSummary` beside the numbers.
#[derive(Clone, Debug, Default)]
pub struct SummaryContext {
    /// Whether colours were switched off.
    pub no_color: bool,
    /// Whether stdout is a terminal.
    pub is_stdout_tty: bool,
    /// Whether stderr is a terminal.
    pub is_stderr_tty: bool,
    /// `summaryTimeUnit`.
    pub time_unit: Option<Unit>,
}

/// The argument of `handleSummary`, without the data of `setup()`.
pub fn handle_summary_data(summary: &Summary, context: &SummaryContext) -> Value {
    let stats: Vec<String> = summary.trend_stats.iter().map(ToString::to_string).collect();
    let metrics: Map<String, Value> = listed(&summary.metrics)
        .into_iter()
        .map(|metric| (metric.name.clone(), metric_data(metric, summary)))
        .collect();
    let mut data = json!({
        "root_group": group_data(&summary.root),
        "options": {
            "summaryTrendStats": stats,
            "summaryTimeUnit": context.time_unit.map_or("", Unit::key),
            "noColor": context.no_color,
        },
        "state": {
            "isStdOutTTY": context.is_stdout_tty,
            "isStdErrTTY": context.is_stderr_tty,
            "testRunDurationMs": number(summary.run.as_nanos() as f64 / 1e6),
        },
        "metrics": metrics,
    });
    if let Some(left_out) = &summary.left_out {
        data["warmup"] = json!({
            "iterations": left_out.iterations,
            "requests": left_out.requests,
            "checks": left_out.checks,
            "droppedIterations": left_out.dropped_iterations,
        });
    }
    data
}

/// The same as JSON text, with more fields behind: `setup_data`, what `setup()` returned, `verdict` and `seed` (their JSON texts;
/// `None` leaves one out).
pub fn handle_summary_text(
    summary: &Summary,
    context: &SummaryContext,
    more: &[(&str, Option<&str>)],
) -> String {
    let mut text = handle_summary_data(summary, context).to_string();
    // As values they would take several times their memory.
    let is_json = |text: &&str| serde_json::from_str::<&RawValue>(text).is_ok();
    for (key, value) in more {
        let Some(value) = value.filter(is_json) else { continue };
        text.pop();
        text.push_str(",\"");
        text.push_str(key);
        text.push_str("\":");
        text.push_str(value);
        text.push('}');
    }
    text
}

/// The text of the `--summary-export` file.
///
/// Values stand directly in their metric, a rate's `rate` is called `value`, groups and checks are
/// keyed by name, and a threshold is `true` if it was **crossed**: all as in k6.
pub fn summary_export(summary: &Summary, setup_data: Option<Value>) -> String {
    let metrics: Map<String, Value> = listed(&summary.metrics)
        .into_iter()
        .map(|metric| (metric.name.clone(), exported_metric(metric, summary)))
        .collect();
    let mut export = json!({
        "root_group": exported_group(&summary.root),
        "metrics": metrics,
    });
    if let Some(setup_data) = setup_data {
        export["setup_data"] = setup_data;
    }
    pretty(&export)
}

/// The content of the `--summary-export` file after `handleSummary` had the data: their numbers in place of our own,
/// in the file's shape. Fields that k6 does not know stay as they are; a metric without values is left out.
///
/// # Errors
/// A sentence: data of which no summary can be made.
pub fn exported(mut data: Value) -> Result<Value, String> {
    let object = data.as_object_mut().ok_or("data is not an object")?;
    object.remove("options");
    object.remove("state");
    object.remove("verdict");
    object.remove("seed");
    let group = object.get_mut("root_group").filter(|group| group.is_object());
    keyed(group.ok_or("data.root_group is not an object")?);
    let metrics = object.get_mut("metrics").and_then(Value::as_object_mut);
    let metrics = metrics.ok_or("data.metrics is not an object")?;
    if let Some((name, _)) = metrics.iter().find(|(_, metric)| metric.is_null()) {
        return Err(format!("data.metrics.{name} is null"));
    }
    metrics.retain(|_, metric| metric.get("values").is_some_and(Value::is_object));
    for metric in metrics.values_mut() {
        let is_rate = metric["type"] == "rate";
        let values = metric.get_mut("values").map(Value::take);
        let Some(Value::Object(values)) = values else { continue };
        let renamed = |key: String| if is_rate && key == "rate" { "value".to_owned() } else { key };
        let mut flat: Map<String, Value> =
            values.into_iter().map(|(key, value)| (renamed(key), value)).collect();
        if let Some(Value::Object(thresholds)) = metric.get_mut("thresholds").map(Value::take) {
            let crossed = |judged: &Value| Value::Bool(judged["ok"] != true);
            let crossed = thresholds.iter().map(|(source, one)| (source.clone(), crossed(one)));
            flat.insert("thresholds".to_owned(), crossed.collect::<Map<_, _>>().into());
        }
        *metric = Value::Object(flat);
    }
    Ok(data)
}

/// Makes objects of a group's lists, by name.
fn keyed(group: &mut Value) {
    let by_name = |list: &mut Vec<Value>| -> Value {
        let name = |entry: &Value| entry["name"].as_str().unwrap_or("undefined").to_owned();
        std::mem::take(list).into_iter().map(|entry| (name(&entry), entry)).collect()
    };
    if let Some(Value::Array(groups)) = group.get_mut("groups") {
        groups.iter_mut().for_each(keyed);
        group["groups"] = by_name(groups);
    }
    if let Some(Value::Array(checks)) = group.get_mut("checks") {
        group["checks"] = by_name(checks);
    }
}

/// JSON text with k6's indentation of four spaces.
pub fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(value, &mut serializer)
        .expect("a Value has string keys only, and a Vec takes all that is written to it");
    String::from_utf8(out).expect("serde_json writes UTF-8")
}

/// A JSON number; whole ones without a fraction. A number outside of JSON (NaN, infinities) is `null`.
pub(crate) fn number(value: f64) -> Value {
    /// Up to here every whole f64 is an exact integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The numbers of a metric by k6's names.
fn values(metric: &MetricSummary, summary: &Summary) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |key: &str, value: f64| {
        out.insert(key.to_owned(), number(value));
    };
    match &metric.values {
        Values::Counter { count, rate } => {
            put("count", *count);
            if let Some(rate) = rate {
                put("rate", *rate);
            }
        }
        Values::Gauge { value, min, max } => {
            put("value", *value);
            put("min", *min);
            put("max", *max);
        }
        Values::Rate { rate, passes, fails } => {
            put("rate", rate.unwrap_or(0.0));
            put("passes", *passes as f64);
            put("fails", *fails as f64);
        }
        Values::Trend(trend) => {
            for stat in &summary.trend_stats {
                put(&stat.to_string(), trend.stat(stat));
            }
        }
    }
    out
}

fn metric_data(metric: &MetricSummary, summary: &Summary) -> Value {
    let mut data = json!({
        "type": metric.kind.to_string(),
        "contains": metric.contains.to_string(),
        "values": values(metric, summary),
    });
    if !metric.thresholds.is_empty() {
        let thresholds: Map<String, Value> = metric
            .thresholds
            .iter()
            .map(|threshold| (threshold.label(), threshold_data(threshold)))
            .collect();
        data["thresholds"] = Value::Object(thresholds);
    }
    data
}

/// k6 says only whether it holds. One with keys of ours says more.
fn threshold_data(threshold: &ThresholdResult) -> Value {
    let mut data = json!({ "ok": threshold.ok });
    let timing = &threshold.timing;
    if timing.is_none() {
        return data;
    }
    let millis = |time: Duration| number(time.as_millis() as f64);
    data["expression"] = json!(threshold.source);
    data["value"] = threshold.shown_value().map_or(Value::Null, number);
    let times = [("windowMs", timing.window), ("afterMs", timing.after), ("forMs", timing.hold)];
    for (key, time) in times.into_iter().filter_map(|(key, time)| Some((key, time?))) {
        data[key] = millis(time);
    }
    if let Some(name) = &timing.name {
        data["name"] = json!(name);
    }
    if let Some(code) = timing.exit_code {
        data["exitCode"] = json!(code);
    }
    if let Some(breach) = threshold.breach {
        data["firstBreach"] = json!({
            "atMs": millis(breach.at),
            "forMs": millis(breach.lasted),
            "value": breach.value.map_or(Value::Null, number),
        });
    }
    data
}

fn exported_metric(metric: &MetricSummary, summary: &Summary) -> Value {
    let mut exported: Map<String, Value> = Map::new();
    let is_rate = matches!(metric.values, Values::Rate { .. });
    for (key, value) in values(metric, summary) {
        let key = if is_rate && key == "rate" { "value".to_owned() } else { key };
        exported.insert(key, value);
    }
    if !metric.thresholds.is_empty() {
        let crossed: Map<String, Value> = metric
            .thresholds
            .iter()
            .map(|threshold| (threshold.label(), Value::Bool(!threshold.ok)))
            .collect();
        exported.insert("thresholds".to_owned(), Value::Object(crossed));
    }
    Value::Object(exported)
}

fn group_data(group: &GroupSummary) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": group.groups.iter().map(group_data).collect::<Vec<_>>(),
        "checks": group.checks.iter().map(|check| check_data(group, check)).collect::<Vec<_>>(),
    })
}

fn exported_group(group: &GroupSummary) -> Value {
    let groups: Map<String, Value> =
        group.groups.iter().map(|nested| (nested.name.clone(), exported_group(nested))).collect();
    let checks: Map<String, Value> =
        group.checks.iter().map(|check| (check.name.clone(), check_data(group, check))).collect();
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": groups,
        "checks": checks,
    })
}

fn check_data(group: &GroupSummary, check: &CheckSummary) -> Value {
    let path = format!("{}::{}", group.path, check.name);
    json!({
        "name": check.name,
        "path": path,
        "id": id(&path),
        "passes": check.passes,
        "fails": check.fails,
    })
}

/// k6's id of a group or check: the MD5 of its path, in hex.
pub fn id(path: &str) -> String {
    let digest: [u8; 16] = Md5::digest(path.as_bytes()).into();
    format!("{:032x}", u128::from_be_bytes(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_k6() {
        assert_eq!(id(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(id("::G1::G2"), "2eb974156e78e0c2e14dd412aa48ea9b");
        assert_eq!(id("::G1::in g1"), "720cd0af8a36c5df9ee4a33b7b8a948b");
    }

    #[test]
    fn whole_numbers_have_no_fraction_and_impossible_ones_are_null() {
        assert_eq!(number(10.0).to_string(), "10");
        assert_eq!(number(-0.5).to_string(), "-0.5");
        assert_eq!(number(1e300).as_f64(), Some(1e300));
        assert_eq!(number(f64::NAN), Value::Null);
    }
}
