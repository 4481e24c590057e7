//! Thresholds on the verdict itself: `verdict: ['value<2']`.

use brunt_engine::RunReport;
use brunt_metrics::{Contains, Kind, MetricId, Registry, Threshold, Values};
use brunt_verdict::Level;

/// The metric: 0 is `ok`, 1 `doubtful`, 2 `invalid`. It has its value when the run is over, and no tags.
const METRIC: &str = "verdict";

/// Registers the metric, so that thresholds may name it. A metric of the script that has this name keeps it.
pub(in crate::run) fn offer(registry: &Registry) -> Option<MetricId> {
    registry.offer(METRIC, Kind::Gauge, Contains::Default).ok()
}

/// Judges the thresholds on the verdict, which is known when all others have been judged.
pub(in crate::run) fn judge(report: &mut RunReport, level: Level) {
    let value = f64::from(level as u8);
    let mut metrics = report.summary.metrics.iter_mut();
    let Some(metric) =
        metrics.find(|metric| metric.name == METRIC && !metric.thresholds.is_empty())
    else {
        return;
    };
    metric.values = Values::Gauge { value, min: value, max: value };
    metric.observed = true;
    let mut exit_code = None;
    for result in &mut metric.thresholds {
        let parsed = Threshold::parse(&result.source, false, None);
        result.value = Some(value);
        result.ok = parsed.is_ok_and(|threshold| threshold.holds(value));
        if !result.ok {
            exit_code = exit_code.or(result.timing.exit_code);
        }
    }
    let is_crossed = metric.thresholds.iter().any(|result| !result.ok);
    report.crossed.retain(|name| name != METRIC);
    if is_crossed {
        report.crossed.push(METRIC.to_owned());
        report.crossed.sort();
        report.exit_code = report.exit_code.or(exit_code);
    }
}
