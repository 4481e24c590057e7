//! The things that go wrong in a simulated run, and when.

use fastrand::Rng;

use crate::steering::Steer;

/// Nanoseconds.
pub(crate) const MILLI: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1000 * MILLI;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// An agent's (or, 0, the leader's) wire is cut for so long.
    Cut { node: usize, long: u64 },
    /// An agent's process is killed, and comes again after so long, if at all.
    Kill { node: usize, back: Option<u64> },
    /// The leader's process is killed, and comes again.
    KillLeader { back: u64 },
    /// The broker is gone for so long; perhaps its store is empty afterwards.
    Broker { long: u64, emptied: bool },
    /// An agent's machine tells it to go.
    Sigterm { node: usize },
    /// The leader is interrupted.
    Interrupt,
    /// An agent's script calls `exec.test.abort()`.
    ScriptAborts { node: usize },
    /// Somebody steers the run at the leader's API.
    Steer(Steer),
}

/// The properties of a simulated run.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) seed: u64,
    pub(crate) agents: usize,
    /// How long the scenarios take.
    pub(crate) duration: u64,
    pub(crate) has_setup: bool,
    pub(crate) has_teardown: bool,
    pub(crate) setup_fails: bool,
    pub(crate) load_fails: bool,
    pub(crate) stops_on_loss: bool,
    /// A lost load is made by another agent; `spares` come that have no seat.
    pub(crate) takes_over: bool,
    pub(crate) spares: usize,
    /// Data of `setup()` that do not fit into a key.
    pub(crate) large_data: bool,
    /// Parts of a thousand of core messages that are lost, that come twice.
    pub(crate) lost: u32,
    pub(crate) twice: u32,
    /// The longest delay of a core message or a delivery beyond that of the wire.
    pub(crate) jitter: u64,
    /// The longest way to the broker.
    pub(crate) latency: u64,
    /// How far clocks are off at most, and how fast they drift at most (parts of a million).
    pub(crate) skew: u64,
    pub(crate) drift: u64,
    /// Parts of a thousand of published messages that the broker refuses.
    pub(crate) refused: u32,
    /// It waits before its start until it is resumed.
    pub(crate) is_held: bool,
    pub(crate) troubles: Vec<(u64, Trouble)>,
}

impl Setting {
    /// A run in which nothing goes wrong.
    pub(crate) fn calm(seed: u64, agents: usize) -> Self {
        Self {
            seed,
            agents,
            duration: 5 * SECOND,
            has_setup: true,
            has_teardown: true,
            setup_fails: false,
            load_fails: false,
            stops_on_loss: false,
            takes_over: false,
            spares: 0,
            large_data: false,
            lost: 0,
            twice: 0,
            jitter: 0,
            latency: MILLI,
            skew: 10 * SECOND,
            drift: 20,
            refused: 0,
            is_held: false,
            troubles: Vec::new(),
        }
    }

    /// The run of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let agents = match rng.u32(0..1000) {
            0..1 => 100,
            1..6 => rng.usize(20..50),
            6..60 => rng.usize(7..15),
            _ => rng.usize(1..6),
        };
        let mut setting = Self::calm(seed, agents);
        setting.duration = rng.u64(1..14) * SECOND;
        setting.has_setup = rng.u32(0..4) > 0;
        setting.has_teardown = rng.u32(0..4) > 0;
        setting.setup_fails = rng.u32(0..40) == 0;
        setting.load_fails = rng.u32(0..40) == 0;
        setting.stops_on_loss = rng.u32(0..4) == 0;
        setting.large_data = rng.u32(0..8) == 0;
        if rng.bool() {
            setting.lost = rng.u32(0..300);
            setting.twice = rng.u32(0..300);
            setting.jitter = rng.u64(0..400) * MILLI;
            setting.refused = rng.u32(0..100);
        }
        setting.latency = rng.u64(1..100) * MILLI;
        setting.drift = rng.u64(0..200);
        let count = [0, 1, 1, 1, 2, 2, 3, 5][rng.usize(0..8)];
        for _ in 0..count {
            let at = rng.u64(0..(setting.duration / SECOND + 18) * 1000) * MILLI;
            setting.troubles.push((at, Trouble::any(rng, agents)));
        }
        // Drawn without the generator: the other runs stay as they are.
        setting.takes_over = !setting.stops_on_loss && seed % 4 == 3;
        setting.spares = if setting.takes_over { (seed / 4 % 3) as usize } else { 0 };
        setting.steered();
        setting
    }
}

impl Trouble {
    /// Whether it is no trouble at all: such a run must go well.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self, Self::Steer(Steer::Pause | Steer::Resume | Steer::Scale(_)))
    }

    fn any(rng: &mut Rng, agents: usize) -> Self {
        let node = rng.usize(1..=agents);
        let long = match rng.u32(0..4) {
            0 => rng.u64(0..3000) * MILLI,
            1 => rng.u64(3000..12_000) * MILLI,
            2 => rng.u64(12_000..40_000) * MILLI,
            _ => rng.u64(100..6000) * MILLI,
        };
        match rng.u32(0..100) {
            0..25 => Self::Cut { node, long },
            25..33 => Self::Cut { node: 0, long },
            33..50 => Self::Kill { node, back: rng.bool().then_some(long) },
            50..65 => Self::KillLeader { back: long },
            65..77 => Self::Broker { long, emptied: false },
            77..86 => Self::Broker { long, emptied: true },
            86..91 => Self::Sigterm { node },
            91..95 => Self::Interrupt,
            _ => Self::ScriptAborts { node },
        }
    }
}
