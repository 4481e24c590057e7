//! How the iterations of an arrival rate follow each other, where that is not k6's even pace.

use std::time::Duration;

/// The pace of an arrival rate beside its rates. The default is k6's: even gaps, no swing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rhythm {
    /// The gaps between iterations.
    pub gaps: Gaps,
    /// A swing of a constant rate about itself.
    pub sine: Option<Sine>,
}

/// The gaps between iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gaps {
    /// As even as the rate.
    #[default]
    Uniform,
    /// As users come who know nothing of each other: exponential gaps, drawn from a seed. All machines of a test need the
    /// same one.
    Poisson {
        /// The same seed gives the same gaps.
        seed: u64,
    },
}

/// A rate that swings: `rate + amplitude · sin(start + 2πt / period)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sine {
    /// Iterations per time unit, less than the rate.
    pub amplitude: u64,
    /// From one peak to the next.
    pub period: Duration,
    /// Where in its period it begins.
    pub start: SineStart,
}

/// Where in its period a sine begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SineStart {
    /// At the mean, and rises.
    #[default]
    MeanUp,
    /// At the peak.
    Peak,
    /// At the mean, and falls.
    MeanDown,
    /// At the trough.
    Trough,
}

impl SineStart {
    /// All of them by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("mean-up", Self::MeanUp),
        ("peak", Self::Peak),
        ("mean-down", Self::MeanDown),
        ("trough", Self::Trough),
    ];

    /// Its angle in quarters of a turn.
    pub(crate) fn quarters(self) -> f64 {
        match self {
            Self::MeanUp => 0.0,
            Self::Peak => 1.0,
            Self::MeanDown => 2.0,
            Self::Trough => 3.0,
        }
    }
}

/// A number that looks random and is the same for the same `state`: the finish of `SplitMix64`.
pub fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// The seed of a part of a test, told by its name: no two parts draw the same numbers.
pub fn seed_of(seed: u64, name: &str) -> u64 {
    name.bytes().fold(mixed(seed), |state, byte| mixed(state ^ u64::from(byte)))
}
