//! The closed loop: a VU starts its next iteration when the last one is done.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::{clock, pause::pause};
use brunt_schedule::{Budget, Span};

use super::caught::caught;
use super::visit::Visit;
use super::{Runner, Worker};
use crate::message::Event;
use crate::runner::Ended;

/// From one look whether iterations may begin again to the next.
const LAPSE_LOOK: Duration = Duration::from_millis(20);

/// A task: lets the VU in `slot` work as a handle of a closed scenario, then gives it back.
pub(super) async fn attend<R: Runner>(
    worker: Rc<Worker<R>>,
    slot: u32,
    scenario: usize,
    handle: u32,
) {
    let vu = worker.vu_ref(slot);
    let work = pin!(work(Rc::clone(&worker), slot, scenario, handle));
    let exhausted = caught(&worker.core, "a VU's task", work).await.unwrap_or(true);
    worker.tell(Event::Returned { vu, scenario, handle: Some(handle), exhausted }).await;
}

/// Iterates through the handle's spans. Returns whether the handle has nothing left to do, ever.
async fn work<R: Runner>(worker: Rc<Worker<R>>, slot: u32, scenario: usize, handle: u32) -> bool {
    let here = worker.scenario(scenario);
    let state = here.state().clone();
    let plan = state.closed().expect("the coordinator knows which scenarios are closed");
    let spans = plan.spans(handle);
    let start = state.start();
    let each = match plan.budget {
        Budget::PerVu(each) => each,
        Budget::Unlimited | Budget::Shared(_) => u64::MAX,
    };
    let span = span_at(spans, start, clock::now_ns());
    if span.is_none() && each == u64::MAX {
        return false;
    }
    // A core that was busy for the whole span: only the loss is left to be booked.
    let late =
        Span { start: Duration::ZERO, graceful_end: Duration::ZERO, hard_end: Duration::ZERO };
    let mut span = span.unwrap_or(late);
    let core = Rc::clone(&worker.core);
    let mut visit = Visit::begin(worker, slot, here, at(start, span.hard_end));
    // A VU that waits at a closed gate is not at work.
    let mut is_at_work = state.gate().is_none_or(|gate| gate.admits(handle));
    let mark = |is_at_work: bool| {
        let (lane, tally) = (state.lane(core.index()), core.control().tally(core.index()));
        if is_at_work {
            lane.enter();
            tally.enter();
        } else {
            lane.leave();
            tally.leave();
        }
    };
    if is_at_work {
        mark(true);
    }

    let mut done = 0;
    let exhausted = loop {
        if visit.stop.is_stopped() {
            break false;
        }
        if done == each {
            break true;
        }
        let now = clock::now_ns();
        if now >= at(start, span.graceful_end) {
            // Wanted back while the last iteration was still running: go on as if nothing had been.
            match span_at(spans, start, now) {
                Some(next) => span = next,
                None => break false,
            }
            visit.set_deadline(at(start, span.hard_end));
        }
        if let Some(gate) = state.gate() {
            if !gate.admits(handle) {
                if is_at_work {
                    mark(false);
                    is_at_work = false;
                }
                gate.wait(handle, &visit.stop).await;
                continue;
            }
            if !is_at_work {
                mark(true);
                is_at_work = true;
            }
        }
        if !core.control().may_begin(now) {
            tokio::select! {
                () = pause(LAPSE_LOOK) => {}
                () = visit.stop.stopped() => {}
            }
            continue;
        }
        let Some(number) = state.begin() else {
            break true;
        };
        done += 1;
        if visit.iterate(number, None, now).await == Ended::Interrupted {
            break false;
        }
    };

    if each != u64::MAX && done < each && !core.control().is_aborting() {
        visit.drop_iterations(each - done);
    }
    if is_at_work {
        mark(false);
    }
    exhausted
}

/// The span in which iterations may start at `now` (unix ns).
pub(crate) fn span_at(spans: &[Span], start: u64, now: u64) -> Option<Span> {
    let after = spans.partition_point(|span| at(start, span.graceful_end) <= now);
    spans.get(after).copied().filter(|span| at(start, span.start) <= now)
}

/// An offset from a scenario's start, as unix ns.
pub(crate) fn at(start: u64, offset: Duration) -> u64 {
    start.saturating_add(clock::duration_ns(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_holds_from_its_start_to_just_before_its_graceful_end() {
        let span = |start, graceful_end, hard_end| Span {
            start: Duration::from_nanos(start),
            graceful_end: Duration::from_nanos(graceful_end),
            hard_end: Duration::from_nanos(hard_end),
        };
        let spans = [span(10, 20, 50), span(30, 40, 50)];
        let begins = |now| span_at(&spans, 1000, now).map(|span| span.start.as_nanos());
        assert_eq!(begins(1009), None);
        assert_eq!(begins(1010), Some(10));
        assert_eq!(begins(1019), Some(10));
        assert_eq!(begins(1020), None);
        assert_eq!(begins(1030), Some(30));
        assert_eq!(begins(1040), None);
    }
}
