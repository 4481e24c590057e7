//! The container of the process: its groups of control, of version 1 and 2.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The files that tell about it: its own and those of the groups around it, any of which may have the limit.
#[derive(Debug, Default)]
pub(super) struct Container {
    /// `cpu.stat`, innermost first.
    cpu: Vec<PathBuf>,
    /// `memory.max` (version 2) and `memory.limit_in_bytes` (version 1).
    memory: Vec<PathBuf>,
}

/// Groups within groups, at most.
const DEPTH_MAX: usize = 16;

impl Container {
    /// `text`: `/proc/self/cgroup`. `root`: where the groups are mounted.
    pub(super) fn of(text: Option<&str>, root: &Path) -> Self {
        let mut found = Self::default();
        for line in text.unwrap_or_default().lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(names), Some(path)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let has = |name: &str| names.split(',').any(|one| one == name);
            let levels = |base: &Path| levels(base, path);
            if names.is_empty() {
                let all = levels(root);
                found.cpu.extend(all.iter().map(|dir| dir.join("cpu.stat")));
                found.memory.extend(all.iter().map(|dir| dir.join("memory.max")));
            }
            if has("cpu") {
                // Some systems mount it under both names, some under one.
                for base in [root.join("cpu"), root.join("cpu,cpuacct"), root.join("cpuacct,cpu")] {
                    if base.is_dir() {
                        found.cpu.extend(levels(&base).iter().map(|dir| dir.join("cpu.stat")));
                        break;
                    }
                }
            }
            if has("memory") {
                let all = levels(&root.join("memory"));
                found.memory.extend(all.iter().map(|dir| dir.join("memory.limit_in_bytes")));
            }
        }
        found.cpu.retain(|file| file.is_file());
        found.memory.retain(|file| file.is_file());
        found
    }

    /// Nanoseconds for which it was throttled so far: those of the group that was throttled most.
    pub(super) fn throttled(&self) -> Option<u64> {
        self.cpu.iter().filter_map(|file| throttled(&read_to_string(file).ok()?)).max()
    }

    /// Bytes of memory that it may have; none without a limit.
    pub(super) fn memory_max(&self) -> Option<u64> {
        /// Version 1 writes no limit as a number beyond all machines.
        const NONE: u64 = 1 << 60;
        let limits = self.memory.iter().filter_map(|file| {
            read_to_string(file).ok()?.trim().parse::<u64>().ok().filter(|limit| *limit < NONE)
        });
        limits.min()
    }
}

/// `throttled_usec` of version 2, `throttled_time` (nanoseconds) of version 1.
fn throttled(text: &str) -> Option<u64> {
    super::kernel::named(text, "throttled_usec")
        .map(|micros| micros.saturating_mul(1000))
        .or_else(|| super::kernel::named(text, "throttled_time"))
}

/// The folder of a group and of those around it. In a container whose mount shows its own group alone, the path does not exist there, and
/// the root is the group.
fn levels(base: &Path, path: &str) -> Vec<PathBuf> {
    let mut dir = base.join(path.trim_start_matches('/'));
    // A path with `..` leads out of what is shown.
    if path.split('/').any(|part| part == "..") || !dir.is_dir() {
        base.clone_into(&mut dir);
    }
    let mut all = Vec::new();
    while all.len() < DEPTH_MAX && dir.starts_with(base) {
        all.push(dir.clone());
        if !dir.pop() {
            break;
        }
    }
    all
}
