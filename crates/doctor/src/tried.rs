//! Facts that no file of the kernel tells: the caller has tried them.

use std::path::PathBuf;

/// The outcome of all attempts before the examination.
#[derive(Debug, Clone, Default)]
pub struct Tried {
    /// VUs that a test is to have, if somebody said so.
    pub vus: Option<u64>,
    /// How late timers were.
    pub timers: Option<Timers>,
    /// The use of all CPUs meanwhile.
    pub ticks: Option<Ticks>,
    /// Why the engine's timer can't be had.
    pub no_timer: Option<String>,
    /// Whether the engine's timer is the runtime's, as the system has or allows no exact one.
    pub coarse_timer: bool,
    /// Why no listener on the loopback interface can be had.
    pub no_loopback: Option<String>,
    /// Whether no server for host names is configured.
    pub no_resolver: bool,
    /// Folders that Brunt writes into.
    pub folders: Vec<Folder>,
    /// Variables that send requests through a proxy: `HTTP_PROXY=http://proxy:3128`, without passwords.
    pub proxies: Vec<String>,
    /// Variables that change each run: `K6_VUS`.
    pub settings: Vec<String>,
}

/// Timers of a millisecond, one after another, for about a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// The 99th percentile of their lateness, in microseconds.
    pub p99_us: u64,
    /// The latest of them, in microseconds.
    pub max_us: u64,
}

/// Shares of the time of all CPUs, 0 to 1, while timers were tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ticks {
    /// Busy with anything.
    pub busy: f64,
    /// Taken by other machines of the host.
    pub steal: f64,
}

/// A folder that Brunt writes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its purpose, as a consequence: `modules are fetched again in each run`.
    pub purpose: &'static str,
    /// Where.
    pub path: PathBuf,
    /// Why nothing can be written there.
    pub fault: Option<String>,
    /// The remedy.
    pub remedy: &'static str,
}
