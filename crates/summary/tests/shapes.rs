//! The JSON shapes, and the summary of a test that measured nothing.

use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::summary::{
    CheckSummary, Exception, Exceptions, GroupSummary, MetricSummary, Summary, ThresholdResult,
    Values,
};
use brunt_metrics::{Contains, Dropped, Kind, TrendSink, TrendStat};
use brunt_summary::humanize::Unit;
use brunt_summary::json::machine::{self, MachineContext};
use brunt_summary::json::{
    SummaryContext, exported, handle_summary_data, handle_summary_text, pretty, summary_export,
};
use brunt_summary::text::{Mode, TextOptions, render};
use serde_json::json;

#[test]
fn handle_summary_gets_what_k6_gives_it() {
    let context = SummaryContext {
        is_stdout_tty: true,
        time_unit: Some(Unit::Milliseconds),
        ..SummaryContext::default()
    };
    let data = handle_summary_text(&small(), &context, Some("{\"x\":[1,null,\"s\"]}"));
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert_eq!(
        data,
        json!({
            "root_group": {
                "name": "", "path": "", "id": "d41d8cd98f00b204e9800998ecf8427e",
                "groups": [{
                    "name": "G", "path": "::G", "id": "ab4f859761e6164c6cf266e9d94e750d",
                    "groups": [],
                    "checks": [{
                        "name": "a", "path": "::G::a", "passes": 3, "fails": 0,
                        "id": "cbd720d8af7011cfcab905012c6979e3",
                    }],
                }],
                "checks": [],
            },
            "options": {
                "summaryTrendStats": ["avg", "p(99.90)"], "summaryTimeUnit": "ms", "noColor": false,
            },
            "state": { "isStdOutTTY": true, "isStdErrTTY": false, "testRunDurationMs": 1500.5 },
            "metrics": {
                "cc": {
                    "type": "counter", "contains": "default", "values": { "count": 3, "rate": 2 },
                    "thresholds": { "count>1": { "ok": true }, "rate<0": { "ok": false } },
                },
                "checks": {
                    "type": "rate", "contains": "default",
                    "values": { "rate": 1, "passes": 3, "fails": 0 },
                },
                "rr": {
                    "type": "rate", "contains": "default",
                    "values": { "rate": 0.5, "passes": 1, "fails": 1 },
                },
                "tt": {
                    "type": "trend", "contains": "time",
                    "values": { "avg": 1.5, "p(99.90)": 1.999 },
                },
            },
            "setup_data": { "x": [1, null, "s"] },
        })
    );
}

#[test]
fn without_setup_data_there_is_no_such_key() {
    let data = handle_summary_data(&small(), &SummaryContext::default());
    for none in [None, Some("{")] {
        let text = handle_summary_text(&small(), &SummaryContext::default(), none);
        assert_eq!(text, data.to_string());
    }
    assert!(data.get("setup_data").is_none());
    assert_eq!(data["options"]["summaryTimeUnit"], "");
    assert!(!summary_export(&small(), None).contains("setup_data"));
}

#[test]
fn the_newer_shape_knows_six_stats_of_a_trend() {
    let data = machine::summary_data(
        &small(),
        &MachineContext {
            script: "export default function () {}",
            execution: "local",
            generated_at: "2026-11-21T21:32:37.147138039Z",
            k6_version: "2.2.0",
            full: false,
        },
    );
    assert_eq!(
        data,
        json!({
            "version": "1.0.0",
            "config": {
                "duration": 1.5005, "execution": "local", "script": "export default function () {}",
            },
            "metadata": {
                "generated_at": "2026-11-21T21:32:37.147138039Z", "k6_version": "2.2.0",
            },
            "results": {
                "checks": {
                    "metrics": [
                        { "name": "checks_total", "type": "counter", "contains": "default",
                          "values": { "count": 3 } },
                        { "name": "checks_failed", "type": "rate", "contains": "default",
                          "values": { "matches": 0, "rate": 0, "total": 3 } },
                        { "name": "checks_succeeded", "type": "rate", "contains": "default",
                          "values": { "matches": 3, "rate": 1, "total": 3 } },
                    ],
                    "results": [{ "name": "a", "passes": 3, "fails": 0 }],
                },
                "metrics": [
                    { "name": "cc", "type": "counter", "contains": "default",
                      "values": { "count": 3 } },
                    { "name": "rr", "type": "rate", "contains": "default",
                      "values": { "matches": 1, "rate": 0.5, "total": 2 } },
                    { "name": "tt", "type": "trend", "contains": "time",
                      "values": { "avg": 1.5, "max": null, "med": null, "min": null,
                                  "p90": null, "p95": null } },
                ],
            },
        })
    );
}

#[test]
fn json_files_are_indented_by_four() {
    assert_eq!(pretty(&json!({ "a": [1] })), "{\n    \"a\": [\n        1\n    ]\n}");
}

/// k6's own text generator fails here with a TypeError.
#[test]
fn a_test_without_samples_still_has_a_summary() {
    let empty = Summary {
        run: Duration::ZERO,
        metrics: Vec::new(),
        checks: Vec::new(),
        root: GroupSummary::default(),
        ..small()
    };
    let text = |mode| render(&empty, &TextOptions { mode, ..TextOptions::default() });
    assert_eq!(text(Mode::Compact), "\n  █ TOTAL RESULTS \n\n    no samples were taken\n\n");
    assert_eq!(text(Mode::Full), text(Mode::Compact));
    assert_eq!(text(Mode::Legacy), "     no samples were taken");
    let data = handle_summary_data(&empty, &SummaryContext::default());
    assert_eq!(data["metrics"], json!({}));
    assert_eq!(data["state"]["testRunDurationMs"], 0);
}

/// A script may add samples to the metric of the checks that bear no name.
#[test]
fn the_sums_of_checks_count_every_sample() {
    let mut summary = small();
    let rate = Values::Rate { rate: Some(0.75), passes: 6, fails: 2 };
    summary.metrics = vec![metric("checks", Kind::Rate, rate, true)];
    let text = render(&summary, &TextOptions::default());
    assert!(text.contains("    checks_succeeded...: 75.00% 6 out of 8\n"), "{text}");
    assert!(text.contains("    ✓ a\n"), "{text}");
    summary.checks.clear();
    let text = render(&summary, &TextOptions::default());
    assert!(text.contains("    checks_failed......: 25.00% 2 out of 8\n\n\n"), "{text}");
}

/// A rate that saw nothing has no share; its thresholds pass, and it is shown as zero.
#[test]
fn a_rate_without_samples_is_shown_as_zero() {
    let mut summary = small();
    summary.metrics = vec![MetricSummary {
        thresholds: vec![threshold("rate>0.9", "rate", None, true)],
        ..metric("rb", Kind::Rate, Values::Rate { rate: None, passes: 0, fails: 0 }, false)
    }];
    let text = render(&summary, &TextOptions::default());
    assert!(text.contains("    rb\n    ✓ 'rate>0.9' rate=0.00%\n"), "{text}");
    assert!(text.contains("    rb...: 0.00% 0 out of 0\n"), "{text}");
}

/// k6 shows what a threshold names, even with an empty list, and the sums of checks if the thresholds are about those.
#[test]
fn what_an_empty_list_of_thresholds_names_is_shown() {
    let mut summary = small();
    summary.checks.clear();
    let none = || Values::Rate { rate: None, passes: 0, fails: 0 };
    summary.metrics = vec![
        MetricSummary { named: true, ..metric("named", Kind::Rate, none(), false) },
        MetricSummary { named: true, ..metric("checks", Kind::Rate, none(), false) },
        metric("other", Kind::Rate, none(), false),
    ];
    let text = render(&summary, &TextOptions::default());
    assert!(text.contains("    named...: 0.00% 0 out of 0\n"), "{text}");
    assert!(text.contains("    checks_succeeded...: 0.00% 0 out of 0\n"), "{text}");
    assert!(!text.contains("other"), "{text}");
}

/// Exceptions have a chapter if there were any; k6's shapes of JSON know none.
#[test]
fn exceptions_are_counted_by_message_with_the_place_of_each() {
    let mut summary = small();
    let quiet = render(&summary, &TextOptions::default());
    assert!(!quiet.contains("EXCEPTIONS"), "{quiet}");
    let text = "TypeError: no\n\tat f (native)\n\tat default (file:///x/a.js:3:9)\n".to_owned();
    let told = vec![
        Exception { text, count: 1000 },
        Exception { text: format!("Error: \u{1b}{}", "x".repeat(300)), count: 2 },
    ];
    summary.exceptions = Exceptions { told, others: 5 };
    let text = render(&summary, &TextOptions::default());
    let chapter = &text[text.find("  █ EXCEPTIONS").unwrap()..];
    assert!(
        chapter.starts_with(
            "  █ EXCEPTIONS: 1007 \n\n    ✗ 1000× TypeError: no\n      at default (file:///x/a.js:3:9)\n    ✗ 2× Error:  xxx"
        ),
        "{chapter}"
    );
    assert!(chapter.ends_with("x…\n    ✗ 5× others\n\n"), "{chapter}");
    let legacy = render(&summary, &TextOptions { mode: Mode::Legacy, ..TextOptions::default() });
    assert!(legacy.ends_with("x…\n       ✗ 5× others"), "{legacy}");
    let data = handle_summary_data(&summary, &SummaryContext::default());
    assert!(!data.to_string().contains("TypeError"));
}

/// The data that `handleSummary()` has changed are the data of the export.
#[test]
fn the_export_is_made_of_changed_data() {
    let context = SummaryContext::default();
    let mut data = handle_summary_data(&small(), &context);
    assert_eq!(pretty(&exported(data.clone()).unwrap()), summary_export(&small(), None));
    data["extra"] = json!(1);
    data["metrics"]["mine"] = json!({ "type": "rate", "values": { "rate": 0.5, "foo": "bar" },
        "thresholds": { "a": { "ok": false } } });
    let export = exported(data.clone()).unwrap();
    assert_eq!(export["extra"], 1);
    assert_eq!(
        export["metrics"]["mine"],
        json!({ "value": 0.5, "foo": "bar", "thresholds": { "a": true } })
    );
    data["metrics"]["mine"] = json!(5);
    assert!(exported(data.clone()).unwrap()["metrics"].get("mine").is_none());
    data["metrics"]["mine"] = json!(null);
    assert!(exported(data.clone()).unwrap_err().contains("metrics.mine"));
    data["metrics"] = json!({});
    data["root_group"] = json!({});
    assert_eq!(exported(data.clone()).unwrap()["root_group"], json!({}));
    data["root_group"] = json!(null);
    assert!(exported(data).unwrap_err().contains("root_group"));
}

fn small() -> Summary {
    let check = CheckSummary { name: "a".into(), group: "::G".into(), passes: 3, fails: 0 };
    let trend = Values::Trend(Arc::new(TrendSink::from_values([1.0, 2.0])));
    Summary {
        run: Duration::from_micros(1_500_500),
        trend_stats: vec![TrendStat::Avg, TrendStat::parse("p(99.90)").expect("a stat")],
        metrics: vec![
            MetricSummary {
                thresholds: vec![
                    threshold("count>1", "count", Some(3.0), true),
                    threshold("rate<0", "rate", Some(2.0), false),
                ],
                ..metric("cc", Kind::Counter, Values::Counter { count: 3.0, rate: Some(2.0) }, true)
            },
            metric(
                "checks",
                Kind::Rate,
                Values::Rate { rate: Some(1.0), passes: 3, fails: 0 },
                true,
            ),
            metric("rr", Kind::Rate, Values::Rate { rate: Some(0.5), passes: 1, fails: 1 }, true),
            MetricSummary { contains: Contains::Time, ..metric("tt", Kind::Trend, trend, true) },
            metric("unseen", Kind::Gauge, Values::Gauge { value: 0.0, min: 0.0, max: 0.0 }, false),
        ],
        checks: vec![check.clone()],
        root: GroupSummary {
            groups: vec![GroupSummary {
                name: "G".into(),
                path: "::G".into(),
                groups: Vec::new(),
                checks: vec![check],
            }],
            ..GroupSummary::default()
        },
        own: Vec::new(),
        routes: Vec::new(),
        failures: Vec::new(),
        exceptions: Exceptions::default(),
        dropped: Dropped::default(),
        scenarios: Vec::new(),
        groups: Vec::new(),
    }
}

fn metric(name: &str, kind: Kind, values: Values, observed: bool) -> MetricSummary {
    MetricSummary {
        name: name.into(),
        parent: None,
        kind,
        contains: Contains::Default,
        values,
        thresholds: Vec::new(),
        observed,
        named: false,
    }
}

fn threshold(source: &str, aggregation: &str, value: Option<f64>, ok: bool) -> ThresholdResult {
    ThresholdResult {
        source: source.into(),
        ok,
        value,
        aggregation: aggregation.into(),
        abort_on_fail: false,
    }
}
