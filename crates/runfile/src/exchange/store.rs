//! The exchanges that all cores chose, and those of them that stay.

use std::collections::BTreeMap;

use super::picker::{FAILURES_EACH, RANDOM, SLOWEST};
use super::{Exchange, Why};

/// The memory and the part of the file that all exchanges may take; more are left out, and counted.
const BYTES_MAX: usize = 64 << 20;

/// The changes since somebody asked.
#[derive(Debug, Default, PartialEq)]
pub struct Evidence {
    /// New ones, by their numbers.
    pub added: Vec<(u64, Why, Exchange)>,
    /// Those that had to make room.
    pub removed: Vec<u64>,
}

/// Keeps no more than the file may have: the first five of each kind of failure, the slowest twenty, twenty at random.
#[derive(Debug, Default)]
pub struct EvidenceStore {
    next: u64,
    /// Number and nanoseconds, the fastest first.
    slow: Vec<(u64, u64)>,
    /// Number and lot, the greatest lot first.
    random: Vec<(u64, u64)>,
    failures: BTreeMap<u64, u8>,
    sizes: BTreeMap<u64, usize>,
    bytes: usize,
    left_out: u64,
    news: Evidence,
}

impl EvidenceStore {
    /// An exchange that failed, with the number of its kind.
    pub fn failed(&mut self, kind: u64, exchange: Exchange) {
        let count = self.failures.entry(kind).or_default();
        if *count < FAILURES_EACH {
            *count += 1;
            self.add(Why::Failure, exchange);
        }
    }

    /// One that took this number of nanoseconds.
    pub fn slow(&mut self, nanos: u64, exchange: Exchange) {
        let is_full = self.slow.len() >= SLOWEST;
        if is_full && self.slow[0].1 >= nanos {
            return;
        }
        // The fastest of them makes room first: there may be no room for both.
        if is_full {
            let (number, _) = self.slow.remove(0);
            self.remove(number);
        }
        if let Some(number) = self.add(Why::Slow, exchange) {
            let place = self.slow.partition_point(|(_, other)| *other < nanos);
            self.slow.insert(place, (number, nanos));
        }
    }

    /// One whose lot was drawn.
    pub fn random(&mut self, lot: u64, exchange: Exchange) {
        let is_full = self.random.len() >= RANDOM;
        if is_full && self.random[0].1 <= lot {
            return;
        }
        if is_full {
            let (number, _) = self.random.remove(0);
            self.remove(number);
        }
        if let Some(number) = self.add(Why::Random, exchange) {
            let place = self.random.partition_point(|(_, other)| *other > lot);
            self.random.insert(place, (number, lot));
        }
    }

    /// The news since the last call.
    pub fn take(&mut self) -> Evidence {
        std::mem::take(&mut self.news)
    }

    /// Exchanges for which there was no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn add(&mut self, why: Why, exchange: Exchange) -> Option<u64> {
        let size = exchange.size();
        if self.bytes + size > BYTES_MAX {
            self.left_out += 1;
            return None;
        }
        self.bytes += size;
        self.next += 1;
        self.sizes.insert(self.next, size);
        self.news.added.push((self.next, why, exchange));
        Some(self.next)
    }

    fn remove(&mut self, number: u64) {
        self.bytes -= self.sizes.remove(&number).unwrap_or_default();
        match self.news.added.iter().position(|(other, ..)| *other == number) {
            Some(place) => drop(self.news.added.remove(place)),
            None => self.news.removed.push(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_slowest_stay_whoever_came_first() {
        let mut store = EvidenceStore::default();
        let mut kept = BTreeMap::new();
        for nanos in (0..500u64).map(|n| n * 7919 % 500) {
            store.slow(nanos, Exchange { duration: nanos as f64, ..Exchange::default() });
            if nanos % 3 == 0 {
                let Evidence { added, removed } = store.take();
                kept.extend(added.into_iter().map(|(n, _, exchange)| (n, exchange.duration)));
                kept.retain(|n, _| !removed.contains(n));
            }
        }
        let Evidence { added, removed } = store.take();
        kept.extend(added.into_iter().map(|(n, _, exchange)| (n, exchange.duration)));
        kept.retain(|n, _| !removed.contains(n));
        let mut durations: Vec<_> = kept.into_values().map(|duration| duration as u64).collect();
        durations.sort_unstable();
        assert_eq!(durations, (480..500).collect::<Vec<_>>());
    }

    #[test]
    fn all_together_are_bounded() {
        let mut store = EvidenceStore::default();
        let body = vec![0; super::super::BODY_MAX];
        for kind in 0..400 {
            for _ in 0..9 {
                let response_body = Some(body.clone());
                store.failed(kind, Exchange { response_body, ..Exchange::default() });
            }
        }
        let added = store.take().added;
        let bytes: usize = added.iter().map(|(_, _, exchange)| exchange.size()).sum();
        assert!(bytes <= BYTES_MAX && bytes > BYTES_MAX - (1 << 20), "{bytes}");
        assert_eq!(store.left_out() + added.len() as u64, 2000);
    }
}
