//! The load: rates, and VUs for them.

use std::sync::Arc;

use super::{DROPPED, Driver};
use crate::find::{goal::Goal, scenarios::dealt, window::Seen};

/// Iterations are taken to last this long before the first has ended, in milliseconds.
const UNKNOWN_MS: f64 = 250.0;

impl Driver {
    pub(super) fn set_load(&self, load: f64) -> Result<(), String> {
        if self.request.by_vus {
            let parts = dealt(load as u64, &self.shares);
            for (scenario, vus) in parts.into_iter().enumerate() {
                self.live.let_iterate(scenario, vus)?;
            }
            return Ok(());
        }
        for (scenario, share) in self.shares.iter().enumerate() {
            let wanted = self.vus_for(load * share).min(self.vus_max(scenario));
            self.live.have_vus(scenario, wanted)?;
        }
        for (scenario, share) in self.shares.iter().enumerate() {
            self.live.set_rate(scenario, load * share);
        }
        Ok(())
    }

    pub(super) fn vus_max(&self, scenario: usize) -> u64 {
        self.live.scenarios().get(scenario).map_or(0, |state| state.vus_max())
    }

    /// VUs for this rate of iterations: as they last now, and with room for what the goals allow. An overloaded
    /// system would take any number of them, and show nothing more.
    pub(super) fn vus_for(&self, rate: f64) -> u64 {
        let now = self.iteration_ms.unwrap_or(UNKNOWN_MS);
        let lowest = self.search.lowest().and_then(|step| step.measured.iteration_ms);
        let usual = lowest.unwrap_or(now).min(now);
        let limits = self.goals.iter().filter(|goal| goal.is_time).filter_map(Goal::limit);
        let room = limits.fold(f64::INFINITY, f64::min).min(usual * 4.0 + 100.0);
        let each_ms = (usual * 2.0).max(usual + room);
        (rate * each_ms / 1000.0).ceil() as u64 + 5
    }

    /// Whether iterations find no VU though the goals hold.
    pub(super) fn lacks_vus(&self, seen: &Seen) -> bool {
        let all = seen.finished + seen.dropped;
        !self.request.by_vus
            && seen.dropped > all * DROPPED
            && seen.goals.iter().all(|goal| goal.holds || goal.value.is_none())
    }

    pub(super) fn has_all_vus(&self) -> bool {
        let has_all =
            |state: &Arc<brunt_engine::ScenarioState>| state.vus_allocated() >= state.vus_max();
        !self.request.by_vus && self.live.scenarios().iter().all(has_all)
    }

    /// Makes half as many VUs again; false if there may be no more.
    pub(super) fn grow(&self, load: f64) -> bool {
        let mut has_grown = false;
        for (scenario, share) in self.shares.iter().enumerate() {
            let Some(state) = self.live.scenarios().get(scenario) else { continue };
            let (now, most) = (state.vus_allocated(), state.vus_max());
            let wanted = (now + now / 2 + (load * share).ceil() as u64 / 4 + 1).min(most);
            if wanted > now && self.live.have_vus(scenario, wanted).is_ok() {
                has_grown = true;
            }
        }
        has_grown
    }
}
