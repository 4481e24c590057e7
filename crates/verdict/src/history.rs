//! The signals of a run so far, as far as the judgement needs them: its memory does not grow with time.

use std::collections::BTreeMap;

use crate::signals::{Core, Shortages, Signals};
use crate::span::Span;

/// A core that rests for less than the rest of this part of its time is full, if it had the CPU for [`MOSTLY`] all of it.
const FULL: f64 = 0.95;

/// The least part of its time that a full core is busy: others may take a little of its CPU.
const MOSTLY: f64 = 0.85;

/// A core that waits longer than this part of its time for a CPU does not have one.
const STARVED: f64 = 0.1;

/// Later than that is late, in nanoseconds.
const LATE_NS: u64 = 5_000_000;

/// So late is a core that had time only if it was held up, in nanoseconds.
const HELD_NS: u64 = 100_000_000;

/// The wall clock was set if it moved farther than this, in nanoseconds.
const STEP_NS: u64 = 10_000_000;

/// More cores than that are not told apart.
const CORES_MAX: usize = 4096;

/// All looks of a run, put together.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Nanoseconds of the caller's clock.
    started: u64,
    /// Nanoseconds that were looked at.
    pub(crate) watched: u64,
    pub(crate) cores: BTreeMap<u32, CoreHistory>,
    pub(crate) steal: Span,
    pub(crate) throttled: Span,
    pub(crate) files: Span,
    /// The most files, and how many it may open.
    pub(crate) files_most: (u64, u64),
    pub(crate) memory: Span,
    /// The most bytes, and how many it may have.
    pub(crate) memory_most: (u64, u64),
    pub(crate) ports: Span,
    /// The most sockets, and how many local ports there are.
    pub(crate) ports_most: (u64, u64),
    /// The most sockets that keep a port, those that wait for their time to be over included.
    pub(crate) ports_kept: u64,
    pub(crate) shortages: Shortages,
    /// By kind: files, ports, memory.
    pub(crate) short: [Span; 3],
    pub(crate) segments: (u64, u64),
    pub(crate) resent: Span,
    pub(crate) drops: (u64, u64),
    pub(crate) dropped: Span,
    pub(crate) steps: Span,
}

/// A core, in all looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreHistory {
    /// Full, and late. The amount is its busy share.
    pub(crate) full: Span,
    /// Without a CPU, and late. The amount is its waiting share.
    pub(crate) starved: Span,
    /// Late though it had time. The amount is its lateness in seconds.
    pub(crate) held: Span,
    /// The latest timer while it was full, starved or held up, in nanoseconds.
    pub(crate) late_ns: [u64; 3],
}

impl History {
    /// The clock of the run starts now: nothing before counts.
    pub fn start(&mut self, now: u64) {
        *self = Self { started: now, ..Self::default() };
    }

    /// Nanoseconds from the start of the run to a moment.
    pub(crate) fn since_start(&self, at: u64) -> u64 {
        at.saturating_sub(self.started)
    }

    /// Takes in a look.
    pub fn add(&mut self, signals: &Signals) {
        /// Of a limit.
        const NEAR: f64 = 0.8;
        let (from, to) = (signals.from, signals.to);
        self.watched += signals.length();
        for (core, seen) in &signals.cores {
            if self.cores.len() < CORES_MAX || self.cores.contains_key(core) {
                self.cores.entry(*core).or_default().add(from, to, seen);
            }
        }
        if let Some(steal) = signals.steal.filter(|steal| *steal > STARVED) {
            self.steal.add(from, to, steal);
        }
        if let Some(throttled) = signals.throttled.filter(|part| *part > 0.0) {
            self.throttled.add(from, to, throttled);
        }
        for (used, max, span, most) in [
            (signals.files, signals.files_max, &mut self.files, &mut self.files_most),
            (signals.resident, signals.memory_max, &mut self.memory, &mut self.memory_most),
            (signals.sockets[0], signals.ports, &mut self.ports, &mut self.ports_most),
        ] {
            let (Some(used), Some(max)) = (used, max.filter(|max| *max > 0)) else { continue };
            *most = (used.max(most.0), max);
            if used as f64 > max as f64 * NEAR {
                span.add(from, to, used as f64);
            }
        }
        let kept = signals.sockets[0].unwrap_or_default() + signals.sockets[2].unwrap_or_default();
        self.ports_kept = self.ports_kept.max(kept);
        let short = signals.shortages;
        self.shortages = self.shortages.and(short);
        for (count, span) in
            [short.files, short.ports, short.memory].into_iter().zip(&mut self.short)
        {
            if count > 0 {
                span.add(from, to, count as f64);
            }
        }
        if let Some((sent, again)) = signals.segments {
            self.segments = (self.segments.0 + sent, self.segments.1 + again);
            if again > 0 {
                self.resent.add(from, to, again as f64);
            }
        }
        if let Some((drops, packets)) = signals.interface_drops.zip(signals.packets) {
            self.drops = (self.drops.0 + drops, self.drops.1 + packets);
            if drops > 0 {
                self.dropped.add(from, to, drops as f64);
            }
        }
        if signals.clock_step.unsigned_abs() > STEP_NS {
            self.steps.add(from, to, signals.clock_step as f64 / 1e6);
        }
    }
}

impl CoreHistory {
    fn add(&mut self, from: u64, to: u64, core: &Core) {
        let is_late = core.late_ns > LATE_NS;
        let is_full = core.busy > MOSTLY && core.busy + core.waiting > FULL;
        let is_starved = core.waiting > STARVED;
        let is_held = !is_full && !is_starved && core.late_ns > HELD_NS;
        let late = core.late_ns as f64 / 1e9;
        for (place, is_so, span, amount) in [
            (0, is_full && is_late, &mut self.full, core.busy),
            (1, is_starved && is_late, &mut self.starved, core.waiting),
            (2, is_held, &mut self.held, late),
        ] {
            if is_so {
                span.add(from, to, amount);
                self.late_ns[place] = self.late_ns[place].max(core.late_ns);
            }
        }
    }
}
