//! The files of the kernel, read as text. Absent ones are no error: systems differ.

use std::fs::read_to_string;
use std::path::PathBuf;

use brunt_verdict::Container;

/// Where the kernel tells.
#[derive(Debug, Clone)]
pub struct Machine {
    proc: PathBuf,
    sys: PathBuf,
    container: Container,
    cpus: u64,
}

impl Machine {
    /// This machine. `cpus`: those that this process may run on.
    pub fn of_this_process(cpus: u64) -> Self {
        Self::of("/proc".into(), "/sys".into(), cpus)
    }

    /// A machine whose files lie elsewhere.
    pub fn of(proc: PathBuf, sys: PathBuf, cpus: u64) -> Self {
        let groups = read_to_string(proc.join("self/cgroup")).ok();
        let container = Container::of(groups.as_deref(), &sys.join("fs/cgroup"));
        Self { proc, sys, container, cpus }
    }

    /// The CPUs that this process may run on.
    pub(crate) fn cpus(&self) -> u64 {
        self.cpus
    }

    pub(crate) fn container(&self) -> &Container {
        &self.container
    }

    /// Whether there are files of the kernel at all.
    pub(crate) fn has_proc(&self) -> bool {
        self.proc.join("self/status").exists()
    }

    /// A file under `/proc`.
    pub(crate) fn proc(&self, path: &str) -> Option<String> {
        read_to_string(self.proc.join(path)).ok()
    }

    /// A file under `/sys`, without the blanks around its text.
    pub(crate) fn sys(&self, path: &str) -> Option<String> {
        Some(read_to_string(self.sys.join(path)).ok()?.trim().to_owned())
    }

    /// A setting of the kernel that is one number: `net.core.somaxconn`.
    pub(crate) fn setting(&self, name: &str) -> Option<u64> {
        self.proc(&format!("sys/{}", name.replace('.', "/")))?.trim().parse().ok()
    }
}

/// `8.2 GiB`, `512 MiB`
pub(crate) fn bytes(count: u64) -> String {
    let mib = count as f64 / 1_048_576.0;
    if mib >= 1024.0 { format!("{:.1} GiB", mib / 1024.0) } else { format!("{mib:.0} MiB") }
}
