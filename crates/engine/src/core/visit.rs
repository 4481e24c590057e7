//! A VU at work for a scenario, and how its iterations are counted.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use brunt_fiber::{clock, pause::pause};
use brunt_metrics::{Recorder, SeriesId, TagsId, builtin};
use futures_util::FutureExt as _;

use super::caught::words;
use super::{Resident, Worker};
use crate::runner::{Ended, Iteration, Runner, Vu};
use crate::scenario::ScenarioHere;
use crate::stop::StopHandle;

/// How long a VU may run iterations that never wait before the others of its core, and its timers and
/// sockets, get a turn. A turn costs under a microsecond.
const SLICE_NS: u64 = 50_000;

/// The maximum number of iterations of a VU that may panic in a row.
const PANICS_MAX: u32 = 3;

/// A VU from its activation for a scenario until it is given back; dropping it gives it back.
pub(super) struct Visit<R: Runner> {
    pub(super) worker: Rc<Worker<R>>,
    pub(super) scenario: Rc<ScenarioHere>,
    pub(super) stop: StopHandle,
    /// Always there, but while it is being dropped.
    resident: Option<Box<Resident<R::Vu>>>,
    place: usize,
    book: Book,
    /// Since when, roughly, its task has run without a pause (unix ns).
    awake_since: u64,
}

impl<R: Runner> Visit<R> {
    /// Takes the VU from its slot and activates it; it is interrupted at `deadline` (unix ns).
    pub(super) fn begin(
        worker: Rc<Worker<R>>,
        slot: u32,
        scenario: Rc<ScenarioHere>,
        deadline: u64,
    ) -> Visit<R> {
        let resident = worker.residents.borrow_mut()[slot as usize].take();
        let mut resident = resident.expect("the pool gives a VU to one scenario at a time");
        let stop = StopHandle::of_run(worker.core.control.clone(), deadline);
        let place = worker.reaper.watch(&stop);
        resident.vu.activate(&scenario);
        let book = Book::new(scenario.state().arrivals().is_some());
        let awake_since = clock::now_ns();
        Visit { worker, scenario, stop, resident: Some(resident), place, book, awake_since }
    }

    /// Moves the moment at which it is interrupted (unix ns).
    pub(super) fn set_deadline(&self, deadline: u64) {
        if deadline != self.stop.deadline() {
            self.stop.set_deadline(deadline);
            self.worker.reaper.expect_at(deadline, self.place);
        }
    }

    fn resident(&mut self) -> &mut Resident<R::Vu> {
        self.resident.as_mut().expect("a visit has its VU until it is dropped")
    }

    /// Runs the scenario's iteration `number`, which begins now, at `started`, and books it. Nothing is allocated,
    /// locked or spawned.
    pub(super) async fn iterate(&mut self, number: u64, due: Option<u64>, started: u64) -> Ended {
        let worker = Rc::clone(&self.worker);
        let core = &*worker.core;
        let scenario = Rc::clone(&self.scenario);
        let state = scenario.state();
        let stop = self.stop.clone();
        let resident = self.resident.as_mut().expect("a visit has its VU until it is dropped");
        let begun = resident.by_scenario.of(state.index());
        let iteration = Iteration {
            in_scenario_instance: number,
            in_test: state.global(number),
            vu_in_scenario: *begun,
            vu_in_instance: resident.iterations,
            due,
            started,
        };
        *begun += 1;
        resident.iterations += 1;
        if let Some(due) = due {
            let late = started.saturating_sub(due);
            self.book.lateness(&mut core.recorder.borrow_mut(), &mut resident.vu, late, started);
        }

        let iterating = AssertUnwindSafe(resident.vu.iterate(iteration, &stop)).catch_unwind();
        let (ended, suspended) = match watch(iterating).await {
            (Ok(ended), suspended) => {
                resident.panics = 0;
                (ended, suspended)
            }
            (Err(payload), _) => (survive(resident, words(&*payload), &stop).await, true),
        };

        let finished = clock::now_ns();
        let took = finished.saturating_sub(started);
        let pad = worker.min_iteration.saturating_sub(Duration::from_nanos(took));
        let count = |ended: Ended| match ended {
            Ended::Complete => {
                core.control.tally(core.index).count_complete();
                state.lane(core.index).count_complete();
            }
            Ended::Interrupted | Ended::Aborted => {
                core.control.tally(core.index).count_interrupted();
            }
        };
        if ended != Ended::Complete || pad.is_zero() {
            count(ended);
        }
        if ended == Ended::Interrupted {
            return ended;
        }
        if ended == Ended::Complete && state.tells_done() {
            core.recorder.borrow_mut().done(state.index() as u32, number);
        }
        let planned = due.map(|due| finished.saturating_sub(due));
        self.book.iteration(
            &mut core.recorder.borrow_mut(),
            &mut resident.vu,
            (took, planned),
            finished,
        );
        if !pad.is_zero() {
            tokio::select! {
                () = pause(pad) => {}
                () = stop.stopped() => {}
            }
            if ended == Ended::Complete {
                // Measured it is, but those who count what has come to its end count the pad, too.
                count(if stop.is_stopped() { Ended::Interrupted } else { ended });
            }
            self.awake_since = clock::now_ns();
        } else if suspended {
            self.awake_since = finished;
        } else if finished.saturating_sub(self.awake_since) > SLICE_NS {
            tokio::task::yield_now().await;
            self.awake_since = clock::now_ns();
        }
        ended
    }

    /// Books `count` iterations that this VU should have started and could not. As they never were, they
    /// have no group, and nothing that the scenario or the script added.
    pub(super) fn drop_iterations(&mut self, count: u64) {
        let (worker, scenario) = (Rc::clone(&self.worker), Rc::clone(&self.scenario));
        let mut recorder = worker.core.recorder.borrow_mut();
        let vu = &mut self.resident().vu;
        let now = clock::now_ns();
        let tags = recorder.tags(&scenario.state().tags_of_drops(now));
        let series = recorder.series(builtin::DROPPED_ITERATIONS, tags);
        let metadata = if recorder.wants_samples() { vu.metadata() } else { None };
        recorder.add(series, count as f64, now, metadata.as_ref());
    }
}

impl<R: Runner> Drop for Visit<R> {
    fn drop(&mut self) {
        self.worker.reaper.forget(self.place);
        if let Some(resident) = self.resident.take() {
            let slot = resident.slot as usize;
            self.worker.residents.borrow_mut()[slot] = Some(resident);
        }
    }
}

/// An iteration panicked, which is a fault of ours: it is over, as one that threw is, and the VU goes on with the next; but
/// one that does nothing else takes no more part.
#[cold]
async fn survive<V>(resident: &mut Resident<V>, why: &str, stop: &StopHandle) -> Ended {
    resident.panics += 1;
    let number = resident.number;
    if resident.panics < PANICS_MAX {
        log::error!(vu = number; "an iteration of VU {number} panicked, a fault in Brunt ({why}): it ends, and the test goes on. Please report this");
        return Ended::Complete;
    }
    log::error!(vu = number; "VU {number} ended, as {PANICS_MAX} of its iterations panicked one after the other, a fault in Brunt ({why}): the test goes on without it. Please report this");
    stop.stopped().await;
    Ended::Interrupted
}

/// Awaits, and tells whether it ever had to wait.
async fn watch<F: Future>(future: F) -> (F::Output, bool) {
    let mut future = pin!(future);
    let mut suspended = false;
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready((output, suspended)),
        Poll::Pending => {
            suspended = true;
            Poll::Pending
        }
    })
    .await
}

/// The series in which a VU's iterations are booked, found once and kept while its tags stay the same.
struct Book {
    is_open: bool,
    ids: Option<Ids>,
}

#[derive(Clone, Copy)]
struct Ids {
    epoch: u32,
    tags: TagsId,
    iterations: SeriesId,
    duration: SeriesId,
    lateness: Option<SeriesId>,
    /// From the planned start; none if the script has a metric of that name.
    planned: Option<SeriesId>,
}

impl Book {
    fn new(is_open: bool) -> Book {
        Book { is_open, ids: None }
    }

    fn ids<V: Vu>(&mut self, recorder: &mut Recorder, vu: &mut V) -> Ids {
        let tags = vu.tags(recorder);
        let epoch = recorder.epoch();
        if let Some(ids) = self.ids.filter(|ids| ids.epoch == epoch && ids.tags == tags) {
            return ids;
        }
        let lateness = self.is_open.then(|| recorder.series(builtin::ITERATION_LATENESS, tags));
        let planned = builtin::ITERATION_DURATION_PLANNED;
        let is_planned = self.is_open && recorder.registry().is_taken(planned);
        let planned = is_planned.then(|| recorder.series(planned, tags));
        let ids = Ids {
            epoch,
            tags,
            iterations: recorder.series(builtin::ITERATIONS, tags),
            duration: recorder.series(builtin::ITERATION_DURATION, tags),
            lateness,
            planned,
        };
        self.ids = Some(ids);
        ids
    }

    /// `planned`: its time from the moment at which it was due, in open models.
    fn iteration<V: Vu>(
        &mut self,
        recorder: &mut Recorder,
        vu: &mut V,
        (took, planned): (u64, Option<u64>),
        at: u64,
    ) {
        let ids = self.ids(recorder, vu);
        let metadata = if recorder.wants_samples() { vu.metadata() } else { None };
        recorder.add(ids.duration, milliseconds(took), at, metadata.as_ref());
        recorder.add(ids.iterations, 1.0, at, metadata.as_ref());
        if let (Some(series), Some(planned)) = (ids.planned, planned) {
            recorder.add(series, milliseconds(planned), at, metadata.as_ref());
        }
    }

    fn lateness<V: Vu>(&mut self, recorder: &mut Recorder, vu: &mut V, late: u64, at: u64) {
        let ids = self.ids(recorder, vu);
        let metadata = if recorder.wants_samples() { vu.metadata() } else { None };
        if let Some(series) = ids.lateness {
            recorder.add(series, milliseconds(late), at, metadata.as_ref());
        }
    }
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1_000_000.0
}
