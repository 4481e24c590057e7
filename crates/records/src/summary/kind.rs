//! Why hits failed, in a dozen words, however many URLs their texts name.

use std::{borrow::Cow, collections::BTreeMap};

use crate::Record;

/// Bytes of an example that are kept.
const EXAMPLE_SIZE_MAX: usize = 300;

/// Texts of transport errors, in Go's words and ours, by the kind they mean. The first that fits counts.
const WORDS: &[(&str, &[&str])] = &[
    ("refused", &["connection refused"]),
    ("timeout", &["deadline exceeded", "timeout", "timed out"]),
    ("reset", &["connection reset", "broken pipe"]),
    ("dns", &["no such host", "lookup ", "dns", "server misbehaving"]),
    ("tls", &["tls:", "x509:", "certificate", "TLS", "handshake"]),
    ("redirects", &["redirect"]),
    ("closed", &["EOF", "closed"]),
    (
        "sockets",
        &["cannot assign requested address", "too many open files", "address already in use"],
    ),
    ("unreachable", &["no route to host", "network is unreachable"]),
    ("malformed response", &["malformed", "invalid"]),
];

/// How often each kind of failure came, each with its first text. There are as many as status codes, and a dozen.
#[derive(Clone, Debug, Default)]
pub struct Kinds(BTreeMap<Cow<'static, str>, (u64, String)>);

impl Kinds {
    pub(super) fn add(&mut self, record: &Record) {
        let kind = kind(record);
        if let Some((count, _)) = self.0.get_mut(&kind) {
            *count += 1;
            return;
        }
        let text = &record.error;
        let example = text[..text.floor_char_boundary(EXAMPLE_SIZE_MAX)].to_owned();
        self.0.insert(kind, (1, example));
    }

    /// Each kind with its count and an example, the most frequent first.
    pub fn sorted(&self) -> Vec<(&str, u64, &str)> {
        let kinds = self.0.iter();
        let mut kinds: Vec<_> = kinds
            .map(|(kind, (count, example))| (kind.as_ref(), *count, example.as_str()))
            .collect();
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        kinds
    }
}

/// Of a record with an error.
pub(crate) fn kind(record: &Record) -> Cow<'static, str> {
    if record.code > 0 {
        return format!("status {}", record.code).into();
    }
    let fits = |words: &[&str]| words.iter().any(|word| record.error.contains(word));
    WORDS.iter().find(|(_, words)| fits(words)).map_or("other", |(kind, _)| kind).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_few_kinds() {
        let mut kinds = Kinds::default();
        for n in 0..50 {
            for (code, error) in [
                (
                    0,
                    format!(
                        "Get \"http://h/{n}\": dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused"
                    ),
                ),
                (
                    0,
                    format!(
                        "Get \"http://h/{n}\": context deadline exceeded (Client.Timeout exceeded)"
                    ),
                ),
                (404, "404 Not Found".to_owned()),
            ] {
                kinds.add(&Record { code, error, ..Record::default() });
            }
        }
        kinds.add(&Record { error: "nobody knows".to_owned(), ..Record::default() });
        let sorted = kinds.sorted();
        let names: Vec<_> = sorted.iter().map(|(kind, count, _)| (*kind, *count)).collect();
        assert_eq!(names, [("refused", 50), ("status 404", 50), ("timeout", 50), ("other", 1)]);
        assert!(sorted[0].2.contains("http://h/0"));
    }
}
