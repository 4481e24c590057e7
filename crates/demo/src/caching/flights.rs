//! Single flight: one load per key, everybody else waits for its result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::item::Loaded;
use super::{Absence, Tier};
use crate::timing::Phases;

/// How a load ended: what it found and where, and what that took.
pub(super) type Landing = (Result<(Arc<Loaded>, Tier), Absence>, Phases);

/// The loads that are under way. No more than there are requests in hand.
#[derive(Debug, Default)]
pub(super) struct Flights {
    aloft: Mutex<HashMap<u64, watch::Receiver<Option<Landing>>>>,
}

impl Flights {
    /// Waits for the load of `id` that is under way, or starts this one. `true`: it was ours.
    ///
    /// The load runs in a task of its own, so that it ends for all even when the client who caused
    /// it leaves. A failed load is not kept: all who wait get its error, the next one tries again.
    pub(super) async fn join(
        self: &Arc<Self>,
        id: u64,
        load: impl Future<Output = Landing> + Send + 'static,
    ) -> (Landing, bool) {
        let (mut result, pilot) = {
            let mut aloft = self.lock();
            if let Some(result) = aloft.get(&id) {
                (result.clone(), None)
            } else {
                let (pilot, result) = watch::channel(None);
                aloft.insert(id, result.clone());
                (result, Some(pilot))
            }
        };
        let ours = pilot.is_some();
        if let Some(pilot) = pilot {
            let ticket = Ticket { flights: self.clone(), id };
            tokio::spawn(async move {
                let landing = load.await;
                // First take it off the board, then announce it: who comes later looks in the cache.
                drop(ticket);
                pilot.send_replace(Some(landing));
            });
        }
        let landing = match result.wait_for(Option::is_some).await {
            Ok(landing) => landing.clone(),
            Err(_) => None,
        };
        (landing.unwrap_or((Err(Absence::Overloaded), Phases::default())), ours)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, watch::Receiver<Option<Landing>>>> {
        self.aloft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the load off the board, even if it panics.
struct Ticket {
    flights: Arc<Flights>,
    id: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_load_fails_all_who_wait_and_is_tried_again() {
        let flights = Arc::new(Flights::default());
        let loads = Arc::new(AtomicU64::new(0));
        let load = || {
            let loads = loads.clone();
            async move {
                loads.fetch_add(1, Relaxed);
                tokio::time::sleep(Duration::from_secs(1)).await;
                (Err(Absence::Overloaded), Phases::default())
            }
        };
        let (a, b, c) =
            tokio::join!(flights.join(1, load()), flights.join(1, load()), flights.join(2, load()));
        assert!(a.1 && !b.1 && c.1);
        assert!(matches!(b.0.0, Err(Absence::Overloaded)));
        assert_eq!(loads.load(Relaxed), 2);
        let (_, ours) = flights.join(1, load()).await;
        assert!(ours);
        assert_eq!(loads.load(Relaxed), 3);
        assert!(flights.lock().is_empty());
    }
}
