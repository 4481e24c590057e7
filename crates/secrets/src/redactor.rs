//! Takes secrets out of texts.

use std::borrow::Cow;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What stands in the place of a secret; k6's word.
pub const REDACTED: &str = "***SECRET_REDACTED***";

/// Values that are remembered; more are given out, and shown.
const VALUES_MAX: usize = 10_000;

/// Knows what no text may show.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Whether there is anything to look for: nearly always not.
    is_needed: AtomicBool,
    /// The longest first, so that a part of one does not hide the rest of it.
    values: RwLock<Vec<String>>,
}

impl Redactor {
    /// From now on this is a secret. An empty one hides nothing.
    pub fn hide(&self, value: &str) {
        if value.is_empty() {
            return;
        }
        {
            let values = self.values.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            if values.len() >= VALUES_MAX || values.iter().any(|known| known == value) {
                return;
            }
        }
        let mut values = self.values.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !values.iter().any(|known| known == value) {
            let place = values.partition_point(|known| known.len() >= value.len());
            values.insert(place, value.to_owned());
            self.is_needed.store(true, Relaxed);
        }
    }

    /// Whether any secret was given out.
    pub fn is_needed(&self) -> bool {
        self.is_needed.load(Relaxed)
    }

    /// The text without secrets; itself, if there is none in it.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if !self.is_needed() {
            return text;
        }
        let values = self.values.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        for value in &*values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), REDACTED));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_every_secret_is_hidden_the_longest_first() {
        let redactor = Redactor::default();
        assert!(matches!(redactor.redact("abc"), Cow::Borrowed("abc")));
        for value in ["abc", "abcdef", "", "abc"] {
            redactor.hide(value);
        }
        assert_eq!(
            redactor.redact("abcdef abc ab"),
            "***SECRET_REDACTED*** ***SECRET_REDACTED*** ab"
        );
        assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
    }
}
