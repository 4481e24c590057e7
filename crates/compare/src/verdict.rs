//! The four words of a comparison, and when each is said.

use crate::estimate::{ALPHA, Change};
use crate::permutation::Permutation;
use crate::run::Better;

/// The answer to: is B worse than A?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The whole interval lies within the tolerance.
    Same,
    /// Better, surely.
    Better,
    /// None of the others can be said.
    Unclear,
    /// Worse, surely.
    Worse,
}

impl Verdict {
    /// Its word in all formats.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Unclear => "unclear",
            Self::Worse => "worse",
        }
    }

    /// The verdict of several figures: worse if one is, else unclear if one is, else better if one is.
    pub(crate) fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().max().unwrap_or(Self::Unclear)
    }
}

/// Why a verdict is unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Only one side has this figure.
    OneSide,
    /// A run is too short to be cut into blocks.
    TooShort,
    /// There are too few values.
    TooFewValues,
    /// A single run shows no spread of this figure.
    NoSpread,
    /// A ratio to nothing.
    NoRatio,
    /// The interval is wide: it holds no change, and changes beyond the tolerance.
    Wide,
    /// The change is sure, and smaller than the tolerance, or may be.
    Small,
    /// The change would be sure if it were the only one asked for.
    AmongMany,
    /// Runs of one side lie among those of the other.
    Overlap,
    /// Which way is better is not known.
    NoDirection,
}

impl Why {
    /// Its word in formats for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::OneSide => "one_side",
            Self::TooShort => "too_short",
            Self::TooFewValues => "too_few_values",
            Self::NoSpread => "no_spread",
            Self::NoRatio => "no_ratio",
            Self::Wide => "wide",
            Self::Small => "small",
            Self::AmongMany => "among_many",
            Self::Overlap => "overlap",
            Self::NoDirection => "no_direction",
        }
    }

    /// Its sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::OneSide => "only one side has it",
            Self::TooShort => "a run is too short: ten seconds are the least",
            Self::TooFewValues => "too few values: a percentile needs ten beyond it in each run",
            Self::NoSpread => "single runs show no spread of it: give several runs a side",
            Self::NoRatio => "a ratio to nothing",
            Self::Wide => "the interval is too wide: give more or longer runs",
            Self::Small => "there is a change, but perhaps one within the tolerance",
            Self::AmongMany => "not sure enough among all figures that are asked",
            Self::Overlap => "runs of one side lie among those of the other",
            Self::NoDirection => "which way is better is not known",
        }
    }
}

/// All that a verdict is made from. Changes are relative, or of shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    pub(crate) change: Change,
    pub(crate) tolerance: f64,
    pub(crate) p: f64,
    pub(crate) corrected: f64,
    pub(crate) permutation: Option<Permutation>,
    pub(crate) better: Option<Better>,
}

impl Evidence {
    /// The verdict, and why it is unclear if it is.
    pub(crate) fn judge(&self) -> (Verdict, Option<Why>) {
        if self.change.is_within(self.tolerance) {
            return (Verdict::Same, None);
        }
        let unclear = |why| (Verdict::Unclear, Some(why));
        if self.p > ALPHA {
            return unclear(Why::Wide);
        }
        if self.change.value.abs() <= self.tolerance {
            return unclear(Why::Small);
        }
        if self.corrected > ALPHA {
            return unclear(Why::AmongMany);
        }
        // Three runs a side reach a tenth at best, however far apart they are.
        if let Some(Permutation { p, least }) = self.permutation
            && p > least.max(ALPHA) + 1e-12
        {
            return unclear(Why::Overlap);
        }
        match self.better {
            None => unclear(Why::NoDirection),
            Some(better) if (better == Better::More) == (self.change.value > 0.0) => {
                (Verdict::Better, None)
            }
            Some(_) => (Verdict::Worse, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVIDENCE: Evidence = Evidence {
        change: Change { value: 0.1, low: 0.06, high: 0.14 },
        tolerance: 0.05,
        p: 0.001,
        corrected: 0.004,
        permutation: Some(Permutation { p: 0.1, least: 0.1 }),
        better: Some(Better::Less),
    };

    fn change(value: f64, half: f64) -> Change {
        Change { value, low: value - half, high: value + half }
    }

    #[test]
    fn the_direction_is_the_figure_s() {
        assert_eq!(EVIDENCE.judge(), (Verdict::Worse, None));
        let more = Evidence { better: Some(Better::More), ..EVIDENCE };
        assert_eq!(more.judge().0, Verdict::Better);
        let less = Evidence { change: change(-0.1, 0.04), ..EVIDENCE };
        assert_eq!(less.judge().0, Verdict::Better);
        assert_eq!(Evidence { better: None, ..EVIDENCE }.judge().1, Some(Why::NoDirection));
    }

    #[test]
    fn each_reason_to_doubt_is_told() {
        let why = |evidence: Evidence| evidence.judge().1;
        assert_eq!(
            why(Evidence { p: 0.06, change: change(0.1, 0.11), ..EVIDENCE }),
            Some(Why::Wide)
        );
        let small = Evidence { change: change(0.04, 0.03), ..EVIDENCE };
        assert_eq!(why(small), Some(Why::Small));
        assert_eq!(why(Evidence { corrected: 0.06, ..EVIDENCE }), Some(Why::AmongMany));
        let permutation = Some(Permutation { p: 0.2, least: 0.1 });
        assert_eq!(why(Evidence { permutation, ..EVIDENCE }), Some(Why::Overlap));
        let permutation = Some(Permutation { p: 0.04, least: 0.002 });
        assert_eq!(why(Evidence { permutation, ..EVIDENCE }), None);
    }

    #[test]
    fn a_sure_change_within_the_tolerance_is_none() {
        let small = Evidence { change: change(0.03, 0.01), ..EVIDENCE };
        assert_eq!(small.judge(), (Verdict::Same, None));
        let wide = Evidence { tolerance: 0.2, ..EVIDENCE };
        assert_eq!(wide.judge(), (Verdict::Same, None));
    }

    #[test]
    fn the_worst_of_all_is_told() {
        use Verdict::{Better, Same, Unclear, Worse};
        assert_eq!(Verdict::of_all([Same, Better, Worse, Unclear]), Worse);
        assert_eq!(Verdict::of_all([Same, Better, Unclear]), Unclear);
        assert_eq!(Verdict::of_all([Same, Better, Same]), Better);
        assert_eq!(Verdict::of_all([Same, Same]), Same);
        assert_eq!(Verdict::of_all([]), Unclear);
    }

    proptest! {
        #[test]
        fn sides_that_change_places_turn_the_verdict(
            value in -0.3..0.3, half in 0.0..0.2, tolerance in 0.0..0.1, p in 0.0..0.1, factor in 1.0..4.0,
        ) {
            let change = |value| change(value, half);
            let forth =
                Evidence { change: change(value), tolerance, p, corrected: p * factor, ..EVIDENCE };
            let back = Evidence { change: change(-value), ..forth };
            let turned = match forth.judge().0 {
                Verdict::Worse => Verdict::Better,
                Verdict::Better => Verdict::Worse,
                other => other,
            };
            prop_assert_eq!(back.judge().0, turned);
        }

        #[test]
        fn a_wider_tolerance_never_makes_a_verdict_of_worse(
            value in -0.3..0.3, half in 0.0..0.2, tolerance in 0.0..0.1, more in 0.0..0.1,
        ) {
            let evidence = Evidence { change: change(value, half), tolerance, ..EVIDENCE };
            let wider = Evidence { tolerance: tolerance + more, ..evidence };
            prop_assert!(wider.judge().0 != Verdict::Worse || evidence.judge().0 == Verdict::Worse);
        }
    }
}
