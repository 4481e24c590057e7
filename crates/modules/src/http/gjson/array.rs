//! Components that meet an array: indexes, `#`, queries.

use std::borrow::Cow;

use super::marks::{marks, split_at_mark};
use super::scan::{self, Kind, key_text};
use super::{Pattern, Raw, Rest, find, owned};

/// The value that a path finds among the elements of an array.
pub(super) fn find_in<'a>(
    elements: &mut dyn Iterator<Item = &'a str>,
    path: &str,
    depth: u32,
) -> Option<Raw<'a>> {
    if let Some(after) = path.strip_prefix('#') {
        if after.starts_with(['(', '[']) {
            return query(elements, after, depth);
        }
        if let Some(key) = after.strip_prefix('.') {
            let (key, pipe) = split_pipe(key);
            let all = elements.filter_map(|element| find(element, key, depth));
            return piped(array(all), pipe, depth);
        }
        let count = elements.count().to_string();
        return match after.strip_prefix('|') {
            Some(pipe) => owned(find(&count, pipe, depth)),
            None if after.is_empty() => Some(Cow::Owned(count)),
            None => None,
        };
    }
    let end = path.find(['.', '|']).unwrap_or(path.len());
    let index: usize = path[..end].parse().ok()?;
    let element = elements.nth(index)?;
    let rest = match path[end..].chars().next() {
        None => Rest::Nothing,
        Some('|') => Rest::Pipe(&path[end + 1..]),
        Some(_) => Rest::after_dot(&path[end + 1..]),
    };
    rest.go_on(element, depth)
}

fn array<'a>(all: impl Iterator<Item = Raw<'a>>) -> String {
    let all: Vec<Raw<'a>> = all.collect();
    format!("[{}]", all.join(","))
}

fn piped(value: String, pipe: Option<&str>, depth: u32) -> Option<Raw<'static>> {
    match pipe {
        Some(pipe) => owned(find(&value, pipe, depth)),
        None => Some(Cow::Owned(value)),
    }
}

/// Up to the first pipe that is in no bracket, and what follows it.
fn split_pipe(path: &str) -> (&str, Option<&str>) {
    let (before, rest) = split_at_mark(path, &['|']);
    (before, rest.strip_prefix('|'))
}

/// `(path op value)`, maybe `#` for all that match, and the rest of the path. `text` begins with the bracket.
fn query<'a>(
    elements: &mut dyn Iterator<Item = &'a str>,
    text: &str,
    depth: u32,
) -> Option<Raw<'a>> {
    let (query, mut rest) = Query::read(text)?;
    let is_all = rest.starts_with('#');
    if is_all {
        rest = &rest[1..];
    }
    let (path, pipe) = match rest.chars().next() {
        None => (None, None),
        Some('|') => (None, Some(&rest[1..])),
        Some('.') => {
            if let Rest::Pipe(pipe) = Rest::after_dot(&rest[1..]) {
                (None, Some(pipe))
            } else {
                let (path, pipe) = split_pipe(&rest[1..]);
                (Some(path), pipe)
            }
        }
        Some(_) => return None,
    };
    let mut matching =
        elements.filter(|element| query.matches(element, depth)).map(|element| match path {
            Some(path) => find(element, path, depth),
            None => Some(Cow::Borrowed(element)),
        });
    if is_all {
        return piped(array(matching.flatten()), pipe, depth);
    }
    let found = matching.next()??;
    match pipe {
        Some(pipe) => owned(find(&found, pipe, depth)),
        None => Some(found),
    }
}

/// The elements that a path asks for.
struct Query<'p> {
    path: &'p str,
    operator: &'p str,
    value: Cow<'p, str>,
}

impl<'p> Query<'p> {
    /// Reads a query in brackets. Returns what follows, too.
    fn read(text: &'p str) -> Option<(Self, &'p str)> {
        let mut operator: Option<(usize, usize)> = None;
        for mark in marks(text).filter(|mark| mark.depth == 1) {
            if mark.is_closing() {
                let query = Self::of(text, mark.at, operator);
                return Some((query, &text[mark.at + 1..]));
            }
            if operator.is_none() {
                let known = ["==", "!=", "<=", ">=", "!%", "=", "<", ">", "%"];
                let found = known.iter().find(|known| text[mark.at..].starts_with(**known));
                operator = found.map(|found| (mark.at, found.len()));
            }
        }
        None
    }

    fn of(text: &'p str, end: usize, operator: Option<(usize, usize)>) -> Self {
        let Some((at, length)) = operator else {
            return Self { path: text[1..end].trim(), operator: "", value: Cow::Borrowed("") };
        };
        let value = text[at + length..end].trim();
        let is_quoted = value.len() > 1 && value.starts_with('"') && value.ends_with('"');
        Self {
            path: text[1..at].trim(),
            operator: &text[at..at + length],
            value: if is_quoted { key_text(value) } else { value.into() },
        }
    }

    fn matches(&self, element: &str, depth: u32) -> bool {
        let found = match scan::kind(element) {
            Kind::Scalar if self.path.is_empty() => Some(Cow::Borrowed(element)),
            Kind::Scalar => None,
            _ if self.path.is_empty() => Some(Cow::Borrowed(element)),
            _ => find(element, self.path, depth),
        };
        if let Some(like) = self.value.strip_prefix('~') {
            let is = match like {
                "*" => found.is_some(),
                "null" => found.as_deref().is_none_or(|found| found == "null"),
                "true" => found.as_deref().is_some_and(is_truish),
                "false" => found.as_deref().is_none_or(|found| !is_truish(found)),
                _ => return false,
            };
            return match self.operator {
                "=" | "==" => is,
                "!=" => !is,
                _ => false,
            };
        }
        let Some(found) = found else { return false };
        if self.operator.is_empty() {
            return true;
        }
        self.holds(&found)
    }

    fn holds(&self, found: &str) -> bool {
        let wanted = &*self.value;
        match found.as_bytes().first() {
            Some(b'"') => {
                let text = key_text(found);
                match self.operator {
                    "%" => Pattern::of(wanted).matches(&text),
                    "!%" => !Pattern::of(wanted).matches(&text),
                    _ => self.compares((*text).partial_cmp(wanted)),
                }
            }
            Some(b't' | b'f')
                if self.operator.contains('=') && self.operator.len() == 2
                    || self.operator == "=" =>
            {
                match self.operator {
                    "!=" => found != wanted,
                    "=" | "==" => found == wanted,
                    ">=" => found == "true",
                    _ => found == "false",
                }
            }
            Some(b't') => self.operator == ">" && wanted == "false",
            Some(b'f') => self.operator == "<" && wanted == "true",
            Some(b'-' | b'0'..=b'9') => {
                let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
                self.compares(number(found).partial_cmp(&number(wanted)))
            }
            _ => false,
        }
    }

    fn compares(&self, order: Option<std::cmp::Ordering>) -> bool {
        let Some(order) = order else { return false };
        match self.operator {
            "=" | "==" => order.is_eq(),
            "!=" => order.is_ne(),
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            ">=" => order.is_ge(),
            _ => false,
        }
    }
}

/// Counts as true: `true`, numbers but 0, texts that say so.
fn is_truish(value: &str) -> bool {
    match value.as_bytes().first() {
        Some(b't' | b'{' | b'[') => true,
        Some(b'"') => {
            matches!(key_text(value).to_ascii_lowercase().as_str(), "1" | "t" | "true")
        }
        Some(b'-' | b'0'..=b'9') => value.parse::<f64>().is_ok_and(|number| number != 0.0),
        _ => false,
    }
}
