//! The item that everything caches, and its JSON.

use bytes::Bytes;
use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::dice::mix;
use crate::timing::now_utc;

/// An item as its route answers it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Item {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) price: f64,
    /// 1 at first; grows by each write.
    pub(super) version: u32,
    #[serde(rename = "loadedAt")]
    pub(super) loaded_at: String,
    description: &'static str,
    categories: [&'static str; 2],
    stock: u64,
    /// Shown by the two pitfall routes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hits: Option<u64>,
}

/// The fields that a write may change.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Change {
    pub(super) name: Option<String>,
    pub(super) price: Option<f64>,
}

/// An item ready to be sent: its JSON is made once, when it is loaded.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) id: u64,
    pub(super) version: u32,
    pub(super) body: Bytes,
    pub(super) etag: HeaderValue,
    /// When the origin gave it, milliseconds since 1970.
    pub(super) at_ms: i64,
}

const KINDS: [&str; 8] = ["Lamp", "Chair", "Table", "Shelf", "Clock", "Carpet", "Mirror", "Desk"];
const STYLES: [&str; 8] =
    ["Nordic", "Rustic", "Modern", "Classic", "Compact", "Folding", "Tall", "Quiet"];
const DESCRIPTION: &str = "Made to be asked for again and again: its price seldom changes, its page \
    is read a thousand times a day, and finding it in the old system takes about a second.";

impl Item {
    /// Item `id` at this version, with what writes changed.
    pub(super) fn new(id: u64, version: u32, change: Option<&Change>) -> Self {
        let dice = mix(id);
        let style = STYLES[(dice % 8) as usize];
        let kind = KINDS[(dice >> 8) as usize % 8];
        let name =
            change.and_then(|c| c.name.clone()).unwrap_or_else(|| format!("{style} {kind} {id}"));
        let price =
            change.and_then(|c| c.price).unwrap_or((100 + (dice >> 16) % 99_900) as f64 / 100.0);
        Self {
            id,
            name,
            price,
            version,
            loaded_at: now_utc().0,
            description: DESCRIPTION,
            categories: ["furniture", kind],
            stock: (dice >> 40) % 500,
            hits: None,
        }
    }

    /// Its JSON.
    pub(super) fn json(&self) -> Bytes {
        serde_json::to_vec(self).expect("plain data always serialises").into()
    }
}

impl Loaded {
    /// The origin's answer at this moment.
    pub(super) fn now(item: &Item) -> Self {
        Self::new(item.id, item.version, now_utc().1, item.json())
    }

    fn new(id: u64, version: u32, at_ms: i64, body: Bytes) -> Self {
        let etag = HeaderValue::try_from(format!("\"{id}-{version}\""))
            .expect("digits, a dash and quotes are visible ASCII");
        Self { id, version, body, etag, at_ms }
    }

    /// Whole seconds since it was loaded.
    pub(super) fn age_s(&self) -> u64 {
        let age_ms = jiff::Timestamp::now().as_millisecond() - self.at_ms;
        u64::try_from(age_ms / 1000).unwrap_or(0)
    }

    /// Its form in Redis: `version at_ms`, a line break, the JSON.
    pub(super) fn to_stored(&self) -> Vec<u8> {
        let mut stored = format!("{} {}\n", self.version, self.at_ms).into_bytes();
        stored.extend_from_slice(&self.body);
        stored
    }

    /// Reads [`Self::to_stored`]; `None` for any other bytes.
    pub(super) fn from_stored(id: u64, stored: Vec<u8>) -> Option<Self> {
        let end = memchr::memchr(b'\n', &stored)?;
        let (version, at_ms) = std::str::from_utf8(&stored[..end]).ok()?.split_once(' ')?;
        let (version, at_ms) = (version.parse().ok()?, at_ms.parse().ok()?);
        let body = Bytes::from(stored).slice(end + 1..);
        Some(Self::new(id, version, at_ms, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_between_300_and_500_bytes_and_always_the_same() {
        for id in [0, 99, u64::MAX] {
            let size = Item::new(id, 1, None).json().len();
            assert!((300..=500).contains(&size), "{size}");
            assert_eq!(Item::new(id, 1, None).name, Item::new(id, 2, None).name);
        }
    }

    #[test]
    fn what_redis_stores_reads_back() {
        let loaded = Loaded::now(&Item::new(99, 3, None));
        let back = Loaded::from_stored(99, loaded.to_stored()).unwrap();
        assert_eq!((back.version, back.at_ms), (3, loaded.at_ms));
        assert_eq!(back.body, loaded.body);
        assert_eq!(back.etag, "\"99-3\"");
        assert!(Loaded::from_stored(99, b"something else".to_vec()).is_none());
    }
}
