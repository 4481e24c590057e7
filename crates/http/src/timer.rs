//! Deadlines that cost next to nothing when they aren't reached.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::time::{Instant, Sleep, sleep_until};

/// The most timers that a client keeps.
const KEPT_MAX: usize = 4;

/// The timers of one client, kept from exchange to exchange.
///
/// Putting a timer into tokio's wheel and taking it out again costs two locks and list operations, and the memory that
/// they touch. A kept timer stays in it as it is: one that is set to an earlier moment than the deadline needs no
/// change, as long as it wakes the same task. When it goes off too early, it is set again. One that goes off while no
/// task waits wakes its last task once, for nothing.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    idle: RefCell<Vec<Timer>>,
}

/// A timer, and the task that it wakes.
#[derive(Debug)]
struct Timer {
    sleep: Pin<Box<Sleep>>,
    wakes: Waker,
}

impl Timer {
    /// Ready at the deadline, or somewhat later.
    fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let is_set = self.wakes.will_wake(cx.waker())
            && !self.sleep.is_elapsed()
            && self.sleep.deadline() <= deadline;
        if is_set {
            return Poll::Pending;
        }
        self.wakes.clone_from(cx.waker());
        if self.sleep.deadline() > deadline || self.sleep.is_elapsed() {
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx)
    }
}

impl Timers {
    /// The output of `future`, or `None` if the deadline comes first. The future goes first: it may still win at the
    /// very moment.
    pub(crate) async fn within<F: Future>(
        &self,
        deadline: Instant,
        future: F,
    ) -> Option<F::Output> {
        let mut timer = None;
        let mut future = pin!(future);
        let output = poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            let timer = timer.get_or_insert_with(|| self.take(deadline));
            timer.poll(cx, deadline).map(|()| None)
        })
        .await;
        if let Some(timer) = timer {
            self.give_back(timer);
        }
        output
    }

    /// Where the timer lies that is taken next: address, bytes.
    pub(crate) fn places(&self) -> Vec<(usize, usize)> {
        let idle = self.idle.borrow();
        let Some(last) = idle.last() else { return Vec::new() };
        let sleep = &*last.sleep;
        vec![
            (std::ptr::from_ref(last).addr(), size_of::<Timer>()),
            (std::ptr::from_ref(sleep).addr(), size_of::<Sleep>()),
        ]
    }

    fn take(&self, deadline: Instant) -> Timer {
        self.idle.borrow_mut().pop().unwrap_or_else(|| Timer {
            sleep: Box::pin(sleep_until(deadline)),
            // No task yet: the first poll sets it.
            wakes: Waker::noop().clone(),
        })
    }

    fn give_back(&self, timer: Timer) {
        let mut idle = self.idle.borrow_mut();
        if idle.len() < KEPT_MAX {
            idle.push(timer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timer_is_kept_and_set_again() {
        let timers = Timers::default();
        let after = |seconds| Instant::now() + Duration::from_secs(seconds);
        assert_eq!(timers.within(after(1), ready(7)).await, Some(7));
        assert_eq!(timers.idle.borrow().len(), 0);
        for _ in 0..3 {
            let start = Instant::now();
            assert_eq!(timers.within(after(5), pending::<()>()).await, None);
            assert_eq!(start.elapsed().as_secs(), 5);
            assert_eq!(timers.idle.borrow().len(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_was_set_for_an_earlier_deadline_ends_nothing_else() {
        let timers = Timers::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let soon = tokio::time::sleep_until(at(1));
        assert_eq!(timers.within(at(3), soon).await, Some(()));
        assert_eq!(timers.within(at(20), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 20);
        let soon = tokio::time::sleep_until(at(21));
        assert_eq!(timers.within(at(60), soon).await, Some(()));
        assert_eq!(timers.within(at(25), pending::<()>()).await, None);
        assert_eq!(start.elapsed().as_secs(), 25);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_wakes_the_task_that_waits_now() {
        let timers = std::rc::Rc::new(Timers::default());
        let soon = tokio::time::sleep(Duration::from_secs(1));
        let deadline = Instant::now() + Duration::from_secs(3);
        assert_eq!(timers.within(deadline, soon).await, Some(()));
        let local = tokio::task::LocalSet::new();
        let other = local.run_until(async move {
            let waits = async move { timers.within(deadline, pending::<()>()).await };
            tokio::task::spawn_local(waits).await.unwrap()
        });
        assert_eq!(other.await, None);
    }
}
