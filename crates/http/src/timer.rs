//! Deadlines that cost next to nothing when they aren't reached.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::time::{Instant, Sleep, sleep_until};

/// The most timers that a client keeps.
const KEPT_MAX: usize = 4;

/// The timers of one client, kept from exchange to exchange.
///
/// Moving the deadline of a timer that is already in tokio's wheel to a later moment is one atomic
/// write; putting a new one in and taking it out again costs two locks and list operations. A kept
/// timer that goes off while nobody waits wakes its last task once, for nothing.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    idle: RefCell<Vec<Pin<Box<Sleep>>>>,
}

impl Timers {
    /// What `future` gives, or `None` if the deadline comes first. The future goes first: it may still
    /// win at the very moment.
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
            timer.as_mut().poll(cx).map(|()| None)
        })
        .await;
        if let Some(timer) = timer {
            self.give_back(timer);
        }
        output
    }

    fn take(&self, deadline: Instant) -> Pin<Box<Sleep>> {
        match self.idle.borrow_mut().pop() {
            Some(mut timer) => {
                timer.as_mut().reset(deadline);
                timer
            }
            None => Box::pin(sleep_until(deadline)),
        }
    }

    fn give_back(&self, timer: Pin<Box<Sleep>>) {
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
}
