//! Durations as Go writes them, none of them negative.

use std::time::Duration;

use brunt_results::duration;
pub use brunt_results::duration::DurationError;

/// Reads `1h15m30.5s`, or `0`.
///
/// # Errors
/// It is no duration, or is negative.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let ns = u64::try_from(duration::parse(text)?);
    ns.map(Duration::from_nanos).map_err(|_| DurationError::Invalid(text.to_owned()))
}
