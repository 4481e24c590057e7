//! The figures of statements, for the report.

use std::fmt::Write as _;

use brunt_attack::sql::Figures;
use brunt_duration::format_rounded;
use brunt_records::Histogram;
use serde_json::{Map, Value, json};

/// SQLSTATEs that the report for people lists.
const STATES_MAX: usize = 20;

/// Rows below those of an attack's report. `seconds`: from the first hit to the last answer.
pub(super) fn text(figures: &Figures, seconds: f64) -> String {
    let mut text = String::from("\n");
    let mut row = |name: &str, list: &str, values: String| {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{name:<13}{list:<35}{values}");
    };
    row("Rows", "[total, rate, affected]", {
        let rate = per_second(figures.rows, seconds);
        format!("{}, {rate:.2}, {}", figures.rows, figures.rows_affected)
    });
    row("First row", "[min, mean, 50, 90, 95, 99, max]", seven(&figures.first_row));
    row("Last row", "[min, mean, 50, 90, 95, 99, max]", seven(&figures.last_row));
    row("Pool wait", "[min, mean, 50, 90, 95, 99, max]", seven(&figures.pool_wait));
    row("Connects", "[total, mean, max]", {
        let (mean, max) = (figures.connecting.mean(), figures.connecting.max());
        format!("{}, {}, {}", figures.connecting.count(), ns(mean), ns(max))
    });
    row("Retries", "[total]", figures.retries.to_string());
    if figures.states.is_empty() {
        return text;
    }
    let mut states: Vec<_> = figures.states.iter().collect();
    states.sort_by_key(|(_, state)| std::cmp::Reverse(state.count));
    let _ = writeln!(text, "\n{:<26}{:<9}Such as", "SQLSTATE", "Count");
    for (code, state) in states.iter().take(STATES_MAX) {
        let example: String =
            state.example.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
        let _ = writeln!(text, "{code:<26}{:<9}{example}", state.count);
    }
    if let Some(more) = states.len().checked_sub(STATES_MAX + 1) {
        let _ = writeln!(text, "… and {} more", more + 1);
    }
    text
}

/// The same as JSON; times in nanoseconds.
pub(super) fn json(figures: &Figures, seconds: f64) -> Value {
    let states = figures.states.iter().map(|(code, state)| {
        (code.clone(), json!({ "count": state.count, "example": state.example }))
    });
    json!({
        "rows": figures.rows,
        "rows_rate": per_second(figures.rows, seconds),
        "rows_affected": figures.rows_affected,
        "first_row": latencies(&figures.first_row),
        "last_row": latencies(&figures.last_row),
        "pool_wait": latencies(&figures.pool_wait),
        "connects": figures.connecting.count(),
        "connecting": latencies(&figures.connecting),
        "retries": figures.retries,
        "states": states.collect::<Map<String, Value>>(),
    })
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { count as f64 }
}

fn ns(ns: u64) -> String {
    format_rounded(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn seven(histogram: &Histogram) -> String {
    let mut all = vec![histogram.min(), histogram.mean()];
    all.extend(histogram.quantiles(&[0.5, 0.9, 0.95, 0.99]));
    all.push(histogram.max());
    all.into_iter().map(ns).collect::<Vec<_>>().join(", ")
}

fn latencies(histogram: &Histogram) -> Value {
    let q = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99]);
    json!({
        "mean": histogram.mean(), "50th": q[0], "90th": q[1], "95th": q[2], "99th": q[3],
        "max": histogram.max(), "min": histogram.min(),
    })
}
