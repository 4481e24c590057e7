//! Tag sets by number, so that a series is found without touching a string's heap twice.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::tags::{TagSet, bounded, is_long};

/// New tag sets and series that a core makes between two frames, ten a second. Of more the values that were not met before
/// are told as [`OTHERS`]: whoever gathers pays for each series, and so does the core for taking them apart.
pub(super) const FRESH_MAX: usize = 10_000;
/// Tag sets with [`OTHERS`] in them, beyond [`FRESH_MAX`]. Of more the tags of the call are left out.
const EXTRA_MAX: usize = 1000;
/// The bytes of all texts. When there are more, it is as if there were too many.
const BYTES_MAX: usize = 32 << 20;
/// The text in place of values that had no room.
pub const OTHERS: &str = "(too many values)";

/// A tag set in a [`Recorder`](crate::Recorder). Valid until the recorder's epoch changes; numbers are not used again, so that
/// an old one is known for what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagsId(u32);

impl TagsId {
    /// The empty set, in every recorder and epoch.
    pub const EMPTY: Self = Self(0);
}

/// Gives each tag set a number, and remembers which sets were made of which.
#[derive(Debug)]
pub(super) struct Interner {
    /// The number of the first set behind the empty one.
    first: u32,
    empty: TagSet,
    tables: Tables,
    bytes: usize,
    fresh: usize,
    extra: usize,
    /// How often tags were asked for that there was no room for.
    pub(super) crowded: u64,
    /// How often a set was asked for by a number of an earlier epoch.
    pub(super) stale: u64,
}

/// All that grows, to be thrown away at once.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Each key and value once: most sets differ in one of ten.
    strings: FxHashSet<Arc<str>>,
    sets: Vec<TagSet>,
    by_set: FxHashMap<TagSet, TagsId>,
    /// The former results of [`derive`](Interner::derive), the last of each hash.
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
        Self {
            first: 1,
            empty: TagSet::default(),
            tables: Tables::default(),
            bytes: 0,
            fresh: 0,
            extra: 0,
            crowded: 0,
            stale: 0,
        }
    }

    /// How many entries, of whatever sort is the most.
    pub(super) fn len(&self) -> usize {
        self.tables.sets.len().max(self.tables.derived.len())
    }

    /// Whether new entries have to wait for the next frame.
    pub(super) fn is_full(&self) -> bool {
        // An epoch may end in the middle of a frame.
        let most = super::SERIES_MAX + FRESH_MAX;
        self.fresh >= FRESH_MAX || self.bytes >= BYTES_MAX || self.len() >= most
    }

    /// Whether the tables should be emptied. If there was no room, what comes next shall have its own.
    pub(super) fn is_spent(&self) -> bool {
        self.len() >= super::SERIES_MAX || self.bytes >= BYTES_MAX / 2 || self.extra > 0
    }

    /// A series was made.
    pub(super) fn count_series(&mut self) {
        self.fresh += 1;
    }

    /// A frame was taken: there is room for new ones.
    pub(super) fn begin(&mut self) {
        self.fresh = 0;
    }

    /// Forgets all sets but the empty one. False, and nothing is done, if numbers come to their end (after four billions).
    pub(super) fn reset(&mut self) -> Option<Tables> {
        let next = self.first.checked_add(self.tables.sets.len() as u32)?;
        // Room for those of one more epoch.
        next.checked_add(4 * super::SERIES_MAX as u32)?;
        self.first = next;
        (self.bytes, self.fresh, self.extra) = (0, 0, 0);
        Some(std::mem::take(&mut self.tables))
    }

    pub(super) fn intern(&mut self, set: &TagSet) -> TagsId {
        if set.is_empty() {
            return TagsId::EMPTY;
        }
        if let Some(id) = self.tables.by_set.get(set) {
            return *id;
        }
        if !self.is_full() {
            for (key, value) in set.shared() {
                self.keep(key);
                self.keep(value);
            }
            return self.put(set);
        }
        self.crowded += 1;
        let pairs: Vec<_> = set.iter().collect();
        let reduced = TagSet::from_pairs(self.reduced(&pairs));
        if let Some(id) = self.tables.by_set.get(&reduced) {
            return *id;
        }
        if self.extra >= EXTRA_MAX {
            return TagsId::EMPTY;
        }
        self.extra += 1;
        self.put(&reduced)
    }

    fn put(&mut self, set: &TagSet) -> TagsId {
        if set.is_empty() {
            return TagsId::EMPTY;
        }
        let tables = &mut self.tables;
        let id = TagsId(self.first + tables.sets.len() as u32);
        self.fresh += 1;
        tables.sets.push(set.clone());
        tables.by_set.insert(set.clone(), id);
        id
    }

    /// The set of an id; of an id from another epoch, none.
    pub(super) fn get(&mut self, id: TagsId) -> TagSet {
        if id == TagsId::EMPTY {
            return self.empty.clone();
        }
        let place = id.0.wrapping_sub(self.first) as usize;
        let Some(set) = self.tables.sets.get(place) else {
            self.stale += 1;
            return self.empty.clone();
        };
        set.clone()
    }

    pub(super) fn derive(&mut self, base: TagsId, pairs: &[(&str, &str)]) -> TagsId {
        if pairs.is_empty() {
            return base;
        }
        if pairs.iter().any(|(key, value)| is_long(key) || is_long(value)) {
            let cut: Vec<_> =
                pairs.iter().map(|(key, value)| (bounded(key), bounded(value))).collect();
            let cut: Vec<_> = cut.iter().map(|(key, value)| (&**key, &**value)).collect();
            return self.derive(base, &cut);
        }
        let hash = hash_of(base, pairs);
        if let Some(known) = self.known(hash, base, pairs) {
            return known;
        }
        if !self.is_full() {
            return self.make(hash, base, pairs);
        }
        self.crowded += 1;
        let reduced = self.reduced(pairs);
        let reduced: Vec<_> = reduced.iter().map(|(key, value)| (&**key, &**value)).collect();
        let hash = hash_of(base, &reduced);
        if let Some(known) = self.known(hash, base, &reduced) {
            return known;
        }
        if self.extra >= EXTRA_MAX {
            return base;
        }
        self.extra += 1;
        self.make(hash, base, &reduced)
    }

    /// The former result, if there is one.
    #[inline]
    fn known(&self, hash: u64, base: TagsId, pairs: &[(&str, &str)]) -> Option<TagsId> {
        let mut next = self.tables.by_hash.get(&hash).copied();
        while let Some(index) = next {
            let known = &self.tables.derived[index as usize];
            if known.base == base
                && known.pairs.iter().map(|(k, v)| (&**k, &**v)).eq(pairs.iter().copied())
            {
                return Some(known.result);
            }
            next = known.earlier;
        }
        None
    }

    fn make(&mut self, hash: u64, base: TagsId, pairs: &[(&str, &str)]) -> TagsId {
        let pairs: Box<[_]> =
            pairs.iter().map(|(key, value)| (self.share(key), self.share(value))).collect();
        let set = self.get(base).with_shared(pairs.iter().cloned());
        let result = match self.tables.by_set.get(&set) {
            Some(id) => *id,
            None => self.put(&set),
        };
        let tables = &mut self.tables;
        let earlier = tables.by_hash.insert(hash, tables.derived.len() as u32);
        tables.derived.push(Derived { base, pairs, result, earlier });
        result
    }

    /// The same with [`OTHERS`] for each value that is new; tags whose key is new are left out. A route stays: there are few of
    /// them, and it is no tag.
    fn reduced(&self, pairs: &[(&str, &str)]) -> Vec<(Arc<str>, Arc<str>)> {
        let strings = &self.tables.strings;
        let others = strings.get(OTHERS).cloned().unwrap_or_else(|| Arc::from(OTHERS));
        let known = |(key, value): &(&str, &str)| {
            if *key == TagSet::ROUTE {
                return Some((Arc::from(*key), Arc::from(*value)));
            }
            let key = Arc::clone(strings.get(*key)?);
            Some((key, strings.get(*value).unwrap_or(&others).clone()))
        };
        pairs.iter().filter_map(known).collect()
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.tables.strings.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.keep(&new);
        new
    }

    fn keep(&mut self, text: &Arc<str>) {
        if self.tables.strings.insert(Arc::clone(text)) {
            self.bytes += text.len();
        }
    }
}

fn hash_of(base: TagsId, pairs: &[(&str, &str)]) -> u64 {
    let mut hasher = FxHasher::default();
    (base, pairs).hash(&mut hasher);
    hasher.finish()
}
