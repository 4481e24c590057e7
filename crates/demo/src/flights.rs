//! Single flight: one load per key, everybody else waits for its result.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The loads that are under way, by key; `L` is how a load ends. No more than there are requests in
/// hand.
#[derive(Debug)]
pub(crate) struct Flights<K, L> {
    aloft: Mutex<HashMap<K, watch::Receiver<Option<L>>>>,
}

impl<K, L> Default for Flights<K, L> {
    fn default() -> Self {
        Self { aloft: Mutex::default() }
    }
}

impl<K, L> Flights<K, L>
where
    K: Hash + Eq + Clone + Send + 'static,
    L: Clone + Send + Sync + 'static,
{
    /// Waits for the load of `key` that is under way, or starts this one. `true`: it was ours.
    /// `None`: the load broke off.
    ///
    /// The load runs in a task of its own, so that it ends for all even when the client who caused
    /// it leaves. No result is kept: who comes after the landing starts another load.
    pub(crate) async fn join(
        self: &Arc<Self>,
        key: K,
        load: impl Future<Output = L> + Send + 'static,
    ) -> (Option<L>, bool) {
        let (mut result, pilot) = {
            let mut aloft = self.lock();
            if let Some(result) = aloft.get(&key) {
                (result.clone(), None)
            } else {
                let (pilot, result) = watch::channel(None);
                aloft.insert(key.clone(), result.clone());
                (result, Some(pilot))
            }
        };
        let ours = pilot.is_some();
        if let Some(pilot) = pilot {
            let ticket = Ticket { flights: self.clone(), key };
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
        (landing, ours)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, watch::Receiver<Option<L>>>> {
        self.aloft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the load off the board, even if it panics.
struct Ticket<K: Hash + Eq, L> {
    flights: Arc<Flights<K, L>>,
    key: K,
}

impl<K: Hash + Eq, L> Drop for Ticket<K, L> {
    fn drop(&mut self) {
        let mut aloft = self.flights.aloft.lock().unwrap_or_else(PoisonError::into_inner);
        aloft.remove(&self.key);
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
                Err::<(), _>("overloaded")
            }
        };
        let (a, b, c) =
            tokio::join!(flights.join(1, load()), flights.join(1, load()), flights.join(2, load()));
        assert!(a.1 && !b.1 && c.1);
        assert_eq!(b.0, Some(Err("overloaded")));
        assert_eq!(loads.load(Relaxed), 2);
        let (_, ours) = flights.join(1, load()).await;
        assert!(ours);
        assert_eq!(loads.load(Relaxed), 3);
        assert!(flights.lock().is_empty());
    }

    #[tokio::test]
    async fn a_load_that_breaks_off_leaves_nobody_waiting() {
        let flights: Arc<Flights<u8, ()>> = Arc::default();
        let (landing, ours) = flights.join(1, async { panic!("on purpose") }).await;
        assert!(landing.is_none() && ours);
        assert!(flights.lock().is_empty());
    }
}
