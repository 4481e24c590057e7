//! A memory cache: limits by items and bytes, least recently used goes first, time to live.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::item::Loaded;

/// What an entry costs beside its body, roughly.
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

/// What a cache knows of an item.
#[derive(Debug)]
pub(super) enum Lookup {
    Hit(Arc<Loaded>),
    /// It was there, but is too old; it is removed now.
    Expired,
    Miss,
}

/// The cache. A look costs one lock.
#[derive(Debug)]
pub(super) struct MemoryCache {
    limits: Limits,
    entries: Mutex<Entries>,
    evictions: AtomicU64,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<u64, Entry>,
    by_use: BTreeMap<u64, u64>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    loaded: Arc<Loaded>,
    expires: Option<Instant>,
    last_use: u64,
}

impl MemoryCache {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, entries: Mutex::default(), evictions: AtomicU64::new(0) }
    }

    /// Looks for an item.
    pub(super) fn get(&self, id: u64) -> Lookup {
        let mut guard = self.lock();
        let entries = &mut *guard;
        let Some(entry) = entries.by_id.get_mut(&id) else {
            return Lookup::Miss;
        };
        if let Some(expires) = &mut entry.expires {
            let now = Instant::now();
            if *expires <= now {
                entries.remove(id);
                return Lookup::Expired;
            }
            if self.limits.sliding {
                *expires = now + self.limits.ttl.unwrap_or_default();
            }
        }
        // The latest used is used again: nothing moves.
        if entry.last_use != entries.uses {
            entries.by_use.remove(&entry.last_use);
            entries.uses += 1;
            entry.last_use = entries.uses;
            entries.by_use.insert(entries.uses, id);
        }
        Lookup::Hit(entry.loaded.clone())
    }

    /// Keeps an item, unless a newer version of it is there.
    pub(super) fn put(&self, loaded: Arc<Loaded>) {
        let mut entries = self.lock();
        let expires = self.limits.ttl.map(|ttl| Instant::now() + ttl);
        let newer =
            entries.by_id.get(&loaded.id).is_some_and(|e| e.loaded.version > loaded.version);
        if newer {
            return;
        }
        entries.insert(loaded, expires);
        while entries.bytes > self.limits.bytes || entries.by_id.len() > self.limits.items {
            let Some((_, oldest)) = entries.by_use.pop_first() else {
                break;
            };
            entries.remove(oldest);
            self.evictions.fetch_add(1, Relaxed);
        }
    }

    /// Replaces an item that is there by a newer version; one that is not there stays away.
    pub(super) fn update(&self, loaded: &Arc<Loaded>) {
        let present = self.lock().by_id.contains_key(&loaded.id);
        if present {
            self.put(loaded.clone());
        }
    }

    pub(super) fn remove(&self, id: u64) {
        self.lock().remove(id);
    }

    pub(super) fn clear(&self) {
        *self.lock() = Entries::default();
        self.evictions.store(0, Relaxed);
    }

    /// Items and bytes held now.
    pub(super) fn size(&self) -> (usize, usize) {
        let entries = self.lock();
        (entries.by_id.len(), entries.bytes)
    }

    /// Items that had to make room so far.
    pub(super) fn evictions(&self) -> u64 {
        self.evictions.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn insert(&mut self, loaded: Arc<Loaded>, expires: Option<Instant>) {
        let id = loaded.id;
        self.remove(id);
        self.uses += 1;
        self.bytes += loaded.body.len() + ENTRY_COST;
        self.by_use.insert(self.uses, id);
        self.by_id.insert(id, Entry { loaded, expires, last_use: self.uses });
    }

    fn remove(&mut self, id: u64) {
        if let Some(entry) = self.by_id.remove(&id) {
            self.by_use.remove(&entry.last_use);
            self.bytes -= entry.loaded.body.len() + ENTRY_COST;
        }
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
    async fn the_least_recently_used_makes_room() {
        let cache = MemoryCache::new(LIMITS);
        for id in 1..=3 {
            cache.put(item(id, 1));
        }
        assert!(holds(&cache, 1));
        cache.put(item(4, 1));
        assert!(holds(&cache, 1) && !holds(&cache, 2) && holds(&cache, 3) && holds(&cache, 4));
        assert_eq!(cache.evictions(), 1);
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
