//! The CPU budget: a single imaginary processor that requests queue for.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The cost of reading and answering a plain request under a budget.
pub(crate) const REQUEST_COST: Duration = Duration::from_micros(50);

/// Spreads work over time so that no more than `cores` seconds of it are done per second.
#[derive(Debug)]
pub(crate) struct Governor {
    cores: f64,
    busy_until: Mutex<Option<Instant>>,
}

impl Governor {
    /// A governor for this many cores; more than 0.
    pub(crate) fn new(cores: f64) -> Self {
        Self { cores, busy_until: Mutex::new(None) }
    }

    /// Books `cost` of CPU time and tells when it would be done.
    pub(crate) fn book(&self, now: Instant, cost: Duration) -> Instant {
        let mut busy_until = self.busy_until.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = busy_until.map_or(now, |until| until.max(now));
        let end = begin + cost.div_f64(self.cores);
        *busy_until = Some(end);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_beyond_the_budget_queues_up() {
        let governor = Governor::new(0.5);
        let now = Instant::now();
        assert_eq!(governor.book(now, Duration::from_millis(1)), now + Duration::from_millis(2));
        assert_eq!(governor.book(now, Duration::from_millis(1)), now + Duration::from_millis(4));
        let later = now + Duration::from_secs(1);
        assert_eq!(
            governor.book(later, Duration::from_millis(1)),
            later + Duration::from_millis(2)
        );
    }
}
