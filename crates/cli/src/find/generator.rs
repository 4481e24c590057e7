//! Were we the limit? The generator's own verdict on one step.

use std::collections::BTreeMap;
use std::path::Path;

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

/// Above this much of its time at work, or waiting for a CPU to work on, a core counts as full.
const FULL: f64 = 0.9;

/// Above this much of its time spent waiting for a CPU, it is not its own work that fills a core.
const STARVED: f64 = 0.2;

/// A core that waits for a CPU for this part of the time, and for longer than it works, shares the machine with others.
const WAITING: f64 = 0.05;

/// Later than this (milliseconds, 95th percentile) is late. tokio's own timers are up to 1 ms late.
const LATE_MS: f64 = 10.0;

/// Of fewer ticks than this, two seconds' worth, the 95th percentile says nothing: one hiccup of the machine is in it.
const TICKS_MIN: u64 = 20;

/// A core in a step.
struct Core {
    id: u32,
    /// Parts of its time, 0 to 1.
    busy: f64,
    starved: f64,
    /// How late its ticks ran, in milliseconds (95th percentile); `None` if they were too few.
    late_ms: Option<f64>,
}

impl Core {
    fn load(&self) -> f64 {
        self.busy + self.starved
    }
}

/// The generator's part in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// A sentence about its fault, if it had one.
    pub(super) sentence: Option<String>,
    /// How late it was, in milliseconds (95th percentile).
    pub(super) late_ms: f64,
    /// How full the fullest core was: the parts of its time at work and waiting for a CPU, 0 to 1.
    pub(super) busy: f64,
    pub(super) waiting: f64,
    /// Others took the CPUs: another moment may be better.
    pub(super) is_disturbed: bool,
}

/// The generator's part in a step that began `before`.
///
/// The verdict on a whole run looks at each second (crate `verdict`); a step may last no longer than one.
pub(super) fn verdict(before: &Clocks, seen: &Seen) -> Verdict {
    let now = Clocks::read();
    let whole = now.at.duration_since(before.at).as_nanos().max(1) as f64;
    let part = |core: u32, which: usize| {
        let clocks = now.cores.get(&core).zip(before.cores.get(&core));
        let part =
            clocks.map(|(now, before)| now[which].saturating_sub(before[which]) as f64 / whole);
        part.unwrap_or_default().min(1.0)
    };
    let of_core = |(core, lag): (&u32, &brunt_metrics::TrendSink)| Core {
        id: *core,
        busy: part(*core, 0),
        starved: part(*core, 1),
        late_ms: (lag.count() >= TICKS_MIN).then(|| lag.percentile(95.0)),
    };
    let cores: Vec<Core> = seen.late.iter().map(of_core).collect();
    let ticks = seen.late.values().map(|lag| lag.percentile(95.0)).fold(0.0, f64::max);
    let late_ms = seen.lateness.map_or(0.0, |[_, p95, _]| p95).max(ticks);
    let fullest = cores.iter().max_by(|a, b| a.load().total_cmp(&b.load()));
    Verdict {
        sentence: sentence(&cores, late_ms),
        late_ms,
        busy: fullest.map_or(0.0, |core| core.busy),
        waiting: fullest.map_or(0.0, |core| core.starved),
        is_disturbed: is_disturbed(&cores, late_ms),
    }
}

/// Whether others took the CPUs: a core waited for one for long, or it was late with little to do.
fn is_disturbed(cores: &[Core], late_ms: f64) -> bool {
    let is_known = cores.iter().any(|core| core.late_ms.is_some());
    let is_starved =
        |core: &Core| core.starved >= STARVED || core.starved >= WAITING.max(core.busy);
    let is_idle = cores.iter().all(|core| core.load() < FULL);
    is_known && (cores.iter().any(is_starved) || (late_ms >= LATE_MS && is_idle))
}

fn sentence(cores: &[Core], late_ms: f64) -> Option<String> {
    let is_known = cores.iter().any(|core| core.late_ms.is_some());
    if !is_known || late_ms < LATE_MS {
        return None;
    }
    let fullest = cores.iter().max_by(|a, b| a.load().total_cmp(&b.load()))?;
    let (core, percent) = (fullest.id, |part: f64| (part * 100.0).round());
    Some(if fullest.load() < FULL {
        format!(
            "the generator was disturbed: it was {late_ms:.1} ms late (p95) though it had little to do; a long native call of the \
             script, or the machine itself, held it up"
        )
    } else if fullest.starved >= STARVED {
        format!(
            "the generator was the limit: core {core} waited for a CPU {} % of the time and was {late_ms:.1} ms late (p95); other \
             programs (the target, perhaps) use the CPUs of this machine",
            percent(fullest.starved)
        )
    } else {
        format!(
            "the generator was the limit: core {core} was busy {} % of the time and {late_ms:.1} ms late (p95); use more cores or \
             machines, or a lighter script",
            percent(fullest.busy)
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn core(busy: f64, starved: f64) -> [Core; 1] {
        [Core { id: 3, busy, starved, late_ms: Some(0.0) }]
    }

    #[test]
    fn a_full_core_that_is_late_is_the_limit() {
        assert_eq!(sentence(&core(1.0, 0.0), 2.0), None);
        let told = |busy, starved| sentence(&core(busy, starved), 35.0).unwrap();
        assert!(told(0.99, 0.0).contains("core 3 was busy 99 %"));
        assert!(told(0.6, 0.35).contains("core 3 waited for a CPU 35 %"));
        assert!(told(0.2, 0.0).contains("disturbed"));
        let brief = [Core { late_ms: None, ..core(1.0, 0.0).into_iter().next().unwrap() }];
        assert_eq!(sentence(&brief, 90.0), None);
    }

    #[test]
    fn a_core_that_waits_for_a_cpu_is_disturbed_and_one_that_is_full_of_its_own_work_is_not() {
        assert!(!is_disturbed(&core(0.1, 0.01), 2.0));
        assert!(is_disturbed(&core(0.1, 0.12), 2.0));
        assert!(is_disturbed(&core(0.6, 0.35), 2.0));
        assert!(is_disturbed(&core(0.1, 0.0), 30.0));
        assert!(!is_disturbed(&core(0.97, 0.02), 30.0));
    }
}
