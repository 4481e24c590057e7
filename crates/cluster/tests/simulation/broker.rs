//! A stand-in for the broker: keys with revisions, a stream that knows ids, objects.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use brunt_cluster::{Expect, Key, Write};

/// The broker and its store.
#[derive(Default)]
pub(crate) struct Broker {
    pub(crate) is_down: bool,
    /// Value (none: deleted) and revision.
    pub(crate) keys: BTreeMap<Key, (Option<Vec<u8>>, u64)>,
    revision: u64,
    pub(crate) stream: VecDeque<(u64, Arc<[u8]>)>,
    stream_seq: u64,
    ids: HashSet<String>,
    pub(crate) checkpoint: Option<Vec<u8>>,
    pub(crate) setup: Option<String>,
}

/// The answer to a write: the new revision, or the state of the key.
pub(crate) type Written = Result<u64, Option<(Vec<u8>, u64)>>;

impl Broker {
    /// Starts anew with an empty store.
    pub(crate) fn empty(&mut self) {
        *self = Self { is_down: self.is_down, ..Self::default() };
    }

    pub(crate) fn write(&mut self, write: Write) -> Written {
        let current = self.keys.get(&write.key);
        let is_expected = match (write.expect, current) {
            (Expect::Absent, None | Some((None, _))) => true,
            (Expect::Revision(revision), Some((_, known))) => revision == *known,
            _ => false,
        };
        if !is_expected {
            return Err(current.and_then(|(value, revision)| Some((value.clone()?, *revision))));
        }
        self.revision += 1;
        self.keys.insert(write.key, (write.value, self.revision));
        Ok(self.revision)
    }

    /// Stores a message, unless its id was there; its place in the stream if it is new.
    pub(crate) fn publish(&mut self, id: String, payload: Arc<[u8]>) -> Option<u64> {
        if !self.ids.insert(id) {
            return None;
        }
        self.stream_seq += 1;
        self.stream.push_back((self.stream_seq, payload));
        Some(self.stream_seq)
    }

    pub(crate) fn purge(&mut self, up_to: u64) {
        self.stream.retain(|(seq, _)| *seq > up_to);
    }
}
