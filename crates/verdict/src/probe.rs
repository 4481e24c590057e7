//! Looks at the generator again and again: its threads, its process, its container, its machine.

mod cgroup;
pub mod kernel;

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

pub use self::cgroup::Container;
use crate::signals::{Core, Shortages, Signals};

/// Where the kernel tells: other places for tests.
#[derive(Clone, Debug)]
pub struct Places {
    /// `/proc`
    pub proc: PathBuf,
    /// `/sys/fs/cgroup`
    pub cgroup: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { proc: "/proc".into(), cgroup: "/sys/fs/cgroup".into() }
    }
}

/// The parts of a look that no file tells.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// The moment, in nanoseconds of a clock that never jumps.
    pub now: u64,
    /// The same moment on the wall clock, in nanoseconds; none if it could not be read in one breath with the other.
    pub wall: Option<u64>,
    /// By core: how late its latest timer was since the last look, in nanoseconds.
    pub late: BTreeMap<u32, u64>,
    /// Errors since the start of the process.
    pub shortages: Shortages,
}

/// Looks again and again, and tells what happened since the last time.
#[derive(Debug)]
pub struct Probe {
    proc: PathBuf,
    container: Container,
    /// The load cores, by their numbers: the files that tell the times of their threads.
    threads: BTreeMap<u32, PathBuf>,
    files_max: Option<u64>,
    memory_max: Option<u64>,
    ports: Option<u64>,
    files: FileCount,
    looks: u64,
    last: Reading,
}

/// Open files cost time to count where the kernel does not say how many there are: many are counted seldom.
#[derive(Debug, Default)]
struct FileCount {
    known: Option<u64>,
    at: u64,
}

/// The numbers that only ever grow.
#[derive(Clone, Debug, Default)]
struct Reading {
    /// Nanoseconds.
    at: u64,
    wall: Option<u64>,
    /// By core: nanoseconds on a CPU, and waiting for one.
    cores: BTreeMap<u32, (u64, u64)>,
    /// Ticks: stolen, all.
    steal: Option<(u64, u64)>,
    /// Nanoseconds.
    throttled: Option<u64>,
    segments: Option<(u64, u64)>,
    /// Packets that were dropped, and all.
    packets: Option<(u64, u64)>,
    shortages: Shortages,
}

/// From one look for new threads to the next, in looks.
const THREADS_EVERY: u64 = 10;

impl Probe {
    /// Looks for the first time.
    pub fn new(places: &Places, outside: Outside) -> Self {
        let text = |path: &str| read_to_string(places.proc.join(path)).ok();
        let container = Container::of(text("self/cgroup").as_deref(), &places.cgroup);
        let machine = text("meminfo").and_then(|text| kernel::kilobytes(&text, "MemTotal"));
        let memory_max = match (container.memory_max(), machine) {
            (Some(limit), Some(machine)) => Some(limit.min(machine)),
            (limit, machine) => limit.or(machine),
        };
        let mut probe = Self {
            files_max: text("self/limits").and_then(|text| kernel::open_files(&text)),
            ports: text("sys/net/ipv4/ip_local_port_range").and_then(|text| kernel::ports(&text)),
            memory_max,
            proc: places.proc.clone(),
            container,
            threads: BTreeMap::new(),
            files: FileCount::default(),
            looks: 0,
            last: Reading::default(),
        };
        probe.last = probe.read(outside).0;
        probe
    }

    /// All that happened since the last look.
    pub fn look(&mut self, outside: Outside) -> Signals {
        let (next, late) = self.read(outside);
        let last = std::mem::replace(&mut self.last, next.clone());
        let past = next.at.saturating_sub(last.at).max(1);
        let part =
            |from: u64, to: u64| (to.saturating_sub(from) as f64 / past as f64).clamp(0.0, 1.0);
        let core = |(core, (ran, waited)): (&u32, &(u64, u64))| {
            // One that was not there at the last look has all its time since then.
            let (ran_before, waited_before) = last.cores.get(core).copied().unwrap_or_default();
            let (busy, waiting) = (part(ran_before, *ran), part(waited_before, *waited));
            let late_ns = late.get(core).copied().unwrap_or_default();
            (*core, Core { busy, waiting, late_ns })
        };
        let (sockets, sockets6) = (self.text("net/sockstat"), self.text("net/sockstat6"));
        let tcp = |key: &str| kernel::sockets(sockets.as_deref()?, "TCP:", key);
        let tcp6 = sockets6.as_deref().and_then(|text| kernel::sockets(text, "TCP6:", "inuse"));
        let grown = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        let second = |pair: Option<(u64, u64)>| pair.map(|pair| pair.1);
        let first = |pair: Option<(u64, u64)>| pair.map(|pair| pair.0);
        let stolen = grown(first(last.steal), first(next.steal));
        let ticks = grown(second(last.steal), second(next.steal));
        let sent = grown(first(last.segments), first(next.segments));
        let again = grown(second(last.segments), second(next.segments));
        let clock_step = last.wall.zip(next.wall).map_or(0, |(from, to)| {
            let wall = i128::from(to) - i128::from(from);
            i64::try_from(wall - i128::from(next.at) + i128::from(last.at)).unwrap_or(i64::MAX)
        });
        Signals {
            from: last.at,
            to: next.at,
            cores: next.cores.iter().map(core).collect(),
            resident: self.text("self/status").and_then(|text| kernel::kilobytes(&text, "VmRSS")),
            memory_max: self.memory_max,
            memory_free: self
                .text("meminfo")
                .and_then(|text| kernel::kilobytes(&text, "MemAvailable")),
            files: self.files.count(&self.proc.join("self/fd"), self.looks),
            files_max: self.files_max,
            sockets: [
                tcp("inuse").map(|open| open + tcp6.unwrap_or_default()),
                tcp("orphan"),
                tcp("tw"),
            ],
            ports: self.ports,
            steal: stolen.zip(ticks).map(|(stolen, all)| stolen as f64 / all.max(1) as f64),
            throttled: last.throttled.zip(next.throttled).map(|(from, to)| part(from, to)),
            segments: sent.zip(again),
            interface_drops: grown(first(last.packets), first(next.packets)),
            packets: grown(second(last.packets), second(next.packets)),
            shortages: next.shortages.since(last.shortages),
            clock_step,
        }
    }

    /// The numbers that grow, and the lateness of timers.
    fn read(&mut self, outside: Outside) -> (Reading, BTreeMap<u32, u64>) {
        let cores = self.cores();
        self.looks += 1;
        let reading = Reading {
            at: outside.now,
            wall: outside.wall,
            cores,
            steal: self.text("stat").and_then(|text| kernel::stolen(&text)),
            throttled: self.container.throttled(),
            segments: self.text("net/snmp").and_then(|text| kernel::segments(&text)),
            packets: self.text("net/dev").and_then(|text| kernel::packets(&text)),
            shortages: outside.shortages,
        };
        (reading, outside.late)
    }

    /// The times of the load cores. Threads come and go, and whoever looks first may be before them.
    fn cores(&mut self) -> BTreeMap<u32, (u64, u64)> {
        let times = |path: &PathBuf| {
            let text = read_to_string(path).ok()?;
            let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
            Some((numbers.next()?, numbers.next()?))
        };
        let all = |threads: &BTreeMap<u32, PathBuf>| -> BTreeMap<u32, (u64, u64)> {
            threads.iter().filter_map(|(core, path)| Some((*core, times(path)?))).collect()
        };
        let is_due = self.threads.is_empty() || self.looks.is_multiple_of(THREADS_EVERY);
        if !is_due {
            let found = all(&self.threads);
            if found.len() == self.threads.len() {
                return found;
            }
        }
        self.threads = threads(&self.proc);
        all(&self.threads)
    }

    fn text(&self, path: &str) -> Option<String> {
        read_to_string(self.proc.join(path)).ok()
    }
}

impl FileCount {
    fn count(&mut self, folder: &Path, look: u64) -> Option<u64> {
        /// More than that are counted in each tenth look.
        const MANY: u64 = 1000;
        // Since Linux 6.2 the folder's size is the number of its files.
        if let Some(size) = std::fs::metadata(folder).ok().map(|it| it.len()).filter(|it| *it > 0)
            && folder.starts_with("/proc")
        {
            return Some(size);
        }
        if self.known.is_some_and(|known| known > MANY) && look < self.at + 10 {
            return self.known;
        }
        self.known = read_dir(folder).ok().map(|files| files.count() as u64);
        self.at = look;
        self.known
    }
}

/// The load cores of this process: threads named `core-N`, of attacks `attack-N`.
fn threads(proc: &Path) -> BTreeMap<u32, PathBuf> {
    let Ok(tasks) = read_dir(proc.join("self/task")) else { return BTreeMap::new() };
    let core = |path: &Path| {
        let name = read_to_string(path.join("comm")).ok()?;
        let name = name.trim();
        name.strip_prefix("core-").or_else(|| name.strip_prefix("attack-"))?.parse().ok()
    };
    let tasks = tasks.filter_map(Result::ok).map(|task| task.path());
    tasks.filter_map(|path| Some((core(&path)?, path.join("schedstat")))).collect()
}

#[cfg(test)]
mod tests;
