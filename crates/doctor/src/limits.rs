//! Limits of the process and its container: files, memory, threads.

use brunt_verdict::kernel::kilobytes;

use crate::check::{Check, Level};
use crate::machine::{Machine, bytes};
use crate::tried::Tried;

/// Files that Brunt itself has open beside connections: as `brunt run` counts them.
const OWN_FILES: u64 = 64;

/// Fewer files than this are too few for many tests.
const FILES_USUAL: u64 = 10_000;

/// Less memory than this is soon full of bodies.
const MEMORY_LEAST: u64 = 512 << 20;

/// The memory of a VU with a script of usual size, in bytes, at most.
const VU: u64 = 100 << 10;

/// Threads of Brunt itself: load cores come on top.
const OWN_THREADS: u64 = 16;

pub(crate) fn checks(machine: &Machine, tried: &Tried) -> Vec<Check> {
    [files(machine, tried), memory(machine, tried), swap(machine), threads(machine)]
        .into_iter()
        .flatten()
        .collect()
}

fn files(machine: &Machine, tried: &Tried) -> Option<Check> {
    let text = machine.proc("self/limits")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    // Brunt raises the limit that holds (soft) to the one that is allowed (hard).
    let limit = match line.split_ascii_whitespace().nth(1)? {
        "unlimited" => u64::MAX,
        hard => hard.parse().ok()?,
    };
    let of_system = machine.setting("fs.file-max").unwrap_or(u64::MAX);
    let limit = limit.min(of_system);
    let shown = if limit == u64::MAX { "any number of".to_owned() } else { limit.to_string() };
    let check = Check::fine("files", format!("{shown} files and sockets may be open"));
    let wanted = tried.vus.map_or(FILES_USUAL, |vus| vus.saturating_add(OWN_FILES));
    if limit >= wanted {
        return Some(check);
    }
    let spoils = match tried.vus {
        Some(vus) => format!(
            "{vus} VUs need {wanted}, and more if a VU speaks to several hosts or in batches"
        ),
        None => format!("tests with more than {} connections", limit.saturating_sub(OWN_FILES)),
    };
    let level = if tried.vus.is_some() || limit < 1024 { Level::Problem } else { Level::Warning };
    Some(check.at(
        level,
        spoils,
        "ulimit -Hn 1048576 as root; LimitNOFILE=1048576 of a systemd service; docker run --ulimit nofile=1048576",
    ))
}

fn memory(machine: &Machine, tried: &Tried) -> Option<Check> {
    let text = machine.proc("meminfo")?;
    let free = kilobytes(&text, "MemAvailable")?;
    let limit = machine.container().memory_max();
    let usable = limit.map_or(free, |limit| limit.min(free));
    let found = match limit.filter(|limit| *limit < free) {
        Some(limit) => format!("the container may have {} of memory", bytes(limit)),
        None => format!("{} of memory are free", bytes(free)),
    };
    let check = Check::fine("memory", found);
    let wanted = tried.vus.map_or(0, |vus| vus.saturating_mul(VU)).saturating_add(MEMORY_LEAST);
    if usable >= wanted {
        return Some(check);
    }
    let spoils = match tried.vus {
        Some(vus) => format!("{vus} VUs may need {}", bytes(wanted)),
        None => "tests with many VUs or large bodies".to_owned(),
    };
    Some(check.at(
        Level::Warning,
        spoils,
        "a larger limit or machine; discardResponseBodies; --max-body-memory bounds what bodies take",
    ))
}

/// Memory that was put on a disk comes back late.
fn swap(machine: &Machine) -> Option<Check> {
    let text = machine.proc("meminfo")?;
    let used = kilobytes(&text, "SwapTotal")?.saturating_sub(kilobytes(&text, "SwapFree")?);
    let total = kilobytes(&text, "MemTotal")?;
    (used > total / 10).then(|| {
        Check::fine("swap", format!("{} of memory lie on a disk (swap)", bytes(used))).at(
            Level::Warning,
            "whatever comes back from the disk is late by milliseconds",
            "stop what needs so much memory; sudo swapoff -a && sudo swapon -a brings all back",
        )
    })
}

fn threads(machine: &Machine) -> Option<Check> {
    let limit = machine.container().pids_max()?;
    let wanted = machine.cpus() + OWN_THREADS;
    let check = Check::fine("threads", format!("the container may have {limit} threads"));
    Some(if limit < wanted {
        check.at(
            Level::Problem,
            format!("Brunt starts up to {wanted}"),
            "a higher limit (docker run --pids-limit, pids.max), or fewer --workers",
        )
    } else {
        check
    })
}
