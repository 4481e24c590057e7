//! Changes of a text, as the script makes them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use crate::json::{self, Json};
use crate::plan::{Change, Piece, Plan};

impl Plan {
    /// The recorded text of pieces, joined; `None` if an index is wrong or a change finds nothing.
    pub fn recorded(&self, pieces: &[Piece]) -> Option<String> {
        let mut all = String::new();
        for piece in pieces {
            match piece {
                Piece::Literal(text) => all.push_str(text),
                Piece::Value { extraction, changes } => {
                    let text = self.extractions.get(*extraction)?.recorded.clone();
                    all.push_str(&change(text, changes, &|inner| self.recorded(inner))?);
                }
                Piece::Made(index) => all.push_str(&self.made.get(*index)?.recorded),
                Piece::Input(index) => all.push_str(&self.inputs.get(*index)?.recorded),
                Piece::Secret(index) => all.push_str(&self.secrets.get(*index)?.recorded),
            }
        }
        Some(all)
    }
}

/// The text after these changes; `None` if one finds nothing. `text_of` gives the text of pieces.
pub(crate) fn change(
    text: String,
    changes: &[Change],
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    changes.iter().try_fold(text, |text, change| once(&text, change, text_of))
}

fn once(
    text: &str,
    change: &Change,
    text_of: &dyn Fn(&[Piece]) -> Option<String>,
) -> Option<String> {
    match change {
        Change::Between(left, right) => between(text, left, right, 0).map(str::to_owned),
        Change::Split(by, index) if by.is_empty() => (*index == 0).then(|| text.to_owned()),
        Change::Split(by, index) => text.split(by.as_str()).nth(*index).map(str::to_owned),
        Change::Parameter(name) => {
            parameters(text).into_iter().find_map(|(own, value)| (own == *name).then_some(value))
        }
        Change::Segment(index) => segments(text).into_iter().nth(*index),
        Change::Json(path) => {
            Json::parse(text)?.at(path, text_of).and_then(Json::text).map(str::to_owned)
        }
        Change::UrlDecode => Some(url_decode(text)),
        Change::UrlEncode => Some(url_encode(text)),
        Change::HtmlDecode => Some(html_decode(text)),
        Change::JsonDecode => Some(json::unescape(text)),
        Change::JsonEncode => Some(json::escape(text)),
        Change::Base64Decode => decode(&STANDARD, &STANDARD_NO_PAD, text),
        Change::Base64Encode => Some(STANDARD.encode(text)),
        Change::Base64UrlDecode => decode(&URL_SAFE_NO_PAD, &URL_SAFE, text),
        Change::Base64UrlEncode => Some(URL_SAFE_NO_PAD.encode(text)),
        Change::Around(before, after) => {
            Some(format!("{}{text}{}", text_of(before)?, text_of(after)?))
        }
    }
}

fn decode(first: &GeneralPurpose, second: &GeneralPurpose, text: &str) -> Option<String> {
    let bytes = first.decode(text).or_else(|_| second.decode(text)).ok()?;
    String::from_utf8(bytes).ok()
}

/// The text between two texts, the `nth` of all such places; an empty `left` is the begin, an empty `right` the end.
pub(crate) fn between<'a>(text: &'a str, left: &str, right: &str, nth: usize) -> Option<&'a str> {
    let mut from = 0;
    let mut seen = 0;
    loop {
        let begin =
            if left.is_empty() { from } else { from + text.get(from..)?.find(left)? + left.len() };
        let rest = text.get(begin..)?;
        let size = if right.is_empty() { rest.len() } else { rest.find(right)? };
        if seen == nth {
            return rest.get(..size);
        }
        if left.is_empty() {
            return None;
        }
        seen += 1;
        from = begin;
    }
}

/// The parts of a text as a URL, absolute or relative: path, query and fragment.
fn parts(text: &str) -> (&str, &str, &str) {
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match rest.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.split_once('/').map_or("", |(_, path)| path)
        }
        _ => rest.strip_prefix("//").map_or_else(
            || rest.strip_prefix('/').unwrap_or(rest),
            |rest| rest.split_once('/').map_or("", |(_, path)| path),
        ),
    };
    (path, query, fragment)
}

/// The segments of a text's path as a URL, decoded. A relative path is taken as it is written.
pub(crate) fn segments(text: &str) -> Vec<String> {
    parts(text).0.split('/').map(url_decode).collect()
}

/// The parameters of a text's query and fragment as a URL, decoded.
pub(crate) fn parameters(text: &str) -> Vec<(String, String)> {
    let (_, query, fragment) = parts(text);
    let fragment = if fragment.contains('=') { fragment } else { "" };
    let fragment = fragment.split_once('?').map_or(fragment, |(_, query)| query);
    url::form_urlencoded::parse(query.as_bytes())
        .chain(url::form_urlencoded::parse(fragment.as_bytes()))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

/// `%41` to `A`; what is no such code stays.
pub(crate) fn url_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

/// As `encodeURIComponent` has it.
pub(crate) fn url_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// `&#43;` to `+`: numbers, and the five names that XML has, and `&nbsp;`.
pub(crate) fn html_decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let c = end.and_then(|end| entity(&rest[1..end]).map(|c| (c, end)));
        let (c, end) = c.unwrap_or(('&', 0));
        decoded.push(c);
        rest = &rest[end + 1..];
    }
    decoded.push_str(rest);
    decoded
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{A0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: &Change) -> Option<String> {
        once(text, change, &|_| None)
    }

    #[test]
    fn a_relative_url_has_segments_and_parameters_too() {
        assert_eq!(changed("/a/b%20c?x=1", &Change::Segment(1)).as_deref(), Some("b c"));
        assert_eq!(changed("https://h:1/a/7", &Change::Segment(1)).as_deref(), Some("7"));
        assert_eq!(changed("../7/edit", &Change::Segment(1)).as_deref(), Some("7"));
        assert_eq!(changed("//h/7", &Change::Segment(0)).as_deref(), Some("7"));
        assert_eq!(changed("?a=b+c#x", &Change::Parameter("a".into())).as_deref(), Some("b c"));
        assert_eq!(
            changed("/cb#code=1%2B", &Change::Parameter("code".into())).as_deref(),
            Some("1+")
        );
    }

    #[test]
    fn entities_and_codes_are_read_and_broken_ones_stay() {
        assert_eq!(html_decode("a&#43;&amp;&#x2F;&bad;&"), "a+&/&bad;&");
        assert_eq!(url_decode("%41%zz%4"), "A%zz%4");
        assert_eq!(url_encode("a+/=é"), "a%2B%2F%3D%C3%A9");
    }

    #[test]
    fn the_nth_place_between_two_texts_is_found() {
        assert_eq!(between("a=1;a=2;", "a=", ";", 1), Some("2"));
        assert_eq!(between("abc", "", "b", 0), Some("a"));
        assert_eq!(between("abc", "b", "", 0), Some("c"));
        assert_eq!(between("abc", "x", "", 0), None);
    }
}
