//! A schedule: hits begin when they are due, whatever became of the earlier ones.
//!
//! The pacer hands each hit to a worker that has nothing to do, and makes one more if there is none. At the limit of
//! workers it waits for one.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use brunt_fiber::clock;
use brunt_fiber::timer::CoreTimer;
use tokio::task::spawn_local;

use super::Core;
use crate::load::Load;
use crate::target::Target;

/// A core wakes at most this often for hits: above 10 000 a second they come in small groups.
const GAP_NS: u64 = 100_000;

/// The maximum number of due hits that are begun in one go; then the network gets its turn.
const AT_ONCE: usize = 128;

/// Hits that are later than this when the time is over are not begun any more.
const GRACE_NS: u64 = 1_000_000_000;

/// A hit that is due.
struct Ticket {
    /// When (unix ns).
    due: u64,
    /// Where it goes, if targets are read meanwhile.
    target: Option<Arc<Target>>,
}

/// Where a worker waits for its next hit.
#[derive(Default)]
struct Chair {
    ticket: Cell<Option<Ticket>>,
    waker: RefCell<Option<Waker>>,
}

impl Chair {
    fn give(&self, ticket: Ticket) {
        self.ticket.set(Some(ticket));
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    async fn next(&self) -> Ticket {
        poll_fn(|cx| {
            if let Some(ticket) = self.ticket.take() {
                return Poll::Ready(ticket);
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

/// The workers of a core.
struct Workers<L> {
    core: Rc<Core<L>>,
    /// Those with nothing to do. The one that worked last is taken first: its connection is warm.
    idle: RefCell<Vec<Rc<Chair>>>,
    count: Cell<usize>,
    max: usize,
}

impl<L: Load> Workers<L> {
    /// Hands a hit to a worker. It comes back if all are at work, and no more are allowed.
    fn begin(self: &Rc<Self>, ticket: Ticket) -> Result<(), Ticket> {
        if let Some(chair) = self.idle.borrow_mut().pop() {
            self.core.busy.set(self.core.busy.get() + 1);
            chair.give(ticket);
            return Ok(());
        }
        if self.count.get() >= self.max {
            return Err(ticket);
        }
        self.core.busy.set(self.core.busy.get() + 1);
        self.add(Some(ticket));
        Ok(())
    }

    fn add(self: &Rc<Self>, first: Option<Ticket>) {
        self.count.set(self.count.get() + 1);
        let chair = Rc::<Chair>::default();
        match first {
            Some(ticket) => chair.ticket.set(Some(ticket)),
            None => self.idle.borrow_mut().push(Rc::clone(&chair)),
        }
        spawn_local(work(Rc::clone(self), chair));
    }
}

/// Works for ever: the core's runtime drops it.
async fn work<L: Load>(workers: Rc<Workers<L>>, chair: Rc<Chair>) {
    let core = &workers.core;
    let mut worker = core.worker();
    loop {
        let Ticket { due, target } = chair.next().await;
        core.hit(&mut worker, target.as_deref(), Some(due)).await;
        workers.idle.borrow_mut().push(Rc::clone(&chair));
        core.busy.set(core.busy.get() - 1);
        core.rested.notify_one();
    }
}

/// Begins this core's hits, each when it is due, until there are no more or the attack stops.
pub(super) async fn run<L: Load>(core: &Rc<Core<L>>) -> io::Result<()> {
    let max = core.plan.max_workers.map_or(usize::MAX, |all| core.share(all).max(1));
    let workers = Rc::new(Workers {
        core: Rc::clone(core),
        idle: RefCell::default(),
        count: Cell::new(0),
        max,
    });
    for _ in 0..core.share(core.plan.workers).min(max) {
        workers.add(None);
    }
    let mut stopping = pin!(core.control.stopping());
    let mut timer = CoreTimer::new()?;
    if core.index == 0 && !timer.is_exact() {
        log::warn!(
            "the system gives no exact timer (timerfd): hits start up to 2 ms late; see brunt doctor"
        );
    }
    let mut number = core.index as u64;
    let mut earliest = 0;
    while let Some(mut due) = due(core, number) {
        let alarm = due.max(earliest);
        tokio::select! {
            biased;
            () = stopping.as_mut() => break,
            () = timer.sleep_until(alarm) => {}
        }
        let now = clock::now_ns();
        // From the alarm on, not from now: being late once must not make all that follow late.
        earliest = alarm + GAP_NS;
        if now > core.end.saturating_add(GRACE_NS) {
            break;
        }
        for _ in 0..AT_ONCE {
            core.room().await;
            let target = match core.load.stream() {
                None => None,
                // Here and not in a worker, or workers would pile up while the source is slow.
                Some(stream) => match core.next_target(stream).await {
                    None => return Ok(()),
                    target => target,
                },
            };
            if let Err(ticket) = workers.begin(Ticket { due, target })
                && !wait(&workers, ticket, stopping.as_mut()).await
            {
                return Ok(());
            }
            number += core.cores as u64;
            match self::due(core, number) {
                Some(next) if next <= now => due = next,
                _ => break,
            }
        }
        if due + GAP_NS < now {
            // Behind: what is under way needs its turn all the same.
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// When a hit of the schedule is due (unix ns); `None` if there is none before the end.
fn due<L: Load>(core: &Core<L>, number: u64) -> Option<u64> {
    let Some(due) = core.plan.pacer.due(number).and_then(|due| core.start.checked_add(due)) else {
        core.books.report.borrow_mut().ran_dry = true;
        return None;
    };
    (due < core.end).then_some(due)
}

/// Waits until a worker takes the hit. `false`: the time is over, or the attack stops.
async fn wait<L: Load>(
    workers: &Rc<Workers<L>>,
    mut ticket: Ticket,
    mut stopping: Pin<&mut impl Future<Output = ()>>,
) -> bool {
    let core = &workers.core;
    let from = clock::now_ns();
    let mut over = pin!(core.over());
    let is_taken = loop {
        tokio::select! {
            biased;
            () = stopping.as_mut() => break false,
            () = core.rested.notified() => {}
            () = over.as_mut() => break false,
        }
        match workers.begin(ticket) {
            Ok(()) => break true,
            Err(back) => ticket = back,
        }
    };
    core.books.report.borrow_mut().at_cap_ns += clock::now_ns() - from;
    is_taken
}
