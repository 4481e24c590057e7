//! Sets of numbers that are nearly without holes.

use serde::{Deserialize, Serialize};

/// The most ranges that a set read from elsewhere may have.
pub(crate) const RANGES_MAX: usize = 100_000;

/// A set of numbers, as ranges from first to last, rising, none touching the next. JSON: `[[1,5],[7,9]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Puts a number in; false if it was in already.
    pub fn insert(&mut self, number: u64) -> bool {
        // The first range that ends at the number's predecessor or later. Mostly it is the last one.
        let index = match self.0.last() {
            Some((_, last)) if last.saturating_add(1) < number => self.0.len(),
            _ => self.0.partition_point(|(_, last)| last.saturating_add(1) < number),
        };
        let Some(&(first, last)) = self.0.get(index) else {
            self.0.push((number, number));
            return true;
        };
        if (first..=last).contains(&number) {
            return false;
        }
        if last.checked_add(1) == Some(number) {
            self.0[index].1 = number;
            if let Some(&(next, end)) = self.0.get(index + 1)
                && number.checked_add(1) == Some(next)
            {
                self.0[index].1 = end;
                self.0.remove(index + 1);
            }
        } else if number.checked_add(1) == Some(first) {
            self.0[index].0 = number;
        } else {
            self.0.insert(index, (number, number));
        }
        true
    }

    /// Puts all numbers from `first` to `last` in.
    pub fn insert_all(&mut self, first: u64, last: u64) {
        if first > last {
            return;
        }
        // All ranges that touch it become one.
        let from = self.0.partition_point(|(_, end)| end.saturating_add(1) < first);
        let to = self.0.partition_point(|(start, _)| *start <= last.saturating_add(1));
        let touched = &self.0[from..to.max(from)];
        let first = touched.first().map_or(first, |(start, _)| first.min(*start));
        let last = touched.last().map_or(last, |(_, end)| last.max(*end));
        self.0.splice(from..to.max(from), [(first, last)]);
    }

    /// The first `most` of its ranges.
    #[must_use]
    pub fn first(mut self, most: usize) -> Self {
        self.0.truncate(most);
        self
    }

    /// The ranges, rising.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// How many numbers are in.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Whether a number is in.
    pub fn contains(&self, number: u64) -> bool {
        let index = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(index).is_some_and(|(first, _)| *first <= number)
    }

    /// How many numbers from 1 to `last` are not in.
    pub fn missing(&self, last: u64) -> u64 {
        let within = |(from, to): &(u64, u64)| {
            let (from, to) = ((*from).max(1), (*to).min(last));
            if from <= to { to - from + 1 } else { 0 }
        };
        last.saturating_sub(self.0.iter().map(within).sum())
    }

    /// The greatest number in it; 0 if there is none.
    pub fn last(&self) -> u64 {
        self.0.last().map_or(0, |(_, last)| *last)
    }

    /// Whether the ranges rise and none touches the next, as those of this type do; others were made up.
    pub fn is_sound(&self) -> bool {
        self.0.len() <= RANGES_MAX
            && self.0.iter().all(|(first, last)| first <= last)
            && self.0.windows(2).all(|pair| pair[0].1.saturating_add(1) < pair[1].0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_a_set(numbers in prop::collection::vec(1..60_u64, 0..80), last in 0..70_u64) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(ranges.insert(number), set.insert(number));
                prop_assert!(ranges.is_sound());
            }
            for number in 0..70 {
                prop_assert_eq!(ranges.contains(number), set.contains(&number));
            }
            prop_assert_eq!(ranges.missing(last), last - set.range(..=last).count() as u64);
            prop_assert_eq!(ranges.last(), set.last().copied().unwrap_or(0));
            prop_assert_eq!(ranges.count(), set.len() as u64);
            let (first, end) = (last / 2, last);
            let mut more = ranges.clone();
            more.insert_all(first, end);
            prop_assert!(more.is_sound());
            for number in 0..80 {
                let is_in = set.contains(&number) || (first..=end).contains(&number);
                prop_assert_eq!(more.contains(number), is_in);
            }
            let json = serde_json::to_string(&ranges).unwrap();
            prop_assert_eq!(serde_json::from_str::<Ranges>(&json).unwrap(), ranges);
        }
    }

    #[test]
    fn the_ends_of_the_numbers_are_no_trap() {
        let mut ranges = Ranges::default();
        for number in [u64::MAX, 0, u64::MAX - 1, 1, u64::MAX] {
            ranges.insert(number);
        }
        assert_eq!(ranges.0, [(0, 1), (u64::MAX - 1, u64::MAX)]);
        assert_eq!((ranges.missing(1), ranges.missing(3)), (0, 2));
        assert!(!Ranges(vec![(5, 4)]).is_sound() && !Ranges(vec![(1, 2), (3, 4)]).is_sound());
    }
}
