//! Fields in texts: of JSON, of forms, of multipart forms, of XML and HTML, of whatever else has names and values.

use super::addresses::{pairs, within};
use super::{STRUCK, Values, is_secret};

/// The text with the fields struck out that are secret; nothing if there are none. It need not be whole.
pub(super) fn struck(text: &str, values: &mut Values) -> Option<String> {
    let start = text.trim_start();
    let is_form = !start.starts_with(['{', '[', '<', '"', '-']) && !text.contains(['\n', ' ', '{']);
    let clean = if is_form && text.contains('=') {
        pairs(text, '&', values)
    } else if start.starts_with("--") && position(text, "content-disposition").is_some() {
        multipart(text, values)
    } else {
        any(text, values)
    };
    let clean = within(&clean);
    (clean != text).then_some(clean)
}

/// The place of a word of small letters, however it is written.
fn position(text: &str, word: &str) -> Option<usize> {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

/// Each part of which the name is secret, without what it holds; the others, without the secret fields in them.
fn multipart(text: &str, values: &mut Values) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let mut part = |part: &str| {
        let end = [part.find("\r\n\r\n").map(|at| at + 4), part.find("\n\n").map(|at| at + 2)];
        let Some(end) = end.into_iter().flatten().min() else { return part.to_owned() };
        let (head, content) = part.split_at(end);
        if part_name(head).is_some_and(|name| is_secret(&name)) {
            values.add(content);
            let tail = if content.ends_with("\r\n") { "\r\n" } else { "" };
            return format!("{head}{STRUCK}{tail}");
        }
        format!("{head}{}", any(content, values))
    };
    text.split(line).map(&mut part).collect::<Vec<_>>().join(line)
}

/// `Content-Disposition: form-data; filename="a"; name="b"`: `b`.
fn part_name(head: &str) -> Option<String> {
    let line = head.lines().find(|line| position(line, "content-disposition") == Some(0))?;
    line.split(';').find_map(|word| {
        let (key, value) = word.split_once('=')?;
        let is_name = key.trim().trim_end_matches('*').eq_ignore_ascii_case("name");
        is_name.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// In any text: each name that is secret and has a value behind it.
fn any(text: &str, values: &mut Values) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    let mut at = 0;
    while let Some(name) = next_name(text, at) {
        at = name.end;
        if !is_secret(&text[name.clone()]) {
            continue;
        }
        let Some(value) = value_of(text, &name).or_else(|| input_value(text, &name)) else {
            continue;
        };
        let found = &text[value.place.clone()];
        // `{"key": "password", "value": "x"}`: the value is the name of another.
        if is_secret(found) && input_value(text, &value.place).is_some() {
            continue;
        }
        if matches!(found.trim(), "" | "null" | "true" | "false" | "None" | "nil")
            || found == STRUCK
        {
            continue;
        }
        values.add(found);
        out.push_str(&text[rest..value.place.start]);
        out.push_str(value.quote);
        out.push_str(STRUCK);
        out.push_str(value.quote);
        (rest, at) = (value.place.end, value.place.end);
    }
    out.push_str(&text[rest..]);
    out
}

/// So far away something may be that belongs to a name.
const NEAR: usize = 1000;

/// The text behind a place, as far as it matters.
fn near(text: &str, at: usize) -> &str {
    &text[at..text.floor_char_boundary(at + NEAR)]
}

type Place = std::ops::Range<usize>;

/// The next word that may be a name, from a place on.
fn next_name(text: &str, from: usize) -> Option<Place> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.%[]".contains(&byte);
    let bytes = text.as_bytes();
    let start = from + bytes[from..].iter().position(u8::is_ascii_alphanumeric)?;
    let length = bytes[start..].iter().position(|byte| !is_of_name(*byte));
    let end = length.map_or(bytes.len(), |length| start + length);
    // A bracket that was not opened within it belongs to what is around it.
    let is_closed = text[start..end].contains('[') || !text[start..end].contains(']');
    let end =
        if is_closed { end } else { start + text[start..end].find(']').unwrap_or(end - start) };
    Some(start..end.max(start + 1))
}

/// A value to be struck out, and the quotes that its place wants.
struct Value {
    place: Place,
    quote: &'static str,
}

/// The value behind a name.
fn value_of(text: &str, name: &Place) -> Option<Value> {
    element(text, name).or_else(|| {
        let bytes = text.as_bytes();
        let mut at = name.end;
        // The quote that ends the name, which may be escaped.
        while bytes.get(at) == Some(&b'\\') {
            at += 1;
        }
        let is_quoted = matches!(bytes.get(at), Some(b'"' | b'\'' | b'`'));
        at += usize::from(is_quoted);
        if bytes.get(at) == Some(&b']') {
            at += 1;
        }
        at = past_spaces(text, at);
        let sign = *bytes.get(at).filter(|byte| matches!(byte, b':' | b'='))?;
        at += 1;
        // `::`, `==`, `://` are no fields; `=>` is one, unless it begins a function.
        let mut is_arrow = false;
        match bytes.get(at) {
            Some(b':' | b'=') => return None,
            Some(b'>') if sign == b'=' => (is_arrow, at) = (true, at + 1),
            Some(b'/') if sign == b':' && bytes.get(at + 1) == Some(&b'/') => return None,
            _ => {}
        }
        at = past_spaces(text, at);
        if is_arrow && matches!(bytes.get(at), Some(b'{' | b'[' | b'(')) {
            return None;
        }
        Some(Value { place: extent(text, at, sign), quote: "" }.quoted(text, is_quoted))
    })
}

impl Value {
    /// A bare value of JSON becomes a text.
    fn quoted(self, text: &str, is_quoted: bool) -> Self {
        let before = text[..self.place.start].bytes().next_back();
        let is_bare = is_quoted && !matches!(before, Some(b'"' | b'\'' | b'`'));
        Self { quote: if is_bare { "\"" } else { "" }, ..self }
    }
}

fn past_spaces(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
}

/// The place of a value that begins here: between its quotes, within its brackets, or up to where a bare one ends.
fn extent(text: &str, at: usize, sign: u8) -> Place {
    let bytes = text.as_bytes();
    let escapes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
    let start = at + escapes;
    match bytes.get(start).copied() {
        Some(quote @ (b'"' | b'\'' | b'`')) => {
            start + 1..string_end(bytes, start + 1, quote, escapes)
        }
        Some(b'{' | b'[') if escapes == 0 => at..group_end(bytes, at),
        _ => {
            // `password: two words` goes on to the end of its line.
            let is_end = |byte: &u8| match sign {
                b':' => b",;&<>{}[]()\"'`\r\n\\".contains(byte),
                _ => byte.is_ascii_whitespace() || b",;&<>{}[]()\"'`\\".contains(byte),
            };
            let length = bytes[at..].iter().position(is_end);
            at..length.map_or(bytes.len(), |length| at + length)
        }
    }
}

/// The place of the quote (or of the escapes before it) that ends a string; the end of the text if it was cut off.
fn string_end(bytes: &[u8], from: usize, quote: u8, escapes: usize) -> usize {
    let mut slashes = 0;
    for (place, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'\\' => slashes += 1,
            byte if *byte == quote
                && (slashes == escapes || (escapes == 0 && slashes % 2 == 0)) =>
            {
                return place - if escapes == 0 { 0 } else { escapes };
            }
            _ => slashes = 0,
        }
    }
    bytes.len()
}

/// The place behind the bracket that ends a group.
fn group_end(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at) = (0_usize, from);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            b'"' => at = string_end(bytes, at + 1, b'"', 0),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// `<password>x</password>`, with or without a prefix and attributes.
fn element(text: &str, name: &Place) -> Option<Value> {
    let before = &text[text.floor_char_boundary(name.start.saturating_sub(NEAR))..name.start];
    let before = before.rsplit(|c: char| c.is_whitespace() || c == '>').next()?;
    let is_prefix = before.starts_with('<') && !before.starts_with("</") && before.ends_with(':');
    if before != "<" && !is_prefix {
        return None;
    }
    let open = name.end + near(text, name.end).find('>')?;
    if text[..open].ends_with('/') {
        return None;
    }
    let start = open + 1;
    let cdata = "<![CDATA[";
    if text[start..].starts_with(cdata) {
        let start = start + cdata.len();
        let end = text[start..].find("]]>").map_or(text.len(), |end| start + end);
        return Some(Value { place: start..end, quote: "" });
    }
    let end = text[start..].find('<').map_or(text.len(), |end| start + end);
    (end > start).then_some(Value { place: start..end, quote: "" })
}

/// `<input name="token" value="x">`, `{"name": "token", "value": "x"}`: the value of the field that is called so.
fn input_value(text: &str, name: &Place) -> Option<Value> {
    let before = text[..name.start].trim_end_matches(['"', '\'', '\\']).trim_end();
    let before = before.strip_suffix(['=', ':'])?.trim_end().trim_end_matches(['"', '\'', '\\']);
    let key = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    if !["name", "id", "key", "property"].contains(&key.to_ascii_lowercase().as_str()) {
        return None;
    }
    let rest = near(text, name.end);
    let end = name.end + rest.find(['>', '}']).unwrap_or(rest.len());
    let mut at = name.end;
    while let Some(next) = next_name(text, at).filter(|next| next.start < end) {
        let word = &text[next.clone()];
        if ["value", "content"].contains(&word.to_ascii_lowercase().as_str()) {
            return value_of(text, &next);
        }
        at = next.end;
    }
    None
}
