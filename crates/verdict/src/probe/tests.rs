use std::fs::{create_dir_all, write};

use super::*;

/// Files of a kernel, made up.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.put("proc/self/task/11/comm", "core-0\n");
        machine.put("proc/self/task/11/schedstat", "1000000000 0 7\n");
        machine.put("proc/self/task/12/comm", "gather\n");
        machine.put("proc/self/status", "Name: x\nVmRSS:\t   2048 kB\n");
        machine.put("proc/self/limits", "Max open files            1024     4096    files\n");
        machine.put("proc/self/fd/0", "");
        machine.put("proc/self/fd/1", "");
        machine.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n");
        machine.put("proc/stat", "cpu  0 0 0 100 0 0 0 0 0 0\n");
        machine.put("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        machine.put("proc/net/sockstat", "TCP: inuse 5 orphan 0 tw 3 alloc 9 mem 1\n");
        machine.put("proc/net/snmp", "Tcp: A OutSegs RetransSegs\nTcp: 1 100 0\n");
        machine.put("proc/net/dev", "Inter-| x\n lo: 1 10 0 0 0 0 0 0 9 10 0 0 0 0 0 0\n");
        machine
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }

    fn probe(&self) -> Probe {
        let places =
            Places { proc: self.0.path().join("proc"), cgroup: self.0.path().join("cgroup") };
        Probe::new(&places, at(0, 5_000_000_000))
    }
}

fn at(now: u64, wall: u64) -> Outside {
    Outside { now, wall: Some(wall), ..Outside::default() }
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_look_tells_all_that_happened_since_the_last() {
    let machine = Machine::new();
    let mut probe = machine.probe();
    machine.put("proc/self/task/11/schedstat", "1500000000 250000000 9\n");
    machine.put("proc/stat", "cpu  50 0 0 110 0 0 0 40 0 0\n");
    machine.put("proc/net/snmp", "Tcp: A OutSegs RetransSegs\nTcp: 1 400 6\n");
    machine.put("proc/net/dev", "Inter-| x\n lo: 1 30 1 2 0 0 0 0 9 40 5 6 0 0 0 0\n");
    let outside = Outside {
        late: [(0, 7)].into(),
        shortages: Shortages { files: 3, ..Shortages::default() },
        ..at(SECOND, 6_020_000_000)
    };
    let signals = probe.look(outside);
    assert_eq!(signals.cores[&0], Core { busy: 0.5, waiting: 0.25, late_ns: 7 });
    assert_eq!(signals.cores.len(), 1);
    assert_eq!((signals.resident, signals.memory_max), (Some(2 << 20), Some(1_024_000)));
    assert_eq!(
        (signals.files, signals.files_max, signals.ports),
        (Some(2), Some(1024), Some(28232))
    );
    assert_eq!(signals.sockets, [Some(5), Some(0), Some(3)]);
    assert_eq!((signals.steal, signals.segments), (Some(0.4), Some((300, 6))));
    assert_eq!((signals.interface_drops, signals.packets), (Some(14), Some(50)));
    assert_eq!((signals.shortages.files, signals.clock_step), (3, 20_000_000));
    assert_eq!((signals.from, signals.to, signals.throttled), (0, SECOND, None));
}

#[test]
fn a_container_of_version_2_is_throttled_by_any_group_around_it() {
    let machine = Machine::new();
    machine.put("proc/self/cgroup", "0::/pod/box\n");
    machine.put("cgroup/pod/box/cpu.stat", "usage_usec 1\nthrottled_usec 0\n");
    machine.put("cgroup/pod/cpu.stat", "usage_usec 1\nthrottled_usec 100\n");
    machine.put("cgroup/pod/memory.max", "512000\n");
    machine.put("cgroup/pod/box/memory.max", "max\n");
    let mut probe = machine.probe();
    machine.put("cgroup/pod/cpu.stat", "usage_usec 1\nthrottled_usec 300100\n");
    let signals = probe.look(at(SECOND, 6_000_000_000));
    assert_eq!((signals.throttled, signals.memory_max), (Some(0.3), Some(512_000)));
    assert_eq!(signals.clock_step, 0);
}

#[test]
fn a_container_of_version_1_tells_nanoseconds() {
    let machine = Machine::new();
    machine.put("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n");
    // The mount shows the container's own group as its root.
    machine.put("cgroup/cpu,cpuacct/cpu.stat", "nr_throttled 0\nthrottled_time 0\n");
    machine.put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    let mut probe = machine.probe();
    machine.put("cgroup/cpu,cpuacct/cpu.stat", "nr_throttled 2\nthrottled_time 500000000\n");
    let signals = probe.look(at(SECOND, 6_000_000_000));
    assert_eq!((signals.throttled, signals.memory_max), (Some(0.5), Some(1_024_000)));
}

#[test]
fn a_machine_that_tells_nothing_is_no_error() {
    let empty = tempfile::tempdir().unwrap();
    let places = Places { proc: empty.path().to_owned(), cgroup: empty.path().to_owned() };
    let mut probe = Probe::new(&places, Outside::default());
    let signals = probe.look(Outside { now: 5, ..Outside::default() });
    assert_eq!(signals, Signals { to: 5, ..Signals::default() });
}

#[test]
#[cfg(target_os = "linux")]
fn this_machine_is_read() {
    std::thread::Builder::new()
        .name("core-7".to_owned())
        .spawn(|| {
            let mut probe = Probe::new(&Places::default(), Outside::default());
            let signals = probe.look(Outside { now: SECOND, ..Outside::default() });
            let core = signals.cores[&7];
            assert!((0.0..=1.0).contains(&core.busy) && (0.0..=1.0).contains(&core.waiting));
            assert!(signals.files.is_some_and(|files| files > 2));
            assert!(signals.resident.is_some_and(|bytes| bytes > 1 << 20));
        })
        .unwrap()
        .join()
        .unwrap();
}
