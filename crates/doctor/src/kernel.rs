//! Which kernel this is, and whether it gives the engine what it needs.

use crate::check::{Check, Level};
use crate::machine::Machine;
use crate::tried::Tried;

/// The oldest version of Linux on which Brunt is tested.
const OLDEST: (u64, u64) = (4, 18);

pub(crate) fn checks(machine: &Machine, tried: &Tried) -> Vec<Check> {
    let mut checks = Vec::new();
    let release = machine.proc("sys/kernel/osrelease");
    if let Some(release) = release.as_deref().map(str::trim) {
        let check = Check::fine("kernel", format!("Linux {release}"));
        checks.push(match version(release) {
            Some(version) if version < OLDEST => check.at(
                Level::Warning,
                "Brunt is tested on Linux 4.18 and newer",
                "a newer kernel, or a container on a newer host",
            ),
            _ => check,
        });
    }
    if !machine.has_proc() && cfg!(target_os = "linux") {
        checks.push(Check::fine("proc", "/proc can't be read").at(
            Level::Warning,
            "no verdict on the generator (CPU, files, ports), no figures of its memory; most of these checks are absent",
            "mount it: mount -t proc proc /proc; in a chroot: mount --rbind /proc CHROOT/proc",
        ));
    }
    let timer = Check::fine("timer", "the kernel's timers (timerfd) can be had");
    checks.push(match &tried.no_timer {
        Some(fault) => Check::fine("timer", format!("no timer can be had: {fault}")).at(
            Level::Problem,
            "the engine can't run: each core needs one",
            "allow epoll in the seccomp profile of the container; see ulimit -n if files have run out",
        ),
        None if tried.coarse_timer => Check::fine("timer", "the kernel's timers (timerfd) can't be had").at(
            Level::Warning,
            "iterations of an arrival rate start up to 2 ms late",
            "allow timerfd_create and timerfd_settime in the seccomp profile of the container",
        ),
        None => timer,
    });
    checks
}

/// `6.1.0-18-amd64`: 6 and 1.
fn version(release: &str) -> Option<(u64, u64)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
