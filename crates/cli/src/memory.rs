//! How much memory there is for this process.

use std::fs;
use std::path::Path;

/// What bodies may hold together where nothing is known about the machine.
const UNKNOWN: u64 = 2 << 30;

/// What all bodies of the process may hold by default: half of what there is.
pub(crate) fn for_bodies() -> u64 {
    let read = |path: &Path| fs::read_to_string(path).ok();
    available(&read).map_or(UNKNOWN, |bytes| bytes / 2)
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
    // In a container, the path is that of the host, and the limit stands at the root.
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
}
