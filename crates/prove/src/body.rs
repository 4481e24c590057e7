//! The differences between two bodies of one page, and how much they say.

use crate::{json, page, partial};

/// A difference between a recorded response and its replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A user would call it a failure; others may come with another visit.
    pub(crate) is_fault: bool,
    /// As the end of the sentence "The response …".
    pub(crate) text: String,
}

impl Difference {
    pub(crate) fn fault(text: impl Into<String>) -> Self {
        Self { is_fault: true, text: text.into() }
    }

    pub(crate) fn note(text: impl Into<String>) -> Self {
        Self { is_fault: false, text: text.into() }
    }
}

/// The kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Json,
    /// XML for a script in a page: `<partial-response>`.
    Partial,
    /// Plain text, other XML.
    Text,
    /// Pictures, styles, scripts, archives.
    Opaque,
}

impl Kind {
    /// By the media type, and by a look at the text.
    pub(crate) fn of(media: &str, text: &str) -> Self {
        let begin = text.trim_start_matches('\u{feff}').trim_start();
        if begin.starts_with("<?xml") && begin.contains("<partial-response")
            || begin.starts_with("<partial-response")
        {
            return Self::Partial;
        }
        let is_opaque = ["image/", "font/", "audio/", "video/", "text/css"]
            .iter()
            .any(|part| media.starts_with(part))
            || ["javascript", "ecmascript", "wasm", "zip", "pdf", "octet-stream"]
                .iter()
                .any(|part| media.contains(part));
        if is_opaque {
            return Self::Opaque;
        }
        if media.contains("json") || matches!(begin.as_bytes().first(), Some(b'{' | b'[')) {
            return if json::parse(text).is_some() { Self::Json } else { Self::Text };
        }
        let is_markup = media.contains("html")
            || begin.get(..14).is_some_and(|head| head.eq_ignore_ascii_case("<!doctype html"))
            || begin.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("<html"));
        if is_markup { Self::Page } else { Self::Text }
    }
}

/// Compares two bodies; `recorded` and `replayed` are a media type and a text each.
pub(crate) fn compare(recorded: (&str, &str), replayed: (&str, &str)) -> Vec<Difference> {
    let (kind, new) = (Kind::of(recorded.0, recorded.1), Kind::of(replayed.0, replayed.1));
    let is_empty = |text: &str| text.trim().is_empty();
    match (is_empty(recorded.1), is_empty(replayed.1)) {
        (true, true) => return Vec::new(),
        (false, true) => return vec![Difference::fault("is empty, and the recorded one is not")],
        (true, false) if new == Kind::Opaque => return Vec::new(),
        (true, false) => {
            // A page where nothing was: an error told with another status is seen elsewhere.
            let word = crate::errors::new_word(replayed.1, "");
            return word.into_iter().map(|word| Difference::fault(says(word))).collect();
        }
        (false, false) => {}
    }
    match (kind, new) {
        (Kind::Page, Kind::Page) => page::compare(recorded.1, replayed.1),
        (Kind::Json, Kind::Json) => json::compare(recorded.1, replayed.1),
        (Kind::Partial, Kind::Partial) => partial::compare(recorded.1, replayed.1),
        (Kind::Text, Kind::Text) => text(recorded.1, replayed.1),
        (Kind::Opaque, Kind::Opaque) => Vec::new(),
        _ => vec![Difference::fault(format!(
            "is {}, and the recorded one is {}",
            name(new),
            name(kind)
        ))],
    }
}

/// How a new word of failures is told.
pub(crate) fn says(word: &str) -> String {
    format!("says \"{word}\", which the recorded one does not")
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "a page",
        Kind::Json => "JSON",
        Kind::Partial => "a partial response",
        Kind::Text => "text",
        Kind::Opaque => "a file",
    }
}

fn text(recorded: &str, replayed: &str) -> Vec<Difference> {
    let word = crate::errors::new_word(replayed, recorded);
    word.into_iter().map(|word| Difference::fault(says(word))).collect()
}
