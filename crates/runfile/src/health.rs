//! How the generator itself does: its threads, its process, its machine. Read from `/proc`, on the thread of the output.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use crate::machine::kilobytes;

/// The generator between two looks. A number that the system does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// By core: part of the time that its thread was on a CPU, and that it waited for one.
    pub cores: BTreeMap<u32, (f64, f64)>,
    /// Bytes of memory that the process has.
    pub resident: Option<u64>,
    /// Open files.
    pub files: Option<u64>,
    /// How many it may open.
    pub files_max: Option<u64>,
    /// TCP sockets of the network namespace: open, orphaned, waiting for their time to be over.
    pub sockets: [Option<u64>; 3],
    /// Part of the machine's CPU time that other machines took.
    pub steal: Option<f64>,
    /// Part of the time in which the container was throttled.
    pub throttled: Option<f64>,
    /// TCP segments sent, and sent again.
    pub segments: Option<(u64, u64)>,
    /// Packets that network interfaces dropped, and that they could not send or take.
    pub interface_drops: Option<u64>,
    /// Bytes of memory that are free for whoever wants them.
    pub memory_free: Option<u64>,
}

/// Looks again and again, and tells what happened since the last time.
#[derive(Debug)]
pub struct HealthWatch {
    proc: PathBuf,
    cgroup: Option<PathBuf>,
    last: Reading,
}

/// The numbers that only ever grow.
#[derive(Clone, Debug, Default)]
struct Reading {
    /// Nanoseconds.
    at: u64,
    /// By core: nanoseconds on a CPU, and waiting for one.
    cores: BTreeMap<u32, (u64, u64)>,
    /// Ticks: stolen, all.
    steal: Option<(u64, u64)>,
    /// Microseconds.
    throttled: Option<u64>,
    segments: Option<(u64, u64)>,
    drops: Option<u64>,
}

impl HealthWatch {
    /// Looks for the first time, at `now` (nanoseconds of any clock that does not jump).
    pub fn new(now: u64) -> Self {
        Self::of(Path::new("/proc"), now)
    }

    fn of(proc: &Path, now: u64) -> Self {
        let mut watch =
            Self { proc: proc.to_owned(), cgroup: cgroup(proc), last: Reading::default() };
        watch.last = watch.read(now);
        watch
    }

    /// All that happened since the last look.
    pub fn look(&mut self, now: u64) -> Health {
        let next = self.read(now);
        let last = std::mem::replace(&mut self.last, next.clone());
        let past = now.saturating_sub(last.at).max(1) as f64;
        let part = |from: u64, to: u64| (to.saturating_sub(from) as f64 / past).clamp(0.0, 1.0);
        let cores = next.cores.iter().map(|(core, (ran, waited))| {
            // One that was not there at the last look has all its time since then.
            let (ran_before, waited_before) = last.cores.get(core).copied().unwrap_or_default();
            (*core, (part(ran_before, *ran), part(waited_before, *waited)))
        });
        let sockets = self.text("net/sockstat");
        let tcp = sockets
            .as_deref()
            .and_then(|text| text.lines().find_map(|line| line.strip_prefix("TCP:")));
        Health {
            cores: cores.collect(),
            resident: self.text("self/status").and_then(|text| kilobytes(&text, "VmRSS")),
            files: read_dir(self.proc.join("self/fd")).ok().map(|files| files.count() as u64),
            files_max: self.text("self/limits").and_then(|text| open_files(&text)),
            sockets: ["inuse", "orphan", "tw"].map(|key| named(tcp?, key)),
            steal: last.steal.zip(next.steal).map(|((stolen, all), (more, more_all))| {
                more.saturating_sub(stolen) as f64 / more_all.saturating_sub(all).max(1) as f64
            }),
            throttled: last
                .throttled
                .zip(next.throttled)
                .map(|(from, to)| part(from * 1000, to * 1000)),
            segments: last.segments.zip(next.segments).map(
                |((out, again), (more_out, more_again))| {
                    (more_out.saturating_sub(out), more_again.saturating_sub(again))
                },
            ),
            interface_drops: last.drops.zip(next.drops).map(|(from, to)| to.saturating_sub(from)),
            memory_free: self.text("meminfo").and_then(|text| kilobytes(&text, "MemAvailable")),
        }
    }

    fn read(&self, now: u64) -> Reading {
        // Anew each time: threads come and go, and whoever looks first may be before them.
        let threads = threads(&self.proc);
        let times = |path: &PathBuf| {
            let text = read_to_string(path).ok()?;
            let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
            Some((numbers.next()?, numbers.next()?))
        };
        let cores = threads.iter().filter_map(|(core, path)| Some((*core, times(path)?)));
        Reading {
            at: now,
            cores: cores.collect(),
            steal: self.text("stat").and_then(|text| stolen(&text)),
            throttled: self.cgroup.as_ref().and_then(|path| {
                let text = read_to_string(path).ok()?;
                named(&text, "throttled_usec")
            }),
            segments: self.text("net/snmp").and_then(|text| segments(&text)),
            drops: self.text("net/dev").and_then(|text| drops(&text)),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        read_to_string(self.proc.join(path)).ok()
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

/// The file in which the container's throttled time is told.
fn cgroup(proc: &Path) -> Option<PathBuf> {
    let text = read_to_string(proc.join("self/cgroup")).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/');
    let root = Path::new("/sys/fs/cgroup");
    [root.join(path), root.to_owned()]
        .into_iter()
        .map(|dir| dir.join("cpu.stat"))
        .find(|file| file.is_file())
}

/// The number behind a word.
fn named(text: &str, key: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    words.find(|word| *word == key)?;
    words.next()?.parse().ok()
}

/// `Max open files   1024   4096   files`: what holds now.
fn open_files(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal.
fn stolen(text: &str) -> Option<(u64, u64)> {
    let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let numbers: Vec<u64> = numbers.take(8).map_while(|word| word.parse().ok()).collect();
    Some((*numbers.get(7)?, numbers.iter().sum()))
}

/// `Tcp:` with names, then with numbers.
fn segments(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let find = |key: &str| {
        let place = names.split_ascii_whitespace().position(|name| name == key)?;
        numbers.split_ascii_whitespace().nth(place)?.parse().ok()
    };
    Some((find("OutSegs")?, find("RetransSegs")?))
}

/// The interfaces' counts of packets that were lost in them: columns 3, 4 (received), 11, 12 (sent).
fn drops(text: &str) -> Option<u64> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let numbers = |(_, line): (&str, &str)| {
        let numbers: Vec<u64> =
            line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        let places = [2, 3, 10, 11].map(|place| numbers.get(place).copied());
        places.into_iter().sum::<Option<u64>>()
    };
    lines.map(numbers).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_kernel_are_read() {
        assert_eq!(stolen("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1"), Some((8, 36)));
        assert_eq!(
            open_files("Limit Soft Hard\nMax open files            1024     4096    files\n"),
            Some(1024)
        );
        assert_eq!(segments("Ip: A\nTcp: A OutSegs RetransSegs\nTcp: 1 20 3\n"), Some((20, 3)));
        assert_eq!(named("usage_usec 5\nthrottled_usec 7\n", "throttled_usec"), Some(7));
        assert_eq!(named("inuse 5 orphan 0 tw 3", "tw"), Some(3));
        let dev = "Inter-| Receive\n face |bytes\n lo: 1 2 3 4 0 0 0 0 9 9 5 6 0 0 0 0\n eth0: 1 1 0 1 0 0 0 0 1 1 0 0 0 0 0 0\n";
        assert_eq!(drops(dev), Some(19));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_look_tells_what_happened_since_the_last() {
        std::thread::Builder::new()
            .name("core-7".to_owned())
            .spawn(|| {
                let mut watch = HealthWatch::new(0);
                let health = watch.look(1_000_000_000);
                let (busy, waiting) = health.cores[&7];
                assert!((0.0..=1.0).contains(&busy) && (0.0..=1.0).contains(&waiting));
                assert!(health.files.is_some_and(|files| files > 2));
                assert!(health.resident.is_some_and(|bytes| bytes > 1 << 20));
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
