//! A page: neighbouring rows of a table in one piece of memory.

/// The most rows of a page; a page that would have more is split.
pub(crate) const PAGE_ROWS: usize = 128;

/// Rows in the order of their keys.
#[derive(Debug, Default, Clone)]
pub(crate) struct Page {
    keys: Vec<i64>,
    /// Where each row ends in `bytes`.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Page {
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn keys(&self) -> &[i64] {
        &self.keys
    }

    /// Bytes of its rows.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Where a row is, or would be.
    pub(crate) fn find(&self, key: i64) -> Result<usize, usize> {
        match self.keys.last() {
            // Mostly a row goes behind all others.
            Some(&last) if key > last => Err(self.keys.len()),
            _ => self.keys.binary_search(&key),
        }
    }

    pub(crate) fn row(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..self.ends[index] as usize]
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Puts a row in front of the one at `index`.
    pub(crate) fn insert(&mut self, index: usize, key: i64, row: &[u8]) {
        let start = self.start(index);
        self.keys.insert(index, key);
        self.ends.insert(index, start as u32);
        self.write(index, start..start, row);
    }

    pub(crate) fn replace(&mut self, index: usize, row: &[u8]) {
        self.write(index, self.start(index)..self.ends[index] as usize, row);
    }

    pub(crate) fn remove(&mut self, index: usize) {
        self.write(index, self.start(index)..self.ends[index] as usize, &[]);
        self.keys.remove(index);
        self.ends.remove(index);
    }

    fn write(&mut self, index: usize, old: std::ops::Range<usize>, row: &[u8]) {
        let (grown, lost) = (row.len() as u32, old.len() as u32);
        self.bytes.splice(old, row.iter().copied());
        for end in &mut self.ends[index..] {
            *end = *end + grown - lost;
        }
    }

    /// The upper half, which leaves this page.
    pub(crate) fn split(&mut self) -> Self {
        let half = self.keys.len() / 2;
        let cut = self.start(half);
        let upper = Self {
            keys: self.keys.split_off(half),
            ends: self.ends.split_off(half).iter().map(|end| end - cut as u32).collect(),
            bytes: self.bytes.split_off(cut),
        };
        self.keys.shrink_to_fit();
        upper
    }
}
