//! The timing of a log as the file of a pacer.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// The most stretches of time that are kept; beyond it each becomes twice as long.
const STRETCHES_MAX: usize = 7200;

/// Requests in stretches of time.
#[derive(Debug)]
pub(super) struct Pace {
    /// The length of a stretch, in seconds: a power of 2.
    length: i64,
    /// By the number of the stretch since 1970.
    counts: BTreeMap<i64, u64>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { length: 1, counts: BTreeMap::new() }
    }
}

impl Pace {
    /// A request, at milliseconds since 1970.
    pub(super) fn add(&mut self, at: i64) {
        *self.counts.entry(at.div_euclid(1000 * self.length)).or_default() += 1;
        while self.counts.len() > STRETCHES_MAX {
            self.length *= 2;
            for (number, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(number.div_euclid(2)).or_default() += count;
            }
        }
    }

    fn ends(&self) -> Option<(i64, i64)> {
        Some((*self.counts.first_key_value()?.0, *self.counts.last_key_value()?.0 + 1))
    }

    /// From the begin of the first stretch to the end of the last one.
    pub(super) fn seconds(&self) -> u64 {
        let (first, end) = self.ends().unwrap_or_default();
        end.saturating_sub(first).saturating_mul(self.length).unsigned_abs()
    }

    /// A corner at each change: `MOMENT RATE`.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "# The timing of an access log, in stretches of {} s: brunt attack -pacer file:THIS",
            self.length
        )?;
        let Some((first, end)) = self.ends() else { return Ok(()) };
        let rate = |count: u64| match self.length {
            1 => format!("{count}/s"),
            length => format!("{count}/{length}s"),
        };
        let moment = |number: i64| (number - first).saturating_mul(self.length);
        let mut last = 0;
        let mut expected = first;
        for (&number, &count) in &self.counts {
            if number > expected && last != 0 {
                writeln!(out, "{}s {}\n{}s 0/s", moment(expected), rate(last), moment(expected))?;
                last = 0;
            }
            if count != last || number == first {
                if number != first {
                    writeln!(out, "{}s {}", moment(number), rate(last))?;
                }
                writeln!(out, "{}s {}", moment(number), rate(count))?;
                last = count;
            }
            expected = number + 1;
        }
        writeln!(out, "{}s {}", moment(end), rate(last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(pace: &Pace) -> String {
        let mut out = Vec::new();
        pace.write(&mut out).unwrap();
        String::from_utf8(out).unwrap().lines().skip(1).collect::<Vec<_>>().join("\n")
    }

    /// The area under the curve of a file.
    fn area(text: &str) -> f64 {
        let mut area = 0.0;
        let mut last: Option<(f64, f64)> = None;
        for line in text.lines() {
            let (moment, rate) = line.split_once(' ').unwrap();
            let moment: f64 = moment.trim_end_matches('s').parse().unwrap();
            let (hits, time) = rate.split_once('/').unwrap();
            let time: f64 = time.trim_end_matches('s').parse().unwrap_or(1.0);
            let rate = hits.parse::<f64>().unwrap() / time;
            if let Some((before, from)) = last {
                assert!(moment >= before, "{text}");
                area += (moment - before) * (from + rate) / 2.0;
            }
            last = Some((moment, rate));
        }
        area
    }

    #[test]
    fn a_stretch_is_a_step_and_a_gap_is_nothing() {
        let mut pace = Pace::default();
        for at in [5000, 5100, 6000, 9999] {
            pace.add(at);
        }
        assert_eq!(
            written(&pace),
            "0s 2/s\n1s 2/s\n1s 1/s\n2s 1/s\n2s 0/s\n4s 0/s\n4s 1/s\n5s 1/s"
        );
    }

    proptest! {
        #[test]
        fn the_area_is_the_count(moments in prop::collection::vec(-9_000_000_i64..90_000_000, 1..60)) {
            let mut pace = Pace { length: 4, ..Pace::default() };
            for at in &moments {
                pace.add(*at);
            }
            prop_assert!((area(&written(&pace)) - moments.len() as f64).abs() < 1e-6);
        }
    }

    #[test]
    fn memory_is_bounded() {
        for step in [1000, 7777, 100_000] {
            let mut pace = Pace::default();
            for index in 0..20_000 {
                pace.add(index * step);
            }
            assert!(pace.counts.len() <= STRETCHES_MAX);
            assert_eq!(pace.counts.values().sum::<u64>(), 20_000);
        }
    }
}
