//! The signals of the generator between two looks.

use std::collections::BTreeMap;

/// A load core between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Core {
    /// Part of the time in which its thread was on a CPU, 0 to 1.
    pub busy: f64,
    /// Part of the time in which it could run and waited for a CPU, 0 to 1.
    pub waiting: f64,
    /// How late its latest timer was, in nanoseconds.
    pub late_ns: u64,
}

/// Errors of the system that requests met because something of this machine ran out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortages {
    /// `EMFILE` and `ENFILE`: no more open files.
    pub files: u64,
    /// `EADDRNOTAVAIL`: no more local ports.
    pub ports: u64,
    /// `ENOBUFS` and `ENOMEM`: no more memory.
    pub memory: u64,
}

impl Shortages {
    /// The errors since an earlier count.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            files: self.files.saturating_sub(earlier.files),
            ports: self.ports.saturating_sub(earlier.ports),
            memory: self.memory.saturating_sub(earlier.memory),
        }
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            ports: self.ports + other.ports,
            memory: self.memory + other.memory,
        }
    }
}

/// The generator between two looks. A number that the system does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// The look before, in nanoseconds of the caller's clock.
    pub from: u64,
    /// This look.
    pub to: u64,
    /// By core.
    pub cores: BTreeMap<u32, Core>,
    /// Bytes of memory that the process has.
    pub resident: Option<u64>,
    /// Bytes that it may have: the limit of its container, else the memory of the machine.
    pub memory_max: Option<u64>,
    /// Bytes of memory that are free for whoever wants them.
    pub memory_free: Option<u64>,
    /// Open files.
    pub files: Option<u64>,
    /// How many it may open (`RLIMIT_NOFILE`).
    pub files_max: Option<u64>,
    /// TCP sockets of the network namespace: open, orphaned, waiting for their time to be over.
    pub sockets: [Option<u64>; 3],
    /// Local ports that the system hands out.
    pub ports: Option<u64>,
    /// Part of the machine's CPU time that other machines took.
    pub steal: Option<f64>,
    /// Part of the time in which the container was throttled.
    pub throttled: Option<f64>,
    /// TCP segments sent, and sent again.
    pub segments: Option<(u64, u64)>,
    /// Packets that network interfaces dropped, and that they could not send or take.
    pub interface_drops: Option<u64>,
    /// Packets that the interfaces took and sent.
    pub packets: Option<u64>,
    /// Errors that requests met.
    pub shortages: Shortages,
    /// How far the wall clock was set, in nanoseconds: it moved so much more than the clock that never jumps.
    pub clock_step: i64,
}

impl Signals {
    /// Nanoseconds between the looks.
    pub fn length(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// Goes on with what the next look found: counts add up, shares are weighed by time, levels are the later ones.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        let (before, after) = (self.length() as f64, next.length() as f64);
        let mean = |a: f64, b: f64| (a * before + b * after) / (before + after).max(1.0);
        let share = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(mean(a, b)),
            (a, b) => b.or(a),
        };
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => b.or(a),
        };
        let mut cores = self.cores;
        for (core, next) in next.cores {
            cores
                .entry(core)
                .and_modify(|core| {
                    core.busy = mean(core.busy, next.busy);
                    core.waiting = mean(core.waiting, next.waiting);
                    core.late_ns = core.late_ns.max(next.late_ns);
                })
                .or_insert(next);
        }
        let segments = match (self.segments, next.segments) {
            (Some((sent, again)), Some((more, more_again))) => {
                Some((sent + more, again + more_again))
            }
            (a, b) => b.or(a),
        };
        Self {
            from: self.from,
            cores,
            steal: share(self.steal, next.steal),
            throttled: share(self.throttled, next.throttled),
            segments,
            interface_drops: sum(self.interface_drops, next.interface_drops),
            packets: sum(self.packets, next.packets),
            shortages: self.shortages.and(next.shortages),
            clock_step: self.clock_step.saturating_add(next.clock_step),
            ..next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_looks_make_one() {
        let look = |from, to, busy, sent| Signals {
            from,
            to,
            cores: [(0, Core { busy, waiting: 0.0, late_ns: from })].into(),
            segments: Some((sent, 1)),
            steal: Some(busy),
            files: Some(sent),
            ..Signals::default()
        };
        let both = look(0, 100, 0.0, 5).and(look(100, 400, 0.8, 7));
        assert!((both.cores[&0].busy - 0.6).abs() < 1e-9);
        assert!((both.steal.unwrap() - 0.6).abs() < 1e-9);
        assert_eq!((both.from, both.to, both.cores[&0].late_ns), (0, 400, 100));
        assert_eq!((both.segments, both.files), (Some((12, 2)), Some(7)));
    }
}
