//! How a VU learns that it must stop: told on its core, or found out by itself.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use brunt_fiber::clock;

use crate::control::Control;

/// Told to one VU, for as long as it works for a scenario (or runs `setup()`, `teardown()`).
///
/// Three ways lead to a stop, because a VU may not listen:
/// - its core calls [`stop`](Self::stop), which wakes whoever awaits [`stopped`](Self::stopped);
/// - the run is being aborted, which any thread may decide: [`is_stopped`](Self::is_stopped) sees it
///   without being told;
/// - its time is up: [`check`](Self::check) reads the clock. A script's interrupt handler calls that, for
///   a VU in an endless loop keeps its core from telling it anything.
///
/// Once stopped, always stopped. Clones are the same handle. Stays on its core.
#[derive(Clone, Debug)]
pub struct StopHandle(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    stopped: Cell<bool>,
    /// Unix ns; `u64::MAX` for none.
    deadline: Cell<u64>,
    /// `teardown()` has none: it runs on when the test is aborted.
    control: Option<Arc<Control>>,
    waiters: RefCell<Waiters>,
}

impl StopHandle {
    /// A handle that only [`stop`](Self::stop) and its deadline stop.
    pub fn new() -> StopHandle {
        StopHandle::build(None, u64::MAX)
    }

    /// A handle that is stopped too when the run is aborted, or at `deadline` (unix ns).
    pub(crate) fn of_run(control: Arc<Control>, deadline: u64) -> StopHandle {
        StopHandle::build(Some(control), deadline)
    }

    /// A handle with a deadline (unix ns), deaf to aborts.
    pub(crate) fn until(deadline: u64) -> StopHandle {
        StopHandle::build(None, deadline)
    }

    fn build(control: Option<Arc<Control>>, deadline: u64) -> StopHandle {
        StopHandle(Rc::new(Inner {
            stopped: Cell::new(false),
            deadline: Cell::new(deadline),
            control,
            waiters: RefCell::default(),
        }))
    }

    /// Where it lies in memory, as (address, bytes): for fetching it into the cache.
    pub fn places(&self) -> [(usize, usize); 2] {
        let waiters = self.0.waiters.borrow();
        let first = waiters.wakers.as_ptr().addr();
        [(Rc::as_ptr(&self.0).addr(), size_of::<Inner>()), (first, size_of::<Option<Waker>>())]
    }

    /// Stops it and wakes those who wait.
    pub fn stop(&self) {
        self.0.stopped.set(true);
        let waiting = std::mem::take(&mut self.0.waiters.borrow_mut().wakers);
        for waker in waiting.into_iter().flatten() {
            waker.wake();
        }
    }

    /// Whether it is stopped or the run is being aborted. Two loads: ask as often as you like.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.get() || self.0.control.as_ref().is_some_and(|control| control.is_aborting())
    }

    /// Like [`is_stopped`](Self::is_stopped), and stops it if its time is up. Reads the clock (25 ns).
    pub fn check(&self) -> bool {
        if self.is_stopped() {
            return true;
        }
        if self.0.deadline.get() != u64::MAX && clock::now_ns() >= self.0.deadline.get() {
            self.stop();
            return true;
        }
        false
    }

    /// Its time is up after `limit` from now.
    pub fn set_time_limit(&self, limit: std::time::Duration) {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.set_deadline(clock::now_ns().saturating_add(limit));
    }

    /// When its time is up, in unix ns; `u64::MAX` for never.
    pub fn deadline(&self) -> u64 {
        self.0.deadline.get()
    }

    /// Whether an abort of the run stops it.
    pub(crate) fn hears_aborts(&self) -> bool {
        self.0.control.is_some()
    }

    /// Moves the deadline (unix ns).
    pub(crate) fn set_deadline(&self, deadline: u64) {
        self.0.deadline.set(deadline);
    }

    /// Whether both are the same handle.
    pub fn is(&self, other: &StopHandle) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Resolves once stopped. The core tells it of aborts and of the deadline within a millisecond or two.
    pub fn stopped(&self) -> Stopped {
        Stopped { handle: self.clone(), place: None }
    }
}

impl Default for StopHandle {
    fn default() -> Self {
        StopHandle::new()
    }
}

/// The wakers of those who wait. As many places as ever waited at one time; places are used again.
#[derive(Debug, Default)]
struct Waiters {
    wakers: Vec<Option<Waker>>,
}

impl Waiters {
    fn put(&mut self, place: Option<usize>, waker: &Waker) -> usize {
        let place = place.filter(|place| *place < self.wakers.len()).unwrap_or_else(|| {
            self.wakers.iter().position(Option::is_none).unwrap_or_else(|| {
                self.wakers.push(None);
                self.wakers.len() - 1
            })
        });
        match &mut self.wakers[place] {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        place
    }
}

/// See [`StopHandle::stopped`].
#[derive(Debug)]
pub struct Stopped {
    handle: StopHandle,
    place: Option<usize>,
}

impl Future for Stopped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.handle.is_stopped() {
            return Poll::Ready(());
        }
        let place = self.handle.0.waiters.borrow_mut().put(self.place, cx.waker());
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        if let Some(waker) = self.handle.0.waiters.borrow_mut().wakers.get_mut(place) {
            *waker = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;
    use crate::control::AbortReason;

    #[derive(Default)]
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn stopping_wakes_each_waiter_once_and_those_who_left_not_at_all() {
        let stop = StopHandle::new();
        let (here, gone) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let (here_waker, gone_waker) = (Waker::from(here.clone()), Waker::from(gone.clone()));
        let mut first = pin!(stop.stopped());
        assert!(first.as_mut().poll(&mut Context::from_waker(&here_waker)).is_pending());
        assert!(first.as_mut().poll(&mut Context::from_waker(&here_waker)).is_pending());
        {
            let mut second = pin!(stop.stopped());
            assert!(second.as_mut().poll(&mut Context::from_waker(&gone_waker)).is_pending());
        }
        assert_eq!(stop.0.waiters.borrow().wakers.len(), 2);
        stop.stop();
        assert_eq!((here.0.load(Ordering::SeqCst), gone.0.load(Ordering::SeqCst)), (1, 0));
        assert!(first.as_mut().poll(&mut Context::from_waker(&here_waker)).is_ready());
    }

    #[test]
    fn a_handle_sees_an_abort_and_its_deadline_without_being_told() {
        let control = Arc::new(Control::new(1, false));
        let stop = StopHandle::of_run(control.clone(), u64::MAX);
        assert!(!stop.check());
        control.abort(AbortReason::Api);
        assert!(stop.is_stopped());

        let late = StopHandle::until(clock::now_ns());
        assert!(!late.is_stopped());
        assert!(late.check());
        assert!(late.is_stopped());
    }

    #[test]
    fn teardowns_handle_is_deaf_to_aborts() {
        let stop = StopHandle::until(u64::MAX);
        assert!(!stop.check());
    }
}
