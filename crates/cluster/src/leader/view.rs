//! How things are, for a screen and the REST API.

use crate::messages::Beat;
use crate::phase::Step;
use crate::seat::{Seat, State};
use crate::steering::Steering;
use crate::time::Nanos;
use crate::totals::Totals;

/// How things are.
#[derive(Clone, Debug)]
pub struct View {
    /// How far the run is; none while the leader finds out whether it leads.
    pub step: Option<Step>,
    /// Since when, by the leader's clock.
    pub since: Nanos,
    /// How long the scenarios run, in nanoseconds; none before.
    pub run_ns: Option<u64>,
    /// How it is steered from outside.
    pub steering: Steering,
    /// It was cut short, or is being so: whatever the reason.
    pub is_cut_short: bool,
    /// The script marked the test as failed.
    pub is_marked: bool,
    /// Seat by seat, from 1 on.
    pub seats: Vec<SeatView>,
}

/// How a seat is.
#[derive(Clone, Debug)]
pub struct SeatView {
    /// The agent, if one came.
    pub agent: Option<Seat>,
    /// How far it is.
    pub state: Option<State>,
    /// Whether it is in touch.
    pub touch: Touch,
    /// Its last beat.
    pub beat: Beat,
    /// The measurements that the leader has of it.
    pub totals: Totals,
    /// All that it measured until then is merged, in nanoseconds since the start; `None`: no more comes of it.
    pub whole_ns: Option<Nanos>,
}

impl View {
    /// Whether the run waits, with all agents ready, to be resumed.
    pub fn is_held(&self) -> bool {
        let is_ready = |seat: &SeatView| seat.state.is_some_and(|state| state >= State::Ready);
        self.steering.paused && self.step == Some(Step::Load) && self.seats.iter().all(is_ready)
    }
}

/// Whether an agent is in touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// None came.
    #[default]
    Empty,
    /// It is.
    Alive,
    /// No beat for three seconds.
    Suspect,
    /// No beat for `agent_timeout_ms`, or its process was started anew: given up, unless it comes back.
    Lost,
    /// It said good-bye.
    Gone,
}
