//! The dashboards of `deploy/grafana`: each is JSON that Grafana reads, and asks only for metrics that
//! there are.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;

use brunt_metrics::{Contains, Kind, Registry};
use serde_json::Value;

fn dashboards() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/grafana");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    };
    files.filter(|path| path.extension().is_some_and(|e| e == "json")).map(read).collect()
}

/// The queries of a dashboard, under whatever key its kind of source has them.
fn queries(dashboard: &Value) -> Vec<String> {
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let query = ["expr", "query", "target"].iter().find_map(|key| target[*key].as_str());
            queries.push(query.unwrap_or_else(|| panic!("no query in {target}")).to_owned());
        }
    }
    queries
}

/// Words that name a metric: those behind `before`, up to a character that no name has.
fn names<'a>(query: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    query.split(before).skip(1).map(move |rest| rest.split(ends).next().unwrap_or_default())
}

/// Every form in which an output writes a metric's name.
fn forms(dashboard: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for metric in Registry::new().all() {
        let name = &metric.name;
        let is_data = metric.contains == Contains::Data;
        match (dashboard, metric.kind) {
            ("influxdb" | "statsd", _) | (_, Kind::Gauge) => forms.push(name.to_string()),
            ("opentelemetry", Kind::Counter) if is_data => {
                forms.push(format!("{name}_bytes_total"));
            }
            ("opentelemetry", Kind::Rate) | (_, Kind::Counter) => {
                forms.push(format!("{name}_total"));
            }
            ("opentelemetry", Kind::Trend) => {
                forms.extend(
                    ["bucket", "sum", "count"].map(|part| format!("{name}_milliseconds_{part}")),
                );
            }
            (_, Kind::Rate) => forms.push(format!("{name}_rate")),
            ("prometheus-native", Kind::Trend) => forms.push(format!("{name}_seconds")),
            (_, Kind::Trend) => {
                forms.extend(["p95", "p99", "avg", "max"].map(|stat| format!("{name}_{stat}")));
            }
        }
    }
    // Each check is a counter of its own.
    forms.push("check".to_owned());
    forms
}

#[test]
fn every_query_names_metrics_that_there_are() {
    let dashboards = dashboards();
    assert_eq!(dashboards.len(), 5);
    for (name, dashboard) in dashboards {
        let before: &[&str] = match &*name {
            "influxdb" => &["FROM \""],
            "statsd" => &[".k6."],
            _ => &["k6_"],
        };
        let forms = forms(&name);
        for query in queries(&dashboard) {
            let found: Vec<_> = before.iter().flat_map(|before| names(&query, before)).collect();
            assert!(!found.is_empty(), "{name}: {query}");
            for metric in found {
                assert!(forms.iter().any(|form| form == metric), "{name}: {metric} in {query}");
            }
        }
    }
}

#[test]
fn panels_lie_side_by_side_and_ask_the_source_that_is_chosen() {
    for (name, dashboard) in dashboards() {
        assert_eq!(dashboard["uid"], format!("brunt-{name}"));
        let panels = dashboard["panels"].as_array().unwrap();
        let mut taken = std::collections::BTreeSet::new();
        for panel in panels {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{name}");
            let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(x < 24 && taken.insert((x, y)), "{name}: {}", panel["title"]);
                }
            }
        }
    }
}
