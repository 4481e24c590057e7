//! The facts of a run from which its verdict is made, beside the signals of the generator.

mod beginning;
mod limit;
mod steady;

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc::SyncSender};

use brunt_engine::{Live, RunReport, ScenarioState};
use brunt_fiber::clock;
use brunt_metrics::{Frame, Summary, summary::MetricSummary, summary::Values};
use brunt_schedule::{Scenario, Segment};
use brunt_verdict::{Figures, Load, Signals, Starts, Tail, WarmUp};

pub(crate) use self::beginning::Beginning;
pub(crate) use self::limit::judge;
pub(crate) use self::limit::offer;
use super::run_file::due_at;
use crate::generator::{Meters, Subject};

impl Subject for Live {
    fn started_at(&self) -> Option<u64> {
        self.control().started_at()
    }

    fn take_late(&self) -> BTreeMap<u32, u64> {
        (0..).zip(self.control().take_late()).collect()
    }
}

/// Tells the metrics about the generator. `is_judged`: to thresholds and summary, too; else to outputs alone, by `gauges`.
pub(crate) fn teller(
    mut meters: Option<Meters>,
    is_judged: bool,
    live: Live,
    gauges: SyncSender<Arc<Frame>>,
) -> impl FnMut(&Signals) {
    move |signals| {
        let Some(meters) = &mut meters else { return };
        if live.control().started_at().is_none() {
            return;
        }
        let frame = meters.frame(signals);
        if is_judged {
            live.show(frame);
        } else {
            // Outputs that are too slow lose more than that.
            let _ = gauges.try_send(Arc::new(frame));
        }
    }
}

/// All of them, at the end of the run.
pub(super) fn figures(
    report: &RunReport,
    live: &Live,
    segment: &Segment,
    beginning: &Beginning,
) -> Figures {
    let scenarios: Vec<_> = live.scenarios().iter().map(|state| state.spec().clone()).collect();
    // Iterations of a closed model may be done long before its time is over.
    let over = live.scenarios().iter().filter_map(|state| state.ended_at()).min();
    let over = over.unwrap_or_else(clock::now_ns);
    let started = live.control().started_at();
    Figures {
        loads: loads(live, segment),
        starts: starts(&report.summary),
        warm_up: started.and_then(|start| warm_up(&scenarios, (start, over), beginning)),
        tails: tails(&report.summary),
    }
}

/// Those that only the whole of a test on several machines tells: `times` are its start and its end, in nanoseconds.
pub(crate) fn of_whole(
    summary: &Summary,
    scenarios: &[Scenario],
    times: (u64, u64),
    beginning: &Beginning,
) -> Figures {
    let warm_up = warm_up(scenarios, times, beginning);
    Figures { warm_up, tails: tails(summary), ..Figures::default() }
}

/// The first tenth of the steady part against the rest, between the start and the end of the run (nanoseconds).
fn warm_up(
    scenarios: &[Scenario],
    (start, over): (u64, u64),
    beginning: &Beginning,
) -> Option<WarmUp> {
    let (from, to) = steady::longest(scenarios)?;
    let at = |moment| start.saturating_add(clock::duration_ns(moment));
    beginning.warm_up(start, (at(from), at(to).min(over)))
}

/// The planned starts of all open models.
pub(crate) fn loads(live: &Live, segment: &Segment) -> Vec<Load> {
    live.scenarios().iter().filter_map(|state| load(state, segment)).collect()
}

/// The iterations of an open model that were due until its end, or until it was cut short.
fn load(state: &ScenarioState, segment: &Segment) -> Option<Load> {
    let arrivals = state.spec().arrivals(segment)?;
    let started = state.started_at()?;
    let until = state.ended_at().unwrap_or_else(clock::now_ns);
    let past = std::time::Duration::from_nanos(until.saturating_sub(started));
    let name = state.spec().name.clone();
    Some(Load { name, planned: due_at(&arrivals, past), started: state.begun() })
}

fn observed<'a>(summary: &'a Summary, name: &str) -> Option<&'a MetricSummary> {
    summary.metric(name).filter(|metric| metric.observed)
}

fn starts(summary: &Summary) -> Option<Starts> {
    let Values::Trend(lateness) = &observed(summary, "iteration_lateness")?.values else {
        return None;
    };
    let durations = ["http_req_duration", "grpc_req_duration", "iteration_duration"];
    let median = durations.into_iter().find_map(|name| observed(summary, name)?.values.get("med"));
    Some(Starts {
        count: lateness.count(),
        late_p99: lateness.percentile(99.0),
        median: median.unwrap_or_default(),
    })
}

/// The percentiles of all thresholds.
fn tails(summary: &Summary) -> Vec<Tail> {
    let mut tails = Vec::new();
    for metric in summary.metrics.iter().chain(&summary.own) {
        let Values::Trend(trend) = &metric.values else { continue };
        for threshold in &metric.thresholds {
            let percent = threshold.aggregation.strip_prefix("p(");
            let percent = percent.and_then(|text| text.strip_suffix(')')?.parse().ok());
            if let Some(percent) = percent {
                let threshold = format!("{}: {}", metric.name, threshold.source);
                tails.push(Tail { threshold, percent, count: trend.count() });
            }
        }
    }
    tails
}
