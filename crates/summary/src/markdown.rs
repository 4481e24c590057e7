//! A summary as Markdown, for the comments of pull requests: GitHub's and GitLab's dialect.

use std::fmt::Write as _;

use brunt_metrics::Kind;
use brunt_metrics::summary::{MetricSummary, Summary};

use crate::tables;

/// Thresholds, checks and metrics as tables. `title` is a line of text.
pub fn render(summary: &Summary, title: &str) -> String {
    let mut out = String::new();
    let broken = thresholds(summary).filter(|(_, result)| !result.ok).count();
    let verdict = match (thresholds(summary).count(), broken) {
        (0, _) => "no thresholds".to_owned(),
        (_, 0) => "✅ all thresholds hold".to_owned(),
        (all, broken) => format!("❌ {broken} of {all} thresholds broken"),
    };
    // Writing to a String can't fail.
    let _ = writeln!(out, "### {}\n\n{verdict} · {}\n", text(title), tables::length(summary));
    if thresholds(summary).next().is_some() {
        out.push_str("| | threshold | metric | value |\n|---|---|---|---|\n");
        for (metric, result) in thresholds(summary) {
            let sign = if result.ok { "✅" } else { "❌" };
            let numbers = tables::numbers(metric, &summary.trend_stats);
            let known = numbers.iter().find(|number| number.name == result.aggregation);
            let value = known.map_or_else(
                || result.value.map_or("–".to_owned(), crate::humanize::js_number),
                |number| number.text.clone(),
            );
            let _ = writeln!(
                out,
                "| {sign} | {} | {} | {value} |",
                code(&result.source),
                code(&metric.name)
            );
        }
        out.push('\n');
    }
    if !summary.checks.is_empty() {
        out.push_str("| | check | passed | failed |\n|---|---|---:|---:|\n");
        for check in &summary.checks {
            let sign = if check.fails == 0 { "✅" } else { "❌" };
            let group = check.group.trim_start_matches("::").replace("::", " › ");
            let name = if group.is_empty() {
                check.name.clone()
            } else {
                format!("{group} › {}", check.name)
            };
            let _ =
                writeln!(out, "| {sign} | {} | {} | {} |", text(&name), check.passes, check.fails);
        }
        out.push('\n');
    }
    for is_trend in [true, false] {
        let is_of_table = |metric: &&MetricSummary| (metric.kind == Kind::Trend) == is_trend;
        let metrics: Vec<_> = tables::metrics(summary).filter(is_of_table).collect();
        table(&mut out, &metrics, summary, is_trend);
    }
    out
}

/// Trends have the same numbers, in columns; all others have theirs in a row's end.
fn table(out: &mut String, metrics: &[&MetricSummary], summary: &Summary, has_columns: bool) {
    let Some(first) = metrics.first() else { return };
    let names: Vec<String> = if has_columns {
        tables::numbers(first, &summary.trend_stats).into_iter().map(|one| one.name).collect()
    } else {
        vec!["values".to_owned()]
    };
    let align = if has_columns { "---:" } else { "---" };
    let _ = writeln!(
        out,
        "| metric | {} |\n|---|{}",
        names.join(" | "),
        format!("{align}|").repeat(names.len())
    );
    for metric in metrics {
        let numbers = tables::numbers(metric, &summary.trend_stats);
        let cells: Vec<String> = if has_columns {
            numbers.into_iter().map(|number| number.text).collect()
        } else {
            let told = numbers.iter().map(|number| format!("{} {}", number.name, number.text));
            vec![told.collect::<Vec<_>>().join(", ")]
        };
        let _ = writeln!(out, "| {} | {} |", code(&metric.name), cells.join(" | "));
    }
    out.push('\n');
}

fn thresholds(
    summary: &Summary,
) -> impl Iterator<Item = (&MetricSummary, &brunt_metrics::summary::ThresholdResult)> {
    let metrics = summary.metrics.iter().chain(&summary.own);
    metrics.flat_map(|metric| metric.thresholds.iter().map(move |result| (metric, result)))
}

/// Plain text in a cell: nothing in it is markup.
fn text(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        // Within a word, or between digits, it is no markup.
        let is_plain = match letter {
            '_' => before.is_alphanumeric() && after.is_alphanumeric(),
            ':' => before.is_ascii_digit() && after.is_ascii_digit(),
            _ => false,
        };
        before = letter;
        if is_plain {
            out.push(letter);
            continue;
        }
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' | '@' | ':'
            | '$' => {
                // As an entity: a mention or a link is none then, either.
                let _ = write!(out, "&#{};", u32::from(letter));
            }
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// A name or an expression as code.
fn code(name: &str) -> String {
    format!("<code>{}</code>", text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_whatever_they_hold() {
        assert_eq!(text("a|b\n<b>@all"), "a&#124;b &lt;b&gt;&#64;all");
        assert_eq!(code("p(95)<5"), "<code>p&#40;95&#41;&lt;5</code>");
    }
}
