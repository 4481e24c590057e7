//! Was it the target that was slow, or were we?
//!
//! A load generator that runs out of CPU starts iterations late and reads answers late, and then reports
//! its own slowness as the target's. So each core watches itself.

mod watch;

use std::fmt;

use brunt_metrics::{Summary, TrendSink, summary::Values};

pub(crate) use self::watch::CoreWatch;

/// Above this much of its time at work, or waiting for a CPU to work on, a core counts as full.
const FULL: f64 = 0.9;

/// Above this much of its time spent waiting for a CPU, it is not its own work that fills a core.
const STARVED: f64 = 0.2;

/// Later than this (milliseconds, 95th percentile) is late. tokio's own timers are up to 1 ms late.
const LATE_MS: f64 = 10.0;

/// Of fewer ticks than this, two seconds' worth, the 95th percentile says nothing: one hiccup of the machine is in it.
const TICKS_MIN: u64 = 20;

/// How one core did while the scenarios ran.
#[derive(Clone, Debug, Default)]
pub struct CoreHealth {
    /// Which core, from 0.
    pub core: u32,
    /// Part of the time in which its thread was on a CPU, 0 to 1; `None` if the system does not tell.
    pub busy: Option<f64>,
    /// Part of the time in which it had work but no CPU to do it on, 0 to 1.
    pub starved: Option<f64>,
    /// How late its own ticks ran, in milliseconds.
    pub lag: TrendSink,
}

/// The result of watching.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Each core.
    pub cores: Vec<CoreHealth>,
    /// How late iterations started (median, 95th percentile, maximum, in milliseconds); open models only.
    pub lateness: Option<[f64; 3]>,
    /// Iterations that could not start, of all scenarios.
    pub dropped_iterations: u64,
}

/// Whether the numbers of a run can be trusted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HealthVerdict {
    /// Nothing stood in the way.
    Fine,
    /// A core was out of CPU time and late: part of the measured times is our own.
    Bottleneck {
        /// The worst core.
        core: u32,
        /// How much of its time it was busy, 0 to 1.
        busy: f64,
        /// How late it was, in milliseconds (95th percentile).
        late_ms: f64,
    },
    /// A core had work to do and did not get a CPU: others use this machine too, the target perhaps, or
    /// there are more cores configured than the machine has.
    Starved {
        /// The worst core.
        core: u32,
        /// How much of its time it waited for a CPU, 0 to 1.
        starved: f64,
        /// How late it was, in milliseconds (95th percentile).
        late_ms: f64,
    },
    /// A core was late though it had time: a long native call of the script, or the machine stood still.
    Disturbed {
        /// The worst core.
        core: u32,
        /// How late it was, in milliseconds (95th percentile).
        late_ms: f64,
    },
}

impl Health {
    pub(crate) fn new(mut cores: Vec<CoreHealth>, summary: &Summary) -> Health {
        cores.sort_by_key(|core| core.core);
        let lateness =
            summary.metric("iteration_lateness").and_then(|metric| match &metric.values {
                Values::Trend(trend) if trend.count() > 0 => {
                    Some([trend.percentile(50.0), trend.percentile(95.0), trend.max()])
                }
                _ => None,
            });
        let dropped = summary.metric("dropped_iterations");
        let dropped = dropped.and_then(|metric| metric.values.get("count")).unwrap_or(0.0);
        Health { cores, lateness, dropped_iterations: dropped as u64 }
    }

    /// Whether the generator itself was in the way.
    pub fn verdict(&self) -> HealthVerdict {
        let late = |core: &CoreHealth| core.lag.percentile(95.0);
        let by_lag = |a: &&CoreHealth, b: &&CoreHealth| late(a).total_cmp(&late(b));
        let late_starts = self.lateness.map_or(0.0, |[_, p95, _]| p95);
        let known = self.cores.iter().filter(|core| core.lag.count() >= TICKS_MIN);
        let Some(worst) = known.max_by(by_lag) else {
            return HealthVerdict::Fine;
        };
        let late_ms = late(worst).max(late_starts);
        if late_ms < LATE_MS {
            return HealthVerdict::Fine;
        }
        let load = |core: &CoreHealth| core.busy.unwrap_or(0.0) + core.starved.unwrap_or(0.0);
        let by_load = |a: &&CoreHealth, b: &&CoreHealth| load(a).total_cmp(&load(b));
        let fullest = self.cores.iter().max_by(by_load).unwrap_or(worst);
        let (core, starved) = (fullest.core, fullest.starved.unwrap_or(0.0));
        if load(fullest) < FULL {
            HealthVerdict::Disturbed { core: worst.core, late_ms }
        } else if starved >= STARVED {
            HealthVerdict::Starved { core, starved, late_ms }
        } else {
            let busy = fullest.busy.unwrap_or(0.0);
            HealthVerdict::Bottleneck { core, busy, late_ms }
        }
    }
}

impl fmt::Display for HealthVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fine => write!(out, "the generator kept up"),
            Self::Bottleneck { core, busy, late_ms } => write!(
                out,
                "generator was the bottleneck: core {core} was busy {:.0} % of the time and {late_ms:.1} ms \
                 late (p95), so part of the measured times is its own; use more cores or machines, or a \
                 lighter script",
                busy * 100.0
            ),
            Self::Starved { core, starved, late_ms } => write!(
                out,
                "generator was the bottleneck: core {core} waited for a CPU {:.0} % of the time and was \
                 {late_ms:.1} ms late (p95), so part of the measured times is its own; other programs (the \
                 target, perhaps) use the CPUs of this machine, or there are fewer than cores were asked for",
                starved * 100.0
            ),
            Self::Disturbed { core, late_ms } => write!(
                out,
                "generator was disturbed: core {core} was {late_ms:.1} ms late (p95) though it had little to \
                 do; a long native call of the script, or the machine itself, held it up"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(core: u32, busy: f64, late_ms: f64) -> CoreHealth {
        CoreHealth {
            core,
            busy: Some(busy),
            starved: Some(0.0),
            lag: TrendSink::from_values([late_ms; TICKS_MIN as usize]),
        }
    }

    #[test]
    fn a_full_core_that_is_not_late_is_fine() {
        let health = Health { cores: vec![core(0, 1.0, 2.0)], ..Health::default() };
        assert_eq!(health.verdict(), HealthVerdict::Fine);
    }

    #[test]
    fn a_full_and_late_core_was_the_bottleneck() {
        let cores = vec![core(0, 0.2, 1.0), core(1, 0.99, 35.0)];
        let verdict = Health { cores, ..Health::default() }.verdict();
        assert_eq!(verdict, HealthVerdict::Bottleneck { core: 1, busy: 0.99, late_ms: 35.0 });
        assert!(
            verdict.to_string().starts_with("generator was the bottleneck: core 1 was busy 99 %")
        );
    }

    #[test]
    fn late_starts_on_idle_cores_are_somebody_elses_fault() {
        let health = Health {
            cores: vec![core(0, 0.3, 1.0)],
            lateness: Some([1.0, 40.0, 90.0]),
            ..Health::default()
        };
        assert_eq!(health.verdict(), HealthVerdict::Disturbed { core: 0, late_ms: 40.0 });
    }

    #[test]
    fn a_run_too_short_to_tell_is_fine() {
        let mut brief = core(0, 0.3, 90.0);
        brief.lag = TrendSink::from_values([90.0; 3]);
        let verdict = Health { cores: vec![brief], ..Health::default() }.verdict();
        assert_eq!(verdict, HealthVerdict::Fine);
    }

    #[test]
    fn a_core_that_got_no_cpu_was_starved() {
        let mut starving = core(0, 0.6, 50.0);
        starving.starved = Some(0.35);
        let verdict = Health { cores: vec![starving], ..Health::default() }.verdict();
        assert_eq!(verdict, HealthVerdict::Starved { core: 0, starved: 0.35, late_ms: 50.0 });
    }
}
