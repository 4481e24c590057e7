//! How much memory there is for this process.

use std::fs;
use std::path::Path;

use brunt_options::Size;
use brunt_schedule::{Scenario, Segment};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use crate::failure::{Failure, Outcome};

/// The assumed memory where the machine does not tell its own.
const UNKNOWN: u64 = 4 << 30;

/// The least that a user may give a VU.
const HEAP_MIN: u64 = 1 << 20;

/// The least that the heap of a VU may hold by default, if all heaps may hold as much.
const HEAP_LEAST: u64 = 256 << 20;

/// The least that a VU takes: a VU with an empty script takes twice as much.
const VU_MIN: u64 = 32 << 10;

/// Says what all bodies of the process may hold by default: three eighths of what there is. With the heaps that is seven
/// eighths; the rest is for all else.
pub(crate) fn bound_bodies() {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let bodies = &brunt_net::budget::BODIES;
    bodies.set_limit(there_is() / 8 * 3);
    if addresses().is_some() || counts_addresses(&read) {
        bodies.spare_addresses();
    }
}

/// Looks whether the VUs of scenarios can have room, before anything is made for them.
///
/// # Errors
/// A scenario wants more than all the memory could hold (104).
pub(crate) fn check_room(scenarios: &[Scenario], segment: &Segment) -> Outcome<()> {
    let memory = there_is();
    let most = memory / VU_MIN;
    let wants = |scenario: &&Scenario| scenario.vus_made_before(segment) > most;
    let Some(scenario) = scenarios.iter().find(wants) else { return Ok(()) };
    let problem = format!(
        "scenario {} wants {} VUs, and the memory here ({} MiB) has room for fewer than {most}",
        scenario.name,
        scenario.vus_made_before(segment),
        memory >> 20
    );
    let hint = "take fewer VUs, or give each of several machines a part: --execution-segment";
    Err(Failure::config(problem).hint(hint))
}

/// How many VUs a search may make by default: ten thousand, or those that half of the memory holds if each
/// takes a mebibyte.
pub(crate) fn room_for_vus() -> u64 {
    const MOST: u64 = 10_000;
    (there_is() / 2 / (1 << 20)).clamp(1, MOST)
}

/// Limits the heaps of VUs that are made from now on: each to `each`, which the user gives, and all of them together
/// to half of the memory.
///
/// # Errors
/// Less than any script needs (104).
pub(crate) fn limit_heaps(each: Size) -> Outcome<()> {
    if each.bytes() < HEAP_MIN {
        let problem = format!(
            "vuMemory is {} bytes, and a VU needs more than {HEAP_MIN} (1MiB) before its script begins",
            each.bytes()
        );
        return Err(Failure::config(problem));
    }
    set(each.bytes(), heaps(there_is()).1);
    Ok(())
}

/// Limits them as long as the user says nothing: each to an eighth of what there is.
pub(crate) fn limit_heaps_by_default() {
    let (each, all) = heaps(there_is());
    set(each, all);
}

fn set(each: u64, all: u64) {
    let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    brunt_js::limit_heaps(bytes(each), bytes(all));
}

/// The limits of one heap and of all heaps together.
fn heaps(there_is: u64) -> (u64, u64) {
    let all = there_is / 2;
    ((there_is / 8).max(HEAP_LEAST).min(all), all)
}

/// Bytes of memory for this process; 0 if the machine does not tell.
pub(crate) fn of_process() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).ok();
    available(&read).unwrap_or(0)
}

/// Bytes of memory for this process, limits of its address space included.
fn there_is() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let bytes = available(&read).unwrap_or(UNKNOWN);
    addresses().map_or(bytes, |limit| bytes.min(limit))
}

/// Bytes of addresses, if they are limited: `ulimit -v`.
fn addresses() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    (soft != RLIM_INFINITY).then_some(soft)
}

/// The system hands out no more addresses than it has memory for.
fn counts_addresses(read: &dyn Fn(&Path) -> Option<String>) -> bool {
    read(Path::new("/proc/sys/vm/overcommit_memory")).is_some_and(|text| text.trim() == "2")
}

/// Bytes of memory: the machine's, or what the process's control groups allow, if that is less.
fn available(read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| total(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let allowed = groups.lines().filter_map(|line| limit(line, read)).min();
    machine.into_iter().chain(allowed).min()
}

/// `MemTotal:       24601856 kB`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least limit of a group and of those that it is in. A line is `0::/user/a` (version 2), or `4:memory:/user/a`.
fn limit(line: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        names if names.split(',').any(|name| name == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let at = |group: &Path| {
        let inside = group.strip_prefix("/").unwrap_or(group);
        read(&Path::new(root).join(inside).join(file))?.trim().parse::<u64>().ok()
    };
    // In a container, the path is the host's, and the limit is written at the root.
    Path::new(path).ancestors().filter_map(at).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<u64> {
        available(&|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn systems_that_count_addresses_are_noticed() {
        assert!(counts_addresses(&|_| Some("2\n".to_owned())));
        assert!(!counts_addresses(&|_| Some("0\n".to_owned())) && !counts_addresses(&|_| None));
    }

    #[test]
    fn the_least_of_machine_and_groups_counts() {
        let machine = ("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 5 kB\n");
        assert_eq!(of(&[machine]), Some(1_024_000));
        let group = ("/proc/self/cgroup", "0::/a/b\n");
        let unbounded = ("/sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(of(&[machine, group, unbounded]), Some(1_024_000));
        let outer = ("/sys/fs/cgroup/a/memory.max", "4096\n");
        assert_eq!(of(&[machine, group, unbounded, outer]), Some(4096));
        let root = ("/sys/fs/cgroup/memory.max", "8192\n");
        assert_eq!(of(&[machine, group, root]), Some(8192));
        let old = ("/proc/self/cgroup", "7:cpu,cpuacct:/x\n4:memory:/x\n");
        let limit = ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2048");
        assert_eq!(of(&[machine, old, limit]), Some(2048));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_heap_may_hold_an_eighth_and_all_of_them_half() {
        let gib = 1 << 30;
        assert_eq!(heaps(16 * gib), (2 * gib, 8 * gib));
        assert_eq!(heaps(gib), (gib / 4, gib / 2));
        assert_eq!(heaps(gib / 8), (gib / 16, gib / 16));
    }
}
