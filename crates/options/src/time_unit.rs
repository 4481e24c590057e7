//! The unit of times in the summary.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::Fault;
use crate::json::Json;
use crate::value::{OptionValue, Place};

/// A unit that the summary can show all times in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "s" => Ok(Self::Seconds),
            "ms" => Ok(Self::Milliseconds),
            "us" => Ok(Self::Microseconds),
            _ => Err(format!("expected s, ms or us, got {text:?}")),
        }
    }
}

/// The `summaryTimeUnit` option. Scripts may write anything into it; what is no unit means none, as in k6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTimeUnit(pub String);

impl SummaryTimeUnit {
    /// The unit, if it is one.
    pub fn unit(&self) -> Option<TimeUnit> {
        self.0.parse().ok()
    }
}

impl fmt::Display for SummaryTimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl OptionValue for SummaryTimeUnit {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        Ok(Self(json.string()?.into()))
    }

    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        let text = texts.last().copied().unwrap_or_default();
        if place == Place::Flag && !text.is_empty() {
            text.parse::<TimeUnit>()?;
        }
        Ok(Self(text.into()))
    }

    fn print(&self) -> Value {
        self.0.as_str().into()
    }
}
