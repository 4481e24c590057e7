//! The engine's view of a run, as the progress display wants it.

use std::{sync::Arc, time::Duration};

use brunt_engine::{Live, Phase as RunPhase, ScenarioPhase, ScenarioProgress as Seen};
use brunt_schedule::{Executor, Segment, total_duration};

use super::live_line::LiveLine;
use crate::progress::{Phase, ProgressSource, ScenarioProgress, Snapshot, State, Work};

/// Watches a run.
pub(crate) struct Watch {
    live: Live,
    longest: Duration,
    plans: Vec<Plan>,
    /// The live line, if it is shown.
    line: Option<Arc<LiveLine>>,
}

/// The part of a scenario that its progress doesn't tell.
struct Plan {
    /// The highest rate (iterations per second); 0 for closed models.
    highest: f64,
    start: Duration,
}

impl Watch {
    pub(crate) fn new(live: Live, segment: &Segment, line: Option<Arc<LiveLine>>) -> Self {
        let specs: Vec<_> = live.scenarios().iter().map(|state| state.spec().clone()).collect();
        let longest = total_duration(&specs, segment);
        let plans = specs
            .iter()
            .map(|spec| Plan { highest: highest_rate(&spec.executor), start: spec.start_time })
            .collect();
        Self { live, longest, plans, line }
    }
}

impl ProgressSource for Watch {
    fn snapshot(&self) -> Snapshot {
        let seen = self.live.progress();
        let launched = self.live.scenarios().iter().any(|state| state.started_at().is_some());
        Snapshot {
            phase: match seen.phase {
                RunPhase::Paused => Phase::Paused,
                RunPhase::Created | RunPhase::InitVus => {
                    Phase::Initializing { total: seen.vus_planned }
                }
                RunPhase::Running if self.live.control().is_paused() => Phase::Paused,
                RunPhase::Setup => Phase::Setup,
                RunPhase::Running | RunPhase::Teardown => Phase::Running,
                // It was cut short, or `setup()` failed.
                RunPhase::Ended if !launched => Phase::Setup,
                RunPhase::Ended => Phase::Ended,
            },
            elapsed: seen.run,
            longest: self.longest,
            vus_active: seen.vus_active,
            vus_ready: seen.vus_initialized,
            complete: seen.iterations_complete,
            interrupted: seen.iterations_interrupted,
            rates: match seen.phase {
                RunPhase::Ended => None,
                _ => self.line.as_ref().and_then(|line| line.rates()),
            },
            scenarios: seen
                .scenarios
                .iter()
                .zip(&self.plans)
                .map(|(scenario, plan)| row(scenario, plan))
                .collect(),
        }
    }
}

fn row(seen: &Seen, plan: &Plan) -> ScenarioProgress {
    let highest = plan.highest;
    let (vus_active, vus) = match seen.kind {
        "ramping-vus" | "externally-controlled" => (Some(seen.vus_active), seen.vus_max),
        "constant-arrival-rate" | "ramping-arrival-rate" => {
            (Some(seen.vus_active), seen.vus_allocated)
        }
        _ => (None, seen.vus_max),
    };
    let work = match (seen.kind, seen.iterations_total, seen.rate) {
        ("shared-iterations", Some(total), _) => {
            Work::Shared { done: seen.iterations_complete, total }
        }
        ("per-vu-iterations", Some(total), _) => {
            let each = total / seen.vus_max.max(1);
            Work::PerVu { done: seen.iterations_complete, total, each }
        }
        (_, _, Some(now)) => Work::Rate { now, highest },
        ("constant-arrival-rate" | "ramping-arrival-rate", _, None) => {
            Work::Rate { now: 0.0, highest }
        }
        ("ramping-vus", ..) => Work::Stages,
        _ => Work::Time,
    };
    ScenarioProgress {
        name: seen.name.clone(),
        state: match seen.state {
            ScenarioPhase::Waiting => State::Waiting { left: seen.starts_in, start: plan.start },
            ScenarioPhase::Running => State::Running,
            ScenarioPhase::Stopping => State::Stopping,
            ScenarioPhase::Interrupted => State::Interrupted,
            ScenarioPhase::Done => State::Done,
        },
        done: seen.progress,
        vus_active,
        vus,
        elapsed: seen.elapsed,
        duration: seen.regular_duration,
        work,
    }
}

fn highest_rate(executor: &Executor) -> f64 {
    let per_second = |rate: f64, unit: Duration| rate / unit.as_secs_f64();
    match executor {
        Executor::ConstantArrivalRate { rate, time_unit, .. } => {
            per_second(*rate as f64, *time_unit)
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            let targets = stages.iter().map(|stage| stage.target);
            let highest = targets.chain([*start_rate]).max().unwrap_or(0);
            per_second(highest as f64, *time_unit)
        }
        _ => 0.0,
    }
}
