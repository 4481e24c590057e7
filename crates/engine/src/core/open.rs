//! The open loop: iterations start when they are due, whatever became of the earlier ones.
//!
//! Each core has a *pacer* with its share of the due times, and *chairs*: VUs that sit and wait for an
//! iteration. When one is due, the pacer hands it to an idle VU of its own core; if there is none, it
//! reserves one on another core and sends a parcel to that core's inbox; if no core has one, the iteration
//! is dropped.
//!
//! ```text
//!        pacer ──reserve──▶ idle count ◀──reserve── pacers of other cores
//!          │                                              │ parcel
//!          ▼                                              ▼
//!   list of idle chairs ◀────────────────────────────── inbox
//! ```
//!
//! The last pacer to finish sends every inbox the word to close; all parcels are in front of it by then.

mod steered;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::task::{Poll, Waker};

use brunt_fiber::clock;
use brunt_fiber::timer::CoreTimer;
use brunt_metrics::{SeriesId, builtin};
use tokio::sync::mpsc;

use super::caught::caught;
use super::closed::at;
use super::visit::Visit;
use super::{Runner, Worker};
use crate::control::AbortReason;
use crate::message::{Event, Share};
use crate::runner::Ended;
use crate::scenario::{Parcel, ScenarioHere, ScenarioState};
use crate::stop::StopHandle;

/// A core wakes at most this often for starts: above 10 000 a second they come in small groups, at most
/// so much late. A third of the CPU time of waking for each.
const GAP_NS: u64 = 100_000;

/// From one look whether iterations may begin again to the next.
const LAPSE_LOOK_NS: u64 = 20_000_000;

/// The maximum number of due times that have passed and are looked at in one go; then the VUs, and whoever wants to end
/// the test, get a turn. A few milliseconds.
const DISPATCHES_MAX: usize = 1 << 15;

/// An open scenario on one core.
pub(super) struct OpenHere {
    here: Rc<ScenarioHere>,
    /// The VUs without work. The one that has waited longest is taken first, as in k6: what a script does once in each VU
    /// (it logs in, it reads its row of data) is done by all of them, not by the few that happen to be warm.
    idle: RefCell<VecDeque<Rc<Chair>>>,
    /// Stops the pacer.
    stop: StopHandle,
    /// Where drops are booked: in which of the recorder's epochs, and whether during the warm-up.
    dropped: Cell<Option<(u32, bool, SeriesId)>>,
}

/// Where an idle VU waits for its next iteration.
#[derive(Default)]
struct Chair {
    due: Cell<Option<u64>>,
    leave: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Chair {
    fn call(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    fn give(&self, due: u64) {
        self.due.set(Some(due));
        self.call();
    }

    fn dismiss(&self) {
        self.leave.set(true);
        self.call();
    }

    /// When the next iteration was due (unix ns); `None` if there will be none.
    async fn next(&self) -> Option<u64> {
        poll_fn(|cx| {
            if let Some(due) = self.due.take() {
                return Poll::Ready(Some(due));
            }
            if self.leave.get() {
                return Poll::Ready(None);
            }
            match &mut *self.waker.borrow_mut() {
                Some(waker) => waker.clone_from(cx.waker()),
                empty => *empty = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

impl OpenHere {
    pub(super) fn new(here: Rc<ScenarioHere>) -> Rc<OpenHere> {
        Rc::new(OpenHere {
            here,
            idle: RefCell::default(),
            stop: StopHandle::new(),
            dropped: Cell::new(None),
        })
    }

    /// The run is aborted: all waiting ends.
    pub(super) fn abandon(&self, core: u32) {
        self.stop.stop();
        self.close(core);
    }

    fn close(&self, core: u32) {
        self.here.state().lane(core).idle.close();
        for chair in self.idle.take() {
            chair.dismiss();
        }
    }

    /// Hands an iteration to a VU that has been reserved on this core.
    fn seat(&self, due: u64) {
        // The list is empty if the run was aborted after the reservation.
        if let Some(chair) = self.idle.borrow_mut().pop_front() {
            chair.give(due);
        }
    }
}

/// A task: lets the VU in `slot` wait for iterations until the scenario is over, then gives it back.
pub(super) async fn sit<R: Runner>(worker: Rc<Worker<R>>, open: Rc<OpenHere>, slot: u32) {
    let vu = worker.vu_ref(slot);
    let scenario = open.here.state().index();
    let work = pin!(work(Rc::clone(&worker), open, slot));
    caught(&worker.core, "a VU's task", work).await;
    worker.tell(Event::Returned { vu, scenario, handle: None, exhausted: false }).await;
}

async fn work<R: Runner>(worker: Rc<Worker<R>>, open: Rc<OpenHere>, slot: u32) {
    let state = open.here.state().clone();
    let arrivals = state.arrivals().expect("the coordinator knows which scenarios are open");
    let core = Rc::clone(&worker.core);
    let lane = state.lane(core.index());
    let tally = core.control().tally(core.index());
    let deadline = at(state.start(), arrivals.hard_end());
    let mut visit = Visit::begin(worker, slot, Rc::clone(&open.here), deadline);
    let chair = Rc::new(Chair::default());

    while !visit.stop.is_stopped() {
        open.idle.borrow_mut().push_back(Rc::clone(&chair));
        if !lane.idle.release() {
            // Closed: the list was emptied then, and has only this chair.
            open.idle.borrow_mut().retain(|other| !Rc::ptr_eq(other, &chair));
            break;
        }
        let Some(due) = chair.next().await else { break };
        let Some(number) = state.begin() else { break };
        lane.enter();
        tally.enter();
        let ended = visit.iterate(number, Some(due), clock::now_ns()).await;
        lane.leave();
        tally.leave();
        if ended == Ended::Interrupted {
            break;
        }
    }
}

/// A task: takes in what other cores hand over, until the scenario closes.
pub(super) async fn receive<R: Runner>(
    worker: Rc<Worker<R>>,
    open: Rc<OpenHere>,
    mut inbox: mpsc::Receiver<Parcel>,
) {
    while let Some(parcel) = inbox.recv().await {
        match parcel {
            Parcel::Run { due } => open.seat(due),
            Parcel::Close => break,
        }
    }
    open.close(worker.core.index());
}

/// A task: starts this core's share of a scenario's iterations, each when it is due.
pub(super) async fn pace<R: Runner>(worker: Rc<Worker<R>>, open: Rc<OpenHere>, share: Share) {
    caught(&worker.core, "a pacer", pin!(keep_pace(&worker, &open, &share))).await;
    let state = open.here.state();
    if state.pacers.fetch_sub(1, AcqRel) > 1 {
        return;
    }
    for core in 0..state.cores() {
        // It has room: see where the inboxes are made. A core that is gone needs no word.
        if let Some(inbox) = state.inbox(core)
            && inbox.try_send(Parcel::Close).is_err()
        {
            log::debug!(core, scenario = state.spec().name.as_str(); "an inbox is gone");
        }
    }
    worker.tell(Event::Paced { scenario: state.index() }).await;
}

async fn keep_pace<R: Runner>(worker: &Worker<R>, open: &OpenHere, share: &Share) {
    let state = open.here.state();
    if let Some(helm) = state.helm() {
        return steered::keep_course(worker, open, share, helm).await;
    }
    let arrivals = state.arrivals().expect("only open scenarios have a pacer");
    let start = state.start();
    let due = |turn| Some(at(start, arrivals.due(share.number(turn))?));
    let Some(mut timer) = timer(worker, state) else { return };
    // As a pace is a formula, a start in the middle of the plan costs a few looks at it.
    let all = share.part_of(arrivals.count());
    let left = first_turn(all, state.left_until(), &due);
    let mut turn = first_turn(all, state.missed_until().max(state.left_until()), &due);
    book_drops(worker, open, clock::now_ns(), turn - left);
    let mut next = due(turn);
    let mut earliest = 0;
    let wait_until = async |timer: &mut CoreTimer, alarm| {
        tokio::select! {
            () = timer.sleep_until(alarm) => {}
            () = open.stop.stopped() => {}
        }
    };
    while let Some(first) = next {
        let alarm = first.max(earliest);
        if clock::now_ns() >= alarm {
            // Behind: the VUs and the network need their turn all the same.
            tokio::task::yield_now().await;
        } else {
            wait_until(&mut timer, alarm).await;
        }
        if open.stop.is_stopped() || worker.core.control().is_aborting() {
            return;
        }
        earliest = alarm + GAP_NS;
        let mut now = clock::now_ns();
        if !worker.core.control().may_begin(now) {
            // Iterations that are due meanwhile are missed, unless another process makes them: then the run ends.
            let end = at(start, arrivals.regular_end());
            now = lapse(worker, open, &mut timer, end).await;
            if now >= end || open.stop.is_stopped() || worker.core.control().is_aborting() {
                return;
            }
            let first = first_turn(all, now, &due).max(turn);
            book_drops(worker, open, now, first - turn);
            turn = first;
            next = due(turn);
        }
        for _ in 0..DISPATCHES_MAX {
            let Some(moment) = next.filter(|moment| *moment <= now) else { break };
            dispatch(worker, open, moment, now);
            turn += 1;
            next = due(turn);
        }
        // More than a core can ever look at: it must not go on with them after the end.
        let is_over = now >= at(start, arrivals.regular_end());
        if is_over && next.is_some_and(|moment| moment <= now) {
            let missed = all.saturating_sub(turn);
            book_drops(worker, open, now, missed);
            want_vu(worker, state);
            break;
        }
    }
    if let Some(end) = arrivals.lasts_until() {
        wait_until(&mut timer, at(start, end)).await;
    }
}

/// Waits until iterations may begin again, at most until `end` (unix ns). Returns when that was.
async fn lapse<R: Runner>(
    worker: &Worker<R>,
    open: &OpenHere,
    timer: &mut CoreTimer,
    end: u64,
) -> u64 {
    let control = worker.core.control();
    loop {
        let now = clock::now_ns();
        if now >= end || control.may_begin(now) || control.is_aborting() || open.stop.is_stopped() {
            return now;
        }
        tokio::select! {
            () = timer.sleep_until(now + LAPSE_LOOK_NS) => {}
            () = open.stop.stopped() => {}
        }
    }
}

/// The first of `all` turns that is due at `missed_until` (unix ns) or later; due times never fall.
fn first_turn(all: u64, missed_until: u64, due: &impl Fn(u64) -> Option<u64>) -> u64 {
    let (mut low, mut high) = (0, if missed_until == 0 { 0 } else { all });
    while low < high {
        let middle = low + (high - low) / 2;
        if due(middle).is_some_and(|moment| moment < missed_until) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// A timer of the pacer's own; the run ends if there is none.
fn timer<R: Runner>(worker: &Worker<R>, state: &ScenarioState) -> Option<CoreTimer> {
    let timer = CoreTimer::new().map_err(|error| {
        let message = format!("no timer for scenario {}: {error}", state.spec().name);
        worker.core.control().abort(AbortReason::Panic { message });
    });
    timer.ok()
}

/// Finds a VU for an iteration: here, else on another core, else nowhere.
fn dispatch<R: Runner>(worker: &Worker<R>, open: &OpenHere, due: u64, now: u64) {
    let state = open.here.state();
    let own = worker.core.index() as usize;
    let cores = state.cores();
    if state.lane(own as u32).idle.reserve() {
        open.seat(due);
        return;
    }
    for core in (1..cores).map(|step| (own + step) % cores) {
        if !state.lane(core as u32).idle.reserve() {
            continue;
        }
        let sent = state.inbox(core).map(|inbox| inbox.try_send(Parcel::Run { due }));
        if matches!(sent, Some(Ok(()))) {
            return;
        }
        // That core has died; the run is ending.
    }
    book_drops(worker, open, now, 1);
    if state.helm().is_some() {
        // The number of VUs is decided where the rate is.
        return;
    }
    // As in k6, which does not listen yet when the very first one finds no VU (`preAllocatedVUs: 0`).
    if due > state.start() {
        want_vu(worker, state);
    }
}

/// Books `count` dropped iterations.
fn book_drops<R: Runner>(worker: &Worker<R>, open: &OpenHere, now: u64, count: u64) {
    if count == 0 {
        return;
    }
    let state = open.here.state();
    let mut recorder = worker.core.recorder().borrow_mut();
    let epoch = recorder.epoch();
    let is_warm = now < state.warm_until();
    let known = open.dropped.get().filter(|(of, warm, _)| (*of, *warm) == (epoch, is_warm));
    let (.., series) = known.unwrap_or_else(|| {
        let tags = recorder.tags(&state.tags_of_drops(now));
        (epoch, is_warm, recorder.series(builtin::DROPPED_ITERATIONS, tags))
    });
    open.dropped.set(Some((epoch, is_warm, series)));
    recorder.add(series, count as f64, now, None);
}

/// Asks for a VU more, if that is allowed.
fn want_vu<R: Runner>(worker: &Worker<R>, state: &ScenarioState) {
    if state.vus_allocated() < state.vus_max() {
        if !state.growing.swap(true, Relaxed) {
            let wanted = Event::WantVu { scenario: state.index() };
            if worker.events.try_send(wanted).is_err() {
                // The coordinator is busy: the next drop asks again.
                state.growing.store(false, Relaxed);
            }
        }
    } else if !state.warned.swap(true, Relaxed) {
        let spec = state.spec();
        log::warn!(
            executor = spec.executor.kind(), scenario = spec.name.as_str();
            "Insufficient VUs, reached {} active VUs and cannot initialize more", state.vus_max()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::first_turn;

    #[test]
    fn the_first_turn_is_the_first_that_is_not_missed() {
        let due = |turn: u64| (turn < 50).then_some(1000 + 10 * turn);
        for (missed_until, first) in [(0, 0), (900, 0), (1000, 0), (1001, 1), (1010, 1), (1255, 26)]
        {
            assert_eq!(first_turn(50, missed_until, &due), first, "{missed_until}");
        }
        assert_eq!(first_turn(50, 9000, &due), 50);
        assert_eq!(first_turn(0, 9000, &due), 0);
    }
}
