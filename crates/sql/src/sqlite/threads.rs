//! Threads for what blocks: one set for the whole process, made when there is work.
//!
//! ```text
//! core ── job ──► queue ──► a thread that rests, or a new one ── parcels ──► core
//! ```
//!
//! A connection without a statement has no thread. At most [`RUNNING_MAX`] statements run at once; one whose reader is slower
//! than its rows does not count while it waits, and one of an open transaction, whose lock others may wait for, comes first and counts
//! only from [`THREADS_MAX`] on. The other jobs wait their turn in the queue, which holds one job for a connection at most.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The statements that run at once.
const RUNNING_MAX: usize = 64;

/// The threads, with those that wait for the reader of their rows.
const THREADS_MAX: usize = 2048;

/// A thread that had nothing to do for so long ends.
const REST_MAX: Duration = Duration::from_secs(10);

/// Something that blocks.
type Job = Box<dyn FnOnce() + Send>;

struct State {
    urgent: VecDeque<Job>,
    jobs: VecDeque<Job>,
    /// Threads that rest and were not called.
    resting: usize,
    /// Threads that were called and have not heard of it.
    called: usize,
    threads: usize,
    /// Threads that wait for the reader of their rows.
    waiting: usize,
}

impl State {
    /// Threads that have work, or were called to it.
    fn running(&self) -> usize {
        self.threads - self.waiting - self.resting
    }
}

static STATE: Mutex<State> = Mutex::new(State {
    urgent: VecDeque::new(),
    jobs: VecDeque::new(),
    resting: 0,
    called: 0,
    threads: 0,
    waiting: 0,
});

static WORK: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    // Nothing that runs under the lock leaves it half changed.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a job done. `is_urgent`: others may wait for it. Without any thread, because the system has none left, the job is dropped.
pub(super) fn run(job: Job, is_urgent: bool) {
    let mut state = lock();
    if is_urgent {
        state.urgent.push_back(job);
    } else {
        state.jobs.push_back(job);
    }
    provide(state);
}

/// Does what may wait for a reader, without counting as a statement that runs.
pub(super) fn wait<T>(work: impl FnOnce() -> T) -> T {
    let mut state = lock();
    state.waiting += 1;
    if !state.jobs.is_empty() || !state.urgent.is_empty() {
        provide(state);
    } else {
        drop(state);
    }
    let output = work();
    lock().waiting -= 1;
    output
}

/// Sees to it that somebody takes the first job, as far as there may be one more.
fn provide(mut state: MutexGuard<'static, State>) {
    if state.urgent.is_empty() && state.running() >= RUNNING_MAX {
        return;
    }
    if state.resting > 0 {
        state.resting -= 1;
        state.called += 1;
        drop(state);
        WORK.notify_one();
        return;
    }
    if state.threads >= THREADS_MAX {
        return;
    }
    state.threads += 1;
    drop(state);
    let made = std::thread::Builder::new().name("brunt-sqlite".to_owned()).spawn(work);
    if made.is_err() {
        let mut state = lock();
        state.threads -= 1;
        if state.threads == 0 {
            let lost = (std::mem::take(&mut state.urgent), std::mem::take(&mut state.jobs));
            drop(state);
            drop(lost);
        }
    }
}

/// The life of a thread.
fn work() {
    stand_back();
    while let Some(job) = next() {
        // A panic was told of by the hook; whoever waits for the job sees that it is gone.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// The next job. `None`: the thread has rested long enough.
fn next() -> Option<Job> {
    let mut state = lock();
    loop {
        if let Some(job) = state.urgent.pop_front() {
            return Some(job);
        }
        // A thread too many leaves the queue to those that run.
        if state.running() <= RUNNING_MAX
            && let Some(job) = state.jobs.pop_front()
        {
            return Some(job);
        }
        state.resting += 1;
        let (woken, timeout) =
            WORK.wait_timeout(state, REST_MAX).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        if state.called > 0 {
            state.called -= 1;
        } else {
            state.resting -= 1;
            if timeout.timed_out() {
                state.threads -= 1;
                return None;
            }
        }
    }
}

/// Lets the threads that make the load go first.
fn stand_back() {
    // A third of the weight of a thread that makes load, as outputs have.
    #[cfg(target_os = "linux")]
    {
        const NICER: i32 = 5;
        const NICEST: i32 = 19;
        // Of this thread alone, on Linux. That it is refused changes nothing.
        if let Ok(before) = rustix::process::getpriority_process(None) {
            let _ = rustix::process::setpriority_process(None, (before + NICER).min(NICEST));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn jobs_that_wait_for_readers_leave_room_for_more_than_may_run() {
        const COUNT: usize = RUNNING_MAX + 20;
        let (arrived, arrivals) = sync_channel::<()>(COUNT);
        let mut doors = Vec::new();
        for _ in 0..COUNT {
            let (door, closed) = sync_channel::<()>(0);
            doors.push(door);
            let arrived = arrived.clone();
            let job = move || {
                wait(|| {
                    arrived.send(()).unwrap();
                    let _ = closed.recv();
                });
            };
            run(Box::new(job), false);
        }
        for _ in 0..COUNT {
            arrivals.recv().unwrap();
        }
        drop(doors);
    }

    #[test]
    fn a_panic_of_a_job_ends_no_thread_of_others() {
        run(Box::new(|| panic!("on purpose")), false);
        let (done, is_done) = sync_channel::<()>(1);
        run(Box::new(move || done.send(()).unwrap()), false);
        is_done.recv().unwrap();
    }
}
