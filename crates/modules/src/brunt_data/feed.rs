//! Which row is next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use brunt_leases::{Lease, Rows};
use brunt_schedule::{Segment, mixed, seed_of};

/// In which order rows are given out: Gatling's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Each once, in order.
    Queue,
    /// In order, and again from the beginning.
    Circular,
    /// Any, with repetition.
    Random,
    /// Each once, in an order that the seed decides.
    Shuffle,
}

impl Strategy {
    pub(super) const WORDS: &[(&str, Self)] = &[
        ("queue", Self::Queue),
        ("circular", Self::Circular),
        ("random", Self::Random),
        ("shuffle", Self::Shuffle),
    ];

    /// Whether the rows come to an end.
    pub(super) fn ends(self) -> bool {
        matches!(self, Self::Queue | Self::Shuffle)
    }
}

/// How the processes of a test share the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Each has the rows of its segment, as iterations are dealt out: no row is in two of them, and none asks another.
    Striped,
    /// Blocks of rows go to whoever is next: all run dry together.
    Leased,
    /// Each has all rows.
    Instance,
}

impl Share {
    pub(super) const WORDS: &[(&str, Self)] =
        &[("striped", Self::Striped), ("leased", Self::Leased), ("instance", Self::Instance)];
}

/// The rows of this process, and how far they are given out.
///
/// The cursor is one atomic number. Cores that take rows at the same time wait for each other's write to it, some tens of nanoseconds,
/// and for no lock.
#[derive(Debug)]
pub(super) struct Feed {
    strategy: Strategy,
    /// The stripe of this process, if it has not all rows.
    segment: Option<Segment>,
    /// How many rows it has.
    count: u64,
    /// Shuffled: which of its rows is at which place.
    order: Option<Box<[u32]>>,
    leased: Option<Arc<Rows>>,
    /// How often a row was asked for, and there was one.
    taken: AtomicU64,
}

impl Feed {
    /// The rows of a segment, or of all in [`Segment::full`], of `total` in all. The seed is that of the run: it decides, with the
    /// name, the order of shuffled rows.
    pub(super) fn new(
        strategy: Strategy,
        segment: &Segment,
        total: u32,
        seed: u64,
        name: &str,
    ) -> Self {
        let count = segment.scale(total.into());
        let is_shuffled = strategy == Strategy::Shuffle;
        let order = is_shuffled.then(|| shuffled(count as u32, seed_of(seed, name)));
        let segment = (!segment.is_full()).then(|| segment.clone());
        Self { strategy, segment, count, order, leased: None, taken: AtomicU64::new(0) }
    }

    /// The same, with places that are leased.
    pub(super) fn leased(self, leased: Arc<Rows>) -> Self {
        Self { leased: Some(leased), ..self }
    }

    /// The bytes that the order of `total` rows takes.
    pub(super) fn weight(strategy: Strategy, total: u32) -> usize {
        if strategy == Strategy::Shuffle { total as usize * size_of::<u32>() } else { 0 }
    }

    /// How many rows this process has.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// How many were given out by this process.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// The next row, counted from 0 in all rows of the test. `draw` gives random numbers.
    pub(super) fn next(&self, draw: impl FnOnce() -> u64) -> Next<'_> {
        if let Some(leased) = &self.leased {
            return match leased.take() {
                Lease::Place(place) => {
                    self.taken.fetch_add(1, Relaxed);
                    Next::Row(self.row(place))
                }
                Lease::None => Next::None,
                Lease::Later(answers) => Next::Later(leased, answers),
            };
        }
        if self.count == 0 || (self.strategy.ends() && self.taken() >= self.count) {
            return Next::None;
        }
        let number = self.taken.fetch_add(1, Relaxed);
        let place = match self.strategy {
            Strategy::Queue | Strategy::Shuffle if number < self.count => number,
            Strategy::Queue | Strategy::Shuffle => {
                // Others were quicker. They are as many as there are cores, so the number goes down soon again.
                self.taken.fetch_sub(1, Relaxed);
                return Next::None;
            }
            Strategy::Circular => number % self.count,
            Strategy::Random => {
                let wide = u128::from(draw()) * u128::from(self.count);
                (wide >> 64) as u64
            }
        };
        Next::Row(self.row(place))
    }

    /// The row at a place of this process.
    fn row(&self, place: u64) -> u32 {
        let own = match &self.order {
            Some(order) => order[place as usize].into(),
            None => place,
        };
        let row = self.segment.as_ref().map_or(own, |segment| segment.global(own));
        u32::try_from(row).expect("places are below the number of rows, which fits")
    }
}

/// The answer to a caller.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A row.
    Row(u32),
    /// None, any more.
    None,
    /// The caller waits for the next answer of the leases, after this number of them, and asks again.
    Later(&'a Rows, u64),
}

/// The numbers below `count`, in an order that the seed decides.
fn shuffled(count: u32, seed: u64) -> Box<[u32]> {
    let mut order: Box<[u32]> = (0..count).collect();
    let mut state = seed;
    for last in (1..order.len()).rev() {
        state = state.wrapping_add(1);
        let wide = u128::from(mixed(state)) * (last as u128 + 1);
        order.swap(last, (wide >> 64) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn rows(feed: &Feed) -> Vec<u32> {
        std::iter::from_fn(|| match feed.next(|| unreachable!("nothing is random")) {
            Next::Row(row) => Some(row),
            _ => None,
        })
        .collect()
    }

    fn whole(strategy: Strategy, total: u32, seed: u64) -> Feed {
        Feed::new(strategy, &Segment::full(), total, seed, "r")
    }

    #[test]
    fn a_queue_gives_each_row_once_in_order() {
        let feed = whole(Strategy::Queue, 5, 1);
        assert_eq!(rows(&feed), [0, 1, 2, 3, 4]);
        assert!(matches!(feed.next(|| 0), Next::None));
        assert_eq!((feed.taken(), feed.count()), (5, 5));
        assert!(rows(&whole(Strategy::Queue, 0, 1)).is_empty());
    }

    #[test]
    fn a_circle_begins_again_and_counts_on() {
        let feed = whole(Strategy::Circular, 3, 1);
        let seven: Vec<_> = (0..7).map(|_| format!("{:?}", feed.next(|| 0))).collect();
        assert_eq!(seven.concat(), "Row(0)Row(1)Row(2)Row(0)Row(1)Row(2)Row(0)");
        assert_eq!(feed.taken(), 7);
    }

    #[test]
    fn random_rows_are_what_is_drawn() {
        let feed = whole(Strategy::Random, 4, 1);
        let ends = [0, 1 << 62, u64::MAX].map(|drawn| format!("{:?}", feed.next(|| drawn)));
        assert_eq!(ends.concat(), "Row(0)Row(1)Row(3)");
    }

    #[test]
    fn the_seed_and_the_name_decide_the_order() {
        let (a, b) = (whole(Strategy::Shuffle, 100, 7), whole(Strategy::Shuffle, 100, 7));
        let (a, b) = (rows(&a), rows(&b));
        assert_eq!(a, b);
        assert_ne!(a, rows(&whole(Strategy::Shuffle, 100, 8)));
        let other = Feed::new(Strategy::Shuffle, &Segment::full(), 100, 7, "s");
        assert_ne!(a, rows(&other));
        assert_eq!(a.into_iter().collect::<BTreeSet<_>>().len(), 100);
    }

    #[test]
    fn each_place_of_a_shuffle_has_each_row_as_often() {
        let mut seen = [[0_u32; 4]; 4];
        for seed in 0..4000 {
            let order = shuffled(4, mixed(seed));
            for (place, row) in order.iter().enumerate() {
                seen[place][*row as usize] += 1;
            }
        }
        // Of 4000, a quarter each; six deviations are 164.
        assert!(seen.iter().flatten().all(|count| (836..1164).contains(count)), "{seen:?}");
    }

    #[test]
    fn leased_rows_are_shuffled_over_all() {
        let got = rows(&whole(Strategy::Shuffle, 1000, 7).leased(Rows::alone(1000)));
        assert_eq!(got, rows(&whole(Strategy::Shuffle, 1000, 7)));
    }

    #[test]
    fn threads_that_take_at_the_same_time_get_each_row_once() {
        let feed = whole(Strategy::Queue, 100_000, 1);
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| rows(&feed))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100_000));
        assert_eq!(feed.taken(), 100_000);
    }

    proptest! {
        /// Stripes are disjoint and together all rows, shuffled or not, though each process shuffles with a seed of its own.
        #[test]
        fn segments_share_all_rows(
            total in 0_u32..500,
            cuts in prop::collection::btree_set(1_u64..20, 0..4),
            shuffles in any::<bool>(),
        ) {
            let mut points: Vec<String> = vec!["0".to_owned()];
            points.extend(cuts.iter().map(|cut| format!("{cut}/20")));
            points.push("1".to_owned());
            let sequence = points.join(",");
            let strategy = if shuffles { Strategy::Shuffle } else { Strategy::Queue };
            let mut all = Vec::new();
            for (seed, pair) in points.windows(2).enumerate() {
                let segment = Segment::parse(Some(&pair.join(":")), Some(&sequence)).unwrap();
                let feed = Feed::new(strategy, &segment, total, seed as u64, "r");
                let own = rows(&feed);
                prop_assert_eq!(own.len() as u64, feed.count());
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..total));
        }
    }
}
