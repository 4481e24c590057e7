//! Tables for a pull request, in the Markdown that GitHub and GitLab read.

use std::fmt::Write as _;

use super::sections::{Room, Section, Sections, Title};
use super::{headline, label, number, runs, text};
use crate::comparison::{Comparison, Row};
use crate::verdict::Verdict;

/// The comparison as Markdown: the whole test at once, routes to be unfolded.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    let line = |out: &mut String, text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    let head =
        format!("### {} {}", mark(comparison.verdict), text::markdown(&headline(comparison)));
    line(&mut out, &head);
    line(&mut out, "");
    let side = |side: &[crate::run::Identity], seconds| {
        let names: Vec<String> =
            side.iter().take(10).map(|run| text::markdown(&run.name)).collect();
        let dots = if side.len() > 10 { ", …" } else { "" };
        format!("{} ({}{dots})", runs(side.len(), seconds), names.join(", "))
    };
    line(
        &mut out,
        &format!(
            "A: {}<br>B: {}",
            side(&comparison.a, comparison.seconds[0]),
            side(&comparison.b, comparison.seconds[1])
        ),
    );
    let sections = Sections::of(comparison, Room { most: 20, is_whole: false });
    let mut routes: Vec<&Section<'_>> = Vec::new();
    for section in &sections.sections {
        match section.title {
            Title::All => table(&mut out, None, &section.rows),
            Title::Route(_) => routes.push(section),
            Title::Checks => table(&mut out, Some("Checks"), &section.rows),
            Title::Thresholds => table(&mut out, Some("Thresholds"), &section.rows),
        }
    }
    if !routes.is_empty() {
        let changed = |row: &&&Row| matches!(row.verdict, Verdict::Worse | Verdict::Better);
        let count =
            routes.iter().filter(|route| route.rows.iter().any(|row| changed(&row))).count();
        let summary = format!("{} routes, {count} changed", routes.len());
        line(&mut out, "");
        line(&mut out, &format!("<details><summary>{summary}</summary>"));
        for route in routes {
            if let Title::Route(name) = route.title {
                let title = format!("<code>{}</code>", text::markdown(name));
                table(&mut out, Some(&title), &route.rows);
            }
        }
        line(&mut out, "");
        line(&mut out, "</details>");
    }
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend(sections.more());
    for (side, names) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !names.is_empty() {
            let shown: Vec<String> = names
                .iter()
                .take(5)
                .map(|name| format!("<code>{}</code>", text::markdown(name)))
                .collect();
            let dots = if names.len() > 5 { ", …" } else { "" };
            remarks.push(format!(
                "{} routes of {side} alone: {}{dots}",
                names.len(),
                shown.join(", ")
            ));
        }
    }
    if !remarks.is_empty() {
        line(&mut out, "");
        line(&mut out, &remarks.join("<br>"));
    }
    for warning in &comparison.warnings {
        line(&mut out, "");
        line(&mut out, &format!("> ⚠️ {}", text::markdown(&warning.to_string())));
    }
    out
}

fn table(out: &mut String, title: Option<&str>, rows: &[&Row]) {
    out.push('\n');
    if let Some(title) = title {
        let _ = write!(out, "**{title}**\n\n");
    }
    out.push_str("| | A | B | change | 95 % interval | |\n|---|--:|--:|--:|--:|---|\n");
    for row in rows {
        let name = text::markdown(&label(row));
        let name = if row.is_primary { format!("**{name}**") } else { name };
        let (change, interval) = row.change.map_or(("–".into(), String::new()), |change| {
            let interval = number::interval(change.low, change.high, row.scale);
            (number::change(change.value, row.scale), interval)
        });
        let why = match (row.held, row.why) {
            (Some([a, b]), _) => format!(": held in {a} of A, {b} of B"),
            (None, Some(why)) => format!(": {}", text::markdown(why.sentence())),
            (None, None) => String::new(),
        };
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {change} | {interval} | {} {}{why} |",
            number::value(row, row.a),
            number::value(row, row.b),
            mark(row.verdict),
            row.verdict.word(),
        );
    }
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "🔴",
        Verdict::Better => "🟢",
        Verdict::Same => "⚪",
        Verdict::Unclear => "🟡",
    }
}
