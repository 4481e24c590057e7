//! Were we the limit? The generator's own verdict on one step.

use std::collections::BTreeMap;
use std::path::Path;

use brunt_engine::{CoreHealth, Health, HealthVerdict};

use super::window::Seen;

/// The clocks of the load cores at one moment.
pub(super) struct Clocks {
    at: std::time::Instant,
    /// By core: nanoseconds on a CPU, and waiting for one.
    cores: BTreeMap<u32, [u64; 2]>,
}

impl Clocks {
    pub(super) fn read() -> Self {
        Self { at: std::time::Instant::now(), cores: cores(Path::new("/proc/self/task")) }
    }
}

/// The sentence about a step in which the generator was found wanting, and how late it was (ms).
pub(super) fn verdict(before: &Clocks, seen: &Seen) -> (Option<String>, f64) {
    let now = Clocks::read();
    let whole = now.at.duration_since(before.at).as_nanos().max(1) as f64;
    let part = |core: u32, which: usize| {
        let [now, before] = [now.cores.get(&core)?, before.cores.get(&core)?];
        Some((now[which].saturating_sub(before[which]) as f64 / whole).min(1.0))
    };
    let of_core = |(core, lag): (&u32, &brunt_metrics::TrendSink)| CoreHealth {
        core: *core,
        busy: part(*core, 0),
        starved: part(*core, 1),
        lag: lag.clone(),
    };
    let cores = seen.late.iter().map(of_core).collect();
    let health = Health { cores, lateness: seen.lateness, dropped_iterations: 0 };
    let ticks = health.cores.iter().map(|core| core.lag.percentile(95.0)).fold(0.0, f64::max);
    let late_ms = seen.lateness.map_or(0.0, |[_, p95, _]| p95).max(ticks);
    // The one place where a step asks for the generator's health.
    let verdict = health.verdict();
    let sentence = (verdict != HealthVerdict::Fine).then(|| verdict.to_string());
    (sentence, late_ms)
}

/// Linux's `schedstat` of the threads that carry VUs, which are called `core-0` and so on.
fn cores(tasks: &Path) -> BTreeMap<u32, [u64; 2]> {
    let Ok(tasks) = std::fs::read_dir(tasks) else { return BTreeMap::new() };
    let core = |task: std::fs::DirEntry| {
        let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
        let core = name.trim().strip_prefix("core-")?.parse().ok()?;
        let clocks = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        let mut clocks = clocks.split_ascii_whitespace().map_while(|text| text.parse().ok());
        Some((core, [clocks.next()?, clocks.next()?]))
    };
    tasks.flatten().filter_map(core).collect()
}
