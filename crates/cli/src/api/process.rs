//! `/metrics`, `/debug/pprof/`: the process itself.

use std::fmt::Write as _;

use super::{
    Told,
    answer::{self, Answer},
};
use crate::cpu::cpu_seconds;

/// Prometheus' text format: the process, and how far the run is.
pub(super) fn metrics(told: &Told) -> Answer {
    let mut out = String::new();
    let mut gauge = |name: &str, kind: &str, about: &str, value: f64| {
        // Writing to a String can't fail.
        let _ = write!(out, "# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {value}\n");
    };
    if let Some(seconds) = cpu_seconds() {
        let about = "Total user and system CPU time spent in seconds.";
        gauge("process_cpu_seconds_total", "counter", about, seconds);
    }
    if let Some(bytes) = resident_bytes() {
        gauge("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", bytes);
    }
    let Some(run) = told.subject() else { return answer::text(out) };
    let state = run.state();
    gauge("brunt_vus", "gauge", "VUs at work.", state.vus_active as f64);
    gauge("brunt_vus_initialized", "gauge", "VUs that are made.", state.vus_initialized as f64);
    let complete = state.iterations_complete as f64;
    gauge("brunt_iterations_total", "counter", "Iterations that came to their end.", complete);
    answer::text(out)
}

fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0)
}

/// Go's profiles are of a Go process. Of ours, each thread tells how much it has worked, and the system's tools
/// tell the rest.
pub(super) fn profiling(told: &Told) -> Answer {
    if !told.profiling {
        return answer::text(
            "To enable profiling, please run brunt with the --profiling-enabled flag\n",
        );
    }
    let mut out = String::from("CPU seconds of each thread (user, system):\n\n");
    for (name, user, system) in threads() {
        // Writing to a String can't fail.
        let _ = writeln!(out, "{user:>10.2} {system:>10.2}  {name}");
    }
    let id = std::process::id();
    let _ = write!(
        out,
        "\nThe functions behind them, from outside: perf record -g -p {id} -- sleep 10; perf report\n"
    );
    answer::text(out)
}

/// Ticks in a second, as Linux tells them (`USER_HZ`, the same on every machine).
const TICKS: f64 = 100.0;

/// Name, user seconds and system seconds of each thread, those that worked most in front.
fn threads() -> Vec<(String, f64, f64)> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let one = |stat: &str| {
        // The name is in brackets, and may hold some itself.
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let mut fields = rest.split_whitespace().skip(11).map_while(|field| field.parse().ok());
        let (user, system): (f64, f64) = (fields.next()?, fields.next()?);
        Some((name.to_owned(), user / TICKS, system / TICKS))
    };
    let stats =
        tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    let mut threads: Vec<_> = stats.filter_map(|stat| one(&stat)).collect();
    threads.sort_by(|(.., one_user, one_system), (.., user, system)| {
        (user + system).total_cmp(&(one_user + one_system))
    });
    threads
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_thread_tells_its_seconds() {
        let threads = super::threads();
        assert!(!threads.is_empty());
        assert!(
            threads
                .iter()
                .all(|(name, user, system)| { !name.is_empty() && *user >= 0.0 && *system >= 0.0 })
        );
    }
}
