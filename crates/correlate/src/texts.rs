//! Bodies as texts.

use std::borrow::Cow;

use brunt_traffic::{Body, Headers, charset};

/// Bytes of a body that are looked at, at the most: what lies behind is not found.
pub const BODY_MAX: usize = 32 << 20;

/// The text of a body; empty if there is none, if it is no text, or if it is too large.
pub(crate) fn body_text<'a>(body: &'a Body, headers: &Headers) -> Cow<'a, str> {
    if body.size().is_none_or(|size| size > BODY_MAX as u64) {
        return Cow::Borrowed("");
    }
    charset::text(body, headers).unwrap_or_default()
}

/// JSON without what guards it from being read as a script: `)]}',`, `while(1);`, `for(;;);`.
pub(crate) fn without_guard(text: &str) -> &str {
    let text = text.trim_start();
    for guard in [")]}',", ")]}'", "while(1);", "for(;;);"] {
        if let Some(rest) = text.strip_prefix(guard) {
            return rest;
        }
    }
    text
}

/// The data of the events of a body of `text/event-stream`.
pub(crate) fn events(body: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut data: Option<String> = None;
    for line in body.lines().chain([""]) {
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(rest) = line.strip_prefix("data:") {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(rest);
                }
                None => data = Some(rest.to_owned()),
            }
        }
    }
    events
}
