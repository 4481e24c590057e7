//! Pauses of fibers: `sleep()` and the like, to a millisecond.
//!
//! tokio keeps each timer as a member of a list, inside the future that waits. A pause of 0.1 s is put into its
//! wheel, moved to a finer one and taken out, and each of that touches the timer and its neighbours: memory that has
//! left the cache since, so that the core waits for it each time. Here the ends of all pauses of a core lie side by
//! side, and one timer of tokio's represents the earliest. Fibers whose pauses end with it, within the same millisecond, go
//! on together, and their tasks are fetched into the cache before the first is woken.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::ahead;
use crate::clock::{duration_ns, now_ns};
use crate::core::does_chores;

/// How much of a task is touched when it is woken, in bytes.
const WOKEN: usize = 2 * ahead::LINE;

/// The maximum number of ends of pauses that were given up and are kept before they are sorted out.
const STALE_MIN: usize = 64;

thread_local! {
    static PAUSES: RefCell<Pauses> = RefCell::default();
}

/// Waits for so long, and up to a millisecond longer. May be used on any tokio runtime with timers; it is cheap on a
/// [`CoreRuntime`](crate::core::CoreRuntime).
pub async fn pause(time: Duration) {
    if does_chores() {
        Pause { until: now_ns().saturating_add(duration_ns(time)), ticket: None }.await;
    } else {
        tokio::time::sleep(time).await;
    }
}

/// The pauses of one core.
#[derive(Debug, Default)]
struct Pauses {
    /// When they end (unix ns), the earliest first. Some of them may have been given up.
    ends: BinaryHeap<Reverse<(u64, Ticket)>>,
    waiting: Vec<Seat>,
    free: Vec<u32>,
    /// How many of `ends` were given up.
    stale: usize,
    /// For when the driver is set to wake up.
    alarm: u64,
    driver: Option<Waker>,
}

/// A place in `waiting`, for as long as its turn has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    seat: u32,
    turn: u32,
}

#[derive(Debug, Default)]
struct Seat {
    turn: u32,
    waker: Option<Waker>,
}

/// A pause has ended.
struct Over;

impl Pauses {
    /// Puts a pause in. The second: the driver, if it has to wake up earlier than it thinks.
    fn begin(&mut self, until: u64, waker: &Waker) -> (Ticket, Option<Waker>) {
        let seat = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(Seat::default());
            u32::try_from(self.waiting.len() - 1).expect("fewer fibers than 4 billion")
        });
        let place = &mut self.waiting[seat as usize];
        place.waker = Some(waker.clone());
        let ticket = Ticket { seat, turn: place.turn };
        self.ends.push(Reverse((until, ticket)));
        (ticket, self.driver.take_if(|_| until < self.alarm))
    }

    /// The pause goes on: `waker` is to be woken. Returns whom it woke before, if that was another; `Err`: it is over.
    fn go_on(&mut self, ticket: Ticket, waker: &Waker) -> Result<Option<Waker>, Over> {
        let seat = self.seat(ticket).ok_or(Over)?;
        if seat.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return Ok(None);
        }
        Ok(seat.waker.replace(waker.clone()))
    }

    /// The pause is given up, if it is not over. Returns what would have been woken.
    fn give_up(&mut self, ticket: Ticket) -> Option<Waker> {
        let waker = self.leave(ticket)?;
        self.stale += 1;
        if self.stale > STALE_MIN.max(self.ends.len() / 2) {
            let mut ends = mem::take(&mut self.ends);
            ends.retain(|Reverse((_, ticket))| {
                self.waiting[ticket.seat as usize].turn == ticket.turn
            });
            self.ends = ends;
            self.stale = 0;
        }
        Some(waker)
    }

    /// Takes out all that end by `now`, and adds whom they wake.
    fn end(&mut self, now: u64, due: &mut Vec<Waker>) {
        while let Some(&Reverse((until, ticket))) = self.ends.peek()
            && until <= now
        {
            self.ends.pop();
            match self.leave(ticket) {
                Some(waker) => due.push(waker),
                None => self.stale = self.stale.saturating_sub(1),
            }
        }
    }

    /// When the earliest ends; given up or not.
    fn next(&self) -> u64 {
        self.ends.peek().map_or(u64::MAX, |Reverse((until, _))| *until)
    }

    fn seat(&mut self, ticket: Ticket) -> Option<&mut Seat> {
        self.waiting.get_mut(ticket.seat as usize).filter(|seat| seat.turn == ticket.turn)
    }

    fn leave(&mut self, ticket: Ticket) -> Option<Waker> {
        let seat = self.seat(ticket)?;
        seat.turn = seat.turn.wrapping_add(1);
        let waker = seat.waker.take();
        self.free.push(ticket.seat);
        waker
    }
}

struct Pause {
    /// Unix ns.
    until: u64,
    ticket: Option<Ticket>,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker();
        // Wakers are woken and dropped when the list is free again: a task may end with its last waker, and give up
        // pauses.
        if let Some(ticket) = self.ticket {
            let goes_on = PAUSES.with_borrow_mut(|pauses| pauses.go_on(ticket, waker)).is_ok();
            if goes_on {
                return Poll::Pending;
            }
            self.ticket = None;
            return Poll::Ready(());
        }
        if self.until <= now_ns() {
            return Poll::Ready(());
        }
        let (ticket, driver) = PAUSES.with_borrow_mut(|pauses| pauses.begin(self.until, waker));
        self.ticket = Some(ticket);
        if let Some(driver) = driver {
            driver.wake();
        }
        Poll::Pending
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            // A thread that ends has no list any more.
            let given_up =
                PAUSES.try_with(|pauses| pauses.borrow_mut().give_up(ticket)).ok().flatten();
            drop(given_up);
        }
    }
}

/// Ends the pauses of this thread. One task for each core runs it.
pub(crate) async fn drive() {
    let mut alarm: Pin<&mut Sleep> = pin!(tokio::time::sleep(Duration::ZERO));
    let mut due = Vec::new();
    poll_fn::<(), _>(|cx| {
        loop {
            let now = now_ns();
            let next = PAUSES.with_borrow_mut(|pauses| {
                pauses.end(now, &mut due);
                let next = pauses.next();
                pauses.alarm = next;
                match &mut pauses.driver {
                    Some(known) => known.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                next
            });
            wake_all(&mut due);
            if next == u64::MAX {
                return Poll::Pending;
            }
            let wait = Duration::from_nanos(next.saturating_sub(now));
            alarm.as_mut().reset(Instant::now() + wait);
            if alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
}

fn wake_all(due: &mut Vec<Waker>) {
    for waker in &*due {
        ahead::fetch(waker.data().addr(), WOKEN);
    }
    for waker in due.drain(..) {
        waker.wake();
    }
}

/// The core's runtime is done: pauses no longer end.
pub(crate) fn forget_all() {
    let wakers: Vec<_> = PAUSES.with_borrow_mut(|pauses| {
        pauses.ends.clear();
        pauses.stale = 0;
        pauses.free.clear();
        let seats = pauses.waiting.iter_mut().zip(0..);
        let wakers = seats.map(|(seat, index)| {
            seat.turn = seat.turn.wrapping_add(1);
            pauses.free.push(index);
            seat.waker.take()
        });
        wakers.chain([pauses.driver.take()]).collect()
    });
    drop(wakers);
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::core::CoreRuntime;

    fn on_a_core<F: Future>(work: F) -> F::Output {
        CoreRuntime::new(61).unwrap().block_on(work)
    }

    const fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn pauses_end_in_the_order_of_their_ends_and_never_early() {
        let order = Rc::new(RefCell::new(Vec::new()));
        on_a_core(async {
            let tasks: Vec<_> = [30, 5, 20, 1, 0]
                .map(|length| {
                    let order = Rc::clone(&order);
                    tokio::task::spawn_local(async move {
                        let begun = now_ns();
                        pause(ms(length)).await;
                        assert!(now_ns() - begun >= length * 1_000_000);
                        order.borrow_mut().push(length);
                    })
                })
                .into();
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*order.borrow(), [0, 1, 5, 20, 30]);
    }

    #[test]
    fn a_shorter_pause_is_not_kept_waiting_by_a_longer_one() {
        on_a_core(async {
            let long = tokio::task::spawn_local(pause(ms(60_000)));
            tokio::task::yield_now().await;
            timeout(ms(20_000), pause(ms(2))).await.unwrap();
            long.abort();
        });
    }

    #[test]
    fn pauses_that_were_given_up_take_no_memory_for_ever() {
        on_a_core(async {
            for _ in 0..10_000 {
                let mut given_up = Box::pin(pause(ms(3_600_000)));
                poll_fn(|cx| {
                    assert!(given_up.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            let kept = PAUSES.with_borrow(|pauses| (pauses.ends.len(), pauses.waiting.len()));
            assert!(kept.0 <= 2 * STALE_MIN && kept.1 == 1, "{kept:?}");
            pause(ms(1)).await;
        });
        assert_eq!(PAUSES.with_borrow(|pauses| pauses.ends.len()), 0);
    }

    #[test]
    fn whoever_polls_last_is_woken() {
        on_a_core(async {
            let mut moved = Box::pin(pause(ms(5)));
            assert!(poll_fn(|cx| Poll::Ready(moved.as_mut().poll(cx))).await.is_pending());
            timeout(ms(20_000), tokio::task::spawn_local(moved)).await.unwrap().unwrap();
        });
    }

    #[test]
    fn a_runtime_of_another_kind_does_it_with_tokios_timers() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let begun = now_ns();
        runtime.block_on(pause(ms(3)));
        assert!(now_ns() - begun >= 3_000_000);
    }
}
