//! Our text and our export against what k6 1.8.1 wrote for the same numbers.
//!
//! `tests/k6/record.py` runs the scripts beside it in a real k6 and leaves one JSON file for each run:
//! the numbers, and what was printed. Intended differences: none so far.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::summary::{
    Breakdown, CheckSummary, Exceptions, GroupSummary, MetricSummary, Summary, ThresholdResult,
    Values,
};
use brunt_metrics::{Contains, Dropped, Kind, TrendSink, TrendStat};
use brunt_summary::humanize::Unit;
use brunt_summary::json;
use brunt_summary::text::{self, Mode, TextOptions};
use serde_json::Value;

#[test]
fn the_text_is_what_k6_prints() {
    let mut failures = Vec::new();
    for (name, fixture) in fixtures() {
        let summary = summary(&fixture);
        let options = TextOptions {
            mode: Mode::parse(string(&fixture["mode"])).expect("a layout of ours"),
            colour: fixture["colour"].as_bool().expect("a flag"),
            time_unit: Unit::parse(string(&fixture["time_unit"])),
            routes: false,
            failures: 0,
        };
        let ours = text::surrounded(&text::render(&summary, &options));
        let theirs = string(&fixture["text"]);
        if ours != theirs {
            let line = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
            failures.push(format!("{name}: first difference (ours, theirs): {line:#?}\n{ours}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_export_says_what_k6_exports() {
    for (name, fixture) in fixtures() {
        let exported =
            json::summary_export(&summary(&fixture), fixture["export"].get("setup_data").cloned());
        let ours: Value = serde_json::from_str(&exported).expect("our own JSON");
        same(&name, &ours, &fixture["export"]);
    }
}

/// Equal, but for the last digits of numbers: the recorder had to work the run's length out.
fn same(at: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys = |map: &serde_json::Map<String, Value>| {
                let mut keys: Vec<String> = map.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(ours), keys(theirs), "{at}");
            for (key, value) in ours {
                same(&format!("{at}/{key}"), value, &theirs[key]);
            }
        }
        (Value::Number(ours), Value::Number(theirs)) => {
            let number = |value: &serde_json::Number| value.as_f64().expect("a number of JSON");
            let (a, b) = (number(ours), number(theirs));
            assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{at}: {a} against {b}");
        }
        _ => assert_eq!(ours, theirs, "{at}"),
    }
}

fn fixtures() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/k6");
    let mut fixtures: Vec<(String, Value)> = std::fs::read_dir(folder)
        .expect("the fixtures stand beside this file")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a readable fixture");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, serde_json::from_str(&text).expect("JSON"))
        })
        .collect();
    fixtures.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(fixtures.len() >= 20);
    fixtures
}

fn summary(fixture: &Value) -> Summary {
    Summary {
        run: Duration::from_nanos(fixture["run_ns"].as_u64().expect("nanoseconds")),
        trend_stats: list(&fixture["trend_stats"], |stat| {
            TrendStat::parse(string(stat)).expect("a stat that k6 knows")
        }),
        metrics: list(&fixture["metrics"], metric),
        checks: list(&fixture["checks"], check),
        root: group(&fixture["root"]),
        scenarios: list(&fixture["scenarios"], breakdown),
        groups: list(&fixture["groups"], breakdown),
        own: Vec::new(),
        routes: Vec::new(),
        failures: Vec::new(),
        exceptions: Exceptions::default(),
        dropped: Dropped::default(),
        left_out: None,
    }
}

fn metric(value: &Value) -> MetricSummary {
    let values = values(&value["values"]);
    let thresholds = list(&value["thresholds"], |threshold| {
        let source = string(&threshold["source"]);
        let end = source.find(['<', '>', '=', '!']).expect("an operator");
        let aggregation = source[..end].trim().to_owned();
        ThresholdResult {
            source: source.to_owned(),
            ok: threshold["ok"].as_bool().expect("a verdict"),
            value: values.get(&aggregation),
            aggregation,
            ..ThresholdResult::default()
        }
    });
    MetricSummary {
        name: string(&value["name"]).to_owned(),
        parent: value["parent"].as_str().map(str::to_owned),
        kind: match string(&value["kind"]) {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "rate" => Kind::Rate,
            _ => Kind::Trend,
        },
        contains: match string(&value["contains"]) {
            "time" => Contains::Time,
            "data" => Contains::Data,
            _ => Contains::Default,
        },
        values,
        named: false,
        thresholds,
        observed: value["observed"].as_bool().expect("a flag"),
    }
}

fn values(value: &Value) -> Values {
    let numbers = |key: &str| -> Option<Vec<f64>> {
        let numbers = value.get(key)?.as_array()?;
        Some(numbers.iter().map(|number| number.as_f64().expect("a number")).collect())
    };
    if let Some(counter) = numbers("counter") {
        return Values::Counter { count: counter[0], rate: Some(counter[1]) };
    }
    if let Some(gauge) = numbers("gauge") {
        return Values::Gauge { value: gauge[0], min: gauge[1], max: gauge[2] };
    }
    if let Some(rate) = numbers("rate") {
        let total = rate[0] + rate[1];
        return Values::Rate {
            rate: (total > 0.0).then(|| rate[0] / total),
            passes: rate[0] as u64,
            fails: rate[1] as u64,
        };
    }
    let trend = numbers("trend").expect("a kind of values");
    Values::Trend(Arc::new(TrendSink::from_values(trend)))
}

fn breakdown(value: &Value) -> Breakdown {
    Breakdown {
        name: string(&value["name"]).to_owned(),
        metrics: list(&value["metrics"], metric),
        checks: list(&value["checks"], check),
        groups: list(&value["groups"], breakdown),
    }
}

fn group(value: &Value) -> GroupSummary {
    GroupSummary {
        name: string(&value["name"]).to_owned(),
        path: string(&value["path"]).to_owned(),
        groups: list(&value["groups"], group),
        checks: list(&value["checks"], check),
    }
}

fn check(value: &Value) -> CheckSummary {
    CheckSummary {
        name: string(&value["name"]).to_owned(),
        group: string(&value["group"]).to_owned(),
        passes: value["passes"].as_u64().expect("a count"),
        fails: value["fails"].as_u64().expect("a count"),
    }
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().expect("a list").iter().map(read).collect()
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a text")
}
