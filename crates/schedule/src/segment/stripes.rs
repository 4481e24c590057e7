//! The segments' shares of the numbers of iterations.

/// The numbers of one period, dealt out to segments. Index n belongs to whom n modulo the period does.
#[derive(Debug)]
pub(crate) struct Stripes {
    lengths: Vec<u64>,
    period: u64,
    /// For each segment the numbers it owns in `0..period`, ascending.
    owned: Vec<Vec<u32>>,
}

impl Stripes {
    /// Deals out `0..sum` to segments of these lengths (all more than 0, the sum at most `u32::MAX`).
    ///
    /// Each number goes to the first segment, longest first, that would otherwise fall behind its part:
    /// having got `t` numbers, segment i may take number n as soon as `n ≥ t · period / length_i`.
    pub(crate) fn deal(lengths: &[u64]) -> Self {
        let period: u64 = lengths.iter().sum();
        assert!(u32::try_from(period).is_ok(), "a period is no longer than VUs can be");
        let mut owned: Vec<Vec<u32>> =
            lengths.iter().map(|length| Vec::with_capacity(*length as usize)).collect();
        let mut turns: Vec<usize> = (0..lengths.len()).collect();
        turns.sort_by_key(|index| std::cmp::Reverse(lengths[*index]));
        for n in 0..period {
            let next = turns
                .iter()
                .copied()
                .find(|index| n * lengths[*index] >= owned[*index].len() as u64 * period);
            // If all had more than n · length / period numbers, together they had more than n.
            let next = next.expect("some part has no more numbers than its share");
            owned[next].push(n as u32);
        }
        Self { lengths: lengths.to_vec(), period, owned }
    }

    pub(crate) fn count(&self) -> usize {
        self.lengths.len()
    }

    pub(crate) fn period(&self) -> u64 {
        self.period
    }

    pub(crate) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    pub(crate) fn length(&self, segment: usize) -> u64 {
        self.lengths[segment]
    }

    /// How many of `0..v` this segment owns.
    pub(crate) fn owned_below(&self, segment: usize, v: u64) -> u64 {
        let rest = v % self.period;
        let of_rest = self.owned[segment].partition_point(|n| u64::from(*n) < rest);
        v / self.period * self.lengths[segment] + of_rest as u64
    }

    /// The n-th number (from 0) that this segment owns; `u64::MAX` if it is beyond that.
    pub(crate) fn nth(&self, segment: usize, n: u64) -> u64 {
        let length = self.lengths[segment];
        if self.period == length {
            return n;
        }
        let offset = u64::from(self.owned[segment][(n % length) as usize]);
        (n / length).saturating_mul(self.period).saturating_add(offset)
    }
}
