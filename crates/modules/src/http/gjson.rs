//! GJSON paths, as `res.json(selector)` takes them: `a.b.#(x>1).y`, `a.#.b`, `{a,b}`, `@reverse`, pipes.
//!
//! Works on the text of a valid JSON document and gives back text, so that nothing but the answer becomes a JavaScript
//! value. `@pretty` and `@ugly` change nothing, since only the value counts.

mod array;
mod marks;
mod modifier;
mod scan;

use std::borrow::Cow;

use self::marks::marks;
pub(super) use self::scan::is_valid;
use self::scan::{Kind, elements, key_text, members};

/// Paths that nest deeper (wildcards, queries in queries, pipes) find nothing: fibers have small stacks.
const DEPTH_MAX: u32 = 48;

/// Raw JSON.
type Raw<'a> = Cow<'a, str>;

/// The value that a path finds in a valid JSON text, as raw JSON.
pub(super) fn get<'a>(json: &'a str, path: &str) -> Option<Raw<'a>> {
    find(json, path, 0)
}

fn find<'a>(json: &'a str, path: &str, depth: u32) -> Option<Raw<'a>> {
    if depth > DEPTH_MAX {
        return None;
    }
    let depth = depth + 1;
    if path.len() > 1 {
        let changed = match path.as_bytes()[0] {
            b'@' => modifier::apply(json, path, depth),
            b'!' => modifier::literal(path).map(|(value, rest)| (Some(Cow::Owned(value)), rest)),
            b'[' | b'{' => multipath(json, path, depth).map(|(value, rest)| (Some(value), rest)),
            _ => None,
        };
        if let Some((value, rest)) = changed {
            let value = value?;
            return match rest.strip_prefix(['|', '.']) {
                Some(rest) => owned(find(&value, rest, depth)),
                None if rest.is_empty() => Some(value),
                None => None,
            };
        }
    }
    if let Some(path) = path.strip_prefix("..") {
        // JSON lines; a valid document is one.
        return array::find_in(&mut std::iter::once(json.trim()), path, depth);
    }
    match scan::kind(json) {
        Kind::Object => in_object(json, path, depth),
        Kind::Array => array::find_in(&mut elements(json), path, depth),
        Kind::Scalar => None,
    }
}

/// Without the life of what it was found in.
fn owned(found: Option<Raw<'_>>) -> Option<Raw<'static>> {
    found.map(|found| Cow::Owned(found.into_owned()))
}

fn in_object<'a>(json: &'a str, path: &str, depth: u32) -> Option<Raw<'a>> {
    let step = Step::read(path);
    for (key, value) in members(json) {
        if !step.part.matches(&key_text(key)) {
            continue;
        }
        if let Some(found) = step.go_on(value, depth) {
            return Some(found);
        }
        if !step.part.is_wild() {
            return None;
        }
    }
    None
}

/// One component of a path, and what follows.
struct Step<'p> {
    part: Pattern,
    rest: Rest<'p>,
}

/// The rest of a path behind a component.
#[derive(Clone, Copy)]
enum Rest<'p> {
    Nothing,
    /// After a dot.
    Path(&'p str),
    /// After a pipe.
    Pipe(&'p str),
}

impl<'p> Step<'p> {
    fn read(path: &'p str) -> Self {
        let mut part = Pattern::default();
        let mut chars = path.char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '|' => return Self { part, rest: Rest::Pipe(&path[at + 1..]) },
                '.' => return Self { part, rest: Rest::after_dot(&path[at + 1..]) },
                '*' => part.0.push(Piece::Any),
                '?' => part.0.push(Piece::One),
                '\\' => part.0.extend(chars.next().map(|(_, char)| Piece::Char(char))),
                char => part.0.push(Piece::Char(char)),
            }
        }
        Self { part, rest: Rest::Nothing }
    }

    fn go_on<'a>(&self, value: &'a str, depth: u32) -> Option<Raw<'a>> {
        self.rest.go_on(value, depth)
    }
}

impl<'p> Rest<'p> {
    fn after_dot(rest: &'p str) -> Self {
        let pipes = match rest.as_bytes().first() {
            Some(b'[' | b'{' | b'!') => true,
            Some(b'@') => modifier::is_known(rest),
            _ => false,
        };
        if pipes { Self::Pipe(rest) } else { Self::Path(rest) }
    }

    fn go_on(self, value: &str, depth: u32) -> Option<Raw<'_>> {
        match self {
            Self::Nothing => Some(Cow::Borrowed(value)),
            Self::Pipe(path) => find(value, path, depth),
            Self::Path(path) => match scan::kind(value) {
                Kind::Scalar => None,
                _ if depth > DEPTH_MAX => None,
                Kind::Object => in_object(value, path, depth + 1),
                Kind::Array => array::find_in(&mut elements(value), path, depth + 1),
            },
        }
    }
}

/// A key with wildcards.
#[derive(Default)]
struct Pattern(Vec<Piece>);

#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Char(char),
    /// `?`
    One,
    /// `*`
    Any,
}

impl Pattern {
    /// A pattern alone, as `%` compares with.
    fn of(text: &str) -> Self {
        let mut chars = text.chars();
        let mut pieces = Vec::new();
        while let Some(char) = chars.next() {
            pieces.push(match char {
                '*' => Piece::Any,
                '?' => Piece::One,
                '\\' => Piece::Char(chars.next().unwrap_or('\\')),
                char => Piece::Char(char),
            });
        }
        Self(pieces)
    }

    fn is_wild(&self) -> bool {
        self.0.iter().any(|piece| !matches!(piece, Piece::Char(_)))
    }

    fn matches(&self, text: &str) -> bool {
        if self.is_wild() {
            return self.matches_wild(text);
        }
        // Most keys differ in their first letters, and no letter is shorter than a byte.
        self.0.len() <= text.len() && text.chars().map(Piece::Char).eq(self.0.iter().copied())
    }

    /// Each star is tried again once at most per character: linear in text times pattern.
    fn matches_wild(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut piece) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.0.get(piece) {
                Some(Piece::Any) => {
                    star = Some((piece, at));
                    piece += 1;
                }
                Some(Piece::One) => (at, piece) = (at + 1, piece + 1),
                Some(Piece::Char(char)) if *char == text[at] => (at, piece) = (at + 1, piece + 1),
                _ => match star {
                    Some((from, taken)) => {
                        star = Some((from, taken + 1));
                        (at, piece) = (taken + 1, from + 1);
                    }
                    None => return false,
                },
            }
        }
        self.0[piece..].iter().all(|piece| *piece == Piece::Any)
    }
}

/// `{a,"name":b}` and `[a,b]`: the value, and what follows.
fn multipath<'a, 'p>(json: &'a str, path: &'p str, depth: u32) -> Option<(Raw<'a>, &'p str)> {
    let is_object = path.starts_with('{');
    let (selectors, rest) = selectors(path)?;
    if !rest.is_empty() && !rest.starts_with(['|', '.']) {
        return None;
    }
    let mut out = String::from(if is_object { "{" } else { "[" });
    for (name, selector) in selectors {
        let Some(found) = find(json, selector, depth) else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        if is_object {
            let name = match name {
                Some(name) if name.starts_with('"') && scan::is_valid(name) => name.to_owned(),
                Some(name) => scan::quoted(name),
                None => scan::quoted(last_name(selector)),
            };
            out.push_str(&name);
            out.push(':');
        }
        out.push_str(&found);
    }
    out.push(if is_object { '}' } else { ']' });
    Some((Cow::Owned(out), rest))
}

/// The name that a selector without one gets: its last component.
fn last_name(path: &str) -> &str {
    let bytes = path.as_bytes();
    let is_end =
        |at: usize| matches!(bytes[at], b'|' | b'.') && (at == 0 || bytes[at - 1] != b'\\');
    let start = (0..bytes.len()).rev().find(|&at| is_end(at)).map_or(0, |at| at + 1);
    let name = &path[start..];
    if name.contains(|char: char| char < ' ' || "[]{}()#|!".contains(char)) { "_" } else { name }
}

type Selectors<'p> = Vec<(Option<&'p str>, &'p str)>;

/// The selectors between the brackets, with their names, and what follows the closing one.
fn selectors(path: &str) -> Option<(Selectors<'_>, &str)> {
    let mut found = Vec::new();
    let (mut start, mut colon) = (1, None);
    for mark in marks(path).filter(|mark| mark.depth == 1) {
        // A colon behind a modifier is its argument's.
        if mark.char == ':' && colon.is_none() && !path[start..mark.at].contains('@') {
            colon = Some(mark.at);
        }
        if mark.char == ',' || mark.is_closing() {
            found.push(match colon.take() {
                Some(colon) => (Some(&path[start..colon]), &path[colon + 1..mark.at]),
                None => (None, &path[start..mark.at]),
            });
            start = mark.at + 1;
        }
        if mark.is_closing() {
            return Some((found, &path[start..]));
        }
    }
    None
}

#[cfg(test)]
mod tests;
