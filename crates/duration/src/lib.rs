//! Durations as Go and k6 read and write them (`1h15m30.5s`), for everybody: no other crate reads or prints this form. Other
//! forms are at home where they are used: the clock of a fixed width beside a progress bar (`cli`), protobuf's seconds, of up
//! to ten thousand years (`grpc`), a number with the unit that somebody has fixed (`summary`, the live line of `cli`).
//!
//! ```text
//! parse           Go's: 1h15m30.5s                       vegeta's flags, k6's flags
//! parse_days      and days in front: 1d12h, -1d, 1d+1h   k6 wherever it takes days
//! parse_millis    or a number of milliseconds: 1500      options in scripts, `timeout` of requests
//! ```
//!
//! These give nanoseconds in an `i64`, and Go's errors. [`wait`] has the same three for times that somebody waits: as a
//! [`std::time::Duration`], none of them negative, with errors that say what to write.
#![forbid(unsafe_code)]

mod days;
mod float;
mod format;
mod go;
pub mod wait;

pub use days::{parse_days, parse_millis};
pub use float::nanos_of_millis;
pub use format::{format, format_rounded};
pub use go::{parse, parse_wait};

/// A text that is no duration: in Go's words, which k6 and vegeta show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no number where one is due, or something strange behind it.
    #[error("time: invalid duration {}", quoted(.0))]
    Invalid(String),
    /// It doesn't fit 292 years.
    #[error("time: invalid duration {}", quoted(.0))]
    TooLong(String),
    /// A number without a unit.
    #[error("time: missing unit in duration {}", quoted(.0))]
    MissingUnit(String),
    /// A unit that doesn't exist.
    #[error("time: unknown unit {} in duration {}", quoted(.unit), quoted(.text))]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
    /// The text before `d` is no whole number.
    #[error("strconv.ParseInt: parsing {0:?}: invalid syntax")]
    Days(String),
    /// Days that are more than 64 bits can count.
    #[error("strconv.ParseInt: parsing {0:?}: value out of range")]
    DaysRange(String),
    /// The text after the days has a minus of its own.
    #[error("invalid time format '{0}'")]
    Minus(String),
}

/// Between quotes, as Go writes it here: bytes beyond ASCII as numbers.
fn quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::from("\"");
    for byte in text.bytes() {
        // A string takes all that is written.
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", byte as char),
            b' '..=b'~' => write!(out, "{}", byte as char),
            _ => write!(out, "\\x{byte:02x}"),
        };
    }
    out.push('"');
    out
}
