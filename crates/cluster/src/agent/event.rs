//! The events that an agent is told, and the actions it answers with.

use std::sync::Arc;

use brunt_metrics::{Frame, Registry};

use crate::keys::{Key, Write};
use crate::level::Level;
use crate::messages::{Beat, ClockAsk, ClockReply, ScenarioLoad, Seen};
use crate::phase::TakeOver;
use crate::plan::Plan;
use crate::seat::{Fault, TeardownEnd};
use crate::steering::Steering;
use crate::time::Nanos;
use crate::uplink::Publication;

/// Facts about an agent that do not change.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// The run's id; a token of a subject.
    pub run: String,
    /// As in [`Seat`](crate::Seat): the same after the process was started anew in its place.
    pub agent: String,
    /// The machine's name.
    pub host: String,
    /// Another number for each start of the process: its start in nanoseconds, say.
    pub incarnation: u64,
    /// Of Brunt.
    pub version: String,
    /// The load cores.
    pub cores: u32,
    /// Of the machine, in bytes; 0 if it is not known.
    pub memory: u64,
    /// The seat that it must have, from 1 on; any free one if none.
    pub index: Option<u32>,
    /// How long to wait for a plan, in nanoseconds: five minutes.
    pub wait: u64,
    /// Another machine of this process was told to make this load; this machine does, under the seat of the take-over.
    pub substitute: Option<TakeOver>,
}

/// An event of an agent.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// The broker is there, for the first time or again. The watch of all keys tells the present afterwards, then
    /// [`Current`](Self::Current).
    Connected,
    /// The broker is gone.
    Disconnected,
    /// The watch has told all that was there.
    Current,
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
    /// [`AgentAction::Load`] is done.
    Loaded(Result<Loaded, Fault>),
    /// [`AgentAction::Setup`] is done: the value as JSON, none for `undefined`.
    SetupDone(Result<Option<String>, Fault>),
    /// [`AgentAction::PutSetup`] is done.
    SetupPut(Result<(), String>),
    /// [`AgentAction::GetSetup`] is done.
    SetupGot(Result<String, String>),
    /// The scenarios began.
    Started {
        /// How much later than they should, in nanoseconds.
        late_ns: u64,
    },
    /// A core's frame of a tick (what happens in `setup()` and `teardown()` too).
    Frame(Arc<Frame>),
    /// The script asked for the end or marked the test as failed, or this machine cannot go on: told at once, all end because
    /// of it (but for [`code::MARKED`](crate::code::MARKED)).
    Fault(Fault),
    /// Whether its numbers can be trusted: comes before [`Ended`](Self::Ended). As in
    /// [`AgentState::verdict`](crate::AgentState::verdict).
    Verdict(serde_json::Value),
    /// The scenarios are over, all frames of theirs were told.
    Ended,
    /// [`AgentAction::Teardown`] is done, all frames of it were told.
    TeardownDone(TeardownEnd),
    /// The numbers of the engine, each second.
    Vitals(Vitals),
    /// A different error in the log.
    Note(String),
    /// The broker has stored a message.
    Acked {
        /// Its number.
        seq: u64,
    },
    /// It has not, or its answer did not come in time (5 s).
    NotAcked {
        /// Its number.
        seq: u64,
    },
    /// A message of the leader.
    Seen(Seen),
    /// The leader's answer about the time.
    ClockReply(ClockReply),
    /// This process is told to go (SIGTERM, SIGINT).
    Signal,
    /// Time has passed: call at [`Agent::wake_at`](crate::Agent::wake_at).
    Wake,
}

/// Facts that are known when the script is loaded.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The digest of the consolidated options, as the leader computes its own.
    pub digest: String,
    /// The registry of the script's metrics: frames are told in it.
    pub registry: Arc<Registry>,
}

/// The numbers of an engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vitals {
    /// VUs that run work.
    pub vus: u64,
    /// VUs that are initialised.
    pub vus_max: u64,
    /// Iterations that came to their end.
    pub iterations: u64,
    /// As in [`Beat::cpu`].
    pub cpu: f64,
    /// As in [`Beat::lateness_p99_ms`].
    pub lateness_p99_ms: Option<f64>,
    /// As in [`Beat::load`].
    pub load: Vec<ScenarioLoad>,
}

/// Something that the adapter is to do.
#[derive(Clone, Debug)]
pub enum AgentAction {
    /// Write a key; answer [`Wrote`](AgentEvent::Wrote) or [`Conflict`](AgentEvent::Conflict). Without an answer (a cut, say) it
    /// is asked for again by and by.
    Write(Write),
    /// Publish a message in the stream; answer [`Acked`](AgentEvent::Acked) or [`NotAcked`](AgentEvent::NotAcked).
    Publish(Publication),
    /// Send a beat, without an answer.
    Beat(Beat),
    /// Ask for the time; answer [`ClockReply`](AgentEvent::ClockReply), if there is one.
    AskClock(ClockAsk),
    /// Fetch the archive, check its digest, run the script's init code, make the planned VUs; answer
    /// [`Loaded`](AgentEvent::Loaded).
    Load {
        /// The plan, and this agent's place in it.
        plan: Arc<Plan>,
        /// From 1 on.
        seat: u32,
        /// The load of another seat that is to be made.
        substitute: Option<TakeOver>,
    },
    /// Run `setup()`, once; answer [`SetupDone`](AgentEvent::SetupDone).
    Setup,
    /// Put these bytes as the object `setup`; answer [`SetupPut`](AgentEvent::SetupPut).
    PutSetup(String),
    /// Get the object `setup`; answer [`SetupGot`](AgentEvent::SetupGot).
    GetSetup,
    /// Take the data of `setup()`, which ran elsewhere, as JSON; none: `undefined`.
    TakeSetup(Option<String>),
    /// Begin the scenarios at this moment of the own clock. If it is past, begin in mid-plan: what was due before is missed.
    /// Answer [`Started`](AgentEvent::Started), later [`Ended`](AgentEvent::Ended).
    Start {
        /// By the agent's clock.
        at: Nanos,
        /// Of a load that is taken over: the moment before which nothing is done, and nothing is counted as missed.
        from: Option<Nanos>,
    },
    /// No iteration may begin from this moment on, until a later one is told: another agent may make this load then. Comes
    /// only under [`Policy::TakeOver`](crate::Policy::TakeOver).
    Lease {
        /// By the agent's clock.
        until: Nanos,
    },
    /// Begin another machine in this process, with this as its [`AgentConfig::substitute`], and with the same name and incarnation.
    Substitute(TakeOver),
    /// Stop the scenarios as SIGTERM does; [`Ended`](AgentEvent::Ended) follows as ever.
    Stop {
        /// Why.
        reason: String,
    },
    /// Let the scenario that is controlled from outside have and run as many VUs as this says, each agent its share of them. The
    /// newest counts; before the start, too.
    Steer(Steering),
    /// Run `teardown()`, once; answer [`TeardownDone`](AgentEvent::TeardownDone).
    Teardown,
    /// Tell the user.
    Tell(Level, String),
    /// It is over: exit with this code. Comes once, as the last action.
    Finish {
        /// The exit code.
        code: u8,
        /// Why, if it is not 0.
        message: Option<String>,
        /// Whether the leader is gone, so that this agent prints a summary of its own.
        own_summary: bool,
    },
}
