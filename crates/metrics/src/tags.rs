//! Tag sets: sorted, shared, cheap to compare.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

/// A set of tags, sorted by key, each key once. Cloning shares it.
///
/// Its hash is computed once, so that sets of different cores compare fast.
#[derive(Clone)]
pub struct TagSet(Arc<Inner>);

struct Inner {
    hash: u64,
    pairs: Box<[(Arc<str>, Arc<str>)]>,
}

/// What travels with a sample but makes no series of its own (`vu`, `iter`, and what scripts set).
pub type Metadata = TagSet;

impl TagSet {
    /// Sorts the pairs; of two with the same key the later wins.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<Arc<str>>,
        V: Into<Arc<str>>,
    {
        let mut sorted: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for (key, value) in pairs {
            put(&mut sorted, key.into(), value.into());
        }
        Self::from_sorted(sorted)
    }

    fn from_sorted(pairs: Vec<(Arc<str>, Arc<str>)>) -> Self {
        let mut hasher = FxHasher::default();
        pairs.hash(&mut hasher);
        Self(Arc::new(Inner { hash: hasher.finish(), pairs: pairs.into_boxed_slice() }))
    }

    /// This set and one tag more (or with another value).
    pub fn with(&self, key: &str, value: &str) -> Self {
        self.with_all(&[(key, value)])
    }

    /// This set and these tags; they win over the set's own, later ones over earlier ones.
    pub fn with_all(&self, pairs: &[(&str, &str)]) -> Self {
        self.with_shared(pairs.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))))
    }

    /// As [`with_all`](Self::with_all), of strings that are shared already.
    pub(crate) fn with_shared(
        &self,
        pairs: impl ExactSizeIterator<Item = (Arc<str>, Arc<str>)>,
    ) -> Self {
        let mut sorted = Vec::with_capacity(self.len() + pairs.len());
        sorted.extend(self.0.pairs.iter().cloned());
        for (key, value) in pairs {
            put(&mut sorted, key, value);
        }
        Self::from_sorted(sorted)
    }

    /// This set without one tag.
    pub fn without(&self, key: &str) -> Self {
        if self.get(key).is_none() {
            return self.clone();
        }
        Self::from_sorted(self.0.pairs.iter().filter(|(k, _)| &**k != key).cloned().collect())
    }

    /// The value of one tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.pairs.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        Some(&self.0.pairs[at].1)
    }

    /// All tags, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.pairs.iter().map(|(key, value)| (&**key, &**value))
    }

    /// How many tags.
    pub fn len(&self) -> usize {
        self.0.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.pairs.is_empty()
    }

    /// Whether each of these pairs is in the set.
    pub fn contains_all(&self, pairs: &[(String, String)]) -> bool {
        pairs.iter().all(|(key, value)| self.get(key) == Some(value))
    }

    /// A hash of the whole set, the same on every core (and machine of the same build).
    pub fn stable_hash(&self) -> u64 {
        self.0.hash
    }
}

fn put(sorted: &mut Vec<(Arc<str>, Arc<str>)>, key: Arc<str>, value: Arc<str>) {
    match sorted.binary_search_by(|(k, _)| k.cmp(&key)) {
        Ok(at) => sorted[at].1 = value,
        Err(at) => sorted.insert(at, (key, value)),
    }
}

impl Default for TagSet {
    fn default() -> Self {
        Self::from_sorted(Vec::new())
    }
}

impl PartialEq for TagSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.0.pairs == other.0.pairs)
    }
}

impl Eq for TagSet {}

impl Hash for TagSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for TagSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_writing_does_not_matter_but_the_later_of_two_values_wins() {
        let one = TagSet::from_pairs([("b", "2"), ("a", "1"), ("b", "3")]);
        let two = TagSet::default().with("a", "1").with("b", "3");
        assert_eq!(one, two);
        assert_eq!(one.stable_hash(), two.stable_hash());
        assert_eq!(one.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "3")]);
    }

    #[test]
    fn a_set_loses_a_tag_and_finds_its_pairs() {
        let set = TagSet::from_pairs([("a", "1"), ("b", "2")]);
        assert_eq!(set.without("a"), TagSet::from_pairs([("b", "2")]));
        assert_eq!(set.without("z"), set);
        assert!(set.contains_all(&[("b".into(), "2".into())]));
        assert!(!set.contains_all(&[("b".into(), "1".into())]));
        assert!(!set.contains_all(&[("c".into(), String::new())]));
        assert!(set.contains_all(&[]));
    }
}
