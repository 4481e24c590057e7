//! The summary as Markdown, for pull requests and the pages of CI jobs.

use std::fmt::Write as _;

use brunt_metrics::summary::{MetricSummary, Summary, Values, shared_origin};
use brunt_metrics::{Contains, TrendSink};

use crate::escape;
use crate::humanize;
use crate::junit::{About, judged, observed};

/// At most this many rows of a table are written, those that failed first; a line tells how many there are more.
const ROWS_MAX: usize = 50;

/// The summary: verdict, figures, thresholds, checks that failed, exceptions.
pub fn markdown(summary: &Summary, about: &About<'_>) -> String {
    let mut out = String::new();
    let broken = judged(summary).filter(|(_, threshold)| !threshold.ok).count();
    let count = judged(summary).count();
    let (mark, verdict) = match (about.aborted, broken, count) {
        (Some(why), _, _) => ("🔴", format!("aborted: {}", escape::markdown(why))),
        (None, 0, 0) => ("⚪", "no thresholds".to_owned()),
        (None, 0, _) => ("🟢", format!("{count} of {count} thresholds hold")),
        (None, broken, _) => ("🔴", format!("{broken} of {count} thresholds do not hold")),
    };
    line(&mut out, format_args!("### {mark} {}: {verdict}", code(about.script)));
    line(&mut out, format_args!(""));
    let mut facts = vec![humanize::duration(summary.run.as_secs_f64() * 1000.0, None)];
    facts.extend(about.started.map(escape::markdown));
    facts.extend(about.host.map(escape::markdown));
    line(&mut out, format_args!("{}", facts.join(" · ")));
    figures(&mut out, summary);
    durations(&mut out, summary);
    thresholds(&mut out, summary);
    checks(&mut out, summary);
    routes(&mut out, summary);
    failures(&mut out, summary);
    exceptions(&mut out, summary);
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

fn code(name: &str) -> String {
    format!("<code>{}</code>", escape::markdown(name))
}

fn figures(out: &mut String, summary: &Summary) {
    let mut cells: Vec<(&str, String)> = Vec::new();
    let mut counter = |title, name| {
        if let Some(Values::Counter { count, rate }) = summary.metric(name).map(|one| &one.values) {
            let rate =
                rate.map_or(String::new(), |rate| format!(" ({}/s)", humanize::trimmed(rate, 1)));
            cells.push((title, format!("{}{rate}", humanize::trimmed(*count, 0))));
        }
    };
    counter("requests", "http_reqs");
    counter("iterations", "iterations");
    counter("dropped iterations", "dropped_iterations");
    for (title, name) in [("failed", "http_req_failed"), ("checks", "checks")] {
        if let Some(Values::Rate { rate: Some(rate), .. }) =
            summary.metric(name).map(|one| &one.values)
        {
            cells.push((title, humanize::percent(*rate)));
        }
    }
    if summary.exceptions.count() > 0 {
        cells.push(("exceptions", summary.exceptions.count().to_string()));
    }
    if cells.is_empty() {
        return;
    }
    let row = |of: &dyn Fn(&(&str, String)) -> String| {
        format!("| {} |", cells.iter().map(of).collect::<Vec<_>>().join(" | "))
    };
    line(out, format_args!(""));
    line(out, format_args!("{}", row(&|(title, _)| (*title).to_owned())));
    line(out, format_args!("|{}", "--:|".repeat(cells.len())));
    line(out, format_args!("{}", row(&|(_, value)| value.clone())));
}

/// Trends of time: those that scripts measured, and of the built-in ones the whole durations.
fn durations(out: &mut String, summary: &Summary) {
    const PARTS: [&str; 6] = [
        "http_req_blocked",
        "http_req_connecting",
        "http_req_tls_handshaking",
        "http_req_sending",
        "http_req_waiting",
        "http_req_receiving",
    ];
    let trends: Vec<(&MetricSummary, &TrendSink)> = summary
        .metrics
        .iter()
        .filter(|metric| {
            metric.contains == Contains::Time && !PARTS.contains(&metric.name.as_str())
        })
        .filter_map(|metric| match &metric.values {
            Values::Trend(sink) if !sink.is_empty() => Some((metric, &**sink)),
            _ => None,
        })
        .collect();
    if trends.is_empty() {
        return;
    }
    line(out, format_args!(""));
    line(out, format_args!("| | mean | p50 | p90 | p95 | p99 | max |"));
    line(out, format_args!("|---|--:|--:|--:|--:|--:|--:|"));
    for (metric, sink) in trends.iter().take(ROWS_MAX) {
        let shown = |ms: f64| humanize::duration(ms, None);
        let percentiles = [50.0, 90.0, 95.0, 99.0].map(|percent| shown(sink.percentile(percent)));
        let (mean, max) = (shown(sink.avg()), shown(sink.max()));
        let name = code(&metric.name);
        line(out, format_args!("| {name} | {mean} | {} | {max} |", percentiles.join(" | ")));
    }
    more(out, trends.len());
}

fn thresholds(out: &mut String, summary: &Summary) {
    let mut all: Vec<_> = judged(summary).collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, threshold)| threshold.ok);
    line(out, format_args!(""));
    line(out, format_args!("| | threshold | observed |"));
    line(out, format_args!("|---|---|--:|"));
    for (metric, threshold) in all.iter().take(ROWS_MAX) {
        let mark = if threshold.ok { "🟢" } else { "🔴" };
        let name = code(&format!("{} {}", metric.name, threshold.source.trim()));
        let observed = observed(metric, threshold);
        line(out, format_args!("| {mark} | {name} | {observed} |"));
    }
    more(out, all.len());
}

fn checks(out: &mut String, summary: &Summary) {
    let mut failed: Vec<_> = summary.checks.iter().filter(|check| check.fails > 0).collect();
    if summary.checks.is_empty() {
        return;
    }
    let passed = summary.checks.len() - failed.len();
    line(out, format_args!(""));
    line(out, format_args!("{passed} of {} checks never failed.", summary.checks.len()));
    if failed.is_empty() {
        return;
    }
    failed.sort_by_key(|check| std::cmp::Reverse(check.fails));
    line(out, format_args!(""));
    line(out, format_args!("| check | failed | passed |"));
    line(out, format_args!("|---|--:|--:|"));
    for check in failed.iter().take(ROWS_MAX) {
        let group = check.group.trim_start_matches("::").replace("::", " / ");
        let name = if group.is_empty() {
            code(&check.name)
        } else {
            code(&format!("{group} / {}", check.name))
        };
        line(out, format_args!("| {name} | {} | {} |", check.fails, check.passes));
    }
    more(out, failed.len());
}

/// The routes that took the most time. One alone has told all above.
fn routes(out: &mut String, summary: &Summary) {
    if summary.routes.len() < 2 {
        return;
    }
    let origin = shared_origin(&summary.routes);
    line(out, format_args!(""));
    line(out, format_args!("| route | requests | good | failed | p50 | p95 | p99 | max | time |"));
    line(out, format_args!("|---|--:|--:|--:|--:|--:|--:|--:|--:|"));
    for route in summary.routes.iter().take(ROWS_MAX) {
        let shown = |ms: f64| humanize::duration(ms, None);
        let durations = &route.duration;
        let percentiles = [50.0, 95.0, 99.0].map(|percent| shown(durations.percentile(percent)));
        let failed = humanize::percent(route.failed as f64 / route.requests.max(1) as f64);
        let name = code(&crate::text::routes::name(route, origin));
        let good = humanize::trimmed(route.goodput, 1);
        let (max, time) = (shown(durations.max()), humanize::percent(route.share));
        let requests = route.requests;
        line(
            out,
            format_args!(
                "| {name} | {requests} | {good}/s | {failed} | {} | {max} | {time} |",
                percentiles.join(" | ")
            ),
        );
    }
    more(out, summary.routes.len());
}

/// The most frequent kinds of failed requests, with an example each.
fn failures(out: &mut String, summary: &Summary) {
    /// More are for the page of a run.
    const KINDS_MAX: usize = 10;
    if summary.failures.is_empty() {
        return;
    }
    line(out, format_args!(""));
    line(out, format_args!("| failure | times | route | example |"));
    line(out, format_args!("|---|--:|---|---|"));
    for kind in summary.failures.iter().take(KINDS_MAX) {
        let name = format!("{} {}", kind.method, kind.route);
        let example = kind.example.as_deref().map(code).unwrap_or_default();
        line(
            out,
            format_args!(
                "| {} | {} | {} | {example} |",
                code(&kind.message),
                kind.count,
                code(name.trim())
            ),
        );
    }
    if summary.failures.len() > KINDS_MAX {
        line(out, format_args!(""));
        line(out, format_args!("{} more kinds are left out.", summary.failures.len() - KINDS_MAX));
    }
}

fn exceptions(out: &mut String, summary: &Summary) {
    let told = &summary.exceptions.told;
    if told.is_empty() {
        return;
    }
    line(out, format_args!(""));
    line(out, format_args!("| exception | times |"));
    line(out, format_args!("|---|--:|"));
    for exception in told.iter().take(ROWS_MAX) {
        line(out, format_args!("| {} | {} |", code(exception.message()), exception.count));
    }
    more(out, told.len());
}

fn more(out: &mut String, rows: usize) {
    if rows > ROWS_MAX {
        line(out, format_args!(""));
        line(out, format_args!("{} more are left out.", rows - ROWS_MAX));
    }
}

#[cfg(test)]
mod tests;
