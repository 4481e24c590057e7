//! The memory of one application instance: limits by items and bytes, time to live, no way back to an
//! older version.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::item::Loaded;
pub(super) use crate::lru::Lookup;
use crate::lru::{Lru, Room};

/// The cost of an entry beside its body, roughly.
const ENTRY_COST: usize = 256;

/// How long and how much a cache keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Time to live; `None`: until it is removed.
    pub(super) ttl: Option<Duration>,
    /// A hit begins the time to live anew.
    pub(super) sliding: bool,
    pub(super) bytes: usize,
    pub(super) items: usize,
}

/// The cache. A look costs one lock.
#[derive(Debug)]
pub(super) struct MemoryCache {
    limits: Limits,
    entries: Mutex<Lru<u64, Arc<Loaded>>>,
}

impl MemoryCache {
    pub(super) fn new(limits: Limits) -> Self {
        let room = Room { items: limits.items, bytes: limits.bytes };
        Self { limits, entries: Mutex::new(Lru::new(room)) }
    }

    /// Looks for an item.
    pub(super) fn get(&self, id: u64) -> Lookup<Arc<Loaded>> {
        let renew = if self.limits.sliding { self.limits.ttl } else { None };
        self.lock().get(&id, renew)
    }

    /// Keeps an item, unless a newer version of it is there.
    pub(super) fn put(&self, loaded: Arc<Loaded>) {
        let mut entries = self.lock();
        let expires = self.limits.ttl.map(|ttl| Instant::now() + ttl);
        if entries.peek(&loaded.id).is_some_and(|present| present.version > loaded.version) {
            return;
        }
        let cost = loaded.body.len() + ENTRY_COST;
        entries.put(loaded.id, loaded, cost, expires);
    }

    /// Replaces an item that is there by a newer version; one that is not there stays away.
    pub(super) fn update(&self, loaded: &Arc<Loaded>) {
        let present = self.lock().peek(&loaded.id).is_some();
        if present {
            self.put(loaded.clone());
        }
    }

    pub(super) fn remove(&self, id: u64) {
        self.lock().remove(&id);
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// Items and bytes held now.
    pub(super) fn size(&self) -> (usize, usize) {
        self.lock().size()
    }

    /// Items that had to make room so far.
    pub(super) fn evictions(&self) -> u64 {
        self.lock().evictions()
    }

    fn lock(&self) -> MutexGuard<'_, Lru<u64, Arc<Loaded>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::Item;
    use super::*;

    const LIMITS: Limits =
        Limits { ttl: Some(Duration::from_mins(1)), sliding: false, bytes: 1 << 20, items: 3 };

    fn item(id: u64, version: u32) -> Arc<Loaded> {
        Arc::new(Loaded::now(&Item::new(id, version, None)))
    }

    fn holds(cache: &MemoryCache, id: u64) -> bool {
        matches!(cache.get(id), Lookup::Hit(_))
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_expires_once_and_is_then_a_miss() {
        let cache = MemoryCache::new(LIMITS);
        cache.put(item(1, 1));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(holds(&cache, 1));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(matches!(cache.get(1), Lookup::Expired));
        assert!(matches!(cache.get(1), Lookup::Miss));
        assert_eq!(cache.size(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sliding_item_lives_as_long_as_it_is_wanted() {
        let cache = MemoryCache::new(Limits { sliding: true, ..LIMITS });
        cache.put(item(1, 1));
        for _ in 0..5 {
            tokio::time::advance(Duration::from_secs(40)).await;
            assert!(holds(&cache, 1));
        }
    }

    #[tokio::test]
    async fn bytes_are_limited_too() {
        let cache = MemoryCache::new(Limits { bytes: 1500, items: 100, ..LIMITS });
        (1..=10).for_each(|id| cache.put(item(id, 1)));
        assert!(cache.size().1 <= 1500 && cache.evictions() >= 7);
    }

    #[tokio::test]
    async fn an_older_version_never_replaces_a_newer_one() {
        let cache = MemoryCache::new(LIMITS);
        cache.update(&item(1, 5));
        assert!(!holds(&cache, 1));
        cache.put(item(1, 2));
        cache.update(&item(1, 5));
        cache.put(item(1, 4));
        let Lookup::Hit(loaded) = cache.get(1) else { panic!("gone") };
        assert_eq!(loaded.version, 5);
    }
}
