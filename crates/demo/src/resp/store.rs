//! Keys, values, expiry and channels of the Redis stand-in.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::time::Instant;

/// Bytes of keys and values; beyond it the least recently written keys go (`allkeys`, by age).
pub(crate) const MEMORY_MAX: usize = 128 << 20;
/// The cost of an entry beside its bytes, roughly.
const ENTRY_COST: usize = 128;
/// Messages that a slow subscriber may lag behind before it is disconnected.
pub(crate) const LAG_MAX: usize = 1024;

/// A published message: channel and payload.
pub(crate) type Message = (Bytes, Bytes);

/// The data behind all connections.
pub(crate) struct Store {
    entries: Mutex<Entries>,
    messages: broadcast::Sender<Message>,
    /// Connections open now.
    pub(crate) clients: AtomicU64,
    /// Commands carried out so far.
    pub(crate) commands: AtomicU64,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<Bytes, Entry>,
    by_age: BTreeMap<u64, Bytes>,
    writes: u64,
    bytes: usize,
    evicted: u64,
}

struct Entry {
    value: Bytes,
    age: u64,
    expires: Option<Instant>,
}

/// How long a key lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// There is no such key.
    Absent,
    /// It never expires.
    Endless,
    /// It expires after this time.
    Left(Duration),
}

/// When a `SET` applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Always.
    Always,
    /// `NX`: only if the key is new.
    Absent,
    /// `XX`: only if the key exists.
    Present,
}

/// The expiry of a key when it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// None from now on.
    Never,
    /// `KEEPTTL`: as it was.
    Keep,
    /// After this time.
    After(Duration),
}

impl Default for Store {
    fn default() -> Self {
        Self {
            entries: Mutex::default(),
            messages: broadcast::Sender::new(LAG_MAX),
            clients: AtomicU64::new(0),
            commands: AtomicU64::new(0),
        }
    }
}

impl Store {
    /// The value of a key that has not expired.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Bytes> {
        self.lock().live(key).map(|entry| entry.value.clone())
    }

    /// Sets a key; false if `when` forbids it.
    pub(crate) fn set(&self, key: &[u8], value: &[u8], expiry: Expiry, when: When) -> bool {
        let mut entries = self.lock();
        let old = entries.live(key).map(|entry| entry.expires);
        let forbidden = match when {
            When::Always => false,
            When::Absent => old.is_some(),
            When::Present => old.is_none(),
        };
        if forbidden {
            return false;
        }
        let expires = match expiry {
            Expiry::Never => None,
            Expiry::Keep => old.flatten(),
            Expiry::After(time) => Some(Instant::now() + time),
        };
        entries.insert(key, value, expires);
        true
    }

    /// Removes a key; true if it was there.
    pub(crate) fn delete(&self, key: &[u8]) -> bool {
        let mut entries = self.lock();
        entries.live(key).is_some() && entries.remove(key)
    }

    /// Whether the key is there.
    pub(crate) fn exists(&self, key: &[u8]) -> bool {
        self.lock().live(key).is_some()
    }

    /// Sets the time to live; false without such a key.
    pub(crate) fn expire(&self, key: &[u8], after: Duration) -> bool {
        match self.lock().live(key) {
            None => false,
            Some(entry) => {
                entry.expires = Some(Instant::now() + after);
                true
            }
        }
    }

    /// How long the key will live.
    pub(crate) fn life(&self, key: &[u8]) -> Life {
        match self.lock().live(key).map(|entry| entry.expires) {
            None => Life::Absent,
            Some(None) => Life::Endless,
            Some(Some(at)) => Life::Left(at.saturating_duration_since(Instant::now())),
        }
    }

    /// Removes everything.
    pub(crate) fn flush(&self) {
        *self.lock() = Entries::default();
    }

    /// Sends a message; gives the number of connections that listen to anything.
    pub(crate) fn publish(&self, channel: Bytes, payload: Bytes) -> usize {
        self.messages.send((channel, payload)).unwrap_or(0)
    }

    /// Hears all messages from now on; the caller picks its channels.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Message> {
        self.messages.subscribe()
    }

    /// Keys (expired ones may still count), their bytes, keys evicted so far.
    pub(crate) fn size(&self) -> (usize, usize, u64) {
        let entries = self.lock();
        (entries.by_key.len(), entries.bytes, entries.evicted)
    }

    /// Counts a command.
    pub(crate) fn count_command(&self) {
        self.commands.fetch_add(1, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// The entry, unless it has expired: then it is removed.
    fn live(&mut self, key: &[u8]) -> Option<&mut Entry> {
        let expired = self.by_key.get(key)?.expires.is_some_and(|at| at <= Instant::now());
        if expired {
            self.remove(key);
            return None;
        }
        self.by_key.get_mut(key)
    }

    fn remove(&mut self, key: &[u8]) -> bool {
        let Some((key, entry)) = self.by_key.remove_entry(key) else {
            return false;
        };
        self.by_age.remove(&entry.age);
        self.bytes -= key.len() + entry.value.len() + ENTRY_COST;
        true
    }

    fn insert(&mut self, key: &[u8], value: &[u8], expires: Option<Instant>) {
        self.remove(key);
        self.writes += 1;
        let age = self.writes;
        // Slices of a network buffer would keep the whole buffer alive.
        let (key, value) = (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
        self.bytes += key.len() + value.len() + ENTRY_COST;
        self.by_age.insert(age, key.clone());
        self.by_key.insert(key, Entry { value, age, expires });
        while self.bytes > MEMORY_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                break;
            };
            self.remove(&oldest);
            self.evicted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_expired_key_is_gone() {
        let store = Store::default();
        let expiry = Expiry::After(Duration::from_secs(10));
        assert!(store.set(b"k", b"v", expiry, When::Always));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(store.life(b"k"), Life::Left(Duration::from_secs(6)));
        assert!(store.set(b"k", b"w", Expiry::Keep, When::Present));
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!(store.get(b"k"), None);
        assert_eq!(store.life(b"k"), Life::Absent);
        assert_eq!(store.size(), (0, 0, 0));
    }

    #[tokio::test]
    async fn conditions_hold() {
        let store = Store::default();
        assert!(!store.set(b"k", b"v", Expiry::Never, When::Present));
        assert!(store.set(b"k", b"v", Expiry::Never, When::Absent));
        assert!(!store.set(b"k", b"w", Expiry::Never, When::Absent));
        assert_eq!(store.get(b"k"), Some(Bytes::from_static(b"v")));
        assert_eq!(store.life(b"k"), Life::Endless);
        assert!(store.delete(b"k") && !store.delete(b"k"));
    }

    #[tokio::test]
    async fn the_oldest_keys_make_room() {
        let store = Store::default();
        let large = Bytes::from(vec![0; MEMORY_MAX / 4]);
        for key in ["a", "b", "c", "d", "e"] {
            store.set(key.as_bytes(), &large, Expiry::Never, When::Always);
        }
        let (keys, used, evicted) = store.size();
        assert!(used <= MEMORY_MAX && keys == 3 && evicted == 2, "{keys} {used} {evicted}");
        assert!(store.get(b"a").is_none() && store.get(b"e").is_some());
    }
}
