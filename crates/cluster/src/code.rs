//! Exit codes of tests on many machines, beside k6's.

/// A threshold was crossed.
pub const THRESHOLDS: u8 = 99;
/// `setup()` took too long.
pub const SETUP_TIMEOUT: u8 = 100;
/// `teardown()` took too long.
pub const TEARDOWN_TIMEOUT: u8 = 101;
/// SIGINT or SIGTERM.
pub const SIGNAL: u8 = 105;
/// The script threw in init code, `setup()` or `teardown()`.
pub const SCRIPT: u8 = 107;
/// The script called `exec.test.abort()`.
pub const ABORTED: u8 = 108;
/// The script called `exec.test.fail()`.
pub const MARKED: u8 = 110;
/// Load or results are missing.
pub const INCOMPLETE: u8 = 111;
/// The test could not be started.
pub const NOT_STARTED: u8 = 112;
