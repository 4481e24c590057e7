//! The `legacy` layout: the tree of groups and checks, then all metrics in one list.

use brunt_metrics::summary::{GroupSummary, Summary};

use super::checks::failure;
use super::exceptions;
use super::modern::shown_name;
use super::table::{Line, Widths};
use super::{Writer, listed, put};

pub(super) fn render(writer: &Writer<'_>, summary: &Summary) -> String {
    let mut out = String::new();
    checks(writer, &summary.root, 5, &mut out);
    for nested in &summary.root.groups {
        group(writer, nested, 5, &mut out);
    }
    metrics(writer, summary, &mut out);
    if summary.exceptions.count() > 0 {
        put(&mut out, format_args!("\n     █ exceptions: {}\n\n", summary.exceptions.count()));
        exceptions::lines(writer, &summary.exceptions, "       ", &mut out);
    }
    if out.is_empty() {
        out.push_str("     no samples were taken");
    }
    // The caller's line break ends the last line.
    if out.ends_with('\n') {
        out.pop();
    }
    out
}

fn group(writer: &Writer<'_>, group_summary: &GroupSummary, indent: usize, out: &mut String) {
    put(out, format_args!("{}█ {}\n\n", " ".repeat(indent), group_summary.name));
    checks(writer, group_summary, indent + 2, out);
    for nested in &group_summary.groups {
        group(writer, nested, indent + 2, out);
    }
}

fn checks(writer: &Writer<'_>, group: &GroupSummary, indent: usize, out: &mut String) {
    if group.checks.is_empty() {
        return;
    }
    let margin = " ".repeat(indent);
    for check in &group.checks {
        let line = if check.fails == 0 {
            writer.palette.good(&format!("{margin}✓ {}", check.name))
        } else {
            let failure = failure(check);
            writer.palette.bad(&format!("{margin}✗ {}\n{margin} {failure}", check.name))
        };
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
}

fn metrics(writer: &Writer<'_>, summary: &Summary, out: &mut String) {
    let mut widths = Widths::default();
    let lines: Vec<Line> = listed(&summary.metrics)
        .into_iter()
        .map(|metric| {
            let shown = shown_name(&metric.name);
            // The mark of a judged metric takes the place of the two spaces before its name.
            let lead = if metric.thresholds.is_empty() {
                "  ".to_owned()
            } else {
                let ok = metric.thresholds.iter().all(|threshold| threshold.ok);
                format!("{} ", writer.palette.mark(ok))
            };
            let (lead, inset, name) = match shown.strip_prefix("  ") {
                Some(name) => (format!("     {lead}"), 2, name.to_owned()),
                None => (format!("   {lead}"), 0, shown),
            };
            Line { lead, inset, name, cells: writer.cells(metric) }
        })
        .collect();
    for line in &lines {
        widths.include(line);
    }
    for line in &lines {
        widths.write(line, writer.palette, out);
    }
}
