//! A JSON value that knows its place.

use std::cell::RefCell;
use std::time::Duration;

use brunt_duration::wait::{self, WaitError};
use serde_json::{Map, Value};

use crate::error::Fault;

/// A value inside options, with its path for messages. Unknown keys are collected on the way.
#[derive(Clone)]
pub(crate) struct Json<'a> {
    value: &'a Value,
    path: String,
    notes: &'a Notes,
}

/// The findings on the way through a value.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The paths of keys that mean nothing.
    pub(crate) unknown: RefCell<Vec<String>>,
    /// The faults; the reading went on without them.
    pub(crate) faults: RefCell<Vec<Fault>>,
}

impl<'a> Json<'a> {
    /// `notes` collects what is found on the way.
    pub(crate) fn root(value: &'a Value, notes: &'a Notes) -> Self {
        Self { value, path: String::new(), notes }
    }

    /// The value of a part. Its fault is noted, so that the other parts are looked at too.
    pub(crate) fn kept<T>(&self, read: Result<T, Fault>) -> Option<T> {
        read.map_err(|fault| self.notes.faults.borrow_mut().push(fault)).ok()
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// This value is not what it should be: `expected` says what, with an article.
    pub(crate) fn expected(&self, expected: &str) -> Fault {
        self.fault(format!("expected {expected}, got {}", excerpt(self.value)))
    }

    pub(crate) fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::new(if self.path.is_empty() { "options" } else { &self.path }, reason)
    }

    /// Whether this is part of a scenario: there, keys that mean nothing are errors.
    pub(crate) fn is_in_scenario(&self) -> bool {
        self.path.starts_with("scenarios.")
    }

    /// The keys of an object, those of `null` among them.
    pub(crate) fn keys(&self) -> Result<impl Iterator<Item = (&'a str, Self)>, Fault> {
        let keys = self.object()?.iter();
        Ok(keys.map(|(key, value)| {
            (key.as_str(), Json { value, path: self.join(key), notes: self.notes })
        }))
    }

    /// Remembers that `key` in this object means nothing.
    pub(crate) fn note_unknown(&self, key: &str) {
        self.notes.unknown.borrow_mut().push(self.join(key));
    }

    pub(crate) fn boolean(&self) -> Result<bool, Fault> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(crate) fn string(&self) -> Result<&'a str, Fault> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// A whole number, also as a string or as a float without fraction, as k6 takes it.
    pub(crate) fn integer(&self) -> Result<i64, Fault> {
        let whole =
            |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
        let integer = match self.value {
            Value::Number(n) => n.as_i64().or_else(|| n.as_f64().and_then(whole)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        integer.ok_or_else(|| self.expected("a whole number"))
    }

    /// A string with units, or milliseconds.
    pub(crate) fn duration(&self) -> Result<Duration, Fault> {
        let read = match self.value {
            Value::Number(n) => n.as_f64().map(wait::from_millis),
            Value::String(text) => Some(wait::parse_millis(text)),
            _ => None,
        };
        match read {
            Some(Ok(duration)) => Ok(duration),
            Some(Err(WaitError::Negative)) if is_none_below_zero(&self.path) => Ok(Duration::ZERO),
            Some(Err(error)) => Err(self.fault(format!("{error}, got {}", excerpt(self.value)))),
            None => Err(self.expected("a duration such as \"1m30s\", or milliseconds")),
        }
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, Fault> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    /// The values of an object by key; those that are `null` are left out.
    pub(crate) fn entries(&self) -> Result<impl Iterator<Item = (&'a str, Json<'a>)>, Fault> {
        Ok(self.keys()?.filter(|(_, value)| !value.is_null()))
    }

    pub(crate) fn items(&self) -> Result<impl Iterator<Item = Json<'a>>, Fault> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        Ok(list.iter().enumerate().map(|(index, value)| Json {
            value,
            path: format!("{}[{index}]", self.path),
            notes: self.notes,
        }))
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }
}

/// Whether a negative duration at this path (or of this key) is taken for 0, as k6 does.
pub(crate) fn is_none_below_zero(path: &str) -> bool {
    let key = path.rsplit_once('.').map_or(path, |(_, key)| key);
    matches!(
        key,
        "teardownTimeout" | "minIterationDuration" | "gracefulRampDown" | "delayAbortEval"
    )
}

/// A value as messages show it: short, with no more than its beginning.
fn excerpt(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => {
            let text = other.to_string();
            match text.char_indices().nth(60) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}
