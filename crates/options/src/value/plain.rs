//! Values of types that are not ours.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_duration::wait;
use serde_json::Value;

use super::{OptionValue, Place};
use crate::error::Fault;
use crate::json::Json;

/// The last text: a flag that is written twice means what was written last.
fn last<'a>(texts: &[&'a str]) -> &'a str {
    texts.last().copied().unwrap_or_default()
}

/// The entries of comma lists, with the blanks and the empty ones among them: an empty text has none, but
/// `a,` has two.
pub(crate) fn entries<'a>(texts: &[&'a str]) -> impl Iterator<Item = &'a str> {
    texts.iter().filter(|text| !text.is_empty()).flat_map(|text| text.split(','))
}

impl OptionValue for bool {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.boolean()
    }

    /// After a flag, all that Go takes for a boolean; k6 reads its variables more strictly.
    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        match (last(texts), place) {
            ("true", _) | ("TRUE" | "True" | "t" | "T" | "1", Place::Flag) => Ok(true),
            ("false", _) | ("FALSE" | "False" | "f" | "F" | "0", Place::Flag) => Ok(false),
            (other, _) => Err(format!("expected true or false, got {other:?}")),
        }
    }

    fn print(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for i64 {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.integer()
    }

    /// Scripts hand through variables that may be empty.
    fn is_unset(json: &Json<'_>) -> bool {
        json.value() == ""
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        let text = last(texts);
        text.parse().map_err(|_| format!("expected a whole number, got {text:?}"))
    }

    fn print(&self) -> Value {
        (*self).into()
    }
}

impl OptionValue for String {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.string().map(Into::into)
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        Ok(last(texts).into())
    }

    fn print(&self) -> Value {
        self.as_str().into()
    }
}

impl OptionValue for Duration {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.duration()
    }

    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        let text = last(texts);
        let read = match place {
            Place::Flag => wait::parse(text),
            Place::Variable => wait::parse_millis(text),
        };
        read.map_err(|error| format!("{error}, got {text:?}"))
    }

    fn print(&self) -> Value {
        wait::format(*self).into()
    }
}

impl OptionValue for Value {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        Ok(json.value().clone())
    }

    fn print(&self) -> Value {
        self.clone()
    }
}

impl OptionValue for serde_json::Map<String, Value> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.object().cloned()
    }

    fn print(&self) -> Value {
        Value::Object(self.clone())
    }
}

/// `name=value`, neither of them empty.
fn flag_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.is_empty() => {
            Ok((key.trim().into(), value.into()))
        }
        _ => Err(format!("expected name=value, got {text:?}")),
    }
}

/// `name:value` with one colon; the value may be empty.
fn variable_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((key, value)) if !key.trim().is_empty() && !value.contains(':') => {
            Ok((key.into(), value.into()))
        }
        _ => Err(format!("expected name:value, got {text:?}")),
    }
}

/// Names to values: tags, environment variables.
impl OptionValue for BTreeMap<String, String> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let pair =
            |(key, value): (&str, Json<'_>)| Some((key.into(), json.kept(value.string())?.into()));
        Ok(json.entries()?.filter_map(pair).collect())
    }

    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        match place {
            Place::Flag => {
                texts.iter().filter(|text| !text.is_empty()).map(|text| flag_tag(text)).collect()
            }
            Place::Variable => entries(texts).map(variable_tag).collect(),
        }
    }

    fn print(&self) -> Value {
        self.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
    }

    /// A stronger map replaces this one, unless it is empty. Nothing is merged by key.
    fn overlay(&mut self, stronger: Self) {
        if !stronger.is_empty() {
            *self = stronger;
        }
    }
}

/// An entry of a list that can also be written with commas.
pub(crate) trait Entry: Sized {
    fn read(json: &Json<'_>) -> Result<Self, Fault>;
    fn parse(text: &str, place: Place) -> Result<Self, String>;
    fn print(&self) -> Value;
}

impl<T: Entry> OptionValue for Vec<T> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        Ok(json.items()?.filter_map(|item| json.kept(T::read(&item))).collect())
    }

    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        entries(texts).map(|text| T::parse(text, place)).collect()
    }

    fn print(&self) -> Value {
        self.iter().map(T::print).collect()
    }
}

impl Entry for String {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        json.string().map(Into::into)
    }

    fn parse(text: &str, _: Place) -> Result<Self, String> {
        Ok(text.into())
    }

    fn print(&self) -> Value {
        self.as_str().into()
    }
}

/// Implements [`Entry`] and printing for a type that is one string: it has `FromStr` with a `String`
/// that tells what is wrong, and `Display`.
macro_rules! text_entry {
    ($type:ty) => {
        impl $crate::value::Entry for $type {
            fn read(json: &$crate::json::Json<'_>) -> Result<Self, $crate::error::Fault> {
                json.string()?.parse().map_err(|reason: String| json.fault(reason))
            }

            fn parse(text: &str, _: $crate::value::Place) -> Result<Self, String> {
                text.parse()
            }

            fn print(&self) -> serde_json::Value {
                self.to_string().into()
            }
        }
    };
}
pub(crate) use text_entry;

/// The same for a type that occurs alone, not in a list.
macro_rules! text_value {
    ($type:ty) => {
        impl $crate::value::OptionValue for $type {
            fn read(json: &$crate::json::Json<'_>) -> Result<Self, $crate::error::Fault> {
                json.string()?.parse().map_err(|reason: String| json.fault(reason))
            }

            fn parse(texts: &[&str], _: $crate::value::Place) -> Result<Self, String> {
                texts.last().copied().unwrap_or_default().parse()
            }

            fn print(&self) -> serde_json::Value {
                self.to_string().into()
            }
        }
    };
}
pub(crate) use text_value;
