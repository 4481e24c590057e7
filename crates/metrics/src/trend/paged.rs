//! A histogram of all floats that costs memory only where values fall.

/// Buckets per page: 64 × 8 bytes; an octave has 16 pages.
const PAGE: usize = 64;
/// Pages that a pool keeps for later (1 MiB of them); more are freed.
const POOL_MAX: usize = 2048;
/// Pages that are found by their number's low bits alone: four octaves in a row don't collide.
const RECENT: usize = 64;

/// No page yet: the low bits of each number are those of another cell.
const NOBODY: [(u16, u16); RECENT] = {
    let mut cells = [(0, 0); RECENT];
    let mut low = 0;
    while low < RECENT {
        cells[low].0 = low as u16 + 1;
        low += 1;
    }
    cells
};

type Page = Box<[u64; PAGE]>;

/// Counts by bucket key (22 bits), in pages made when first needed.
///
/// Bounded by nature: 65 536 pages (32 MiB) if values fall everywhere; latencies from a
/// microsecond to a minute can touch 416 (208 KiB).
#[derive(Clone, Debug, Default)]
pub(crate) struct Paged {
    /// In the order they were made.
    pages: Vec<Page>,
    /// The number of each page and its place in `pages`, sorted.
    places: Vec<(u16, u16)>,
    /// The latest of `places` for each value of a number's low bits, so that a value is mostly
    /// counted without a search. Made with the first page.
    recent: Option<Box<[(u16, u16); RECENT]>>,
}

impl Paged {
    /// Counts `count` more values in bucket `key`.
    #[inline]
    pub(crate) fn add(&mut self, key: u32, count: u64, pool: &mut PagePool) {
        let number = (key as usize / PAGE) as u16;
        if let Some(recent) = &self.recent {
            let (found, place) = recent[number as usize % RECENT];
            if found == number
                && let Some(page) = self.pages.get_mut(place as usize)
            {
                page[key as usize % PAGE] += count;
                return;
            }
        }
        let place = self.find(number, pool);
        self.pages[place as usize][key as usize % PAGE] += count;
    }

    /// The place of a page, made if it is new.
    #[inline(never)]
    fn find(&mut self, number: u16, pool: &mut PagePool) -> u16 {
        let place = match self.places.binary_search_by_key(&number, |(found, _)| *found) {
            Ok(index) => self.places[index].1,
            Err(index) => {
                // There are 65 536 numbers, so places fit too.
                let place = self.pages.len() as u16;
                self.pages.push(pool.take());
                self.places.insert(index, (number, place));
                place
            }
        };
        let recent = self.recent.get_or_insert_with(|| Box::new(NOBODY));
        recent[number as usize % RECENT] = (number, place);
        place
    }

    /// The bytes of its pages.
    pub(crate) fn size(&self) -> usize {
        self.pages.len() * size_of::<[u64; PAGE]>()
    }

    /// The buckets that hold something, by rising key, with their counts.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.places.iter().flat_map(|(number, place)| {
            let first = u32::from(*number) * PAGE as u32;
            self.pages[*place as usize]
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(move |(offset, count)| (first + offset as u32, *count))
        })
    }

    /// Gives all pages back, empty.
    pub(crate) fn clear(&mut self, pool: &mut PagePool) {
        if let Some(recent) = &mut self.recent {
            **recent = NOBODY;
        }
        self.places.clear();
        for page in self.pages.drain(..) {
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
