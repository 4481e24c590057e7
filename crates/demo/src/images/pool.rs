//! The processing threads of one instance, and the short queue before them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// At most `threads + limit + 1` images are in hand: `threads` are worked on, and one more may wait than the limit
/// says, because it is compared before joining.
#[derive(Debug)]
pub(super) struct Pool {
    threads: usize,
    limit: usize,
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// For synthetic work: until when each idle thread was busy.
    ends: Mutex<Vec<Instant>>,
}

/// Too many wait already; their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Busy(pub(super) usize);

/// A processing thread's time. Given back when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _permit: OwnedSemaphorePermit,
    asked: Instant,
    /// How many waited when it was asked for.
    pub(super) before: usize,
    /// How long that took.
    pub(super) queued: Duration,
}

impl Pool {
    pub(super) fn new(threads: usize, limit: usize) -> Self {
        Self {
            threads,
            limit,
            free: Arc::new(Semaphore::new(threads)),
            waiting: AtomicUsize::new(0),
            ends: Mutex::default(),
        }
    }

    /// Waits for a thread.
    ///
    /// # Errors
    /// [`Busy`] at once, if more than the limit wait already.
    pub(super) async fn turn(&self) -> Result<Turn, Busy> {
        let asked = Instant::now();
        if let Ok(permit) = self.free.clone().try_acquire_owned() {
            return Ok(Turn { _permit: permit, asked, before: 0, queued: Duration::ZERO });
        }
        let before = self.waiting.fetch_add(1, Relaxed);
        // Counts down even when the one who waits goes away.
        let _place = Place(&self.waiting);
        if before > self.limit {
            return Err(Busy(before));
        }
        let permit = self.free.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        Ok(Turn { _permit: permit, asked, before, queued: asked.elapsed() })
    }

    /// Holds a turn for as long as an image costs.
    ///
    /// A timer may be late by a millisecond; the next turn on that thread begins when this one
    /// should have ended, so that a busy pool makes exactly `threads / cost` images per second.
    pub(super) async fn hold(&self, turn: &Turn, cost: Duration) {
        let end = self.ends().pop().map_or(turn.asked, |end| end.max(turn.asked)) + cost;
        sleep_until(end).await;
        self.ends().push(end);
    }

    /// The ends, the latest first: who pops takes the thread that was idle longest.
    fn ends(&self) -> Ends<'_> {
        Ends(self.ends.lock().unwrap_or_else(PoisonError::into_inner), self.threads)
    }

    /// Images that are worked on, and that wait.
    pub(super) fn load(&self) -> (usize, usize) {
        (self.threads - self.free.available_permits(), self.waiting.load(Relaxed))
    }
}

struct Ends<'a>(std::sync::MutexGuard<'a, Vec<Instant>>, usize);

impl Ends<'_> {
    fn pop(&mut self) -> Option<Instant> {
        self.0.pop()
    }

    fn push(&mut self, end: Instant) {
        // One of a thread that broke off may be missing, never one too many.
        if self.0.len() < self.1 {
            let at = self.0.partition_point(|other| *other > end);
            self.0.insert(at, end);
        }
    }
}

struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Duration = Duration::from_millis(10);

    #[tokio::test(start_paused = true)]
    async fn threads_and_limit_and_one_more_are_in_hand() {
        let pool = Arc::new(Pool::new(2, 1));
        let work = async |pool: Arc<Pool>| {
            let turn = pool.turn().await?;
            pool.hold(&turn, COST).await;
            Ok::<_, Busy>((turn.before, turn.queued))
        };
        let all: Vec<_> = (0..6).map(|_| tokio::spawn(work(pool.clone()))).collect();
        tokio::task::yield_now().await;
        assert_eq!(pool.load(), (2, 2));
        let mut outcomes = Vec::new();
        for one in all {
            outcomes.push(one.await.unwrap());
        }
        assert_eq!(outcomes[..2], [Ok((0, Duration::ZERO)), Ok((0, Duration::ZERO))]);
        assert_eq!(outcomes[2], Ok((0, COST)));
        assert_eq!(outcomes[3], Ok((1, COST)));
        assert_eq!(outcomes[4..], [Err(Busy(2)), Err(Busy(2))]);
        assert_eq!(pool.load(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_leaves_his_place() {
        let pool = Arc::new(Pool::new(1, 0));
        let turn = pool.turn().await.unwrap();
        let waits = tokio::spawn({
            let pool = pool.clone();
            async move { pool.turn().await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert_eq!(pool.load(), (1, 1));
        assert!(pool.turn().await.is_err());
        waits.abort();
        assert!(waits.await.is_err());
        assert_eq!(pool.load(), (1, 0));
        drop(turn);
        assert!(pool.turn().await.is_ok());
    }
}
