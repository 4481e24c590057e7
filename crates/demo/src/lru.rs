//! A map with limits: by items, by bytes, by age. The entry that was used longest ago makes room.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// How much a map holds. When it is full, the least recently used entries go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) items: usize,
    pub(crate) bytes: usize,
}

/// The map's knowledge of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup<V> {
    Hit(V),
    /// It was there, but is too old; it is removed now.
    Expired,
    Miss,
}

/// The map. The age of an entry is looked at when the entry is asked for; an entry that is never asked for stays
/// until it must make room.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    room: Room,
    entries: HashMap<K, Entry<V>>,
    by_use: BTreeMap<u64, K>,
    uses: u64,
    bytes: usize,
    evictions: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    cost: usize,
    expires: Option<Instant>,
    last_use: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Lru<K, V> {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            room,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            bytes: 0,
            evictions: 0,
        }
    }

    /// Looks for a key. A hit lives for another `renew` from now, if that is given.
    pub(crate) fn get<Q>(&mut self, key: &Q, renew: Option<Duration>) -> Lookup<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let Some(entry) = self.entries.get_mut(key) else {
            return Lookup::Miss;
        };
        if let Some(expires) = &mut entry.expires {
            let now = Instant::now();
            if *expires <= now {
                self.remove(key);
                return Lookup::Expired;
            }
            if let Some(renew) = renew {
                *expires = now + renew;
            }
        }
        // The latest used is used again: nothing moves.
        if entry.last_use != self.uses
            && let Some(key) = self.by_use.remove(&entry.last_use)
        {
            self.uses += 1;
            entry.last_use = self.uses;
            self.by_use.insert(self.uses, key);
        }
        Lookup::Hit(entry.value.clone())
    }

    /// The value of a key, however old, without counting as use.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Keeps a value that costs `cost` bytes. One that costs more than all the room is not kept.
    pub(crate) fn put(&mut self, key: K, value: V, cost: usize, expires: Option<Instant>) {
        self.remove(&key);
        if cost > self.room.bytes || self.room.items == 0 {
            return;
        }
        self.uses += 1;
        self.bytes += cost;
        self.by_use.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { value, cost, expires, last_use: self.uses });
        while self.bytes > self.room.bytes || self.entries.len() > self.room.items {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };
            self.remove(&oldest);
            self.evictions += 1;
        }
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.last_use);
            self.bytes -= entry.cost;
        }
    }

    /// Removes entries that are too old, the least recently used first, up to the first that is not; says how many. Where
    /// each use renews the time to live, these are all.
    pub(crate) fn expire(&mut self) -> u64 {
        let now = Instant::now();
        let mut expired = 0;
        while let Some((_, oldest)) = self.by_use.first_key_value() {
            let entry = self.entries.get(oldest);
            if entry.and_then(|entry| entry.expires).is_none_or(|expires| expires > now) {
                break;
            }
            let oldest = oldest.clone();
            self.remove(&oldest);
            expired += 1;
        }
        expired
    }

    /// Empties it and sets its counters to zero.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.room);
    }

    /// Items and bytes held now.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.bytes)
    }

    /// Items that had to make room so far.
    pub(crate) fn evictions(&self) -> u64 {
        self.evictions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { items: 3, bytes: 1000 };

    fn holds(map: &mut Lru<u64, &'static str>, key: u64) -> bool {
        matches!(map.get(&key, None), Lookup::Hit(_))
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut map = Lru::new(ROOM);
        (1..=3).for_each(|key| map.put(key, "x", 10, None));
        assert!(holds(&mut map, 1));
        map.put(4, "x", 10, None);
        assert!(holds(&mut map, 1) && !holds(&mut map, 2));
        assert!(holds(&mut map, 3) && holds(&mut map, 4));
        assert_eq!((map.evictions(), map.size()), (1, (3, 30)));
    }

    #[test]
    fn bytes_are_limited_and_one_giant_drives_nobody_out() {
        let mut map = Lru::new(ROOM);
        map.put(1, "x", 600, None);
        map.put(2, "x", 600, None);
        assert!(!holds(&mut map, 1) && holds(&mut map, 2));
        map.put(3, "x", 1001, None);
        assert!(!holds(&mut map, 3) && holds(&mut map, 2));
        assert_eq!(map.size(), (1, 600));
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_expires_once_and_is_then_a_miss() {
        let mut map = Lru::new(ROOM);
        map.put(1, "x", 10, Some(Instant::now() + Duration::from_secs(2)));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(map.get(&1, Some(Duration::from_secs(2))), Lookup::Hit("x"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(map.get(&1, None), Lookup::Hit("x"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(map.get(&1, None), Lookup::Expired);
        assert_eq!(map.get(&1, None), Lookup::Miss);
        assert_eq!(map.size(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn all_that_are_too_old_go_at_once_where_use_renews_them() {
        let (mut map, second) = (Lru::new(ROOM), Duration::from_secs(1));
        (1..=3).for_each(|key| map.put(key, "x", 10, Some(Instant::now() + second)));
        assert_eq!(map.expire(), 0);
        tokio::time::advance(second / 2).await;
        map.get(&1, Some(second));
        tokio::time::advance(second / 2).await;
        assert_eq!((map.expire(), map.size(), map.evictions()), (2, (1, 10), 0));
        assert!(holds(&mut map, 1));
    }

    #[test]
    fn a_new_value_takes_the_old_ones_place() {
        let mut map = Lru::new(ROOM);
        map.put(1, "old", 10, None);
        map.put(1, "new", 20, None);
        assert_eq!((map.peek(&1), map.size(), map.evictions()), (Some(&"new"), (1, 20), 0));
    }
}
