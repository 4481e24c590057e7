//! How long the work takes: rows queue for one disk, commits run a few at a time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::config::MysqlConfig;

/// Timers are late by up to a millisecond or two. A worker that woke up late has the time that it lost for the next commit, so that
/// durations are right on average.
const LATENESS: Duration = Duration::from_millis(2);

/// The model.
#[derive(Debug)]
pub(crate) struct Costs {
    commit: Duration,
    row: Duration,
    read: Duration,
    /// When the disk is free.
    disk: Mutex<Instant>,
    permits: Semaphore,
    /// When each idle worker was done.
    workers: Mutex<VecDeque<Instant>>,
}

impl Costs {
    pub(crate) fn new(config: &MysqlConfig) -> Self {
        let now = Instant::now();
        Self {
            commit: config.commit,
            row: config.row,
            read: config.read,
            disk: Mutex::new(now),
            permits: Semaphore::new(config.workers.min(Semaphore::MAX_PERMITS)),
            workers: Mutex::default(),
        }
    }

    /// Rows were written and read: waits until the disk is done with them.
    pub(crate) async fn rows(&self, written: u64, read: u64) {
        let of = |each: Duration, rows: u64| {
            each.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX))
        };
        let work = of(self.row, written).saturating_add(of(self.read, read));
        if work.is_zero() {
            return;
        }
        let done = {
            let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
            *disk = (*disk).max(Instant::now()) + work.min(Duration::from_hours(24));
            *disk
        };
        // A timer is no finer; shorter waits add up in `disk`.
        if done.saturating_duration_since(Instant::now()) >= Duration::from_millis(1) {
            sleep_until(done).await;
        }
    }

    pub(crate) async fn commit(&self) {
        if self.commit.is_zero() {
            return;
        }
        let Ok(_permit) = self.permits.acquire().await else { return };
        let workers = || self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let earliest = now.checked_sub(LATENESS).unwrap_or(now);
        let before = workers().pop_front().unwrap_or(earliest);
        let done = before.max(earliest) + self.commit;
        sleep_until(done).await;
        workers().push_back(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn rows_queue_and_commits_run_side_by_side() {
        let config = MysqlConfig {
            workers: 2,
            commit: Duration::from_millis(100),
            ..MysqlConfig::default()
        };
        let costs = Costs::new(&config);
        let begin = Instant::now();
        tokio::join!(costs.rows(10_000, 0), costs.rows(10_000, 0));
        assert_eq!(begin.elapsed().as_millis(), 40);
        let begin = Instant::now();
        tokio::join!(costs.commit(), costs.commit(), costs.commit(), costs.commit());
        assert!((196..=201).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
    }
}
