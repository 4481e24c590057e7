//! How far a scenario was in the process that made its load before.

/// How far a closed scenario was in the process that made its load before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Its place among all scenarios, ordered by start time and name, from 0.
    pub scenario: u32,
    /// Of a scenario without a number of iterations: numbers below this one may have been used.
    pub begun: u64,
    /// Of one with a number of iterations: the ranges, from first to last, of those that are done; rising.
    pub done: Vec<(u64, u64)>,
}

/// Numbers of iterations that are done: ranges, rising.
#[derive(Debug, Default)]
pub(crate) struct DoneBefore(Box<[(u64, u64)]>);

impl DoneBefore {
    pub(crate) fn new(done: &[(u64, u64)]) -> DoneBefore {
        DoneBefore(done.into())
    }

    /// The end of the range in which this number lies.
    pub(crate) fn end_of(&self, number: u64) -> Option<u64> {
        let place = self.0.partition_point(|(_, last)| *last < number);
        let (first, last) = *self.0.get(place)?;
        (first <= number).then_some(last)
    }

    /// How many there are from `begin` up to, but not with, `end`.
    pub(crate) fn count(&self, begin: u64, end: u64) -> u64 {
        let within = |(first, last): &(u64, u64)| {
            last.saturating_add(1).min(end).saturating_sub((*first).max(begin))
        };
        self.0.iter().map(within).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_done_are_known_and_counted() {
        let done = DoneBefore::new(&[(0, 4), (7, 7), (9, 12)]);
        let ends = [0, 4, 5, 7, 8, 12, 13].map(|number| done.end_of(number));
        assert_eq!(ends, [Some(4), Some(4), None, Some(7), None, Some(12), None]);
        assert_eq!((done.count(0, 100), done.count(3, 10), done.count(8, 9)), (10, 4, 0));
        assert_eq!(DoneBefore::default().end_of(0), None);
    }
}
