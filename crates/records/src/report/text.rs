//! The report that people read in a terminal.

use std::fmt::Write as _;

use super::table::table;
use brunt_duration::format_rounded;

use crate::{Class, Histogram, Summary};

/// Distinct texts of errors that are printed.
const ERRORS_MAX: usize = 100;

/// vegeta's rows, then the texts of errors, then what Brunt knows more.
pub(super) fn text(summary: &Summary) -> String {
    let mut out = table(&rows(summary));
    out.push_str("Error Set:\n");
    let texts = summary.errors().texts();
    for (text, _) in texts.iter().take(ERRORS_MAX) {
        out.push_str(text);
        out.push('\n');
    }
    let more = texts.len().saturating_sub(ERRORS_MAX);
    if more > 0 {
        let _ = writeln!(out, "… and {more} texts more");
    }
    if summary.errors().not_kept() > 0 {
        let _ = writeln!(out, "… and {} errors with other texts", summary.errors().not_kept());
    }
    for section in [schedule(summary), outcomes(summary), kinds(summary), groups(summary)]
        .into_iter()
        .flatten()
    {
        out.push('\n');
        out.push_str(&section);
    }
    out
}

fn rows(summary: &Summary) -> Vec<Vec<String>> {
    let row =
        |name: &str, list: &str, values: String| vec![name.to_owned(), list.to_owned(), values];
    let duration = summary.duration();
    let wait = summary.wait();
    let mut codes = String::new();
    for (code, count) in sorted_codes(summary) {
        let _ = write!(codes, "{code}:{count}  ");
    }
    vec![
        row(
            "Requests",
            "[total, rate, throughput]",
            format!("{}, {:.2}, {:.2}", summary.requests(), summary.rate(), summary.throughput()),
        ),
        row(
            "Duration",
            "[total, attack, wait]",
            format!("{}, {}, {}", ns(duration.saturating_add(wait)), ns(duration), ns(wait)),
        ),
        row("Latencies", "[min, mean, 50, 90, 95, 99, max]", seven(&summary.latencies())),
        row("Bytes In", "[total, mean]", bytes(summary, summary.bytes_in())),
        row("Bytes Out", "[total, mean]", bytes(summary, summary.bytes_out())),
        row("Success", "[ratio]", format!("{:.2}%", summary.success() * 100.0)),
        row("Status Codes", "[code:count]", codes),
    ]
}

/// Sorted as texts, which is how vegeta does it.
pub(super) fn sorted_codes(summary: &Summary) -> Vec<(String, u64)> {
    let mut codes: Vec<_> =
        summary.codes().iter().map(|(code, count)| (code.to_string(), *count)).collect();
    codes.sort();
    codes
}

fn bytes(summary: &Summary, total: u64) -> String {
    format!("{total}, {:.2}", summary.per_request(total))
}

pub(super) fn ns(ns: u64) -> String {
    format_rounded(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn seven(histogram: &Histogram) -> String {
    let [p50, p90, p95, p99] = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99])[..] else {
        unreachable!("there is a value for each share")
    };
    let values = [histogram.min(), histogram.mean(), p50, p90, p95, p99, histogram.max()];
    values.map(ns).join(", ")
}

/// Whether hits were begun when they were due; only if the records tell it.
fn schedule(summary: &Summary) -> Option<String> {
    let schedule = summary.schedule()?;
    let row =
        |name: &str, list: &str, values: String| vec![name.to_owned(), list.to_owned(), values];
    let lags = schedule.lags.quantiles(&[0.5, 0.99]);
    Some(table(&[
        row(
            "Schedule",
            "[offered, achieved]",
            format!("{:.2}, {:.2}", schedule.offered_rate(), schedule.achieved_rate()),
        ),
        row(
            "Lag",
            "[50, 99, max]",
            format!("{}, {}, {}", ns(lags[0]), ns(lags[1]), ns(schedule.lags.max())),
        ),
        row("Waited", "[min, mean, 50, 90, 95, 99, max]", seven(&schedule.response_times)),
    ]))
}

/// Latencies of each class of ends, if there was more than one: fast failures make all of them together look good.
fn outcomes(summary: &Summary) -> Option<String> {
    let classes = occurred(summary);
    if classes.len() < 2 {
        return None;
    }
    let mut rows = vec![vec![
        "Outcome".to_owned(),
        "Count".to_owned(),
        "[min, mean, 50, 90, 95, 99, max]".to_owned(),
    ]];
    for class in classes {
        let latencies = summary.class(class);
        rows.push(vec![class.name().to_owned(), latencies.count().to_string(), seven(latencies)]);
    }
    Some(table(&rows))
}

/// The kinds of errors, if their texts are too many to read: URLs make them differ.
fn kinds(summary: &Summary) -> Option<String> {
    let kinds = summary.kinds().sorted();
    if summary.errors().texts().len() <= kinds.len() {
        return None;
    }
    let mut rows = vec![["Error", "Count", "Such as"].map(str::to_owned).to_vec()];
    rows.extend(kinds.into_iter().map(|(kind, count, example)| {
        vec![kind.to_owned(), count.to_string(), example.replace(['\n', '\r'], " ")]
    }));
    Some(table(&rows))
}

pub(super) fn occurred(summary: &Summary) -> Vec<Class> {
    Class::ALL.into_iter().filter(|class| summary.class(*class).count() > 0).collect()
}

fn groups(summary: &Summary) -> Option<String> {
    let name = summary.group_by()?.name();
    let (groups, rest) = summary.groups();
    let mut rows = vec![
        [name, "Count", "Success", "[min, mean, 50, 90, 95, 99, max]"].map(str::to_owned).to_vec(),
    ];
    let named = groups.iter().map(|(name, group)| (name.as_str(), group));
    let rest = Some(("(others)", rest)).filter(|(_, rest)| rest.latencies.count() > 0);
    for (name, group) in named.chain(rest) {
        let count = group.latencies.count();
        let share = group.successes as f64 / count.max(1) as f64;
        rows.push(vec![
            if name.is_empty() { "(none)".to_owned() } else { name.to_owned() },
            count.to_string(),
            format!("{:.2}%", share * 100.0),
            seven(&group.latencies),
        ]);
    }
    Some(table(&rows))
}
