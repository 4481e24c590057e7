//! One named workload of a test.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{
    Arrivals, ClosedPlan, Executor, Rhythm, Segment, Stage, Step, arrivals, describe, plan,
    requirement,
};

/// The largest number of VUs: k6's limit for the stages of `ramping-vus`, which is ours for all executors.
const VUS_MAX: u64 = 100_000_000;

/// The shortest regular duration that k6 lets an executor have.
const DURATION_MIN: Duration = Duration::from_secs(1);

/// One named workload: what runs, when, and under which name and tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// How VUs get their iterations.
    pub executor: Executor,
    /// From the moment all scenarios are launched (after `setup`) to this one's start.
    pub start_time: Duration,
    /// How long running iterations may go on after the regular end; 30 s if the script is silent.
    pub graceful_stop: Duration,
    /// The exported function that is an iteration; `default` if the script is silent.
    pub exec: String,
    /// Laid over `__ENV` while a VU works for this scenario.
    pub env: BTreeMap<String, String>,
    /// Laid over the run's tags.
    pub tags: BTreeMap<String, String>,
    /// The time from its start on in which measurements are a warm-up: they are tagged so, and left out of summary and
    /// thresholds. 0 if the script is silent.
    pub warmup: Duration,
    /// How the iterations of an arrival rate follow each other.
    pub rhythm: Rhythm,
}

/// Why a scenario cannot run. The path of the guilty key inside the scenario is [`Self::key`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ScenarioError {
    /// Such as `vus` or `stages[1].target`; `name` for the scenario's name.
    pub key: String,
    /// The fault and the remedy.
    pub reason: String,
}

impl Scenario {
    /// Everything that keeps this scenario from running; empty if it can.
    pub fn validate(&self) -> Vec<ScenarioError> {
        let mut faults = Faults(Vec::new());
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        faults.unless(!self.name.is_empty() && self.name.chars().all(legal), "name", || {
            format!("scenario name {:?} must consist of letters, digits, _ and -", self.name)
        });
        faults.unless(!self.exec.is_empty(), "exec", || {
            "must name an exported function, got an empty string".into()
        });
        self.executor.check(&mut faults);
        let length = self.executor.regular_duration();
        faults.unless(self.warmup.is_zero() || self.warmup < length, "warmup", || {
            let shown = brunt_duration::wait::format;
            format!("is {}, but the scenario ends after {}", shown(self.warmup), shown(length))
        });
        if let (Some(sine), Executor::ConstantArrivalRate { rate, .. }) =
            (self.rhythm.sine, &self.executor)
        {
            faults.unless(sine.amplitude < *rate, "sine.amplitude", || {
                format!("must be less than the rate ({rate}), got {}", sine.amplitude)
            });
            faults.unless(!sine.period.is_zero(), "sine.period", || "must be more than 0".into());
        }
        faults.0
    }

    /// From the scenario's start to the moment the last iteration is cut off, the graceful stop included.
    pub fn max_duration(&self) -> Duration {
        self.executor.regular_duration().saturating_add(self.graceful_stop)
    }

    /// The line of the run's opening text: `10 looping VUs for 30s (gracefulStop: 30s)`.
    pub fn describe(&self, segment: &Segment) -> String {
        describe::describe(self, segment)
    }

    /// When each VU handle works, if the executor is closed; `None` for arrival rates.
    pub fn closed_plan(&self, segment: &Segment) -> Option<ClosedPlan> {
        plan::closed_plan(self, segment)
    }

    /// When each iteration is due, if the executor is open; `None` for the others.
    pub fn arrivals(&self, segment: &Segment) -> Option<Arrivals> {
        arrivals::arrivals(self, segment)
    }

    /// The most VUs that the scenario makes before it starts, told from its options alone: no step of a ramp is worked out.
    pub fn vus_made_before(&self, segment: &Segment) -> u64 {
        segment.scale(match &self.executor {
            Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ConstantVus { vus, .. } => *vus,
            Executor::RampingVus { start_vus, stages, .. } => {
                stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max)
            }
            Executor::ConstantArrivalRate { pre_allocated_vus, .. }
            | Executor::RampingArrivalRate { pre_allocated_vus, .. } => *pre_allocated_vus,
            Executor::ExternallyControlled { max_vus, .. } => *max_vus,
        })
    }

    /// How many VUs this takes when: each step holds until the next, the last is 0.
    /// Offsets from the scenario's start.
    pub fn requirements(&self, segment: &Segment) -> Vec<Step> {
        requirement::requirements(self, segment)
    }

    /// The order in which scenarios are started, listed and numbered: by `start_time`, then `name`.
    pub fn order(&self) -> (Duration, &str) {
        (self.start_time, &self.name)
    }
}

/// Errors found so far.
struct Faults(Vec<ScenarioError>);

impl Faults {
    fn unless(&mut self, fine: bool, key: impl Into<String>, reason: impl FnOnce() -> String) {
        if !fine {
            self.0.push(ScenarioError { key: key.into(), reason: reason() });
        }
    }

    fn at_least_one(&mut self, key: &str, value: u64) {
        self.unless(value > 0, key, || "must be at least 1".into());
    }

    fn vus(&mut self, vus: u64) {
        self.at_least_one("vus", vus);
        self.at_most("vus", vus, VUS_MAX);
    }

    fn at_most(&mut self, key: impl Into<String>, value: u64, max: u64) {
        self.unless(value <= max, key, || format!("must be at most {max}, got {value}"));
    }

    fn at_least_a_second(&mut self, key: &str, value: Duration) {
        self.unless(value >= DURATION_MIN, key, || {
            format!("must be at least 1s, got {}", brunt_duration::wait::format(value))
        });
    }

    fn stages(&mut self, stages: &[Stage], target_max: u64) {
        self.unless(!stages.is_empty(), "stages", || "at least one stage is needed".into());
        for (index, stage) in stages.iter().enumerate() {
            self.unless(stage.target <= target_max, format!("stages[{index}].target"), || {
                format!("must be at most {target_max}, got {}", stage.target)
            });
        }
    }

    fn pace(&mut self, time_unit: Duration, pre_allocated_vus: u64, max_vus: u64) {
        self.unless(!time_unit.is_zero(), "timeUnit", || "must be more than 0".into());
        self.at_most("maxVUs", max_vus, VUS_MAX);
        self.unless(max_vus >= pre_allocated_vus, "maxVUs", || {
            format!("must be at least preAllocatedVUs ({pre_allocated_vus}), got {max_vus}")
        });
    }
}

impl Executor {
    fn check(&self, faults: &mut Faults) {
        match self {
            Self::SharedIterations { vus, iterations, max_duration } => {
                faults.vus(*vus);
                faults.unless(iterations >= vus, "iterations", || {
                    format!("must be at least the number of VUs ({vus}), got {iterations}")
                });
                faults.at_least_a_second("maxDuration", *max_duration);
            }
            Self::PerVuIterations { vus, iterations, max_duration } => {
                faults.vus(*vus);
                faults.at_least_one("iterations", *iterations);
                faults.at_least_a_second("maxDuration", *max_duration);
            }
            Self::ConstantVus { vus, duration } => {
                faults.vus(*vus);
                faults.at_least_a_second("duration", *duration);
            }
            Self::ExternallyControlled { vus, max_vus, .. } => {
                faults.unless(max_vus >= vus, "maxVUs", || {
                    format!("must be at least vus ({vus}), got {max_vus}")
                });
                faults.at_most("maxVUs", *max_vus, VUS_MAX);
            }
            Self::RampingVus { start_vus, stages, .. } => {
                faults.stages(stages, VUS_MAX);
                let some = *start_vus > 0 || stages.iter().any(|stage| stage.target > 0);
                faults.unless(some, "stages", || {
                    "startVUs or the target of some stage must be more than 0".into()
                });
                faults.at_most("startVUs", *start_vus, VUS_MAX);
            }
            Self::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => {
                faults.at_least_one("rate", *rate);
                faults.at_least_a_second("duration", *duration);
                faults.pace(*time_unit, *pre_allocated_vus, *max_vus);
            }
            Self::RampingArrivalRate { time_unit, stages, pre_allocated_vus, max_vus, .. } => {
                faults.stages(stages, u64::MAX);
                faults.pace(*time_unit, *pre_allocated_vus, *max_vus);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scenario, secs};

    fn faults(executor: Executor) -> Vec<String> {
        scenario(executor).validate().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_scenario_has_no_faults() {
        assert!(faults(Executor::ConstantVus { vus: 1, duration: secs(1) }).is_empty());
        let executor = Executor::RampingArrivalRate {
            start_rate: 0,
            time_unit: secs(1),
            stages: vec![Stage { duration: secs(0), target: 0 }],
            pre_allocated_vus: 0,
            max_vus: 0,
        };
        assert!(faults(executor).is_empty());
    }

    #[test]
    fn every_fault_is_told() {
        let max_duration = Duration::from_millis(500);
        let executor = Executor::SharedIterations { vus: 3, iterations: 2, max_duration };
        insta::assert_debug_snapshot!(faults(executor), @r#"
        [
            "iterations: must be at least the number of VUs (3), got 2",
            "maxDuration: must be at least 1s, got 500ms",
        ]
        "#);
        let executor = Executor::PerVuIterations { vus: 0, iterations: 0, max_duration };
        insta::assert_debug_snapshot!(faults(executor), @r#"
        [
            "vus: must be at least 1",
            "iterations: must be at least 1",
            "maxDuration: must be at least 1s, got 500ms",
        ]
        "#);
        let stages = vec![Stage { duration: secs(1), target: 0 }];
        let graceful_ramp_down = Duration::ZERO;
        let executor = Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down };
        insta::assert_debug_snapshot!(faults(executor), @r#"
        [
            "stages: startVUs or the target of some stage must be more than 0",
        ]
        "#);
        let stages = vec![Stage { duration: secs(1), target: VUS_MAX + 1 }];
        let executor = Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down };
        insta::assert_debug_snapshot!(faults(executor), @r#"
        [
            "stages[0].target: must be at most 100000000, got 100000001",
        ]
        "#);
        let executor = Executor::ConstantArrivalRate {
            rate: 0,
            time_unit: secs(0),
            duration: secs(0),
            pre_allocated_vus: 2,
            max_vus: 1,
        };
        insta::assert_debug_snapshot!(faults(executor), @r#"
        [
            "rate: must be at least 1",
            "duration: must be at least 1s, got 0s",
            "timeUnit: must be more than 0",
            "maxVUs: must be at least preAllocatedVUs (2), got 1",
        ]
        "#);
    }

    #[test]
    fn names_and_functions_are_checked() {
        let executor = Executor::ConstantVus { vus: 1, duration: secs(1) };
        let bad = Scenario { name: "a b".into(), exec: String::new(), ..scenario(executor) };
        insta::assert_debug_snapshot!(bad.validate(), @r#"
        [
            ScenarioError {
                key: "name",
                reason: "scenario name \"a b\" must consist of letters, digits, _ and -",
            },
            ScenarioError {
                key: "exec",
                reason: "must name an exported function, got an empty string",
            },
        ]
        "#);
    }
}
