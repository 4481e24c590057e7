//! The runtime of one core, and what a core does before it rests.
//!
//! Work that is cheaper when done together is put off until nothing else is left to do: requests are sent when the
//! scripts that are awake have had their turn. The owner of such work is a [`Chore`]; the runtime does all chores of
//! its thread before it sleeps.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::task::JoinHandle;

use crate::{clock, pause};

/// The maximum number of chores that are put off; the next one has them all done.
const LATER_MAX: usize = 32;

/// The longest time that a core waits for its last tasks.
const LAST_MAX: Duration = Duration::from_secs(1);

/// If something was put off for longer when the next thing comes, all of it is done now.
const LATE_NS: u64 = 200_000;

thread_local! {
    static ON_CORE: Cell<bool> = const { Cell::new(false) };
    static CHORES: RefCell<Vec<Weak<dyn Chore>>> = const { RefCell::new(Vec::new()) };
    static LATER: Later = const { Later::new() };
    /// Tasks that the core waits for before it goes.
    static LAST: RefCell<Vec<JoinHandle<()>>> = const { RefCell::new(Vec::new()) };
    /// The task that does the chores of a core which does not rest.
    static BESIDE: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

/// The chores to be done once, before the core rests.
struct Later {
    chores: RefCell<Vec<Rc<dyn Chore>>>,
    /// When the first was put off (unix ns).
    since: Cell<u64>,
}

impl Later {
    const fn new() -> Self {
        Self { chores: RefCell::new(Vec::new()), since: Cell::new(0) }
    }

    fn take(&self, chore: Rc<dyn Chore>) {
        let count = self.chores.borrow().len();
        let now = clock::now_ns();
        let is_late = now.saturating_sub(self.since.get()) > LATE_NS;
        if count >= LATER_MAX || (count > 0 && is_late) {
            self.carry_out();
            self.since.set(now);
        } else if count == 0 {
            self.since.set(now);
        }
        self.chores.borrow_mut().push(chore);
    }

    fn carry_out(&self) {
        // A chore that comes in meanwhile finds the list free.
        let mut chores = self.chores.take();
        for chore in chores.drain(..) {
            carry_out(&*chore);
        }
        let mut kept = self.chores.borrow_mut();
        if kept.is_empty() {
            *kept = chores;
        }
    }
}

/// Something that was put off.
pub trait Chore {
    /// Does it. Must not wait, and must not add chores.
    fn carry_out(&self);
}

/// A tokio runtime for the thread of one core, with a reactor and timers.
#[derive(Debug)]
pub struct CoreRuntime(LocalRuntime);

impl CoreRuntime {
    /// `steps`: after this many steps of tasks the core looks at its sockets, timers and messages of other threads,
    /// busy or not.
    ///
    /// # Errors
    /// The system refuses a reactor, which takes three open files.
    pub fn new(steps: u32) -> io::Result<CoreRuntime> {
        Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .event_interval(steps)
            .global_queue_interval(steps)
            .on_thread_park(carry_out_chores)
            .build_local(LocalOptions::default())
            .map(CoreRuntime)
    }

    /// Runs until `future` is done; what it spawned goes on only so long.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        ON_CORE.set(true);
        let output = self.0.block_on(async {
            let pauses = tokio::task::spawn_local(pause::drive());
            let beside = tokio::task::spawn_local(std::future::poll_fn(|cx| {
                if BESIDE.replace(Some(cx.waker().clone())).is_some() {
                    carry_out_chores();
                }
                Poll::<()>::Pending
            }));
            let output = future.await;
            let last = LAST.take();
            let ended = async {
                for task in last {
                    drop(task.await);
                }
            };
            drop(tokio::time::timeout(LAST_MAX, ended).await);
            pauses.abort();
            beside.abort();
            output
        });
        ON_CORE.set(false);
        pause::forget_all();
        CHORES.take();
        BESIDE.take();
        drop(LATER.with(|later| later.chores.take()));
        output
    }
}

/// Whether this thread does its chores: without a [`CoreRuntime`] nothing may be put off.
pub fn does_chores() -> bool {
    ON_CORE.get()
}

/// Starts a task that the core waits for before it goes, a second at most: telling a server to stop what it was asked for.
///
/// # Panics
/// Outside of a runtime that has tasks of one thread.
pub fn spawn_last(task: impl Future<Output = ()> + 'static) {
    let handle = tokio::task::spawn_local(task);
    LAST.with_borrow_mut(|last| {
        last.retain(|known| !known.is_finished());
        last.push(handle);
    });
}

/// From now on, `chore` is done whenever this thread is about to rest.
pub fn add_chore(chore: &Rc<impl Chore + 'static>) {
    let chore: Weak<dyn Chore> = Rc::downgrade(chore) as Weak<dyn Chore>;
    CHORES.with_borrow_mut(|chores| {
        chores.retain(|known| known.strong_count() > 0);
        chores.push(chore);
    });
}

/// Has `chore` done once: when this thread is about to rest, when [`LATER_MAX`] are put off, or when the first of them has
/// waited for 0.2 ms as the next one comes. `false`: nothing is put off here, do it now.
pub fn put_off(chore: Rc<dyn Chore>) -> bool {
    let is_core = does_chores();
    if is_core {
        LATER.with(|later| later.take(chore));
    }
    is_core
}

/// Does the chores of this thread: before it rests, and now and then while something long is computed.
pub fn carry_out_chores() {
    CHORES.with_borrow(|chores| {
        for chore in chores.iter().filter_map(Weak::upgrade) {
            carry_out(&*chore);
        }
    });
    LATER.with(Later::carry_out);
}

/// Has the chores done soon, by a task beside the caller's: for who keeps the core from its rest and cannot do them itself,
/// because it holds what they need.
pub(crate) fn have_chores_done() {
    let is_idle = LATER.with(|later| later.chores.try_borrow().is_ok_and(|kept| kept.is_empty()))
        && CHORES.with_borrow(Vec::is_empty);
    if is_idle {
        return;
    }
    BESIDE.with_borrow(|beside| {
        if let Some(waker) = beside {
            waker.wake_by_ref();
        }
    });
}

/// Does one. A panic is told of by the hook, and is the affair of whoever put the chore off: the core goes on.
fn carry_out(chore: &dyn Chore) {
    let _ = catch_unwind(AssertUnwindSafe(|| chore.carry_out()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(Cell<u32>);

    impl Chore for Count {
        fn carry_out(&self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn chores_are_done_before_the_core_sleeps_and_not_while_it_has_work() {
        let runtime = CoreRuntime::new(8).unwrap();
        assert!(!does_chores());
        runtime.block_on(async {
            assert!(does_chores());
            let count = Rc::new(Count::default());
            add_chore(&count);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let while_busy = count.0.get();
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            assert_eq!(while_busy, 0);
            assert!(count.0.get() > 0);
            let before = count.0.get();
            carry_out_chores();
            assert_eq!(count.0.get(), before + 1);
        });
        assert!(!does_chores());
    }

    #[test]
    fn chores_are_done_beside_a_task_that_gives_way_and_never_rests() {
        let runtime = CoreRuntime::new(8).unwrap();
        runtime.block_on(async {
            let count = Rc::new(Count::default());
            assert!(put_off(Rc::clone(&count) as Rc<dyn Chore>));
            for _ in 0..100 {
                let mut is_over = false;
                std::future::poll_fn(|cx| {
                    if std::mem::replace(&mut is_over, true) {
                        return Poll::Ready(());
                    }
                    crate::turn::give_way(cx);
                    Poll::Pending
                })
                .await;
            }
            assert_eq!(count.0.get(), 1);
        });
    }

    #[test]
    fn what_is_put_off_is_done_once() {
        let count = Rc::new(Count::default());
        assert!(!put_off(Rc::clone(&count) as Rc<dyn Chore>), "there is no core");
        let runtime = CoreRuntime::new(8).unwrap();
        runtime.block_on(async {
            for _ in 0..=LATER_MAX {
                assert!(put_off(Rc::clone(&count) as Rc<dyn Chore>));
            }
            assert!(count.0.get() as usize >= LATER_MAX);
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            let before = count.0.get();
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            assert_eq!(count.0.get(), before);
            assert!(before as usize > LATER_MAX);
        });
    }

    struct Faulty;

    impl Chore for Faulty {
        fn carry_out(&self) {
            panic!("on purpose");
        }
    }

    #[test]
    fn a_chore_that_panics_ends_nothing_else() {
        let runtime = CoreRuntime::new(8).unwrap();
        runtime.block_on(async {
            let (faulty, count) = (Rc::new(Faulty), Rc::new(Count::default()));
            add_chore(&faulty);
            add_chore(&count);
            assert!(put_off(Rc::new(Faulty)));
            assert!(put_off(Rc::clone(&count) as Rc<dyn Chore>));
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            assert!(count.0.get() >= 2);
        });
    }
}
