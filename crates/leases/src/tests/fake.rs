//! A store in memory, with the faults of a network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::{Answer, Entry, Leases, MARK, Put, Store};

/// Values of a key that are kept.
const HISTORY: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Fake(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    random: fastrand::Rng,
    revision: u64,
    values: BTreeMap<String, Vec<Entry>>,
    /// Of a hundred: questions that are lost, answers that are lost.
    lost: [u8; 2],
    is_away: bool,
    writes: usize,
}

impl Kept {
    fn put(&mut self, key: &str, value: Vec<u8>, expected: u64) -> Put {
        let entries = self.values.entry(key.to_owned()).or_default();
        if entries.last().map_or(0, |entry| entry.revision) != expected {
            return Put::Lost;
        }
        self.revision += 1;
        self.writes += 1;
        entries.push(Entry { value, revision: self.revision });
        if entries.len() > HISTORY {
            entries.remove(0);
        }
        Put::Done(self.revision)
    }
}

impl Fake {
    /// With the mark of the leader.
    pub(super) fn new(seed: u64, lost: [u8; 2]) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let mut kept = Kept { random, lost, ..Kept::default() };
        kept.put(MARK, Vec::new(), 0);
        Self(Arc::new(Mutex::new(kept)))
    }

    pub(super) fn processes(&self, count: u32) -> Vec<Arc<Leases>> {
        let open = |_| {
            let leases = Leases::new(count);
            leases.open(Arc::new(self.clone()), Handle::current());
            leases
        };
        (0..count).map(open).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    pub(super) fn set_away(&self, is_away: bool) {
        self.lock().is_away = is_away;
    }

    pub(super) fn keys(&self, start: &str) -> usize {
        self.lock().values.keys().filter(|key| key.starts_with(start)).count()
    }

    pub(super) fn writes(&self) -> usize {
        self.lock().writes
    }

    /// Loses the keys that begin so.
    pub(super) fn forget(&self, start: &str) {
        self.lock().values.retain(|key, _| !key.starts_with(start));
    }

    /// A question that takes a moment each way, and may be lost on either.
    fn ask<T: Send + 'static>(
        &self,
        does: impl FnOnce(&mut Kept) -> T + Send + 'static,
    ) -> Answer<T> {
        let fake = self.clone();
        Box::pin(async move {
            let (ways, lost) = {
                let mut kept = fake.lock();
                let ways = [(); 2].map(|()| Duration::from_micros(kept.random.u64(50..2000)));
                let drawn = [(); 2].map(|()| kept.random.u8(0..100));
                (ways, [drawn[0] < kept.lost[0], drawn[1] < kept.lost[1]])
            };
            sleep(ways[0]).await;
            let is_lost = lost[0] || fake.lock().is_away;
            let answer = (!is_lost).then(|| does(&mut fake.lock()));
            sleep(ways[1]).await;
            if let Some(answer) = answer.filter(|_| !lost[1]) {
                return Ok(answer);
            }
            sleep(Duration::from_secs(2)).await;
            Err("timed out".to_owned())
        })
    }
}

impl Store for Fake {
    fn get(&self, key: &str) -> Answer<Option<Entry>> {
        let key = key.to_owned();
        self.ask(move |kept| kept.values.get(&key)?.last().cloned())
    }

    fn after(&self, key: &str, revision: u64) -> Answer<Option<Entry>> {
        let key = key.to_owned();
        self.ask(move |kept| {
            kept.values.get(&key)?.iter().find(|entry| entry.revision > revision).cloned()
        })
    }

    fn put(&self, key: &str, value: Vec<u8>, expected: u64) -> Answer<Put> {
        let key = key.to_owned();
        self.ask(move |kept| kept.put(&key, value, expected))
    }

    fn remove(&self, key: &str) -> Answer<()> {
        let key = key.to_owned();
        self.ask(move |kept| drop(kept.values.remove(&key)))
    }
}
