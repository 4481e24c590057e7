//! The section REQUESTS: the routes that took the most time. k6 has none such.

use brunt_metrics::summary::{RouteSummary, Summary, shared_origin};
use brunt_metrics::{Contains, TrendSink};

use super::{Writer, put};
use crate::{escape, humanize};

/// Routes of the compact layout.
const SHOWN: usize = 10;
/// The longest name, in characters; the end of a longer one is left out.
const NAME_MAX: usize = 60;

/// Writes the table below the title, which the caller wrote. In full: all routes, bytes, and each outcome's durations.
pub(super) fn table(
    writer: &Writer<'_>,
    summary: &Summary,
    full: bool,
    margin: &str,
    out: &mut String,
) {
    let shown = if full { summary.routes.len() } else { SHOWN };
    let origin = shared_origin(&summary.routes);
    let mut head =
        vec!["", "requests", "good", "failed", "avg", "med", "p(95)", "p(99)", "max", "time"];
    if full {
        head.extend(["sent", "received"]);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for route in summary.routes.iter().take(shown) {
        rows.push(row(writer, route, origin, full));
        if full && route.outcomes.len() > 1 {
            rows.extend(route.outcomes.iter().map(|(outcome, trend)| {
                let mut cells = vec![format!("  {outcome}"), trend.count().to_string()];
                cells.extend([String::new(), String::new()]);
                cells.extend(durations(writer, trend));
                cells
            }));
        }
    }
    let columns = rows[0].len();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - cell.chars().count());
            let painted = match column {
                _ if index == 0 => writer.palette.plain(cell),
                0 => cell.clone(),
                3 if !cell.is_empty() && cell != "0.00%" => writer.palette.bad(cell),
                _ => writer.palette.value(cell),
            };
            match column {
                0 => put(&mut line, format_args!("{painted}{blanks}")),
                _ => put(&mut line, format_args!("  {blanks}{painted}")),
            }
        }
        put(out, format_args!("{margin}{}\n", line.trim_end()));
    }
    if summary.routes.len() > shown {
        let more = summary.routes.len() - shown;
        put(out, format_args!("{margin}… and {more} more; --summary-mode full shows all\n"));
    }
    if !origin.is_empty() {
        put(out, format_args!("{margin}paths are of {}\n", escape::plain(origin)));
    }
}

fn row(writer: &Writer<'_>, route: &RouteSummary, origin: &str, full: bool) -> Vec<String> {
    let share = route.failed as f64 / route.requests.max(1) as f64;
    let mut cells = vec![
        name(route, origin),
        route.requests.to_string(),
        format!("{}/s", humanize::trimmed(route.goodput, 2)),
        humanize::percent(share),
    ];
    cells.extend(durations(writer, &route.duration));
    cells.push(humanize::percent(route.share));
    if full {
        let bytes = |size: Option<f64>| size.map_or(String::new(), humanize::bytes);
        cells.extend([bytes(route.sent), bytes(route.received)]);
    }
    cells
}

fn durations(writer: &Writer<'_>, trend: &TrendSink) -> [String; 5] {
    let numbers = [
        trend.avg(),
        trend.percentile(50.0),
        trend.percentile(95.0),
        trend.percentile(99.0),
        trend.max(),
    ];
    numbers.map(|ms| writer.quantity(ms, Contains::Time))
}

/// `GET /users/{id}`, in one line whatever is in it.
pub(crate) fn name(route: &RouteSummary, origin: &str) -> String {
    let shown = route.below(origin);
    let shown = if route.method.is_empty() {
        shown.to_owned()
    } else {
        format!("{} {shown}", route.method)
    };
    let shown = escape::plain(&shown);
    if shown.chars().count() <= NAME_MAX {
        return shown;
    }
    let mut cut: String = shown.chars().take(NAME_MAX - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brunt_metrics::summary::{FailureSummary, Outcome};

    use super::super::{Mode, TextOptions, render};
    use super::*;
    use crate::junit::tests::empty;

    fn trend(values: &[f64]) -> Arc<TrendSink> {
        Arc::new(TrendSink::from_values(values.iter().copied()))
    }

    fn route(name: &str, requests: u64, failed: u64) -> RouteSummary {
        RouteSummary {
            method: "GET".to_owned(),
            route: format!("http://a.test:8080{name}"),
            requests,
            rate: 1.0,
            failed,
            goodput: 0.5,
            duration: trend(&[1.0, 3.0]),
            outcomes: vec![(Outcome::Ok, trend(&[1.0])), (Outcome::Broken, trend(&[3.0]))],
            sent: Some(1000.0),
            received: None,
            share: 0.25,
        }
    }

    fn summary(routes: usize) -> Summary {
        let mut summary = empty();
        summary.routes = (0..routes).map(|n| route(&format!("/p{n}"), 4, 1)).collect();
        summary.failures = (1..4)
            .map(|n| FailureSummary {
                code: "1503".to_owned(),
                message: "HTTP status 503".to_owned(),
                method: "GET".to_owned(),
                route: format!("/p{n}\n\u{1b}[2J"),
                count: 9 - n,
                example: (n == 1).then(|| "curl http://a.test/p1".to_owned()),
            })
            .collect();
        summary
    }

    fn shown(summary: &Summary, mode: Mode) -> String {
        render(summary, &TextOptions { mode, routes: true, failures: 2, ..TextOptions::default() })
    }

    #[test]
    fn the_ten_that_took_most_are_shown_and_in_full_all_with_their_outcomes() {
        let compact = shown(&summary(12), Mode::Compact);
        let table =
            &compact[compact.find("█ REQUESTS").unwrap()..compact.find("█ FAILURES").unwrap()];
        let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
        let row = |n: u32| {
            format!("    GET /p{n}         4  0.5/s  25.00%  2ms  2ms  2.9ms  2.98ms  3ms  25.00%")
        };
        assert_eq!(
            lines[2],
            "             requests   good  failed  avg  med  p(95)   p(99)  max    time"
        );
        assert_eq!((lines[3], lines[12]), (&*row(0), &*row(9)));
        assert_eq!(lines[13], "    … and 2 more; --summary-mode full shows all");
        assert_eq!(lines[14], "    paths are of http://a.test:8080");
        let full = shown(&summary(12), Mode::Full);
        assert!(full.contains("GET /p11") && full.contains("  5xx"), "{full}");
        assert!(full.contains("received") && full.contains("1.0 kB"), "{full}");
    }

    #[test]
    fn one_route_alone_and_the_old_layout_have_no_table() {
        assert!(!shown(&summary(1), Mode::Compact).contains("REQUESTS"));
        assert!(shown(&summary(1), Mode::Full).contains("REQUESTS"));
        let legacy = shown(&summary(3), Mode::Legacy);
        assert!(!legacy.contains("REQUESTS") && !legacy.contains("FAILURES"));
        let plain = render(&summary(3), &TextOptions::default());
        assert!(!plain.contains("REQUESTS") && !plain.contains("FAILURES"));
    }

    #[test]
    fn failures_are_lines_whatever_is_in_their_names() {
        let text = shown(&summary(1), Mode::Compact);
        let lines = &text[text.find("█ FAILURES").unwrap()..];
        let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
        assert_eq!(lines[0], "█ FAILURES: 21");
        assert_eq!(lines[2], r"    ✗ 8 × HTTP status 503: GET /p1\u{a}\u{1b}[2J");
        assert_eq!(lines[3], "      curl http://a.test/p1");
        assert_eq!(lines[4], r"    ✗ 7 × HTTP status 503: GET /p2\u{a}\u{1b}[2J");
        assert_eq!(lines[5], "    … and 1 more kind; --show-failures 3 shows them");
    }
}
