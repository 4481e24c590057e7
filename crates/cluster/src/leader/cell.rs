//! All that the leader knows of an agent.

use std::collections::{BTreeMap, VecDeque};

use brunt_metrics::{Frame, Sink, TagSet, TrendSink, builtin};
use brunt_schedule::Scenario;
use serde::{Deserialize, Serialize};

use super::{SeatView, Touch};
use crate::messages::Beat;
use crate::plan::Plan;
use crate::ranges::Ranges;
use crate::report::Hole;
use crate::seat::{AgentState, Seat, State};
use crate::time::{MILLI, Nanos};
use crate::totals::Totals;

/// Holes of an agent that are told; later ones are counted as the last.
const HOLES_MAX: usize = 32;

/// Frames behind a hole whose ends are remembered.
const BEYOND_MAX: usize = 10_000;

/// Beats whose messages are awaited; while there are more, later ones don't count.
const ANNOUNCED_MAX: usize = 64;

/// A seat, and the agent in it.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    pub(crate) seat: Option<Seat>,
    pub(super) state: Option<AgentState>,
    pub(crate) touch: Touch,
    /// When it was last heard of.
    pub(super) heard: Nanos,
    pub(crate) beat: Beat,
    /// All that it measured before this moment of the run is merged: see [`Beat::whole_ns`].
    pub(super) seconds_ns: Nanos,
    /// Of the last beats: the number of a message, and the moment up to which all is whole with it. Messages may be slower than beats.
    pub(super) announced: VecDeque<(u64, Nanos)>,
    /// The user was told that no agent can take its load over.
    pub(super) has_no_taker: bool,
    pub(crate) kept: Kept,
}

/// The facts that a checkpoint keeps, as nothing else tells them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The numbers of its messages that are merged.
    pub(crate) ranges: Ranges,
    /// The number of its last message, once that is known.
    pub(crate) last: Option<u64>,
    /// The highest number that a beat told.
    pub(crate) numbered: u64,
    /// Sums of what is merged.
    pub(crate) totals: Totals,
    pub(crate) failed: u64,
    pub(crate) missed: u64,
    /// All messages up to this number are merged.
    pub(crate) prefix: u64,
    /// The end of the latest frame among those, in nanoseconds since the start.
    pub(crate) until_ns: Nanos,
    /// The ends of frames with higher numbers: at most [`BEYOND_MAX`].
    pub(crate) beyond: BTreeMap<u64, Nanos>,
    pub(crate) states: Vec<(State, Nanos)>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) cpu_max: f64,
    /// Its process is gone for good: the reason.
    pub(crate) gone: Option<String>,
    /// Where loads are taken over: by the scenario's place among all of them.
    #[serde(default)]
    pub(crate) scenarios: BTreeMap<u32, OfScenario>,
    /// `http_req_duration`; stored beside the rest.
    #[serde(skip)]
    pub(crate) durations: TrendSink,
}

/// How far a scenario is in one agent, as it reported.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OfScenario {
    pub(crate) iterations: u64,
    pub(crate) missed: u64,
    /// Of one with a number of iterations: those that came to their end.
    pub(crate) numbers: Ranges,
}

impl Cell {
    /// The seats of a plan.
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        (0..plan.seats).map(|_| Self::default()).collect()
    }

    /// The agent, for people: `seat 3 (host)`.
    pub(super) fn name(&self, index: usize) -> String {
        match &self.seat {
            Some(seat) => format!("seat {} ({})", index + 1, seat.host),
            None => format!("seat {}", index + 1),
        }
    }

    pub(super) fn view(&self) -> SeatView {
        SeatView {
            agent: self.seat.clone(),
            state: self.at(),
            touch: self.touch,
            beat: self.beat.clone(),
            totals: self.kept.totals,
            whole_ns: self.whole_ns(),
        }
    }

    /// See [`SeatView::whole_ns`].
    fn whole_ns(&self) -> Option<Nanos> {
        /// A tick is on its way from a core to the uplink for so long at most.
        const TICK: Nanos = 500 * MILLI;
        if !self.is_here() || self.is_closed() && self.is_complete() {
            return None;
        }
        // An agent that measures nothing sends nothing.
        let idle = self.beat.run_ns.filter(|_| self.beat.waiting == 0);
        Some(self.kept.until_ns.max(idle.map_or(0, |run_ns| run_ns.saturating_sub(TICK))))
    }

    /// How far it is.
    pub(super) fn at(&self) -> Option<State> {
        self.state.as_ref().map(|state| state.state)
    }

    /// Whether it is at least so far.
    pub(super) fn is_at(&self, state: State) -> bool {
        self.at().is_some_and(|at| at >= state)
    }

    /// Whether it can still answer.
    pub(super) fn is_here(&self) -> bool {
        matches!(self.touch, Touch::Alive | Touch::Suspect)
    }

    /// Whether it has said its last word.
    pub(super) fn is_closed(&self) -> bool {
        self.is_at(State::Closed)
    }

    /// The totals that its agent told as the last word.
    pub(super) fn told(&self) -> Option<Totals> {
        let state = self.state.as_ref().filter(|state| state.state == State::Closed)?;
        state.totals
    }

    /// How many of its messages are missing, of how many that are known of.
    pub(super) fn missing_messages(&self) -> (u64, u64) {
        let told = self.state.as_ref().map_or(0, |state| state.delivery.numbered);
        let last = self
            .kept
            .last
            .unwrap_or(0)
            .max(told)
            .max(self.kept.numbered)
            .max(self.kept.ranges.last());
        (self.kept.ranges.missing(last), last)
    }

    /// The measurements that are known to be missing.
    pub(super) fn missing(&self) -> Totals {
        self.told().map_or_else(Totals::default, |told| told.without(self.kept.totals))
    }

    /// Whether all that it measured is merged.
    pub(super) fn is_complete(&self) -> bool {
        self.told() == Some(self.kept.totals) && self.missing_messages().0 == 0
    }

    /// A message is merged; false if it was already.
    pub(super) fn merges(&mut self, seq: u64, to_ns: Nanos) -> bool {
        let kept = &mut self.kept;
        if !kept.ranges.insert(seq) {
            return false;
        }
        if kept.beyond.len() < BEYOND_MAX || seq == kept.prefix + 1 {
            kept.beyond.insert(seq, to_ns);
        }
        while kept.ranges.contains(kept.prefix + 1) {
            kept.prefix += 1;
            let to_ns = kept.beyond.remove(&kept.prefix).unwrap_or(0);
            kept.until_ns = kept.until_ns.max(to_ns);
        }
        true
    }

    /// Takes in the sums of a frame.
    pub(super) fn tally(&mut self, frame: &Frame) {
        self.kept.totals.add(Totals::of(frame));
        for delta in &frame.series {
            let metric = delta.series.metric;
            match &delta.sink {
                Sink::Trend(trend) if metric == builtin::HTTP_REQ_DURATION => {
                    self.kept.durations.merge(trend);
                }
                Sink::Rate { hits, .. } if metric == builtin::HTTP_REQ_FAILED => {
                    self.kept.failed = self.kept.failed.saturating_add(*hits);
                }
                Sink::Counter { sum, .. } if metric == builtin::DROPPED_ITERATIONS => {
                    self.kept.missed = self.kept.missed.saturating_add(sum.max(0.0).round() as u64);
                }
                _ => {}
            }
        }
    }

    /// Moves the end of the time whose frames are all merged, as beats announced it.
    pub(super) fn look_at_whole(&mut self) {
        let (numbered, whole_ns) = (self.beat.numbered, self.beat.whole_ns);
        if self.announced.back() != Some(&(numbered, whole_ns)) {
            self.announced.push_back((numbered, whole_ns));
            self.announced.truncate(ANNOUNCED_MAX);
        }
        while let Some((numbered, whole_ns)) = self.announced.front().copied()
            && numbered <= self.kept.prefix
        {
            self.seconds_ns = self.seconds_ns.max(whole_ns);
            self.announced.pop_front();
        }
    }

    /// Takes in how far the scenarios are.
    pub(super) fn tally_scenarios(&mut self, frame: &Frame, scenarios: &[Scenario]) {
        let place = |tags: &TagSet| match (tags.get("scenario"), scenarios) {
            (_, [_]) => Some(0),
            (Some(name), _) => scenarios.iter().position(|scenario| scenario.name == *name),
            (None, _) => None,
        };
        for delta in &frame.series {
            let Sink::Counter { sum, .. } = &delta.sink else { continue };
            let (metric, count) = (delta.series.metric, sum.max(0.0).round() as u64);
            if metric != builtin::ITERATIONS && metric != builtin::DROPPED_ITERATIONS {
                continue;
            }
            let Some(place) = place(&delta.series.tags) else { continue };
            let known = self.kept.scenarios.entry(place as u32).or_default();
            let is_done = metric == builtin::ITERATIONS;
            *(if is_done { &mut known.iterations } else { &mut known.missed }) += count;
        }
        for done in &frame.done {
            let known = self.kept.scenarios.entry(done.scenario).or_default();
            known.numbers.insert_all(done.first, done.last);
        }
    }

    /// Nothing is heard of it any more, since `self.heard`.
    pub(super) fn opens_hole(&mut self, was_lost: bool) {
        if let Some(last) = self.kept.holes.last_mut()
            && (last.until.is_none() || self.kept.holes.len() >= HOLES_MAX)
        {
            if let Some(last) = self.kept.holes.last_mut() {
                last.until = None;
                last.was_lost |= was_lost;
            }
            return;
        }
        self.kept.holes.push(Hole { since: self.heard, until: None, was_lost });
    }

    /// It is heard of again.
    pub(super) fn closes_hole(&mut self, now: Nanos) {
        if let Some(last) = self.kept.holes.last_mut() {
            last.until.get_or_insert(now);
        }
    }
}
