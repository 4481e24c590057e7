//! The tables of RFC 7541: the fixed one of appendix A, and the one that each direction fills.

use std::collections::VecDeque;

/// Appendix A; the first has the index 1.
#[rustfmt::skip]
pub(super) const FIXED: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
    ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
    ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
    ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
    ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
    ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""),
    ("vary", ""), ("via", ""), ("www-authenticate", ""),
];

/// The cost of an entry beside its bytes.
const ENTRY_COST: usize = 32;

/// Name and value, one behind the other.
#[derive(Debug)]
pub(super) struct Entry {
    text: Box<[u8]>,
    name_len: usize,
}

impl Entry {
    pub(super) fn name(&self) -> &[u8] {
        &self.text[..self.name_len]
    }

    pub(super) fn value(&self) -> &[u8] {
        &self.text[self.name_len..]
    }

    fn cost(&self) -> usize {
        self.text.len() + ENTRY_COST
    }
}

/// The newest entries, up to a size in all.
#[derive(Debug)]
pub(super) struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
}

impl Table {
    pub(super) fn new(size_max: usize) -> Self {
        Self { entries: VecDeque::new(), size: 0, size_max }
    }

    /// The entries from the newest on; the first has the index 62.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index.checked_sub(FIXED.len() + 1)?)
    }

    pub(super) fn resize(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.shrink_to(size_max);
    }

    pub(super) fn size_max(&self) -> usize {
        self.size_max
    }

    /// One more. The oldest make room for it; if it is too large for that, the table is empty afterwards.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let entry = Entry { text: [name, value].concat().into(), name_len: name.len() };
        let cost = entry.cost();
        self.shrink_to(self.size_max.saturating_sub(cost));
        if cost <= self.size_max {
            self.size += cost;
            self.entries.push_front(entry);
        }
    }

    fn shrink_to(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.entries.pop_back() else { return };
            self.size -= oldest.cost();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let mut table = Table::new(100);
        table.add(b"a", b"1");
        table.add(b"b", b"22");
        assert_eq!(table.get(62).map(Entry::name), Some(&b"b"[..]));
        assert_eq!(table.get(63).map(Entry::value), Some(&b"1"[..]));
        assert!(table.get(64).is_none() && table.get(61).is_none());
        table.add(b"c", b"");
        assert_eq!(table.iter().count(), 2);
        table.resize(40);
        assert_eq!(table.iter().count(), 1);
        table.add(b"much too long for it", b"");
        assert_eq!(table.iter().count(), 0);
    }
}
