//! Thresholds on the verdict itself: `verdict: ['value<2']`.

use brunt_engine::RunReport;
use brunt_metrics::{Contains, Kind, MetricId, Registry};
use brunt_verdict::{Level, METRIC};

/// Registers the metric, so that thresholds may name it. A metric of the script that has this name keeps it.
pub(crate) fn offer(registry: &Registry) -> Option<MetricId> {
    registry.offer(METRIC, Kind::Gauge, Contains::Default).ok()
}

/// Judges the thresholds on the verdict, which is known when all others have been judged.
pub(crate) fn judge(report: &mut RunReport, level: Level) {
    let Some(metric) = report.summary.conclude(METRIC, level.number()) else { return };
    let broken: Vec<_> = metric.thresholds.iter().filter(|result| !result.ok).collect();
    let exit_code = broken.iter().find_map(|result| result.timing.exit_code);
    report.crossed.retain(|name| name != METRIC);
    if !broken.is_empty() {
        report.crossed.push(METRIC.to_owned());
        report.crossed.sort();
        report.exit_code = report.exit_code.or(exit_code);
    }
}
