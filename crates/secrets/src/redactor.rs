//! Takes secrets out of texts.
//!
//! A secret is looked for as it is and as it is written in addresses, in JSON and in base64 ([`forms`]). Hundreds of them are
//! found in one pass over a text; those that came since are looked for one by one.

mod forms;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use self::forms::forms;

/// The text in the place of a secret; k6's word.
pub const REDACTED: &str = "***SECRET_REDACTED***";

/// Different secrets that can be kept out of texts. Others are not given out.
const SECRETS_MAX: usize = 20_000;

/// The bytes of all of them, likewise.
const BYTES_MAX: usize = 16 << 20;

/// As much of a text is looked for at first; where it is found the rest is compared.
const HEAD: usize = 32;

/// Knows what no text may show.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Whether there is anything to look for: nearly always not.
    is_needed: AtomicBool,
    hidden: RwLock<Hidden>,
}

/// There is no room for a secret more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

#[derive(Debug, Default)]
struct Hidden {
    secrets: HashSet<Box<str>>,
    bytes: usize,
    /// All forms of the older secrets.
    index: Option<Index>,
    /// The forms of those that came since.
    fresh: Vec<Box<str>>,
}

/// Finds the beginnings of many texts at once.
#[derive(Debug)]
struct Index {
    heads: AhoCorasick,
    /// The texts of each beginning.
    texts: Vec<Vec<Box<str>>>,
}

impl Redactor {
    /// From now on this is a secret. An empty one hides nothing.
    ///
    /// # Errors
    /// There are too many: then the value must not be given out.
    pub fn hide(&self, value: &str) -> Result<(), TooMany> {
        if value.is_empty() {
            return Ok(());
        }
        if self.hidden.read().unwrap_or_else(PoisonError::into_inner).secrets.contains(value) {
            return Ok(());
        }
        let mut hidden = self.hidden.write().unwrap_or_else(PoisonError::into_inner);
        hidden.add(value)?;
        self.is_needed.store(true, Relaxed);
        Ok(())
    }

    /// Whether any secret was given out.
    pub fn is_needed(&self) -> bool {
        self.is_needed.load(Relaxed)
    }

    /// The text without secrets; itself, if there is none in it.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.is_needed() {
            return Cow::Borrowed(text);
        }
        let mut places = self.hidden.read().unwrap_or_else(PoisonError::into_inner).places(text);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut clean = String::with_capacity(text.len());
        let mut at = 0;
        let mut places = places.into_iter().peekable();
        while let Some(mut place) = places.next() {
            // Secrets that overlap are one: no part of either stays.
            while let Some(next) = places.next_if(|next| next.start < place.end) {
                place.end = place.end.max(next.end);
            }
            clean.push_str(&text[at..place.start]);
            clean.push_str(REDACTED);
            at = place.end;
        }
        clean.push_str(&text[at..]);
        Cow::Owned(clean)
    }
}

impl Hidden {
    fn add(&mut self, value: &str) -> Result<(), TooMany> {
        if self.secrets.contains(value) {
            return Ok(());
        }
        if self.secrets.len() >= SECRETS_MAX || self.bytes + value.len() > BYTES_MAX {
            return Err(TooMany);
        }
        self.secrets.insert(value.into());
        self.bytes += value.len();
        self.fresh.extend(forms(value));
        // Seldom enough that all rebuilding together costs a few times what the last one does.
        if self.fresh.len() > 64 + self.secrets.len() {
            let all = self.secrets.iter().flat_map(|secret| forms(secret));
            self.index = Index::of(all);
            if self.index.is_some() {
                self.fresh.clear();
            }
        }
        Ok(())
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if let Some(index) = &self.index {
            index.find(text, &mut places);
        }
        for form in &self.fresh {
            let mut from = 0;
            while let Some(found) = text.get(from..).and_then(|rest| rest.find(&**form)) {
                let start = from + found;
                places.push(start..start + form.len());
                // It may overlap itself.
                from = text.ceil_char_boundary(start + 1);
            }
        }
        places
    }
}

impl Index {
    fn of(texts: impl Iterator<Item = Box<str>>) -> Option<Self> {
        let mut by_head: HashMap<Box<[u8]>, Vec<Box<str>>> = HashMap::new();
        for text in texts {
            let head = &text.as_bytes()[..text.len().min(HEAD)];
            by_head.entry(head.into()).or_default().push(text);
        }
        let (heads, texts): (Vec<_>, Vec<_>) = by_head.into_iter().unzip();
        let heads = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(heads)
            .ok()?;
        Some(Self { heads, texts })
    }

    fn find(&self, text: &str, places: &mut Vec<Range<usize>>) {
        for head in self.heads.find_overlapping_iter(text) {
            let rest = &text.as_bytes()[head.start()..];
            for form in &self.texts[head.pattern().as_usize()] {
                if rest.starts_with(form.as_bytes()) {
                    places.push(head.start()..head.start() + form.len());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hiding(values: &[&str]) -> Redactor {
        let redactor = Redactor::default();
        for value in values {
            redactor.hide(value).unwrap();
        }
        redactor
    }

    #[test]
    fn every_place_of_every_secret_is_hidden_the_longest_first() {
        let redactor = Redactor::default();
        assert!(matches!(redactor.redact("abc"), Cow::Borrowed("abc")));
        let redactor = hiding(&["abc", "abcdef", "", "abc"]);
        assert_eq!(
            redactor.redact("abcdef abc ab"),
            "***SECRET_REDACTED*** ***SECRET_REDACTED*** ab"
        );
        assert!(matches!(redactor.redact("nothing here"), Cow::Borrowed(_)));
        assert_eq!(redactor.redact("abcabc"), format!("{REDACTED}{REDACTED}"));
    }

    #[test]
    fn secrets_that_overlap_leave_nothing() {
        let redactor = hiding(&["abcd", "cdef", "aa", "ä"]);
        assert_eq!(redactor.redact("xabcdefx"), format!("x{REDACTED}x"));
        assert_eq!(redactor.redact("aaa"), REDACTED);
        assert_eq!(redactor.redact("äx"), format!("{REDACTED}x"));
        assert_eq!(hiding(&["x"]).redact("axb"), format!("a{REDACTED}b"));
    }

    #[test]
    fn secrets_are_found_as_addresses_json_and_base64_have_them() {
        let secret = "pa ss/wörd\"1\n2";
        let redactor = hiding(&[secret]);
        for text in [
            "https://h/?t=pa%20ss%2Fw%C3%B6rd%221%0A2&x=1".to_owned(),
            "t=pa+ss%2fw%c3%b6rd%221%0a2".to_owned(),
            format!("{{\"a\":{}}}", serde_json::to_string(secret).unwrap()),
            format!("two lines: {secret}."),
        ] {
            let clean = redactor.redact(&text);
            assert!(clean.contains(REDACTED) && !clean.contains("ss"), "{text}: {clean}");
        }
        for (text, form) in [
            ("dTpzM2NyM3QtdDBrM24=", "u:s3cr3t-t0k3n"),
            ("czNjcjN0LXQwazNu", "s3cr3t-t0k3n"),
            ("eHk6czNjcjN0LXQwazNuIQ==", "xy:s3cr3t-t0k3n!"),
        ] {
            let clean = hiding(&["s3cr3t-t0k3n"]).redact(text).into_owned();
            assert!(clean.contains(REDACTED), "{form}: {clean}");
        }
    }

    #[test]
    fn a_line_of_a_secret_of_many_is_hidden_too() {
        let redactor = hiding(&["-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG\n"]);
        assert_eq!(redactor.redact("in MIIEvQIBADANBgkq it"), format!("in {REDACTED} it"));
    }

    #[test]
    fn ten_thousands_are_hidden_and_none_is_given_out_that_is_not() {
        let redactor = Redactor::default();
        let secret =
            |number: usize| format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.secret-{number}-end");
        let mut hidden = 0;
        while redactor.hide(&secret(hidden)).is_ok() {
            hidden += 1;
        }
        assert_eq!(hidden, SECRETS_MAX);
        // A known secret stays known.
        assert_eq!(redactor.hide(&secret(5)), Ok(()));
        for number in [0, 1, 9_999, 10_000, 10_001, hidden - 1] {
            let text = format!("it is {}!", secret(number));
            assert_eq!(redactor.redact(&text), format!("it is {REDACTED}!"));
        }
        let big = Redactor::default();
        assert_eq!(big.hide(&"x".repeat(BYTES_MAX + 1)), Err(TooMany));
    }
}
