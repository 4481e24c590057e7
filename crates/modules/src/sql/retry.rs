//! When a transaction is tried again, and how long it waits before.

use std::time::Duration;

/// The longest wait before the first new try.
const FIRST: Duration = Duration::from_millis(10);

/// The longest wait of all.
const LONGEST: Duration = Duration::from_secs(1);

/// The wait before a new try: anything up to twice as much as the last time, so that those who were in each other's way
/// come apart. `drawn` is a random number.
pub(super) fn wait(tries: u32, drawn: u64) -> Duration {
    let most = FIRST.saturating_mul(1 << tries.min(16)).min(LONGEST);
    most.mul_f64(drawn as f64 / u64::MAX as f64)
}
