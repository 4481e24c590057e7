//! Tag sets: sorted, shared, cheap to compare.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHasher;

use crate::registry::Veil;

/// The most bytes that a key or a value may have. Of a longer one the beginning is kept, and it is counted ([`texts_cut`]):
/// tags are looked up and compared with each sample, and kept as long as their series.
pub const TAG_MAX: usize = 16 * 1024;

/// The end of a text that was cut.
const ELLIPSIS: &str = "…";

/// Keys and values that were cut so far, in this process.
static CUT: AtomicU64 = AtomicU64::new(0);

/// The veil through which a text is seen before it is cut: the beginning of a secret would not be known for one
/// afterwards. It belongs to the process, as secrets do; it is asked for long texts alone.
static VEIL: OnceLock<Veil> = OnceLock::new();

/// From now on long texts are shown through this before they are cut. The first call counts.
pub(crate) fn veil_long(veil: Veil) {
    let _ = VEIL.set(veil);
}

/// How many keys and values of tags, names of checks and the like were longer than [`TAG_MAX`] and were cut, in this process.
/// A text that is cut in one place may be counted again in another.
pub fn texts_cut() -> u64 {
    CUT.load(Relaxed)
}

pub(crate) fn is_long(text: &str) -> bool {
    text.len() > TAG_MAX
}

/// The text, or its beginning if it is too long.
pub(crate) fn bounded(text: &str) -> Cow<'_, str> {
    if !is_long(text) {
        return Cow::Borrowed(text);
    }
    let veiled = VEIL.get().and_then(|veil| veil(text));
    let text = veiled.as_deref().unwrap_or(text);
    if !is_long(text) {
        return Cow::Owned(text.to_owned());
    }
    CUT.fetch_add(1, Relaxed);
    Cow::Owned(format!("{}{ELLIPSIS}", &text[..text.floor_char_boundary(TAG_MAX - ELLIPSIS.len())]))
}

fn bounded_arc(text: Arc<str>) -> Arc<str> {
    if is_long(&text) { Arc::from(bounded(&text)) } else { text }
}

/// A set of tags, sorted by key, each key once. Cloning shares it. No text in it is longer than [`TAG_MAX`].
///
/// Its hash is computed once, so that sets of different cores compare fast.
#[derive(Clone)]
pub struct TagSet(Arc<Inner>);

struct Inner {
    hash: u64,
    pairs: Box<[(Arc<str>, Arc<str>)]>,
    /// The route of the requests, which is no tag: it tells series apart, and is not among the pairs.
    route: Option<Arc<str>>,
}

/// Fields of a sample that make no series of their own (`vu`, `iter`, and the fields that scripts set).
pub type Metadata = TagSet;

impl TagSet {
    /// The key under which a set takes a [`route`](Self::route). No script writes it.
    pub const ROUTE: &str = "\0route";

    /// Sorts the pairs; of two with the same key the later wins.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<Arc<str>>,
        V: Into<Arc<str>>,
    {
        let pairs = pairs.into_iter();
        let pairs = pairs.map(|(key, value)| (bounded_arc(key.into()), bounded_arc(value.into())));
        Self::from_sorted(sorted(pairs.collect()), None)
    }

    /// `route`: unless one is among the pairs.
    fn from_sorted(mut pairs: Vec<(Arc<str>, Arc<str>)>, route: Option<&Arc<str>>) -> Self {
        let among = pairs.binary_search_by(|(key, _)| (**key).cmp(Self::ROUTE));
        let route = match among {
            Ok(at) => Some(pairs.remove(at).1),
            Err(_) => route.cloned(),
        };
        let mut hasher = FxHasher::default();
        pairs.hash(&mut hasher);
        if let Some(route) = &route {
            route.hash(&mut hasher);
        }
        Self(Arc::new(Inner { hash: hasher.finish(), pairs: pairs.into_boxed_slice(), route }))
    }

    /// The route of the requests that these tags belong to: `http://host/users/{id}`. It is no tag: nothing that shows tags
    /// shows it.
    pub fn route(&self) -> Option<&str> {
        self.0.route.as_deref()
    }

    /// This set as all see it who know tags alone: without a route.
    pub fn without_route(&self) -> Self {
        if self.0.route.is_none() {
            return self.clone();
        }
        Self::from_sorted(self.0.pairs.to_vec(), None)
    }

    /// This set and one tag more (or with another value).
    pub fn with(&self, key: &str, value: &str) -> Self {
        let (key, value) = (bounded(key), bounded(value));
        let pairs = &self.0.pairs;
        let mut all = Vec::with_capacity(pairs.len() + 1);
        match pairs.binary_search_by(|(known, _)| (**known).cmp(&key)) {
            Ok(at) if *pairs[at].1 == *value => return self.clone(),
            Ok(at) => {
                all.extend_from_slice(pairs);
                all[at].1 = Arc::from(value);
            }
            Err(at) => {
                all.extend_from_slice(&pairs[..at]);
                all.push((Arc::from(key), Arc::from(value)));
                all.extend_from_slice(&pairs[at..]);
            }
        }
        Self::from_sorted(all, self.0.route.as_ref())
    }

    /// This set and these tags; they win over the set's own, later ones over earlier ones.
    pub fn with_all(&self, pairs: &[(&str, &str)]) -> Self {
        let shared = |text: &str| -> Arc<str> { Arc::from(bounded(text)) };
        self.with_shared(pairs.iter().map(|(key, value)| (shared(key), shared(value))))
    }

    /// As [`with_all`](Self::with_all), of strings that are shared already, and none of them too long.
    pub(crate) fn with_shared(
        &self,
        pairs: impl ExactSizeIterator<Item = (Arc<str>, Arc<str>)>,
    ) -> Self {
        let mut all = Vec::with_capacity(self.len() + pairs.len());
        all.extend(self.0.pairs.iter().cloned());
        all.extend(pairs);
        Self::from_sorted(sorted(all), self.0.route.as_ref())
    }

    /// This set without one tag.
    pub fn without(&self, key: &str) -> Self {
        if self.get(key).is_none() {
            return self.clone();
        }
        let others = self.0.pairs.iter().filter(|(k, _)| &**k != key).cloned().collect();
        Self::from_sorted(others, self.0.route.as_ref())
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

    /// The same, to share.
    pub(crate) fn shared(&self) -> impl ExactSizeIterator<Item = &(Arc<str>, Arc<str>)> {
        self.0.pairs.iter()
    }

    /// About how many bytes it takes, what it shares with others included.
    pub fn size(&self) -> usize {
        /// Two pointers with their lengths, and what is counted beside each text.
        const PAIR: usize = 64;
        let route = self.0.route.as_ref().map_or(0, |route| route.len() + PAIR);
        self.0.pairs.iter().map(|(key, value)| key.len() + value.len() + PAIR).sum::<usize>()
            + route
    }

    /// How many tags.
    pub fn len(&self) -> usize {
        self.0.pairs.len()
    }

    /// Whether there is none, and no route.
    pub fn is_empty(&self) -> bool {
        self.0.pairs.is_empty() && self.0.route.is_none()
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

/// Sorts by key; of several with the same key the last stays.
fn sorted(mut pairs: Vec<(Arc<str>, Arc<str>)>) -> Vec<(Arc<str>, Arc<str>)> {
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        if is_same {
            std::mem::swap(&mut later.1, &mut earlier.1);
        }
        is_same
    });
    pairs
}

impl Default for TagSet {
    fn default() -> Self {
        Self::from_sorted(Vec::new(), None)
    }
}

impl PartialEq for TagSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.pairs == other.0.pairs
                && self.0.route == other.0.route)
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
    fn one_tag_more_goes_to_its_place() {
        let set = TagSet::from_pairs([("b", "2"), ("d", "4")]);
        for key in ["a", "c", "e"] {
            assert_eq!(
                set.with(key, "x"),
                TagSet::from_pairs([("b", "2"), ("d", "4"), (key, "x")])
            );
        }
        assert_eq!(set.with("d", "5"), TagSet::from_pairs([("b", "2"), ("d", "5")]));
        assert_eq!(set.with("d", "4"), set);
    }

    #[test]
    fn a_route_tells_sets_apart_and_is_no_tag() {
        let plain = TagSet::from_pairs([("b", "2"), ("", "0")]);
        let routed = plain.with_all(&[(TagSet::ROUTE, "/x"), ("a", "1")]);
        assert_eq!((routed.route(), routed.get(TagSet::ROUTE)), (Some("/x"), None));
        assert_eq!(routed.iter().collect::<Vec<_>>(), [("", "0"), ("a", "1"), ("b", "2")]);
        let plain = plain.with("a", "1");
        assert_ne!(routed, plain);
        assert_eq!(routed.without_route(), plain);
        assert_eq!(routed.with("c", "3").without("c"), routed);
        let other = routed.with(TagSet::ROUTE, "/y");
        assert_eq!((other.route(), other.len()), (Some("/y"), 3));
        assert!(!TagSet::from_pairs([(TagSet::ROUTE, "/x")]).is_empty());
    }

    #[test]
    fn long_texts_are_cut_where_a_letter_ends_and_counted() {
        let before = texts_cut();
        let set = TagSet::from_pairs([("k", "é".repeat(TAG_MAX))]).with("v", &"x".repeat(TAG_MAX));
        let cut = set.get("k").unwrap();
        assert!(cut.len() <= TAG_MAX && cut.ends_with("é…"), "{}", cut.len());
        assert_eq!(set.get("v").unwrap().len(), TAG_MAX);
        assert!(texts_cut() > before);
    }

    #[test]
    fn ten_thousand_tags_are_sorted_and_the_last_of_each_key_stays() {
        let many = (0..20_000).map(|n| (format!("{:05}", n % 10_000), n.to_string()));
        let set = TagSet::from_pairs(many);
        assert_eq!((set.len(), set.get("00007")), (10_000, Some("10007")));
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
