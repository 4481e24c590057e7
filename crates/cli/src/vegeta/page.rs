//! Records of attacks as the data of the page: what `brunt plot` and `brunt report -type=html` draw.

use brunt_metrics::{Contains, Kind, Sink, TrendSink};
use brunt_records::{Drawn, Summary, Threshold};
use brunt_runfile::page::Draft;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// As many values a series may have to be told exactly.
const EXACT_MAX: u64 = 4096;

/// The facts of the page that the hits don't tell.
pub(crate) struct Facts<'a> {
    /// A name for people.
    pub(crate) name: &'a str,
    /// Conditions, and the figures that they are about.
    pub(crate) thresholds: &'a [Threshold],
    pub(crate) summary: Option<&'a Summary>,
}

/// The document.
pub(super) fn document(drawn: &Drawn, facts: &Facts) -> Vec<u8> {
    let mut draft = Draft::default();
    measures(drawn, &mut draft);
    starts(drawn, &mut draft);
    let failures = failures(drawn, &mut draft);
    let moment = |ns: u64| {
        let moment = Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
        format!("{moment:.6}")
    };
    let is_any = drawn.slices > 0;
    let thresholds: Vec<Value> = match facts.summary {
        None => Vec::new(),
        Some(summary) => facts.thresholds.iter().map(|one| threshold(one, summary)).collect(),
    };
    let passed = (!thresholds.is_empty())
        .then(|| thresholds.iter().all(|threshold| threshold["passed"] == json!(true)));
    let mut told = Map::new();
    told.insert(
        "time".to_owned(),
        json!({ "width": drawn.width, "slices": drawn.slices, "end": drawn.length / 1000 }),
    );
    told.insert(
        "run".to_owned(),
        json!({
            "name": facts.name, "kind": "attack", "state": "finished", "passed": passed,
            "started": is_any.then(|| moment(drawn.started)),
            "ended": is_any.then(|| moment(drawn.started.saturating_add(drawn.length))),
            "brunt": env!("CARGO_PKG_VERSION"),
        }),
    );
    told.insert("thresholds".to_owned(), Value::Array(thresholds));
    told.insert("failures".to_owned(), Value::Array(failures));
    let dropped =
        [("hits of further attacks", drawn.not_shown), ("kinds of failures", drawn.lost_failures)];
    let dropped: Map<String, Value> = dropped
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.to_owned(), json!(count)))
        .collect();
    told.insert("dropped".to_owned(), Value::Object(dropped));
    draft.document(told)
}

/// Rows as series, metric by metric.
fn measures(drawn: &Drawn, draft: &mut Draft) {
    let latencies = |cell: &brunt_records::sheet::Cell| cell.latencies.count();
    let has_plan =
        drawn.rows.iter().any(|row| row.cells.iter().any(|(_, cell)| !cell.waited.is_empty()));
    let metrics: [(&str, Kind, Contains); 6] = [
        ("http_reqs", Kind::Counter, Contains::Default),
        ("http_req_failed", Kind::Rate, Contains::Default),
        ("http_req_duration", Kind::Trend, Contains::Time),
        ("http_req_duration_planned", Kind::Trend, Contains::Time),
        ("data_received", Kind::Counter, Contains::Data),
        ("data_sent", Kind::Counter, Contains::Data),
    ];
    for (metric, kind, contains) in metrics {
        if metric == "http_req_duration_planned" && !has_plan {
            continue;
        }
        for row in &drawn.rows {
            let status = row.status.to_string();
            let mut tags = Vec::new();
            match &row.name {
                Some(name) => tags.push(("name", &**name)),
                None => tags.push(("other", "true")),
            }
            tags.extend(row.method.as_deref().map(|method| ("method", method)));
            tags.extend([
                ("status", &*status),
                ("expected_response", if row.is_failed { "false" } else { "true" }),
            ]);
            tags.extend(row.kind.as_deref().map(|kind| ("error_code", kind)));
            let series = draft.series((metric, kind, contains, "metric"), &tags);
            let binned = row.cells.iter().map(|(_, cell)| latencies(cell)).sum::<u64>() > EXACT_MAX;
            for (slice, cell) in &row.cells {
                let count = latencies(cell);
                let sink = match metric {
                    "http_reqs" => counter(count as f64),
                    "http_req_failed" => Sink::Rate { hits: cell.failed, total: count },
                    "http_req_duration" => Sink::Trend(cell.latencies.clone()),
                    "http_req_duration_planned" => Sink::Trend(cell.waited.clone()),
                    "data_received" => counter(cell.bytes_in as f64),
                    _ => counter(cell.bytes_out as f64),
                };
                draft.push(series, *slice, &sink, binned);
            }
        }
    }
}

/// Hits by when they began; and by when they were due, if that is known.
fn starts(drawn: &Drawn, draft: &mut Draft) {
    let all = || drawn.starts.iter().flatten().map(|(_, start)| start);
    let has_plan = all().any(|start| start.due > 0);
    let lags: u64 = all().map(|start| start.lags.count()).sum();
    let metrics: [(&str, Kind, Contains); 4] = [
        ("load.requests_started", Kind::Counter, Contains::Default),
        ("load.iterations_planned", Kind::Counter, Contains::Default),
        ("load.iterations_started", Kind::Counter, Contains::Default),
        ("load.lateness", Kind::Trend, Contains::Time),
    ];
    for (metric, kind, contains) in metrics {
        if metric != "load.requests_started" && !has_plan {
            continue;
        }
        for (place, starts) in drawn.starts.iter().enumerate() {
            let attack = drawn.attacks.get(place).map(|attack| ("scenario", &**attack));
            let tags: Vec<_> = attack.into_iter().collect();
            let series = draft.series((metric, kind, contains, "load"), &tags);
            for (slice, start) in starts {
                let sink = match metric {
                    "load.iterations_planned" => counter(start.due as f64),
                    "load.lateness" => Sink::Trend(TrendSink::clone(&start.lags)),
                    _ => counter(start.begun as f64),
                };
                draft.push(series, *slice, &sink, lags > EXACT_MAX);
            }
        }
    }
}

fn failures(drawn: &Drawn, draft: &mut Draft) -> Vec<Value> {
    let rows = drawn.failures.iter().map(|failure| {
        let metric = ("failures by kind", Kind::Counter, Contains::Default, "failure");
        let tags = [("error_code", &*failure.kind), ("route", &*failure.url)];
        let series = draft.series(metric, &tags);
        for (slice, count) in &failure.counts {
            draft.push(series, *slice, &counter(*count as f64), false);
        }
        json!({
            "code": failure.kind, "status": failure.status, "message": failure.text, "method": failure.method,
            "route": failure.url, "first": failure.first / 1000, "last": failure.last / 1000, "series": series,
            "exchanges": [],
        })
    });
    rows.collect()
}

fn threshold(threshold: &Threshold, summary: &Summary) -> Value {
    let (value, limit) = threshold.numbers(summary);
    let expression = threshold.to_string();
    let end = expression.find(['<', '>', '=', '!']).unwrap_or(expression.len());
    let metric = expression[..end].trim();
    let op: String =
        expression[end..].chars().take_while(|c| matches!(c, '<' | '>' | '=' | '!')).collect();
    let of = threshold.of().map(|subject| {
        let (metric, stat) = (subject.metric, subject.stat);
        let tags: Map<String, Value> =
            subject.tag.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
        json!({ "metric": metric, "tags": tags, "stat": stat, "op": op })
    });
    json!({
        "metric": metric, "expression": expression, "passed": threshold.judge(summary).is_ok, "value": value,
        "limit": limit, "of": of,
    })
}

fn counter(sum: f64) -> Sink {
    Sink::Counter { sum, rest: 0.0, first_at: None }
}
