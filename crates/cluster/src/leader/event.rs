//! The events that the leader is told, and the actions it answers with.

use std::sync::Arc;

use brunt_metrics::{Frame, Registry, TagSet};
use brunt_schedule::Scenario;

use crate::keys::{Key, Write};
use crate::level::Level;
use crate::messages::{Beat, ClockAsk, ClockReply, Seen};
use crate::plan::Plan;
use crate::report::Report;
use crate::seat::Fault;
use crate::steering::{Steering, Wish};
use crate::time::Nanos;

/// Facts about a leader that do not change.
#[derive(Clone, Debug)]
pub struct LeaderConfig {
    /// Its name: host and process, for people.
    pub id: String,
    /// Another number for each start of the process: its start in nanoseconds, say.
    pub incarnation: u64,
    /// The plan that it would write; if the store has one of the same archive, the run is taken up again.
    pub plan: Plan,
    /// The registry after the script's init code: frames are told in it.
    pub registry: Arc<Registry>,
    /// The tags that thresholds select by: they stay in checkpoints even if there are very many series.
    pub kept_tags: Vec<String>,
    /// The tags of `vus` and `vus_max`, which the leader makes.
    pub run_tags: TagSet,
    /// All scenarios, as agents run them. Needed where loads are taken over.
    pub scenarios: Vec<Scenario>,
    /// Whether measurements have the tag `scenario`; without it, loads of one scenario alone can be taken over.
    pub has_scenario_tag: bool,
    /// How the run is steered from its beginning on.
    pub steering: Steering,
}

/// The state of the store when the leader comes.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// All keys of the run: value, revision.
    pub keys: Vec<(Key, Vec<u8>, u64)>,
    /// The object `checkpoint`.
    pub checkpoint: Option<Vec<u8>>,
    /// Whether the files of the run are removed, as a leader does at its end.
    pub is_swept: bool,
}

/// An event of the leader.
#[derive(Clone, Debug)]
pub enum LeaderEvent {
    /// All that the store has of the run: the first event. The watch of all keys follows.
    Opened(Stored),
    /// The broker is there again; the watch tells the present afterwards.
    Connected,
    /// The broker is gone.
    Disconnected,
    /// A key as the watch tells it; no value: it was deleted.
    Changed {
        /// Which.
        key: Key,
        /// Its JSON.
        value: Option<Vec<u8>>,
        /// Its revision.
        revision: u64,
    },
    /// A write was done.
    Wrote {
        /// Which.
        key: Key,
        /// Its new revision.
        revision: u64,
    },
    /// A write was refused, as the key is in another state; and that state, as it was read afterwards.
    Conflict {
        /// Which.
        key: Key,
        /// Value and revision; none: there is no such key.
        current: Option<(Vec<u8>, u64)>,
    },
    /// A message of the stream, in whatever order.
    Message {
        /// The payload.
        payload: Arc<[u8]>,
        /// Its place in the stream.
        stream_seq: u64,
    },
    /// An agent's beat.
    Beat(Beat),
    /// An agent asks for the time; answered at once.
    AskClock(ClockAsk),
    /// [`LeaderAction::PutCheckpoint`] is done.
    CheckpointPut(Result<(), String>),
    /// End the test: a threshold with `abortOnFail`, a signal, the REST API.
    Abort(Fault),
    /// Pause the run, let it go on, scale it. Before this process leads, the wish is kept.
    Steer(Wish),
    /// [`LeaderAction::Conclude`] is done; with the fault of crossed thresholds, if some are crossed.
    Concluded(Option<Fault>),
    /// Time has passed: call at [`Leader::wake_at`](crate::Leader::wake_at).
    Wake,
}

/// Something that the adapter is to do.
#[derive(Clone, Debug)]
pub enum LeaderAction {
    /// Write a key; answer [`Wrote`](LeaderEvent::Wrote) or [`Conflict`](LeaderEvent::Conflict). Without an answer (a cut, say) it
    /// is asked for again by and by.
    Write(Write),
    /// Read the stream from its beginning, and after each reconnect anew; each message is a [`Message`](LeaderEvent::Message). Earlier
    /// ones are not heard.
    Consume,
    /// Take a frame into the ledger and show it to outputs: each measurement once. After a restart the frames of the checkpoint
    /// come first. With the moment of the run, in nanoseconds, at which the last of it was measured; none: before the scenarios, or
    /// in more than one second of them.
    Merge(Frame, Option<Nanos>),
    /// All that was measured before this moment of the run was told, of all agents that are in touch; a whole second, in nanoseconds.
    Whole(Nanos),
    /// Send the numbers that were seen, without an answer.
    Seen(Seen),
    /// Answer an agent.
    ReplyClock(ClockReply),
    /// Put the object `checkpoint`; answer [`CheckpointPut`](LeaderEvent::CheckpointPut).
    PutCheckpoint(Vec<u8>),
    /// Messages of the run up to this place in the stream are needed no more.
    Purge {
        /// The place.
        stream_seq: u64,
    },
    /// The scenarios begin, by the leader's clock: thresholds are judged from now on, each 2 s.
    Started {
        /// When.
        at: Nanos,
    },
    /// No more measurements come: judge the thresholds for the last time, make the summary, call `handleSummary()`, tell the
    /// report; answer [`Concluded`](LeaderEvent::Concluded).
    Conclude(Outcome),
    /// Tell the user.
    Tell(Level, String),
    /// It is over. Comes once, as the last action; after [`Conclude`](Self::Conclude) if the run had begun.
    Finish {
        /// The exit code, if the run ended otherwise than by its thresholds; none: 99 if some are crossed, else 0.
        code: Option<u8>,
        /// Why, if there is a code.
        message: Option<String>,
    },
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As in [`LeaderAction::Finish`].
    pub code: Option<u8>,
    /// Why the run was cut short or is not whole.
    pub message: Option<String>,
    /// How long the scenarios (and `teardown()`) took, in nanoseconds; 0 if they did not begin.
    pub run_ns: u64,
    /// Agent by agent.
    pub report: Report,
    /// A leader before this one had begun to tell it: `handleSummary()` may have been called, and is not to be called again.
    pub was_told: bool,
}
