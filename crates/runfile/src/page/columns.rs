//! The slices of a series as columns of numbers, each in the shortest form that gives it back bit by bit.

use brunt_metrics::Sink;

use crate::histogram::encode;
use crate::varint::{put, put_signed};

/// Whole numbers below this are exact as doubles.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The columns of a series, slice by slice.
#[derive(Debug, Default)]
pub(super) struct Columns {
    first: u64,
    numbers: Vec<Vec<f64>>,
    /// Of trends.
    histograms: Vec<u8>,
}

impl Columns {
    /// Adds a slice, which is later than all before.
    pub(super) fn push(&mut self, slice: u64, sink: &Sink, binned: bool) {
        let mut size = 0.0;
        if let Sink::Trend(trend) = sink {
            let before = self.histograms.len();
            encode(trend.distribution(), binned, &mut self.histograms);
            size = (self.histograms.len() - before) as f64;
        }
        let numbers = match sink {
            Sink::Counter { sum, .. } => vec![*sum],
            Sink::Rate { hits, total } => vec![*total as f64, *hits as f64],
            Sink::Gauge { last, min, max, at } => {
                let at = at.map_or(0, |at| (at / 1000).max(1));
                vec![at as f64, *last, *min, *max]
            }
            Sink::Trend(trend) => {
                vec![trend.count() as f64, trend.sum(), trend.min(), trend.max(), size]
            }
        };
        if self.numbers.is_empty() {
            self.first = slice;
            self.numbers = vec![Vec::new(); numbers.len()];
        }
        let place = (slice - self.first) as usize;
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            // Slices without values lie between.
            column.resize(place, 0.0);
            column.push(number);
        }
    }

    /// The bytes of a chunk with all of them.
    pub(super) fn chunk(self, series: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, series);
        put(&mut out, self.first);
        put(&mut out, self.numbers.first().map_or(0, Vec::len) as u64);
        for column in &self.numbers {
            write(column, &mut out);
        }
        out.extend_from_slice(&self.histograms);
        out
    }
}

/// A column in its shortest form.
fn write(column: &[f64], out: &mut Vec<u8>) {
    if column.iter().all(|number| number.to_bits() == 0) {
        out.push(0);
        return;
    }
    let mut best = vec![2];
    for number in column {
        best.extend_from_slice(&number.to_le_bytes());
    }
    for (scale, plain, steps) in [(1.0, 1, 4), (1e6, 3, 5)] {
        let Some(whole) = whole(column, scale) else { continue };
        let mut one = vec![plain];
        for number in &whole {
            put_signed(&mut one, *number);
        }
        let mut other = vec![steps];
        let mut before = 0;
        for number in whole {
            put_signed(&mut other, number - before);
            before = number;
        }
        for form in [one, other] {
            if form.len() < best.len() {
                best = form;
            }
        }
    }
    out.extend_from_slice(&best);
}

/// The numbers as whole parts of 1/scale, if each comes back from it bit by bit.
fn whole(column: &[f64], scale: f64) -> Option<Vec<i64>> {
    let whole = |number: &f64| {
        let scaled = (number * scale).round();
        let is_small = scaled.abs() < WHOLE_MAX;
        let scaled = scaled as i64;
        (is_small && (scaled as f64 / scale).to_bits() == number.to_bits()).then_some(scaled)
    };
    column.iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint::{take, take_signed};

    fn there_and_back(column: &[f64]) -> u8 {
        let mut out = Vec::new();
        write(column, &mut out);
        let (mode, mut bytes) = out.split_first().unwrap();
        let mut before = 0;
        let back: Vec<f64> = column
            .iter()
            .map(|_| match mode {
                0 => 0.0,
                2 => {
                    let (number, rest) = bytes.split_at(8);
                    bytes = rest;
                    f64::from_le_bytes(number.try_into().unwrap())
                }
                mode => {
                    let number = take_signed(&mut bytes).unwrap();
                    before = if *mode > 3 { before + number } else { number };
                    before as f64 / if mode % 2 == 1 && *mode > 1 { 1e6 } else { 1.0 }
                }
            })
            .collect();
        assert!(bytes.is_empty());
        let bits = |column: &[f64]| column.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(column));
        *mode
    }

    #[test]
    fn columns_come_back_in_their_shortest_form() {
        assert_eq!(there_and_back(&[0.0, 0.0]), 0);
        assert_eq!(there_and_back(&[5.0, -3.0, 0.0]), 1);
        assert_eq!(there_and_back(&[1e9, 1e9 + 1.0, 1e9 + 2.0]), 4);
        assert_eq!(there_and_back(&[0.000_001, 12.5]), 3);
        assert_eq!(there_and_back(&[1_000.000_001, 1_000.000_002, 1_000.000_003]), 5);
        assert_eq!(there_and_back(&[f64::INFINITY, 0.1 / 3.0]), 2);
        assert_eq!(there_and_back(&[-0.0]), 2);
    }

    #[test]
    fn slices_without_values_are_zeros() {
        let mut columns = Columns::default();
        for slice in [3, 5] {
            columns.push(slice, &Sink::Counter { sum: 2.0, rest: 0.0, first_at: None }, false);
        }
        let chunk = columns.chunk(7);
        let mut bytes = &*chunk;
        assert_eq!([7, 3, 3], [0; 3].map(|_| take(&mut bytes).unwrap()));
        assert_eq!(bytes, [1, 4, 0, 4]);
    }
}
