//! Ten times a second a core hands over what it saw, and looks how late it is itself.

use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::clock;

use super::{Runner, Worker};
use crate::control::Phase;
use crate::gather::Message;
use crate::health::CoreWatch;

/// From one frame of a core to its next.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// A task: ticks until the core ends.
pub(super) async fn run<R: Runner>(worker: Rc<Worker<R>>, watch: Rc<CoreWatch>) {
    let tick = clock::duration_ns(TICK);
    // Not all cores at the same moment.
    let cores = worker.core.control().cores() as u64;
    let mut next = clock::now_ns() + tick + tick * u64::from(worker.core.index()) / cores.max(1);
    loop {
        let wait = next.saturating_sub(clock::now_ns());
        tokio::time::sleep(Duration::from_nanos(wait)).await;
        let now = clock::now_ns();
        if worker.core.control().phase() == Phase::Running {
            let late = now.saturating_sub(next);
            watch.ticked(late, now);
            worker.core.control().tally(worker.core.index()).note_late(late);
        }
        next = now.max(next) + tick;
        hand_over(&worker, &watch);
    }
}

/// Hands the frame to the gatherer, if there is anything in it and room for it. If there is none, what was
/// seen stays in the recorder, which is bounded by itself, and goes with the next one.
fn hand_over<R: Runner>(worker: &Worker<R>, watch: &CoreWatch) {
    let Ok(room) = worker.frames.try_reserve() else {
        return;
    };
    let mut frame = worker.core.recorder().borrow_mut().take_frame();
    if !frame.is_empty() {
        (frame.at, frame.late) = (clock::now_ns(), watch.take_late());
        room.send(Message::Frame(frame));
    }
}

/// Hands over a frame, however long the gatherer takes: the last one, or one that somebody waits for.
pub(super) async fn hand_over_last<R: Runner>(worker: &Worker<R>) {
    let Ok(room) = worker.frames.reserve().await else {
        return;
    };
    let mut frame = worker.core.recorder().borrow_mut().take_frame();
    frame.at = clock::now_ns();
    room.send(Message::Frame(frame));
}
