//! A load that was lost, made by another agent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use brunt_metrics::{Frame, Series, SeriesDelta, Sink, TagSet, builtin};
use brunt_schedule::{Budget, Scenario};

use super::seats::{SUSPECT, is_leaving};
use super::{Cell, Leader, LeaderAction, Touch, json};
use crate::keys::Key;
use crate::level::Level;
use crate::messages::Beat;
use crate::phase::{DoneOf, Step, TakeOver};
use crate::plan::{PLACES_MAX, Policy};
use crate::seat::State;
use crate::time::{Nanos, SECOND};

/// From the decision to the moment from which the other agent makes the load.
const NOTICE: u64 = 2 * SECOND;
/// No process begins more iterations of a scenario a second.
const FASTEST: u64 = 10_000_000;
/// More ranges of numbers than this are not told: what follows them is done again.
const RANGES_TOLD: usize = 1000;

/// The longest name of an agent that is kept, in bytes.
const NAME_MAX: usize = 256;

/// Agents that have no seat: by name.
#[derive(Debug, Default)]
pub(super) struct Spares(BTreeMap<String, (u64, Nanos)>);

impl Spares {
    /// There is a sign of life.
    pub(super) fn heard(&mut self, now: Nanos, beat: Beat) {
        let is_room = self.0.len() < PLACES_MAX as usize || self.0.contains_key(&beat.agent);
        if is_room && beat.agent.len() <= NAME_MAX {
            self.0.insert(beat.agent, (beat.incarnation, now));
        }
    }
}

impl Leader {
    /// The take-overs that a phase tells have their cells.
    pub(super) fn know_takeovers(&mut self, now: Nanos) {
        let all = self.plan.seats as usize + self.phase.takeovers.len();
        while self.cells.len() < all {
            self.cells.push(Cell { touch: Touch::Alive, heard: now, ..Cell::default() });
        }
    }

    /// Whether another agent makes the load of this cell.
    pub(super) fn is_taken(&self, index: usize) -> bool {
        self.phase.taken(index as u32 + 1).is_some()
    }

    /// The seat of the plan whose segment a cell's load is.
    pub(super) fn root(&self, index: usize) -> u32 {
        let seat = index as u32 + 1;
        let takeover = self.phase.takeovers.iter().find(|takeover| takeover.seat == seat);
        takeover.map_or(seat, |takeover| takeover.root)
    }

    /// Gives each load that is lost to another agent, if there is one.
    pub(super) fn look_for_takers(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let is_time = (Step::Start..=Step::Run).contains(&self.phase.phase);
        if self.plan.policy != Policy::TakeOver || !is_time || !self.stage.is_leading() {
            return;
        }
        self.spares.0.retain(|_, (_, heard)| now.saturating_sub(*heard) < SUSPECT);
        let is_lost = |cell: &Cell| {
            let has_left = cell.state.as_ref().is_some_and(|state| state.left_ns.is_some());
            has_left || cell.touch == Touch::Lost && !cell.is_at(State::Finished)
        };
        let lost: Vec<usize> = (0..self.cells.len())
            .filter(|index| is_lost(&self.cells[*index]) && !self.is_taken(*index))
            .collect();
        for index in lost {
            if self.cells.len() >= PLACES_MAX as usize {
                return;
            }
            match self.taker(self.root(index)) {
                Some(taker) => self.give(now, index, taker, out),
                None if !std::mem::replace(&mut self.cells[index].has_no_taker, true) => {
                    let name = self.cells[index].name(index);
                    let text = format!("no agent is there that could take over the load of {name}");
                    out.push(LeaderAction::Tell(Level::Warn, text));
                }
                None => {}
            }
        }
    }

    /// The agent that takes the load of a seat of the plan over: a spare, else the agent with the least to do. An agent that failed
    /// with the same load before is not asked again.
    fn taker(&self, root: u32) -> Option<(String, u64)> {
        let could_not = |agent: &str, incarnation: u64| {
            self.phase.takeovers.iter().any(|takeover| {
                let cell = self.cells.get(takeover.seat as usize - 1);
                let is_gone = cell.is_some_and(|cell| cell.kept.gone.is_some());
                let is_own = (&*takeover.agent, takeover.incarnation) == (agent, incarnation);
                takeover.root == root && is_own && is_gone
            })
        };
        let busy = |agent: &str, incarnation: u64| {
            let is_own = |takeover: &&TakeOver| {
                (&*takeover.agent, takeover.incarnation) == (agent, incarnation)
            };
            self.phase.takeovers.iter().filter(is_own).count()
        };
        let seated = self.cells.iter().filter_map(|cell| cell.seat.as_ref());
        let seated: Vec<(&str, u64)> =
            seated.map(|seat| (&*seat.agent, seat.incarnation)).collect();
        let spares = self.spares.0.iter().map(|(agent, (incarnation, _))| (&**agent, *incarnation));
        let free = spares
            .filter(|spare| !seated.contains(spare) && busy(spare.0, spare.1) == 0)
            .filter(|spare| !could_not(spare.0, spare.1))
            .map(|(agent, incarnation)| (agent.to_owned(), incarnation))
            .next();
        let can = |cell: &&Cell| {
            cell.touch == Touch::Alive
                && cell.is_at(State::Loading)
                && cell.kept.gone.is_none()
                && !cell.is_closed()
                && !cell.state.as_ref().is_some_and(is_leaving)
        };
        free.or_else(|| {
            // A substitute that works well is as good as any: its process is.
            let all = self.cells.iter().filter(can).filter_map(|cell| {
                let seat = cell.seat.as_ref()?;
                if could_not(&seat.agent, seat.incarnation) {
                    return None;
                }
                let cpu = (cell.beat.cpu.clamp(0.0, 1.0) * 1000.0) as u64;
                Some((busy(&seat.agent, seat.incarnation), cpu, &seat.agent, seat.incarnation))
            });
            all.min().map(|(.., agent, incarnation)| (agent.clone(), incarnation))
        })
    }

    fn give(
        &mut self,
        now: Nanos,
        index: usize,
        (agent, incarnation): (String, u64),
        out: &mut Vec<LeaderAction>,
    ) {
        let from_ns = now + NOTICE;
        let takeover = TakeOver {
            seat: self.cells.len() as u32 + 1,
            of: index as u32 + 1,
            root: self.root(index),
            done: self.done(index, from_ns),
            agent,
            incarnation,
            from_ns,
        };
        let name = self.cells[index].name(index);
        let at = self.since_start(from_ns) as f64 / 1e9;
        let text = format!(
            "{} takes over the load of {name} as seat {}, from {at:.1} s after the start on",
            takeover.agent, takeover.seat
        );
        out.push(LeaderAction::Tell(Level::Warn, text));
        self.phase.takeovers.push(takeover);
        self.know_takeovers(now);
        self.desk.put(Key::Phase, Some(json(&self.phase)));
    }

    /// How far the closed scenarios of a cell are: as reported by it, and by those before it.
    fn done(&self, index: usize, from_ns: Nanos) -> Vec<DoneOf> {
        let before = self.phase.takeovers.iter().find(|it| it.seat as usize == index + 1);
        let before = before.map_or(&[][..], |takeover| &takeover.done);
        let cell = &self.cells[index];
        // Its iterations since then are not known.
        let unknown_s =
            self.since_start(from_ns).saturating_sub(cell.kept.until_ns).div_ceil(SECOND);
        let closed = |(place, scenario): (usize, &Scenario)| {
            let segment = self.plan.segment(self.root(index)).ok()?;
            let plan = scenario.closed_plan(&segment)?;
            let earlier = before.iter().find(|done| done.scenario as usize == place);
            let earlier = earlier.cloned().unwrap_or_default();
            let (begun, mut numbers) = (earlier.begun, earlier.numbers);
            let of_cell = cell.kept.scenarios.get(&(place as u32));
            for (first, last) in of_cell.iter().flat_map(|done| done.numbers.iter()) {
                numbers.insert_all(first, last);
            }
            let numbers = numbers.first(RANGES_TOLD);
            let done = of_cell.map_or(0, |done| done.iterations);
            let unknown = (unknown_s + 1).saturating_mul(FASTEST);
            let begun = match plan.budget {
                Budget::Unlimited => begun.saturating_add(done).saturating_add(unknown),
                Budget::PerVu(_) | Budget::Shared(_) => 0,
            };
            Some(DoneOf { scenario: place as u32, begun, numbers })
        };
        self.config.scenarios.iter().enumerate().filter_map(closed).collect()
    }

    /// Counts what arrival rates missed between a loss and its take-over: all that was due until then and was neither
    /// reported done nor reported missed.
    pub(super) fn count_missed(&mut self, out: &mut Vec<LeaderAction>) {
        let mut missed: BTreeMap<u32, u64> = BTreeMap::new();
        for root in 1..=self.plan.seats {
            let takeovers: Vec<&TakeOver> =
                self.phase.takeovers.iter().filter(|takeover| takeover.root == root).collect();
            let last = takeovers.last().map_or(root, |takeover| takeover.seat);
            // An agent that began none for a time may not have counted all that it missed.
            let state = self.cells.get(last as usize - 1).and_then(|cell| cell.state.as_ref());
            let has_lapsed = state.is_some_and(|state| state.lapsed);
            let until = match takeovers.last() {
                _ if has_lapsed => Nanos::MAX,
                Some(takeover) => takeover.from_ns,
                None => continue,
            };
            let until = until.min(self.cut_at.unwrap_or(Nanos::MAX));
            let until = Duration::from_nanos(self.since_start(until));
            let Ok(segment) = self.plan.segment(root) else { continue };
            let mut cells: Vec<u32> = takeovers.iter().map(|takeover| takeover.of).collect();
            cells.extend(has_lapsed.then_some(last));
            let mut of_root = 0;
            for (place, scenario) in (0..).zip(&self.config.scenarios) {
                let Some(arrivals) = scenario.arrivals(&segment) else { continue };
                let due = arrivals.due_before(until.saturating_sub(scenario.start_time));
                let known: u64 = cells
                    .iter()
                    .filter_map(|seat| self.cells.get(*seat as usize - 1))
                    .filter_map(|cell| cell.kept.scenarios.get(&place))
                    .map(|known| known.iterations + known.missed)
                    .sum();
                of_root += due.saturating_sub(known);
                *missed.entry(place).or_default() += due.saturating_sub(known);
            }
            self.cells[root as usize - 1].kept.missed += of_root;
        }
        let tags: &TagSet = &self.config.run_tags;
        let series =
            missed.into_iter().filter(|(_, count)| *count > 0).filter_map(|(place, count)| {
                let name = &self.config.scenarios.get(place as usize)?.name;
                let is_tagged = self.config.has_scenario_tag;
                let tags = if is_tagged { tags.with("scenario", name) } else { tags.clone() };
                let series = Arc::new(Series { metric: builtin::DROPPED_ITERATIONS, tags });
                let first_at = self.start;
                let sink = Sink::Counter { sum: count as f64, rest: 0.0, first_at };
                Some(SeriesDelta { series, sink })
            });
        let series: Vec<SeriesDelta> = series.collect();
        if !series.is_empty() {
            let at = self.ended.unwrap_or_default();
            self.frames.merge(Frame { at, series, ..Frame::default() }, None, out);
        }
    }
}
