//! The pacer of a scenario whose arrival rate is decided while the test runs.

use std::sync::Arc;

use brunt_fiber::clock;
use brunt_schedule::Course;
use tokio::sync::watch;

use super::{DISPATCHES_MAX, GAP_NS, OpenHere, Share, at, dispatch, timer};
use crate::core::{Runner, Worker};
use crate::helm::Helm;

/// Starts this core's share of the iterations, each when it is due by the course as it is then.
pub(super) async fn keep_course<R: Runner>(
    worker: &Worker<R>,
    open: &OpenHere,
    share: &Share,
    helm: &Helm,
) {
    let state = open.here.state();
    let start = state.start();
    let Some(mut timer) = timer(worker, state) else { return };
    if share.offsets.is_empty() {
        return;
    }
    let mut changes = helm.follow();
    let mut course: Arc<Course> = Arc::clone(&changes.borrow_and_update());
    let (mut turn, mut earliest) = (0, 0);
    loop {
        let due = |turn| Some(at(start, course.due(share.number(turn))?));
        match due(turn) {
            None if course.is_ended() => return,
            None => tokio::select! {
                () = changed(&mut changes) => {}
                () = open.stop.stopped() => {}
            },
            Some(first) => {
                let alarm = first.max(earliest);
                if clock::now_ns() >= alarm {
                    // Behind: the VUs and the network need their turn all the same.
                    tokio::task::yield_now().await;
                } else {
                    tokio::select! {
                        () = timer.sleep_until(alarm) => {}
                        () = changed(&mut changes) => {}
                        () = open.stop.stopped() => {}
                    }
                }
            }
        }
        if open.stop.is_stopped() || worker.core.control().is_aborting() {
            return;
        }
        if changes.has_changed().unwrap_or(false) {
            // A moment that was awaited may have moved; none of the past has.
            course = Arc::clone(&changes.borrow_and_update());
            continue;
        }
        let now = clock::now_ns();
        let mut is_first = true;
        for _ in 0..DISPATCHES_MAX {
            let Some(moment) = due(turn).filter(|moment| *moment <= now) else { break };
            if is_first {
                earliest = moment.max(earliest) + GAP_NS;
                is_first = false;
            }
            dispatch(worker, open, moment, now);
            turn += 1;
        }
    }
}

/// Waits for a change of the course. The helm lives as long as the scenario.
async fn changed(changes: &mut watch::Receiver<Arc<Course>>) {
    // `has_changed` is asked afterwards, which needs the change to be unseen.
    if changes.changed().await.is_ok() {
        changes.mark_changed();
    }
}
