//! `/metrics`, `/debug/pprof/`: the process itself.

use std::fmt::Write as _;

use super::{
    Told,
    answer::{self, Answer},
};

/// Prometheus' text format: the process, and how far the run is.
pub(super) fn metrics(told: &Told) -> Answer {
    let control = told.live.control();
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
    gauge("brunt_vus", "gauge", "VUs at work.", control.vus_active() as f64);
    gauge("brunt_vus_initialized", "gauge", "VUs that are made.", control.vus_initialized() as f64);
    let complete = control.iterations_complete() as f64;
    gauge("brunt_iterations_total", "counter", "Iterations that came to their end.", complete);
    answer::text(out)
}

fn cpu_seconds() -> Option<f64> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Some(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0)
}

/// Go's profiles are of a Go process. Ours is asked by the system's tools.
pub(super) fn profiling(told: &Told) -> Answer {
    answer::text(if told.profiling {
        "profiles of this process are made from outside: perf record -g -p PID\n"
    } else {
        "To enable profiling, please run brunt with the --profiling-enabled flag\n"
    })
}
