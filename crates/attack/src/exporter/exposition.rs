//! Series as Prometheus reads them.

use std::fmt::Write as _;

use http::HeaderMap;
use http::header::ACCEPT;

use super::table::{BUCKETS, Series, Table};

/// How it is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Prometheus' own text, 0.0.4.
    Text,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

impl Syntax {
    /// The form that the request's `Accept` asks for.
    pub(super) fn accepted(headers: &HeaderMap) -> Self {
        let accepts = headers.get_all(ACCEPT).iter().any(|value| {
            value.to_str().is_ok_and(|value| value.contains("application/openmetrics-text"))
        });
        if accepts { Self::OpenMetrics } else { Self::Text }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Name and help of a counter, and what it counts.
type Size = (&'static str, &'static str, fn(&Series) -> u64);

pub(super) fn write(table: &Table, syntax: Syntax) -> String {
    let mut text = String::new();
    let mut series: Vec<_> = table.iter().map(|(url, it)| (labels(url, it), it)).collect();
    series.sort_by(|(a, _), (b, _)| a.cmp(b));
    head(&mut text, "request_seconds", "histogram", "How long hits took, in seconds");
    for (labels, series) in &series {
        histogram(&mut text, labels, series);
    }
    let total = if syntax == Syntax::OpenMetrics { "_total" } else { "" };
    let sizes: [Size; 2] = [
        ("request_bytes_in", "Bytes of the responses' bodies", |series| series.bytes_in),
        ("request_bytes_out", "Bytes of the requests' bodies", |series| series.bytes_out),
    ];
    for (name, help, size) in sizes {
        head(&mut text, name, "counter", help);
        for (labels, series) in &series {
            let _ = writeln!(text, "{name}{total}{{{labels}}} {}", size(series));
        }
    }
    head(&mut text, "request_fail_count", "counter", "Hits that failed, by error");
    for (labels, series) in &series {
        for (message, count) in &series.failures {
            let message = escaped(message);
            let _ = writeln!(
                text,
                "request_fail_count{total}{{{labels},message=\"{message}\"}} {count}"
            );
        }
    }
    let errors = "promhttp_metric_handler_errors";
    let name =
        if syntax == Syntax::OpenMetrics { errors.to_owned() } else { format!("{errors}_total") };
    head(&mut text, &name, "counter", "Scrapes that failed");
    for cause in ["encoding", "gathering"] {
        let _ = writeln!(text, "{errors}_total{{cause=\"{cause}\"}} 0");
    }
    if syntax == Syntax::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn labels(url: &str, series: &Series) -> String {
    let Series { method, status, .. } = series;
    format!("method=\"{}\",status=\"{status}\",url=\"{}\"", escaped(method), escaped(url))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn histogram(text: &mut String, labels: &str, series: &Series) {
    let mut count = 0;
    for (at, hits) in series.buckets.iter().enumerate() {
        count += hits;
        let bound = BUCKETS.get(at).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
        let _ = writeln!(text, "request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}");
    }
    let sum = series.sum_ns as f64 / 1e9;
    let _ = writeln!(text, "request_seconds_sum{{{labels}}} {sum}");
    let _ = writeln!(text, "request_seconds_count{{{labels}}} {count}");
}

#[cfg(test)]
mod tests {
    use brunt_records::Record;

    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        let record = Record {
            method: "GET".into(),
            url: "http://a/\"".into(),
            code: 200,
            latency: 30_000_000,
            bytes_in: 7,
            ..Record::default()
        };
        table.count(&record);
        table.count(&Record {
            latency: 20_000_000_000,
            code: 0,
            error: "no\nway".into(),
            ..record
        });
        table
    }

    #[test]
    fn series_are_written_as_text() {
        let text = write(&table(), Syntax::Text);
        let labels = r#"method="GET",status="200",url="http://a/\"""#;
        for line in [
            "# TYPE request_seconds histogram",
            &format!("request_seconds_bucket{{{labels},le=\"0.025\"}} 0"),
            &format!("request_seconds_bucket{{{labels},le=\"0.05\"}} 1"),
            &format!("request_seconds_bucket{{{labels},le=\"+Inf\"}} 1"),
            &format!("request_seconds_sum{{{labels}}} 0.03"),
            &format!("request_bytes_in{{{labels}}} 7"),
            r#"request_fail_count{method="GET",status="0",url="http://a/\"",message="no\nway"} 1"#,
            "promhttp_metric_handler_errors_total{cause=\"encoding\"} 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn open_metrics_is_written_for_who_accepts_it() {
        let mut headers = HeaderMap::new();
        assert_eq!(Syntax::accepted(&headers), Syntax::Text);
        headers.append(ACCEPT, "text/html".parse().unwrap());
        headers.append(ACCEPT, "application/openmetrics-text;q=1,*/*".parse().unwrap());
        assert_eq!(Syntax::accepted(&headers), Syntax::OpenMetrics);
        let text = write(&table(), Syntax::OpenMetrics);
        assert!(text.contains("request_bytes_in_total{") && text.ends_with("# EOF\n"), "{text}");
    }
}
