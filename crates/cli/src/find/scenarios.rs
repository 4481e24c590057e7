//! The scenarios of a search: functions, tags and variables of the script's own, rates that are steered.

use std::time::Duration;

use brunt_schedule::{Executor, Scenario};

use super::{Hunt, Request};

/// VUs that a scenario has on each core before the first step.
const VUS_PER_CORE: u64 = 5;

/// The scenarios, all from the start, and each one's part of the load: as their rates are to each other, or their VUs
/// where not all have rates.
pub(super) fn steered(
    scenarios: &[Scenario],
    request: &Request,
    workers: Option<usize>,
) -> (Vec<Scenario>, Vec<f64>) {
    // By name, as the engine orders those that start together.
    let mut scenarios = scenarios.to_vec();
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    let all_open = scenarios.iter().all(|scenario| scenario.executor.is_open());
    let weights: Vec<f64> =
        scenarios.iter().map(|scenario| weight(&scenario.executor, all_open)).collect();
    let sum: f64 = weights.iter().sum();
    let share = |weight: &f64| if sum > 0.0 { weight / sum } else { 1.0 / weights.len() as f64 };
    let shares: Vec<f64> = weights.iter().map(share).collect();
    let cores = workers
        .or_else(|| std::thread::available_parallelism().ok().map(std::num::NonZero::get))
        .unwrap_or(1) as u64;
    let duration = Hunt::longest(request);
    for (scenario, share) in scenarios.iter_mut().zip(&shares) {
        scenario.start_time = Duration::ZERO;
        let most = ((request.vus_max as f64 * share).floor() as u64).max(1);
        scenario.executor = if request.by_vus {
            Executor::ExternallyControlled { vus: 0, max_vus: 1, duration }
        } else {
            Executor::ConstantArrivalRate {
                rate: 1,
                time_unit: Duration::from_secs(1),
                duration,
                pre_allocated_vus: (VUS_PER_CORE * cores).min(most),
                max_vus: most,
            }
        };
    }
    (scenarios, shares)
}

/// Iterations per second at the peak, or VUs.
fn weight(executor: &Executor, all_open: bool) -> f64 {
    match executor {
        Executor::ConstantArrivalRate { rate, time_unit, .. } if all_open => {
            *rate as f64 / time_unit.as_secs_f64()
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } if all_open => {
            let peak = stages.iter().map(|stage| stage.target).fold(*start_rate, u64::max);
            peak as f64 / time_unit.as_secs_f64()
        }
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => *vus as f64,
        Executor::RampingVus { start_vus, stages, .. } => {
            stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max) as f64
        }
        Executor::ConstantArrivalRate { pre_allocated_vus, max_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, max_vus, .. } => {
            (*pre_allocated_vus).max(1).min((*max_vus).max(1)) as f64
        }
        Executor::ExternallyControlled { vus, max_vus, .. } => (*vus).max(*max_vus) as f64,
    }
}

/// `vus` VUs, dealt out by shares; their sum is `vus`, and each has one if there are enough.
pub(super) fn dealt(vus: u64, shares: &[f64]) -> Vec<u64> {
    let mut parts: Vec<u64> =
        shares.iter().map(|share| (vus as f64 * share).floor() as u64).collect();
    let mut left = vus.saturating_sub(parts.iter().sum());
    while left > 0 {
        // The scenario that is furthest below its share.
        let lack = |index: &usize| shares[*index] * vus as f64 - parts[*index] as f64;
        let Some(next) = (0..parts.len()).max_by(|a, b| lack(a).total_cmp(&lack(b))) else { break };
        parts[next] += 1;
        left -= 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vus_are_dealt_out_to_the_last() {
        assert_eq!(dealt(10, &[0.5, 0.3, 0.2]), [5, 3, 2]);
        assert_eq!(dealt(1, &[0.2, 0.8]), [0, 1]);
        assert_eq!(dealt(3, &[0.5, 0.5]).iter().sum::<u64>(), 3);
        assert_eq!(dealt(0, &[1.0]), [0]);
    }

    #[test]
    fn shares_are_those_of_the_rates() {
        let open = |rate, unit| Executor::ConstantArrivalRate {
            rate,
            time_unit: Duration::from_secs(unit),
            duration: Duration::from_secs(1),
            pre_allocated_vus: 1,
            max_vus: 1,
        };
        assert_eq!(
            format!("{} {}", weight(&open(10, 1), true), weight(&open(60, 60), true)),
            "10 1"
        );
        let closed = Executor::ConstantVus { vus: 7, duration: Duration::from_secs(1) };
        assert_eq!(format!("{} {}", weight(&closed, false), weight(&open(10, 1), false)), "7 1");
    }
}
