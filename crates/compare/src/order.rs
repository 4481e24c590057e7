//! The order in which the runs of two tests follow each other.

/// One of the two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first: how it was.
    A,
    /// The second: how it is now.
    B,
}

/// The order of `repeat` runs of each side, A B B A A B B A …: a machine that grows slower, or faster, all the time does so for
/// both sides alike.
pub fn interleaved(repeat: usize) -> impl Iterator<Item = Side> {
    (0..repeat).flat_map(|pair| {
        if pair.is_multiple_of(2) { [Side::A, Side::B] } else { [Side::B, Side::A] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns_at_going_first() {
        let text = |repeat| {
            interleaved(repeat).map(|side| if side == Side::A { 'A' } else { 'B' }).collect()
        };
        let orders: Vec<String> = (0..=5).map(text).collect();
        assert_eq!(orders, ["", "AB", "ABBA", "ABBAAB", "ABBAABBA", "ABBAABBAAB"]);
    }

    #[test]
    fn an_even_drift_cancels() {
        for repeat in [2, 4, 10] {
            let place = |wanted| -> usize {
                let places = interleaved(repeat).enumerate();
                places.filter(|(_, side)| *side == wanted).map(|(place, _)| place).sum()
            };
            assert_eq!(place(Side::A), place(Side::B));
        }
    }
}
