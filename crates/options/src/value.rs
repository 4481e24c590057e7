//! Values of options: read from JSON, parsed from text, printed as JSON.

mod plain;

pub(crate) use plain::{Entry, entries, text_entry, text_value};

use serde_json::Value;

use crate::error::Fault;
use crate::json::{Json, Notes};

/// The place of a text; it decides on details of the syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// After a flag: durations need units, tags are `k=v`.
    Flag,
    /// In a variable: bare durations are milliseconds, tags are `k:v,k:v`.
    Variable,
}

/// The type of an option.
pub(crate) trait OptionValue: Sized {
    /// Reads it from a script or a config file.
    fn read(json: &Json<'_>) -> Result<Self, Fault>;

    /// Reads it from text: one text for each time a flag was written. The error says what is wrong.
    /// Unless it has a form of its own, the text is JSON.
    fn parse(texts: &[&str], _place: Place) -> Result<Self, String> {
        parse_json(texts)
    }

    /// Whether this value of a script or a config file leaves it unset, as `null` does.
    fn is_unset(_json: &Json<'_>) -> bool {
        false
    }

    /// As `inspect` shows it.
    fn print(&self) -> Value;

    /// As `inspect` shows it when it is not set.
    fn print_unset() -> Value {
        Value::Null
    }

    /// Gives way to the value of a stronger layer.
    fn overlay(&mut self, stronger: Self) {
        *self = stronger;
    }
}

/// Reads the last text as JSON.
pub(crate) fn parse_json<T: OptionValue>(texts: &[&str]) -> Result<T, String> {
    let text = texts.last().copied().unwrap_or_default();
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("expected JSON, got {text:?} ({error})"))?;
    let notes = Notes::default();
    let root = Json::root(&value, &notes);
    let read = root.kept(T::read(&root));
    let told = |fault: Fault| match fault.path.as_str() {
        "options" => fault.reason,
        path => format!("{path}: {}", fault.reason),
    };
    let wrong: Vec<String> = notes.faults.take().into_iter().map(told).collect();
    read.filter(|_| wrong.is_empty()).ok_or_else(|| wrong.join("; "))
}

/// Declares a struct all of whose fields may be unset, with the JSON key of each.
///
/// It gets `KEYS`, and for one key each `read_key`, `parse_key`, `print_key`, `is_set`; and `overlay`.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $( $(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal, )* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        $vis struct $name { $( $(#[$field_meta])* $vis $field: Option<$type>, )* }

        #[allow(dead_code, reason = "not every record calls all of these functions")]
        impl $name {
            /// All keys, in the order in which they are printed.
            pub(crate) const KEYS: &'static [&'static str] = &[$($key),*];

            /// The key that `name` means: as in Go's JSON, its case does not matter.
            pub(crate) fn key(name: &str) -> Option<&'static str> {
                Self::KEYS.iter().copied().find(|key| key.eq_ignore_ascii_case(name))
            }

            /// Sets what `key` names. `key` is one of `KEYS`; nothing happens if it is not.
            pub(crate) fn read_key(
                &mut self,
                key: &str,
                json: &$crate::json::Json<'_>,
            ) -> Result<(), $crate::error::Fault> {
                match key {
                    $( $key if <$type as $crate::value::OptionValue>::is_unset(json) => {}
                    $key => self.$field = Some($crate::value::OptionValue::read(json)?), )*
                    _ => {}
                }
                Ok(())
            }

            /// Sets what `key` names from text.
            pub(crate) fn parse_key(
                &mut self,
                key: &str,
                texts: &[&str],
                place: $crate::value::Place,
            ) -> Result<(), String> {
                match key {
                    $( $key => {
                        self.$field = Some($crate::value::OptionValue::parse(texts, place)?);
                    } )*
                    _ => {}
                }
                Ok(())
            }

            /// The value of `key`, as `inspect` shows it.
            pub(crate) fn print_key(&self, key: &str) -> serde_json::Value {
                match key {
                    $( $key => match &self.$field {
                        Some(value) => $crate::value::OptionValue::print(value),
                        None => <$type as $crate::value::OptionValue>::print_unset(),
                    }, )*
                    _ => serde_json::Value::Null,
                }
            }

            /// Whether what `key` names has a value.
            pub(crate) fn is_set(&self, key: &str) -> bool {
                match key {
                    $( $key => self.$field.is_some(), )*
                    _ => false,
                }
            }

            /// Takes over every field that `stronger` sets.
            pub(crate) fn overlay(&mut self, stronger: Self) {
                $( if let Some(value) = stronger.$field {
                    match &mut self.$field {
                        Some(own) => $crate::value::OptionValue::overlay(own, value),
                        None => self.$field = Some(value),
                    }
                } )*
            }
        }
    };
}
pub(crate) use record;
