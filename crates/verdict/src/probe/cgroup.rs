//! The container of the process: its groups of control, of version 1 and 2.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The files that tell about it: its own and those of the groups around it, any of which may have the limit.
#[derive(Clone, Debug, Default)]
pub struct Container {
    /// `cpu.stat`, innermost first.
    cpu: Vec<PathBuf>,
    /// `memory.max` (version 2) and `memory.limit_in_bytes` (version 1).
    memory: Vec<PathBuf>,
    /// `pids.max`
    threads: Vec<PathBuf>,
}

/// Groups within groups, at most.
const DEPTH_MAX: usize = 16;

impl Container {
    /// `text`: `/proc/self/cgroup`. `root`: where the groups are mounted.
    pub fn of(text: Option<&str>, root: &Path) -> Self {
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
                found.threads.extend(all.iter().map(|dir| dir.join("pids.max")));
            }
            if has("pids") {
                let all = levels(&root.join("pids"));
                found.threads.extend(all.iter().map(|dir| dir.join("pids.max")));
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
        found.threads.retain(|file| file.is_file());
        found
    }

    /// Nanoseconds for which it was throttled so far: those of the group that was throttled most.
    pub(super) fn throttled(&self) -> Option<u64> {
        self.cpu.iter().filter_map(|file| throttled(&read_to_string(file).ok()?)).max()
    }

    /// CPUs that it may use, in CPUs: `0.5` is a half; none without a limit.
    pub fn cpu_quota(&self) -> Option<f64> {
        let folders = self.cpu.iter().filter_map(|file| file.parent());
        let limits = folders.filter_map(|folder| {
            let text = |name: &str| read_to_string(folder.join(name)).ok();
            if let Some(text) = text("cpu.max") {
                return quota(text.split_ascii_whitespace());
            }
            let (most, period) = (text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?);
            quota([most.trim(), period.trim()].into_iter())
        });
        limits.reduce(f64::min)
    }

    /// Threads that it may have; none without a limit.
    pub fn pids_max(&self) -> Option<u64> {
        let limits =
            self.threads.iter().filter_map(|file| read_to_string(file).ok()?.trim().parse().ok());
        limits.min()
    }

    /// Bytes of memory that it may have; none without a limit.
    pub fn memory_max(&self) -> Option<u64> {
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

/// Microseconds of a period, and the period. `max` and -1 are no limit.
fn quota<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<f64> {
    let (most, period): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (period > 0).then(|| most as f64 / period as f64)
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
