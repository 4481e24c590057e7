//! Keys that a machine writes: again and again until the store has them.

use std::collections::BTreeMap;

use crate::keys::{Expect, Key, Write};
use crate::time::{Nanos, SECOND};

/// A write without an answer is done again after this time.
const PATIENCE: u64 = 2 * SECOND;

/// The own keys: what they are to say, and what the store is known to have.
///
/// Each write is guarded by the revision that was read last, so that a write that was thought lost and comes late changes
/// nothing. At most one write of a key is on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    keys: BTreeMap<Key, Entry>,
    /// When the last write that has an answer was sent.
    answered: Nanos,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    /// Wanted; none: the key is to go.
    wanted: Option<Vec<u8>>,
    /// The store has it.
    is_done: bool,
    /// The last known state of the key.
    revision: Option<u64>,
    /// The write on its way: since when, and its value.
    sent: Option<(Nanos, Option<Vec<u8>>)>,
    /// When the first write was sent that has no answer.
    unanswered: Option<Nanos>,
}

/// The meaning of a conflict.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// The own write, or an older one of ours, was there already.
    Ours,
    /// The key is gone; it will be written anew.
    Gone,
    /// Somebody else has written this.
    Foreign(Vec<u8>, u64),
    /// It is no key of ours.
    Stray,
}

impl Desk {
    /// From now on the key is to say this.
    pub(crate) fn put(&mut self, key: Key, value: Option<Vec<u8>>) {
        let entry = self.keys.entry(key).or_default();
        if entry.wanted != value || value.is_none() {
            entry.wanted = value;
            entry.is_done = false;
        }
    }

    /// The revision of a key that was read, for the next write.
    pub(crate) fn know(&mut self, key: Key, revision: Option<u64>) {
        self.keys.entry(key).or_default().revision = revision;
    }

    /// The key is not ours any more.
    pub(crate) fn forget(&mut self, key: Key) {
        self.keys.remove(&key);
    }

    /// Whether a watch tells an older state of an own key than the one that is known.
    pub(crate) fn is_stale(&self, key: Key, revision: u64) -> bool {
        let known = self.keys.get(&key).filter(|entry| entry.is_done);
        known.and_then(|entry| entry.revision).is_some_and(|known| revision < known)
    }

    /// Whether the store has what the key is to say.
    pub(crate) fn is_done(&self, key: Key) -> bool {
        self.keys.get(&key).is_some_and(|entry| entry.is_done)
    }

    /// Whether the store has all that was put.
    pub(crate) fn is_all_done(&self) -> bool {
        self.keys.values().all(|entry| entry.is_done)
    }

    /// The broker is there again: perhaps with an empty store. Each key is looked after by writing it once more.
    pub(crate) fn connected(&mut self) {
        for entry in self.keys.values_mut() {
            entry.sent = None;
            entry.is_done = false;
        }
    }

    /// The writes that are due.
    pub(crate) fn poll(&mut self, now: Nanos, mut each: impl FnMut(Write)) {
        for (key, entry) in &mut self.keys {
            let waits = entry.sent.as_ref().is_some_and(|(at, _)| now < at + PATIENCE);
            if entry.is_done || waits {
                continue;
            }
            if entry.wanted.is_none() && entry.revision.is_none() {
                // There is nothing to delete.
                entry.is_done = true;
                continue;
            }
            entry.sent = Some((now, entry.wanted.clone()));
            entry.unanswered.get_or_insert(now);
            let expect = entry.revision.map_or(Expect::Absent, Expect::Revision);
            each(Write { key: *key, value: entry.wanted.clone(), expect });
        }
    }

    /// When to poll next, if writes wait for their answers.
    pub(crate) fn wake_at(&self) -> Option<Nanos> {
        let due = |entry: &Entry| match &entry.sent {
            _ if entry.is_done => None,
            Some((at, _)) => Some(at + PATIENCE),
            None => Some(0),
        };
        self.keys.values().filter_map(due).min()
    }

    /// When the last write that has an answer was sent, or one of before; 0 if none has.
    pub(crate) fn answered(&self) -> Nanos {
        self.answered
    }

    /// A write was done.
    pub(crate) fn wrote(&mut self, key: Key, revision: u64) {
        let Some(entry) = self.keys.get_mut(&key) else { return };
        self.answered = self.answered.max(entry.unanswered.take().unwrap_or(0));
        let Some((_, value)) = entry.sent.take() else { return };
        entry.revision = value.is_some().then_some(revision);
        entry.is_done = value == entry.wanted;
    }

    /// A write was refused. `is_ours`: whether a value was written by this very process.
    pub(crate) fn conflict(
        &mut self,
        key: Key,
        current: Option<(Vec<u8>, u64)>,
        is_ours: impl FnOnce(&[u8]) -> bool,
    ) -> Clash {
        let Some(entry) = self.keys.get_mut(&key) else { return Clash::Stray };
        self.answered = self.answered.max(entry.unanswered.take().unwrap_or(0));
        entry.sent = None;
        let Some((value, revision)) = current else {
            entry.revision = None;
            entry.is_done = entry.wanted.is_none();
            return Clash::Gone;
        };
        if entry.wanted.as_deref() == Some(&value) {
            (entry.revision, entry.is_done) = (Some(revision), true);
            return Clash::Ours;
        }
        if is_ours(&value) {
            entry.revision = Some(revision);
            return Clash::Ours;
        }
        Clash::Foreign(value, revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polled(desk: &mut Desk, now: Nanos) -> Vec<Write> {
        let mut all = Vec::new();
        desk.poll(now, |write| all.push(write));
        all
    }

    #[test]
    fn a_write_without_an_answer_is_done_again_and_a_newer_value_waits_for_the_older_one() {
        let mut desk = Desk::default();
        desk.put(Key::Phase, Some(b"1".to_vec()));
        assert_eq!(polled(&mut desk, 0)[0].expect, Expect::Absent);
        desk.put(Key::Phase, Some(b"2".to_vec()));
        assert!(polled(&mut desk, SECOND).is_empty());
        desk.wrote(Key::Phase, 5);
        let write = polled(&mut desk, SECOND).remove(0);
        assert_eq!((write.value.as_deref(), write.expect), (Some(&b"2"[..]), Expect::Revision(5)));
        assert_eq!(polled(&mut desk, 3 * SECOND).len(), 1);
        // The first of the two was done, its answer was lost.
        let clash = desk.conflict(Key::Phase, Some((b"2".to_vec(), 6)), |_| false);
        assert_eq!((clash, desk.is_all_done()), (Clash::Ours, true));
        assert!(polled(&mut desk, 9 * SECOND).is_empty() && desk.wake_at().is_none());
    }

    #[test]
    fn an_emptied_store_gets_all_anew_and_a_foreign_value_is_told() {
        let mut desk = Desk::default();
        desk.put(Key::Plan, Some(b"1".to_vec()));
        polled(&mut desk, 0);
        desk.wrote(Key::Plan, 1);
        desk.connected();
        assert_eq!(polled(&mut desk, 1)[0].expect, Expect::Revision(1));
        assert_eq!(desk.conflict(Key::Plan, None, |_| false), Clash::Gone);
        assert_eq!(polled(&mut desk, 1)[0].expect, Expect::Absent);
        let clash = desk.conflict(Key::Plan, Some((b"x".to_vec(), 3)), |_| false);
        assert_eq!(clash, Clash::Foreign(b"x".to_vec(), 3));
        assert_eq!(desk.conflict(Key::Setup, None, |_| true), Clash::Stray);
    }
}
