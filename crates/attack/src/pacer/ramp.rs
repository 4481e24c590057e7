//! Rates that go up and down in straight lines.

use std::time::Duration;

/// Straight lines, one after the other: a step is one without a slope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ramp {
    pieces: Vec<Piece>,
}

/// One straight line. All times in seconds.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Piece {
    /// When it begins.
    start: f64,
    /// How long it is; may be infinite.
    length: f64,
    /// Hits due before it begins.
    before: f64,
    /// Hits a second at its beginning.
    rate: f64,
    /// How many more hits a second, each second.
    slope: f64,
}

impl Piece {
    fn hits(&self, time: f64) -> f64 {
        self.slope * time * time / 2.0 + self.rate * time
    }

    /// When the hits come to `hits`: seconds from its beginning.
    fn time(&self, hits: f64) -> f64 {
        if hits <= 0.0 {
            return 0.0;
        }
        // Never negative but by rounding, at the very end of a line that falls to nothing.
        let root = (self.rate * self.rate + 2.0 * self.slope * hits).max(0.0).sqrt();
        2.0 * hits / (self.rate + root)
    }
}

impl Ramp {
    /// No hits: add pieces.
    pub fn new() -> Self {
        Self::default()
    }

    /// From `start` hits a second on, `slope` more (or fewer) each second; for ever, or until it has come down to none.
    pub fn linear(start: f64, slope: f64) -> Self {
        let length = if slope < 0.0 { start / -slope } else { f64::INFINITY };
        Self::new().piece(length, start, slope)
    }

    /// Adds a line from one rate to another (hits a second, not negative).
    pub fn line(self, length: Duration, from: f64, to: f64) -> Self {
        let length = length.as_secs_f64();
        if length > 0.0 { self.piece(length, from, (to - from) / length) } else { self }
    }

    fn piece(mut self, length: f64, rate: f64, slope: f64) -> Self {
        let (start, before) = self.end();
        self.pieces.push(Piece { start, length, before, rate, slope });
        self
    }

    /// When it ends, and how many hits are due until then.
    fn end(&self) -> (f64, f64) {
        self.pieces.last().map_or((0.0, 0.0), |last| {
            (last.start + last.length, last.before + last.hits(last.length))
        })
    }

    /// See [`Pacer::due`](super::Pacer::due).
    pub fn due(&self, n: u64) -> Option<u64> {
        let n = n as f64;
        // The last one that begins with at most `n` hits behind it: among lines without hits, the one that has some.
        let after = self.pieces.partition_point(|piece| piece.before <= n);
        let piece = self.pieces[..after].last()?;
        let hits = n - piece.before;
        // A whole number of hits that rounding moved a little is still that number.
        if hits + 1e-6 >= piece.hits(piece.length) {
            return None;
        }
        Some(((piece.start + piece.time(hits)) * 1e9) as u64)
    }

    /// Hits a second, at a moment; none when it is over.
    pub fn rate(&self, at: Duration) -> f64 {
        let at = at.as_secs_f64();
        let piece = self.pieces.iter().find(|piece| at < piece.start + piece.length);
        piece.map_or(0.0, |piece| piece.rate + piece.slope * (at - piece.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::Pacer;

    fn hits(ramp: Ramp, secs: u64) -> u64 {
        Pacer::Ramp(ramp).hits_before(Duration::from_secs(secs))
    }

    /// slope·t²/2 + start·t: at 10 s, 50 + 100 + the one at the beginning.
    #[test]
    fn a_line_that_rises_has_the_hits_of_its_area() {
        let ramp = Ramp::linear(10.0, 1.0);
        assert_eq!(ramp.due(0), Some(0));
        assert_eq!(ramp.due(150), Some(10_000_000_000));
        assert!((ramp.rate(Duration::from_secs(5)) - 15.0).abs() < 1e-9);
        assert_eq!(hits(ramp, 10), 150);
        assert_eq!(hits(Ramp::linear(0.0, 2.0), 3), 9);
    }

    #[test]
    fn a_line_that_falls_ends_at_nothing() {
        let ramp = Ramp::linear(10.0, -1.0);
        assert_eq!(hits(ramp.clone(), 1_000), 50);
        assert_eq!((ramp.due(50), ramp.rate(Duration::from_secs(11))), (None, 0.0));
    }

    #[test]
    fn steps_follow_each_other_and_end() {
        let step = Duration::from_secs(2);
        let ramp = Ramp::new().line(step, 10.0, 10.0).line(step, 0.0, 0.0).line(step, 5.0, 5.0);
        assert_eq!(ramp.due(19), Some(1_900_000_000));
        assert_eq!(ramp.due(20), Some(4_000_000_000));
        assert_eq!((ramp.due(29), ramp.due(30)), (Some(5_800_000_000), None));
        assert_eq!(Ramp::new().due(0), None);
    }

    #[test]
    fn later_hits_are_never_due_earlier() {
        let step = Duration::from_millis(700);
        let ramp =
            Ramp::new().line(step, 0.0, 333.0).line(step, 333.0, 20.0).line(step, 7.0, 900.0);
        let dues: Vec<_> = (0..).map_while(|n| ramp.due(n)).collect();
        assert!(dues.is_sorted());
        assert!((550..=560).contains(&dues.len()), "{}", dues.len());
    }
}
