//! Checks: their sum, and one line for each.

use std::collections::HashMap;

use brunt_metrics::summary::{CheckSummary, MetricSummary, Values};

use super::Writer;
use super::table::{Cells, Line, Widths};
use crate::humanize;

/// The metric of the checks.
pub(super) const CHECKS: &str = "checks";

/// The checks of all groups together, merged by name, in order of first appearance.
pub(crate) fn merged(checks: &[CheckSummary]) -> Vec<CheckSummary> {
    let mut merged: Vec<CheckSummary> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for check in checks {
        if let Some(&place) = places.get(check.name.as_str()) {
            merged[place].passes += check.passes;
            merged[place].fails += check.fails;
        } else {
            places.insert(&check.name, merged.len());
            merged.push(CheckSummary { group: String::new(), ..check.clone() });
        }
    }
    merged
}

/// How often checks passed and failed: all samples of the metric, also those that no check has named.
pub(crate) fn sum(metrics: &[MetricSummary], checks: &[CheckSummary]) -> (u64, u64) {
    match metrics.iter().find(|metric| metric.name == CHECKS).map(|metric| &metric.values) {
        Some(&Values::Rate { passes, fails, .. }) => (passes, fails),
        _ => checks.iter().fold((0, 0), |(passes, fails), check| {
            (passes.saturating_add(check.passes), fails.saturating_add(check.fails))
        }),
    }
}

impl Writer<'_> {
    /// The three lines that sum the checks up.
    pub(super) fn check_sums(&self, (passes, fails): (u64, u64), indent: &str, out: &mut String) {
        let total = passes.saturating_add(fails);
        let share = |part: u64| {
            if total == 0 { 0.0 } else { part as f64 / total as f64 }
        };
        let rate = if self.seconds > 0.0 { total as f64 / self.seconds } else { 0.0 };
        let line = |name: &str, value: String, extra: String| Line {
            lead: indent.to_owned(),
            inset: 0,
            name: name.to_owned(),
            cells: Cells::Value { value, extras: vec![extra] },
        };
        let part = |name: &str, part: u64| {
            line(name, humanize::percent(share(part)), format!("{part} out of {total}"))
        };
        let lines = [
            line("checks_total", total.to_string(), format!("{}/s", humanize::trimmed(rate, 6))),
            part("checks_succeeded", passes),
            part("checks_failed", fails),
        ];
        let mut widths = Widths::default();
        for line in &lines {
            widths.include(line);
        }
        for line in &lines {
            widths.write(line, self.palette, out);
        }
    }
}

/// The remark under a check that failed: its share of passes, cut to a whole percentage.
pub(super) fn failure(check: &CheckSummary) -> String {
    let total = (check.passes + check.fails).max(1);
    let share = (100.0 * (check.passes as f64 / total as f64)).floor();
    format!("↳  {share}% — ✓ {} / ✗ {}", check.passes, check.fails)
}
