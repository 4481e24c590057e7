//! A stretch of time in which something held, with gaps.

/// The looks in which something held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Span {
    /// How long it held altogether, in nanoseconds.
    pub(crate) ns: u64,
    /// In how many looks.
    pub(crate) looks: u32,
    /// The beginning of the first one, and the end of the last one.
    pub(crate) stretch: (u64, u64),
    /// The worst amount.
    pub(crate) worst: f64,
    /// The amounts, weighed by time.
    sum: f64,
}

impl Span {
    /// It held between two moments (nanoseconds), so much.
    pub(crate) fn add(&mut self, from: u64, to: u64, amount: f64) {
        let length = to.saturating_sub(from);
        if self.looks == 0 {
            self.stretch.0 = from;
        }
        self.stretch.1 = to;
        self.looks += 1;
        self.ns += length;
        self.worst = if self.looks == 1 { amount } else { self.worst.max(amount) };
        self.sum += amount * length as f64;
    }

    /// The amount in the middle of the time.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / (self.ns as f64).max(1.0)
    }

    /// The part of a time (nanoseconds) in which it held.
    pub(crate) fn share(&self, of: u64) -> f64 {
        self.ns as f64 / (of as f64).max(1.0)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.ns as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_knows_its_borders_and_its_time() {
        let mut span = Span::default();
        span.add(10, 20, 0.5);
        span.add(60, 90, 0.9);
        assert_eq!((span.ns, span.looks, span.stretch, span.worst), (40, 2, (10, 90), 0.9));
        assert!((span.mean() - 0.8).abs() < 1e-9 && (span.share(80) - 0.5).abs() < 1e-9);
    }
}
