//! `@reverse` and its like, and `!` literals.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Raw;
use super::marks::split_at_mark;
use super::scan::{self, Kind, elements, is_valid, key_text, members, quoted};

const KNOWN: [&str; 13] = [
    "reverse", "this", "values", "keys", "flatten", "join", "pretty", "ugly", "valid", "tostr",
    "fromstr", "group", "dig",
];

/// A path begins with a modifier that there is.
pub(super) fn is_known(path: &str) -> bool {
    KNOWN.contains(&name_of(path))
}

fn name_of(path: &str) -> &str {
    let name = &path[1..];
    &name[..name.find(['.', '|', ':']).unwrap_or(name.len())]
}

/// Applies the modifier at the front of a path. `None` if there is none of that name; the value is `None` if it finds
/// nothing. Returns what follows, too.
pub(super) fn apply<'a, 'p>(
    json: &'a str,
    path: &'p str,
    depth: u32,
) -> Option<(Option<Raw<'a>>, &'p str)> {
    if !is_known(path) {
        return None;
    }
    let name = name_of(path);
    let mut rest = &path[1 + name.len()..];
    let mut argument = "";
    if let Some(after) = rest.strip_prefix(':') {
        (argument, rest) = split_at_mark(after, &['|', '.']);
    }
    Some((run(json, name, argument, depth), rest))
}

fn run<'a>(json: &'a str, name: &str, argument: &str, depth: u32) -> Option<Raw<'a>> {
    let kind = scan::kind(json);
    let has = |wanted: &str| {
        let set: Option<serde_json::Value> = serde_json::from_str(argument).ok();
        set.is_some_and(|set| set[wanted] == true)
    };
    Some(Cow::Owned(match (name, kind) {
        ("reverse", Kind::Array) => {
            let mut all: Vec<&str> = elements(json).collect();
            all.reverse();
            array(all)
        }
        ("reverse", Kind::Object) => {
            let mut all: Vec<_> = members(json).collect();
            all.reverse();
            object(all)
        }
        ("keys", Kind::Object) => array(members(json).map(|(key, _)| key)),
        ("keys", Kind::Array) => array(elements(json).map(|_| "null")),
        ("keys", Kind::Scalar) => "[null]".to_owned(),
        ("values", Kind::Object) => array(members(json).map(|(_, value)| value)),
        ("values", Kind::Scalar) => array([json]),
        ("flatten", Kind::Array) => array(flat(json, has("deep"))),
        ("join", Kind::Array) => joined(json, has("preserve")),
        ("tostr", _) => quoted(json),
        ("fromstr", Kind::Scalar) => {
            let text = if json.starts_with('"') { key_text(json) } else { json.into() };
            if !is_valid(&text) {
                return None;
            }
            text.into_owned()
        }
        ("dig", _) => {
            let mut found = Vec::new();
            dig(json, argument, depth, &mut found);
            array(found.iter().map(AsRef::as_ref))
        }
        ("group", Kind::Object) => grouped(json),
        ("group", _) => return None,
        _ => return Some(Cow::Borrowed(json)),
    }))
}

fn array<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    format!("[{}]", all.into_iter().collect::<Vec<_>>().join(","))
}

fn object<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let all: Vec<String> = all.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", all.join(","))
}

/// The elements with arrays among them opened: one level, or all.
fn flat(json: &str, is_deep: bool) -> Vec<&str> {
    let mut out = Vec::new();
    let mut left: Vec<(&str, bool)> = elements(json).map(|element| (element, true)).collect();
    left.reverse();
    while let Some((element, opens)) = left.pop() {
        if opens && scan::kind(element) == Kind::Array {
            let from = left.len();
            left.extend(elements(element).map(|element| (element, is_deep)));
            left[from..].reverse();
        } else {
            out.push(element);
        }
    }
    out
}

/// Finds the values of a path in a value, and in everything inside it.
fn dig<'a>(json: &'a str, path: &str, depth: u32, found: &mut Vec<Raw<'a>>) {
    if depth > super::DEPTH_MAX {
        return;
    }
    found.extend(super::find(json, path, depth));
    let inside: Vec<&str> = match scan::kind(json) {
        Kind::Object => members(json).map(|(_, value)| value).collect(),
        Kind::Array => elements(json).collect(),
        Kind::Scalar => Vec::new(),
    };
    for value in inside {
        dig(value, path, depth + 1, found);
    }
}

/// The objects of an array as one; of two equal keys the later value counts, in the place of the first.
fn joined(json: &str, keeps_all: bool) -> String {
    let mut all: Vec<(&str, &str)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (key, value) in
        elements(json).filter(|element| scan::kind(element) == Kind::Object).flat_map(members)
    {
        match places.get(key) {
            Some(&place) if !keeps_all => all[place].1 = value,
            _ => {
                places.insert(key, all.len());
                all.push((key, value));
            }
        }
    }
    object(all)
}

/// `{"a":[1,2],"b":[3,4]}` as `[{"a":1,"b":3},{"a":2,"b":4}]`.
fn grouped(json: &str) -> String {
    let mut all: Vec<Vec<(&str, &str)>> = Vec::new();
    for (key, value) in members(json).filter(|(_, value)| scan::kind(value) == Kind::Array) {
        for (index, element) in elements(value).enumerate() {
            if index == all.len() {
                all.push(Vec::new());
            }
            all[index].push((key, element));
        }
    }
    format!("[{}]", all.into_iter().map(object).collect::<Vec<_>>().join(","))
}

/// `!"text"`, `!5`, `!{…}`: a literal value, and the rest of the path.
pub(super) fn literal(path: &str) -> Option<(String, &str)> {
    let text = &path[1..];
    if text.starts_with(['{', '[', '"']) {
        let ends = text.char_indices().map(|(at, char)| at + char.len_utf8());
        let end = ends.into_iter().find(|&end| is_valid(&text[..end]))?;
        return Some((text[..end].to_owned(), &text[end..]));
    }
    let end = text.find(['|', '.']).unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    let value = value.to_ascii_lowercase();
    is_valid(&value).then_some((value, rest))
}
