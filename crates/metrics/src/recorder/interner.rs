//! Tag sets by number, so that a series is found without touching a string's heap twice.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::tags::TagSet;

/// A tag set in a [`Recorder`](crate::Recorder). Valid until the recorder's epoch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagsId(u32);

impl TagsId {
    /// The empty set, in every recorder and epoch.
    pub const EMPTY: Self = Self(0);
}

/// Gives each tag set a number, and remembers which sets were made of which.
#[derive(Debug)]
pub(super) struct Interner {
    /// Each key and value once: most sets differ in one of ten.
    strings: FxHashSet<Arc<str>>,
    sets: Vec<TagSet>,
    by_set: FxHashMap<TagSet, TagsId>,
    /// What was asked of [`derive`](Self::derive) before, and the last of each hash.
    derived: Vec<Derived>,
    by_hash: FxHashMap<u64, u32>,
}

#[derive(Debug)]
struct Derived {
    base: TagsId,
    pairs: Box<[(Arc<str>, Arc<str>)]>,
    result: TagsId,
    /// The one before it with the same hash.
    earlier: Option<u32>,
}

impl Interner {
    pub(super) fn new() -> Self {
        let mut interner = Self {
            strings: FxHashSet::default(),
            sets: Vec::new(),
            by_set: FxHashMap::default(),
            derived: Vec::new(),
            by_hash: FxHashMap::default(),
        };
        let empty = interner.intern(&TagSet::default());
        debug_assert_eq!(empty, TagsId::EMPTY);
        interner
    }

    /// How many entries, of whatever sort is the most.
    pub(super) fn len(&self) -> usize {
        self.sets.len().max(self.derived.len())
    }

    pub(super) fn intern(&mut self, set: &TagSet) -> TagsId {
        if let Some(id) = self.by_set.get(set) {
            return *id;
        }
        let id = TagsId(self.sets.len() as u32);
        self.sets.push(set.clone());
        self.by_set.insert(set.clone(), id);
        id
    }

    /// The set of an id; of an id from another epoch, the empty one.
    pub(super) fn get(&self, id: TagsId) -> TagSet {
        self.sets.get(id.0 as usize).or(self.sets.first()).cloned().unwrap_or_default()
    }

    pub(super) fn derive(&mut self, base: TagsId, pairs: &[(&str, &str)]) -> TagsId {
        if pairs.is_empty() {
            return base;
        }
        let mut hasher = FxHasher::default();
        (base, pairs).hash(&mut hasher);
        let hash = hasher.finish();
        let latest = self.by_hash.get(&hash).copied();
        let mut next = latest;
        while let Some(index) = next {
            let known = &self.derived[index as usize];
            if known.base == base
                && known.pairs.iter().map(|(k, v)| (&**k, &**v)).eq(pairs.iter().copied())
            {
                return known.result;
            }
            next = known.earlier;
        }
        let pairs: Box<[_]> =
            pairs.iter().map(|(key, value)| (self.share(key), self.share(value))).collect();
        let set = self.get(base).with_shared(pairs.iter().cloned());
        let result = self.intern(&set);
        self.by_hash.insert(hash, self.derived.len() as u32);
        self.derived.push(Derived { base, pairs, result, earlier: latest });
        result
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.strings.insert(Arc::clone(&new));
        new
    }
}
