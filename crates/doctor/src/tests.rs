use std::fs::{create_dir_all, write};
use std::path::PathBuf;

use super::*;

/// The files of a machine, made up: all is well on it.
struct Made(tempfile::TempDir);

impl Made {
    fn new() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        made.put("proc/self/status", "Name: x\n");
        made.put("proc/self/cgroup", "0::/a\n");
        made.put("proc/self/limits", "Max open files            1024     1048576    files\n");
        made.put(
            "proc/meminfo",
            "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        );
        made.put("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
        made.put("proc/sys/fs/file-max", "9223372036854775807\n");
        made.put("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        made.put("proc/sys/net/core/somaxconn", "4096\n");
        made.put("proc/sys/net/netfilter/nf_conntrack_max", "262144\n");
        made.put("proc/sys/net/netfilter/nf_conntrack_count", "70\n");
        made.put("proc/net/sockstat", "TCP: inuse 5 orphan 0 tw 3 alloc 9 mem 1\n");
        made.put("sys/fs/cgroup/a/cpu.stat", "throttled_usec 0\n");
        made.put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
        made.put("sys/fs/cgroup/a/memory.max", "max\n");
        made.put("sys/fs/cgroup/a/pids.max", "max\n");
        made.put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        made.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        made
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }

    fn path(&self, part: &str) -> PathBuf {
        self.0.path().join(part)
    }

    fn checks(&self, tried: &Tried) -> Vec<Check> {
        examine(&Machine::of(self.path("proc"), self.path("sys"), 4), tried)
    }

    /// The checks that are not fine, by name and level.
    fn faults(&self, tried: &Tried) -> Vec<(&'static str, Level)> {
        let checks = self.checks(tried).into_iter();
        let faults = checks.filter(|check| check.level != Level::Fine).inspect(|check| {
            assert!(!check.spoils.is_empty() && !check.remedy.is_empty(), "{check:?}");
        });
        faults.map(|check| (check.name, check.level)).collect()
    }
}

fn well() -> Tried {
    Tried {
        timers: Some(Timers { p99_us: 80, max_us: 200 }),
        ticks: Some(Ticks { busy: 0.03, steal: 0.0 }),
        ..Tried::default()
    }
}

#[test]
fn all_is_well_on_a_usual_machine() {
    let made = Made::new();
    assert_eq!(made.faults(&well()), []);
    assert_eq!(worst(&made.checks(&well())), Level::Fine);
    let found: Vec<_> = made.checks(&well()).into_iter().map(|check| check.found).collect();
    for wanted in [
        "Linux 6.1.0-18-amd64",
        "4 CPUs",
        "1048576 files and sockets may be open",
        "28232 local ports (32768 to 60999), 3 connections wait for their end (TIME_WAIT)",
        "4.0 GiB of memory are free",
        "timers are 80 µs late (p99), at worst 200 µs",
    ] {
        assert!(found.iter().any(|found| found == wanted), "{wanted} is not in {found:?}");
    }
}

#[test]
fn each_file_of_the_kernel_is_judged() {
    use Level::{Note, Problem, Warning};
    let clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    for (path, text, fault) in [
        ("proc/sys/kernel/osrelease", "3.10.0-1160.el7\n", ("kernel", Warning)),
        ("proc/self/limits", "Max open files  1024  4096  files\n", ("files", Warning)),
        ("proc/self/limits", "Max open files  256  256  files\n", ("files", Problem)),
        ("proc/sys/fs/file-max", "5000\n", ("files", Warning)),
        ("proc/sys/net/ipv4/ip_local_port_range", "50000 60000\n", ("ports", Warning)),
        ("proc/net/sockstat", "TCP: inuse 5 orphan 0 tw 20000\n", ("ports", Warning)),
        ("proc/sys/net/core/somaxconn", "128\n", ("backlog", Note)),
        ("proc/sys/net/netfilter/nf_conntrack_count", "250000\n", ("firewall", Problem)),
        ("sys/fs/cgroup/a/cpu.max", "150000 100000\n", ("cpus", Warning)),
        ("sys/fs/cgroup/a/memory.max", "104857600\n", ("memory", Warning)),
        ("sys/fs/cgroup/a/pids.max", "10\n", ("threads", Problem)),
        ("proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 4000 kB\n", ("memory", Warning)),
        (clock, "hpet\n", ("clock", Warning)),
        (governor, "powersave\n", ("frequency", Note)),
    ] {
        let made = Made::new();
        made.put(path, text);
        assert_eq!(made.faults(&well()), [fault], "{path}: {text}");
    }
}

#[test]
fn each_try_is_judged() {
    use Level::{Note, Problem, Warning};
    let folder = Folder {
        purpose: "no module is kept",
        path: "/nowhere".into(),
        fault: Some("read-only".to_owned()),
        remedy: "another one",
    };
    let timers = |p99_us| Some(Timers { p99_us, max_us: p99_us });
    let ticks = |busy, steal| Some(Ticks { busy, steal });
    let text = || Some("denied".to_owned());
    let list = || vec!["K6_VUS".to_owned()];
    for (tried, fault) in [
        (Tried { timers: timers(2000), ..well() }, ("timers", Warning)),
        (Tried { timers: timers(20_000), ..well() }, ("timers", Problem)),
        (Tried { ticks: ticks(0.4, 0.0), ..well() }, ("other programs", Warning)),
        (Tried { ticks: ticks(0.9, 0.0), ..well() }, ("other programs", Problem)),
        (Tried { ticks: ticks(0.1, 0.1), ..well() }, ("steal", Warning)),
        (Tried { no_timer: text(), ..well() }, ("timer", Problem)),
        (Tried { coarse_timer: true, ..well() }, ("timer", Warning)),
        (Tried { no_loopback: text(), ..well() }, ("loopback", Warning)),
        (Tried { no_resolver: true, ..well() }, ("names", Note)),
        (Tried { folders: vec![folder], ..well() }, ("folders", Warning)),
        (Tried { proxies: list(), ..well() }, ("proxy", Warning)),
        (Tried { settings: list(), ..well() }, ("settings", Note)),
    ] {
        assert_eq!(Made::new().faults(&tried), [fault], "{tried:?}");
    }
}

#[test]
fn vus_that_do_not_fit_are_problems() {
    let made = Made::new();
    made.put("proc/self/limits", "Max open files  1024  20000  files\n");
    let with = |vus| made.faults(&Tried { vus: Some(vus), ..well() });
    assert_eq!(with(1000), []);
    assert_eq!(with(20_000), [("files", Level::Problem)]);
    assert_eq!(with(30_000), [("files", Level::Problem), ("ports", Level::Problem)]);
    let names: Vec<&str> = with(300_000).into_iter().map(|fault| fault.0).collect();
    assert_eq!(names, ["files", "memory", "ports", "firewall"]);
}

#[test]
fn a_machine_without_files_of_a_kernel_has_few_checks() {
    let made = Made(tempfile::tempdir().unwrap());
    let faults = made.faults(&Tried::default());
    let wanted: &[_] = if cfg!(target_os = "linux") { &[("proc", Level::Warning)] } else { &[] };
    assert_eq!(faults, wanted);
}
