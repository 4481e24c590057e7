//! The `compact` and `full` layouts.

use std::borrow::Cow;

use brunt_metrics::summary::{Breakdown, CheckSummary, MetricSummary, Summary};

use super::checks::{CHECKS, failure, merged, sum};
use super::sections::Section;
use super::table::{Line, Widths};
use super::{Mode, TextOptions, Writer, listed, put};
use super::{exceptions, failures, routes};
use crate::order;

/// The scenario of a script that names none; its own chapter would repeat the total.
const DEFAULT_SCENARIO: &str = "default";
/// The groups in which setup and teardown run: what they measure is told in the total alone.
const LIFECYCLE_GROUPS: [&str; 2] = ["setup", "teardown"];
/// Iterations from their planned starts to their ends; in scenarios with an arrival rate.
const PLANNED: &str = "iteration_duration_planned";
/// How far all but the titles is indented.
const MARGIN: usize = 4;

pub(super) fn render(writer: &Writer<'_>, summary: &Summary, options: &TextOptions) -> String {
    let full = options.mode == Mode::Full;
    let mut page = Page { writer, full, out: String::new() };
    page.thresholds(&summary.metrics);
    page.title("TOTAL RESULTS");
    if !page.results(&summary.checks, &with_planned(summary), MARGIN) {
        page.out.push_str("    no samples were taken\n\n");
    }
    page.requests(summary, options.routes);
    page.exceptions(summary);
    page.failures(summary, options.failures);
    if full {
        for group in &summary.groups {
            page.top_group(group);
        }
        // k6 lists scenarios by name, groups as they came.
        let mut scenarios: Vec<&Breakdown> = summary.scenarios.iter().collect();
        scenarios.retain(|scenario| scenario.name != DEFAULT_SCENARIO);
        scenarios.sort_by(|a, b| a.name.cmp(&b.name));
        for scenario in scenarios {
            page.title(&format!("SCENARIO: {}", scenario.name));
            page.results(&scenario.checks, &scenario.metrics, MARGIN);
            for group in &scenario.groups {
                page.nested_group(group, "", MARGIN);
            }
        }
    }
    page.out
}

/// The metrics and, beside `iteration_duration`, the same from the planned starts, which k6 doesn't measure.
fn with_planned(summary: &Summary) -> Cow<'_, [MetricSummary]> {
    let planned = summary.own.iter().find(|one| one.name == PLANNED && one.observed);
    match planned {
        None => Cow::Borrowed(&summary.metrics),
        Some(planned) => {
            let mut all = summary.metrics.clone();
            all.push(planned.clone());
            Cow::Owned(all)
        }
    }
}

struct Page<'a> {
    writer: &'a Writer<'a>,
    full: bool,
    out: String,
}

impl Page<'_> {
    fn title(&mut self, title: &str) {
        let title = self.writer.palette.bold(title);
        put(&mut self.out, format_args!("\n  █ {title} \n\n"));
    }

    fn thresholds(&mut self, metrics: &[MetricSummary]) {
        let judged: Vec<_> =
            listed(metrics).into_iter().filter(|metric| !metric.thresholds.is_empty()).collect();
        if judged.is_empty() {
            return;
        }
        self.title("THRESHOLDS");
        for metric in &judged {
            let (parent, tags) = order::split(&metric.name);
            // Under its parent if that is judged too, else by its full name.
            let (indent, name) = match tags {
                Some(tags) if judged.iter().any(|other| other.name == parent) => ("      ", tags),
                _ => ("    ", metric.name.as_str()),
            };
            put(&mut self.out, format_args!("{indent}{name}\n"));
            let palette = self.writer.palette;
            for threshold in &metric.thresholds {
                let value = self.writer.threshold_value(
                    metric,
                    &threshold.aggregation,
                    threshold.value.unwrap_or(0.0),
                );
                put(
                    &mut self.out,
                    format_args!(
                        "{indent}{} {} {}={}\n",
                        palette.mark(threshold.ok),
                        palette.plain(&format!("'{}'", threshold.source.trim())),
                        palette.plain(&threshold.aggregation),
                        palette.value(&value),
                    ),
                );
            }
            self.out.push('\n');
        }
    }

    /// k6 has no such chapter; it is there only if there were any.
    fn exceptions(&mut self, summary: &Summary) {
        if summary.exceptions.count() > 0 {
            self.title(&format!("EXCEPTIONS: {}", summary.exceptions.count()));
            let margin = " ".repeat(MARGIN);
            exceptions::lines(self.writer, &summary.exceptions, &margin, &mut self.out);
            self.out.push('\n');
        }
    }

    /// The routes. Of one route alone the compact layout has told all that there is.
    fn requests(&mut self, summary: &Summary, is_wanted: bool) {
        let least = if self.full { 1 } else { 2 };
        if is_wanted && summary.routes.len() >= least {
            self.title("REQUESTS");
            routes::table(self.writer, summary, self.full, &" ".repeat(MARGIN), &mut self.out);
            self.out.push('\n');
        }
    }

    /// The kinds of failures that are wanted.
    fn failures(&mut self, summary: &Summary, most: usize) {
        if most > 0 && !summary.failures.is_empty() {
            let count: u64 = summary.failures.iter().map(|kind| kind.count).sum();
            self.title(&format!("FAILURES: {count}"));
            failures::lines(self.writer, summary, most, &" ".repeat(MARGIN), &mut self.out);
            self.out.push('\n');
        }
    }

    /// Checks and metrics of one chapter. False if there are none of either.
    fn results(
        &mut self,
        checks: &[CheckSummary],
        metrics: &[MetricSummary],
        indent: usize,
    ) -> bool {
        let start = self.out.len();
        if !checks.is_empty() || metrics.iter().any(|metric| metric.name == CHECKS) {
            // Also where no check ran but a threshold judges them, or none is named.
            let sums = sum(metrics, checks);
            self.writer.check_sums(sums, &" ".repeat(indent), &mut self.out);
            self.out.push('\n');
            self.checks(checks, indent);
            self.out.push('\n');
        }
        self.metrics(metrics, indent);
        self.out.len() > start
    }

    fn checks(&mut self, checks: &[CheckSummary], indent: usize) {
        let checks = merged(checks);
        let palette = self.writer.palette;
        let margin = " ".repeat(indent);
        // k6 counts the margin of nested chapters twice here; the layout is kept as it is.
        let remark = " ".repeat(2 * indent - MARGIN + 2);
        for check in &checks {
            if check.fails == 0 {
                let line = palette.good(&format!("✓ {}", check.name));
                put(&mut self.out, format_args!("{margin}{line}\n"));
            } else {
                let line = palette.bad(&format!("✗ {}", check.name));
                let failure = palette.bad(&failure(check));
                put(&mut self.out, format_args!("{margin}{line}\n{remark}{failure}\n"));
            }
        }
    }

    fn metrics(&mut self, metrics: &[MetricSummary], indent: usize) {
        let lead = " ".repeat(indent);
        let mut widths = Widths::default();
        let mut lines: Vec<(Section, Line)> = Vec::new();
        for metric in listed(metrics) {
            let Some(section) = Section::of(&metric.name, self.full) else {
                continue;
            };
            let cells = self.writer.cells(metric);
            let line = Line { lead: lead.clone(), inset: 0, name: shown_name(&metric.name), cells };
            widths.include(&line);
            lines.push((section, line));
        }
        for section in Section::ALL {
            let mut of_section = lines.iter().filter(|(of, _)| *of == section).peekable();
            if of_section.peek().is_none() {
                continue;
            }
            let title = self.writer.palette.bold(section.title());
            put(&mut self.out, format_args!("{lead}{title}\n"));
            for (_, line) in of_section {
                widths.write(line, self.writer.palette, &mut self.out);
            }
            self.out.push('\n');
        }
    }

    fn top_group(&mut self, group: &Breakdown) {
        let lifecycle = LIFECYCLE_GROUPS.contains(&group.name.as_str());
        if lifecycle && group.groups.is_empty() {
            return;
        }
        self.title(&format!("GROUP: {}", group.name));
        let path = format!("::{}", group.name);
        if !lifecycle {
            self.results(&own_checks(group, &path), &group.metrics, MARGIN);
        }
        for nested in &group.groups {
            self.nested_group(nested, &path, MARGIN);
        }
    }

    /// `outer` is the path of the group around this one; empty at the top.
    fn nested_group(&mut self, group: &Breakdown, outer: &str, indent: usize) {
        let path = format!("{outer}::{}", group.name);
        let margin = " ".repeat(indent);
        let title = self.writer.palette.bold(&format!("GROUP: {}", group.name));
        put(&mut self.out, format_args!("{margin}↳ {title} \n\n"));
        self.results(&own_checks(group, &path), &group.metrics, indent + 2);
        for nested in &group.groups {
            self.nested_group(nested, &path, indent + 2);
        }
    }
}

/// A group's chapter tells of its own checks; those of groups within have chapters of their own.
fn own_checks(group: &Breakdown, path: &str) -> Vec<CheckSummary> {
    // A tag that a script set by hand may lack the colons.
    let is_here = |check: &&CheckSummary| {
        check.group.trim_start_matches("::") == path.trim_start_matches("::")
    };
    group.checks.iter().filter(is_here).cloned().collect()
}

/// `http_req_duration{a:b}` is listed under its parent as `  { a:b }`.
pub(super) fn shown_name(name: &str) -> String {
    match order::split(name) {
        (_, Some(tags)) => {
            let tags = tags.trim_start_matches('{');
            format!("  {{ {} }}", tags.strip_suffix('}').unwrap_or(tags))
        }
        (name, None) => name.to_owned(),
    }
}
