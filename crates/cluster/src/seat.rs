//! The keys that agents write: their seat, their state.

use serde::{Deserialize, Serialize};

use crate::time::Nanos;
use crate::totals::Totals;

/// A seat that an agent has taken, under [`Key::Seat`](crate::Key::Seat).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// A name that stays when the process is started anew in the same place: host name and index of a job, say.
    pub agent: String,
    /// The machine's name, for people.
    pub host: String,
    /// Another number for each start of the process.
    pub incarnation: u64,
    /// Of Brunt.
    pub version: String,
    /// The load cores.
    pub cores: u32,
    /// Of the machine, in bytes; 0 if it is not known.
    pub memory: u64,
    /// The index that was asked for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
}

/// How far an agent is. Only ever goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has a seat and waits.
    Seated,
    /// It loads the script.
    Loading,
    /// It could begin, but for the data of `setup()`.
    Ready,
    /// It has the data of `setup()`.
    Armed,
    /// Its scenarios run.
    Running,
    /// It was told to go by its machine; it stops.
    Leaving,
    /// Its scenarios are over.
    Finished,
    /// It has numbered its last frame: `totals` are final.
    Closed,
}

/// A reason to end the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The [exit code](crate::code) that it leads to.
    pub code: u8,
    /// In words; not empty.
    pub message: String,
}

impl Fault {
    /// One.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// How `teardown()` ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeardownEnd {
    /// If it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// How the frames of an agent went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// Messages that were numbered: 1 up to this number.
    pub numbered: u64,
    /// How often a message was sent again.
    pub again: u64,
    /// How often two seconds became one, as too much waited.
    pub coarser: u64,
    /// Totals of frames that had no room and were thrown away; nothing else tells of them.
    pub thrown: Totals,
    /// When the first of those began, in nanoseconds since the start of the run.
    pub thrown_since_ns: Option<u64>,
}

/// The state of an agent, under [`Key::Agent`](crate::Key::Agent).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentState {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// Of the process that wrote it.
    pub incarnation: u64,
    /// Grows with each change.
    pub serial: u64,
    /// How far it is.
    pub state: State,
    /// Since when, by the agent's clock.
    pub since: Nanos,
    /// The time to add to the agent's clock to have the leader's, in nanoseconds.
    #[serde(default)]
    pub offset_ns: i64,
    /// The round trip of the exchange that told so: the offset is wrong by half of it at most.
    #[serde(default)]
    pub rtt_ns: u64,
    /// The digest of its options, once it has loaded the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How much later than planned its scenarios began, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
    /// Why it went early, or cannot go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Fault>,
    /// It went, or was stopped, before its plan was over, without being told to by the leader. When: nanoseconds since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ns: Option<u64>,
    /// It began no iterations for a time, as the broker did not answer: the iterations that arrival rates missed then may not be counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lapsed: bool,
    /// How `teardown()` ended, if it ran here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<TeardownEnd>,
    /// All it measured; final in [`State::Closed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// How its frames went.
    #[serde(default)]
    pub delivery: Delivery,
    /// The first different errors of its log: at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether its numbers can be trusted, once its scenarios are over: JSON that the commands tell each other; the machines
    /// don't look at it. At most 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<serde_json::Value>,
}

/// The most lines of an agent's log that travel to the leader.
pub(crate) const NOTES_MAX: usize = 20;

/// The bytes of such a line that are kept.
pub(crate) const NOTE_MAX: usize = 1024;

/// The bytes of a verdict that travel; a longer one is left out.
pub(crate) const VERDICT_MAX: usize = 16 << 10;
