//! A histogram of all floats that costs memory only where values fall.

/// Buckets per page: 64 × 8 bytes; an octave has 16 pages.
const PAGE: usize = 64;
/// Pages that a pool keeps for later (1 MiB of them); more are freed.
const POOL_MAX: usize = 2048;

type Page = Box<[u64; PAGE]>;

/// Counts by bucket key (22 bits), in pages made when first needed, sorted by number.
///
/// Bounded by nature: 65 536 pages (32 MiB) if values fall everywhere; latencies from a
/// microsecond to a minute can touch 416 (208 KiB).
#[derive(Clone, Debug, Default)]
pub(crate) struct Paged {
    pages: Vec<(u16, Page)>,
    /// The page that was hit last: the next value mostly falls near.
    last: usize,
}

impl Paged {
    /// Counts `count` more values in bucket `key`.
    pub(crate) fn add(&mut self, key: u32, count: u64, pool: &mut PagePool) {
        let number = (key as usize / PAGE) as u16;
        let hit = self
            .pages
            .get(self.last)
            .is_some_and(|(found, _)| *found == number);
        if !hit {
            self.last = match self
                .pages
                .binary_search_by_key(&number, |(found, _)| *found)
            {
                Ok(index) => index,
                Err(index) => {
                    self.pages.insert(index, (number, pool.take()));
                    index
                }
            };
        }
        self.pages[self.last].1[key as usize % PAGE] += count;
    }

    /// The buckets that hold something, by rising key, with their counts.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.pages.iter().flat_map(|(number, page)| {
            let first = u32::from(*number) * PAGE as u32;
            page.iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(move |(offset, count)| (first + offset as u32, *count))
        })
    }

    /// Gives all pages back, empty.
    pub(crate) fn clear(&mut self, pool: &mut PagePool) {
        self.last = 0;
        for (_, page) in self.pages.drain(..) {
            pool.give(page);
        }
    }
}

/// Pages to use again, so that a core in its stride allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct PagePool {
    free: Vec<Page>,
}

impl PagePool {
    fn take(&mut self) -> Page {
        self.free.pop().unwrap_or_else(|| Box::new([0; PAGE]))
    }

    fn give(&mut self, mut page: Page) {
        if self.free.len() < POOL_MAX {
            page.fill(0);
            self.free.push(page);
        }
    }
}
