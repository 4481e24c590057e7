//! The section REQUESTS: the routes that took the most time. k6 has none such.

use brunt_metrics::Contains;
use brunt_metrics::TrendSink;
use brunt_metrics::summary::{RouteSummary, Summary, shared_origin};

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
    let shown = if origin.is_empty() {
        &*route.route
    } else {
        route.route.strip_prefix(origin).unwrap_or(&route.route)
    };
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
