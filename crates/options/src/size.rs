//! Numbers of bytes.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::Fault;
use crate::json::Json;
use crate::value::{OptionValue, Place};

/// A number of bytes; at least one.
///
/// Written as a number, or as text with a unit: `64MB` is 64 000 000, `64MiB` is 67 108 864.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(u64);

const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// The largest number that JSON carries without loss.
const MOST: u64 = 1 << 53;

impl Size {
    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }

    fn of_number(number: f64) -> Option<Self> {
        let is_size = number.fract() == 0.0 && number >= 1.0 && number <= MOST as f64;
        is_size.then_some(Self(number as u64))
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{EXPECTED}, got {text:?}");
        let trimmed = text.trim();
        let ends_with = |unit: &str| {
            let at = trimmed.len().checked_sub(unit.len())?;
            let (number, end) = trimmed.split_at_checked(at)?;
            end.eq_ignore_ascii_case(unit).then_some(number)
        };
        let (number, unit) = UNITS
            .iter()
            .find_map(|(unit, bytes)| Some((ends_with(unit)?.trim_end(), *bytes)))
            .unwrap_or((trimmed, 1));
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = number.parse().ok().filter(|_| is_plain).ok_or_else(wrong)?;
        // Half a byte is cut off, unless it is all there is.
        let bytes = number * unit as f64;
        Self::of_number(if unit == 1 { bytes } else { bytes.floor() }).ok_or_else(wrong)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

const EXPECTED: &str =
    "expected a size such as \"64MB\" or \"1GiB\", or a number of bytes, at least 1";

impl OptionValue for Size {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        match json.value() {
            Value::Number(number) => number
                .as_f64()
                .and_then(Self::of_number)
                .ok_or_else(|| json.fault(format!("{EXPECTED}, got {number}"))),
            Value::String(text) => text.parse().map_err(|reason: String| json.fault(reason)),
            other => Err(json.fault(format!("{EXPECTED}, got {other}"))),
        }
    }

    /// Scripts hand through variables that may be empty.
    fn is_unset(json: &Json<'_>) -> bool {
        json.value() == ""
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        texts.last().copied().unwrap_or_default().parse()
    }

    /// In bytes: that can't be misread.
    fn print(&self) -> Value {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_1000_and_of_1024() {
        for (text, bytes) in [
            ("1", 1),
            ("1073741824", 1 << 30),
            ("64MB", 64_000_000),
            ("64 MB", 64_000_000),
            ("1GiB", 1 << 30),
            ("1gib", 1 << 30),
            ("1.5KiB", 1536),
            ("0.1kB", 100),
            ("10b", 10),
            (" 2TB ", 2_000_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_told() {
        for text in [
            "",
            "x",
            "0",
            "0MB",
            "-1",
            "-1MB",
            "1.5",
            "1e9",
            "5M",
            "MB",
            "1 2MB",
            "inf",
            "9999999TB",
        ] {
            let told = text.parse::<Size>().unwrap_err();
            assert!(told.starts_with("expected a size") && told.contains(text), "{told}");
        }
    }
}
