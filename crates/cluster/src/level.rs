//! The weight of a word to the user.

/// A weighty word to the user; the adapter logs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Progress.
    Info,
    /// Something is not as it should be; the test goes on.
    Warn,
    /// The test ends because of it.
    Error,
}
