//! Values in the script: pieces, what is done to them, and where in a response they are found.

use std::fmt::Write as _;

use brunt_correlate::plan::{Change, Finder, Made, MadeKind, PathStep, Piece, Source};

use crate::functions::Needs;
use crate::text::{in_template, member, quoted};
use crate::variables::Variables;

/// How a place encodes its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it is.
    Plain,
    /// A part of a URL.
    Component,
    /// A part of a path that has parameters: `login.xhtml;jsessionid=1`.
    Path,
}

/// A text with quotes, over several lines if it has them.
pub(crate) fn literal(text: &str) -> String {
    let lines = text.trim_end().matches('\n').count();
    if lines > 0 && text.len() > 60 && !text.contains('\r') {
        format!("`{}`", in_template(text))
    } else {
        quoted(text)
    }
}

/// The expression of a text that is made of pieces.
pub(crate) fn text(
    pieces: &[Piece],
    encoding: Encoding,
    variables: &Variables,
    needs: &mut Needs,
) -> String {
    let parts = parts(pieces, encoding, variables, needs);
    match parts.as_slice() {
        [] => quoted(""),
        [Part::Literal(only)] => literal(only),
        [Part::Code(only)] => only.clone(),
        _ => template(&parts),
    }
}

/// A part of a template literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text.
    Literal(String),
    /// An expression.
    Code(String),
}

/// A template literal.
pub(crate) fn template(parts: &[Part]) -> String {
    let mut out = "`".to_owned();
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(&in_template(text)),
            Part::Code(code) => {
                out.push_str("${");
                out.push_str(code);
                out.push('}');
            }
        }
    }
    // `$` before `{` of two parts.
    let out = out.replace("$${", "\\$${");
    out + "`"
}

/// Pieces as parts of a template.
pub(crate) fn parts(
    pieces: &[Piece],
    encoding: Encoding,
    variables: &Variables,
    needs: &mut Needs,
) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for piece in pieces.iter().flat_map(|piece| variables.shielded(piece)) {
        let part = match &piece {
            Piece::Literal(text) => Part::Literal(match encoding {
                Encoding::Plain => text.clone(),
                Encoding::Component => percent_encoded(text),
                Encoding::Path => percent_encoded(text).replace("%3B", ";").replace("%3D", "="),
            }),
            other => {
                let code = code(other, variables, needs);
                let is_plain = encoding == Encoding::Plain || variables.is_safe_in_url(other);
                let function =
                    if encoding == Encoding::Path { "encodeURI" } else { "encodeURIComponent" };
                Part::Code(if is_plain { code } else { format!("{function}({code})") })
            }
        };
        match (out.last_mut(), part) {
            (Some(Part::Literal(last)), Part::Literal(next)) => last.push_str(&next),
            (_, part) => out.push(part),
        }
    }
    out
}

/// The expression of one piece.
pub(crate) fn code(piece: &Piece, variables: &Variables, needs: &mut Needs) -> String {
    match piece {
        Piece::Literal(text) => literal(text),
        Piece::Value { extraction, changes } => {
            let value = variables.extraction(*extraction).to_owned();
            changes.iter().fold(value, |value, change| {
                let Change::Around(before, after) = change else {
                    return changed(value, std::slice::from_ref(change), needs);
                };
                let mut all = parts(before, Encoding::Plain, variables, needs);
                all.push(Part::Code(value));
                all.extend(parts(after, Encoding::Plain, variables, needs));
                template(&all)
            })
        }
        Piece::Made(index) => variables.made(*index).to_owned(),
        Piece::Input(index) => format!("input{}", member(variables.input(*index))),
        Piece::Secret(index) => variables.secret(*index).to_owned(),
    }
}

/// As `encodeURIComponent` does.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// A value after its changes.
pub(crate) fn changed(value: String, changes: &[Change], needs: &mut Needs) -> String {
    changes.iter().fold(value, |value, change| match change {
        Change::Between(left, right) => {
            needs.add("between");
            format!("between({value}, {}, {})", quoted(left), quoted(right))
        }
        Change::Split(by, nth) => format!("{value}.split({})[{nth}]", quoted(by)),
        Change::Parameter(name) => {
            needs.add("parameter");
            format!("parameter({value}, {})", quoted(name))
        }
        Change::Segment(index) => {
            needs.add("segment");
            format!("segment({value}, {index})")
        }
        Change::Json(path) => {
            format!("JSON.parse({value}){}", path_code(path, &|pieces| plain_of(pieces)))
        }
        Change::UrlDecode => format!("decodeURIComponent({value})"),
        Change::UrlEncode => format!("encodeURIComponent({value})"),
        Change::HtmlDecode => {
            needs.add("unescapeHtml");
            format!("unescapeHtml({value})")
        }
        Change::JsonDecode => format!("JSON.parse(`\"${{{value}}}\"`)"),
        Change::JsonEncode => format!("JSON.stringify({value}).slice(1, -1)"),
        Change::Base64Decode => base64(&value, "b64decode", "'std', 's'", needs),
        Change::Base64Encode => base64(&value, "b64encode", "'std'", needs),
        Change::Base64UrlDecode => {
            base64(&format!("{value}.replace(/=+$/, '')"), "b64decode", "'rawurl', 's'", needs)
        }
        Change::Base64UrlEncode => base64(&value, "b64encode", "'rawurl'", needs),
        Change::Around(before, after) => {
            format!("({} + {value} + {})", plain_of(before), plain_of(after))
        }
    })
}

fn base64(value: &str, function: &str, more: &str, needs: &mut Needs) -> String {
    needs.add("import:encoding");
    format!("encoding.{function}({value}, {more})")
}

fn plain_of(pieces: &[Piece]) -> String {
    let text = pieces
        .iter()
        .map(|piece| if let Piece::Literal(text) = piece { text.as_str() } else { "" });
    quoted(&text.collect::<String>())
}

/// The way into a parsed JSON value; `text` gives the expressions of texts.
pub(crate) fn path_code(path: &[PathStep], text: &dyn Fn(&[Piece]) -> String) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            PathStep::Key(key) => out.push_str(&member(key)),
            PathStep::Index(index) => {
                let _ = write!(out, "[{index}]");
            }
            PathStep::Where { key, is } => {
                let own = member(key);
                let is = text(is);
                let _ = write!(out, ".find((one) => String(one{own}) === {is})");
            }
        }
    }
    out
}

/// Expressions of a response: its pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// The variable of the response.
    pub(crate) res: &'a str,
    /// The variable of the messages or events that were heard.
    pub(crate) heard: &'a str,
}

/// Takes a value out of a response.
pub(crate) fn source(
    own: &Source,
    recorded: &str,
    answer: Answer<'_>,
    variables: &Variables,
    needs: &mut Needs,
) -> String {
    // A number that JavaScript would write in another way is kept as text.
    let is_odd = own.changes.is_empty() && is_odd_number(recorded);
    let found = finder(&own.finder, is_odd, answer, variables, needs);
    changed(found, &own.changes, needs)
}

/// Whether JavaScript's numbers can't keep this one's text.
pub(crate) fn is_odd_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    if digits.is_empty()
        || !digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
    {
        return false;
    }
    let plain = digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    !plain
        && text
            .parse::<f64>()
            .is_ok_and(|number| format!("{number}") != text || number.abs() > 9e15)
}

fn finder(
    own: &Finder,
    is_odd: bool,
    answer: Answer<'_>,
    variables: &Variables,
    needs: &mut Needs,
) -> String {
    let res = answer.res;
    match own {
        Finder::Field { .. } | Finder::Attribute { .. } | Finder::Text { .. } => {
            let selector = |pieces: &[Piece], needs: &mut Needs| {
                text(pieces, Encoding::Plain, variables, needs)
            };
            element(own, &|css| format!("{res}.html({css})"), &selector, needs)
        }
        Finder::Json(path) => {
            json(path, is_odd, &format!("{res}.json()"), &format!("{res}.body"), variables, needs)
        }
        Finder::Update { id, inside } => {
            needs.add("update");
            let whole = format!("update({res}, {})", quoted(id));
            inside
                .as_ref()
                .map_or(whole.clone(), |inner| within(inner, is_odd, whole, variables, needs))
        }
        Finder::Header(name) => format!("{res}.headers{}", member(&canonical(name))),
        Finder::Cookie(name) => {
            needs.add("import:http");
            format!("http.cookieJar().cookiesForURL({res}.url){}[0]", member(name))
        }
        Finder::Url => format!("{res}.url"),
        Finder::Between { left, right, nth } => {
            between(&format!("{res}.body"), left, right, *nth, needs)
        }
        Finder::Message { nth, inside } | Finder::Event { nth, inside } => {
            let whole = format!("{}[{nth}]", answer.heard);
            inside
                .as_ref()
                .map_or(whole.clone(), |inner| within(inner, is_odd, whole, variables, needs))
        }
    }
}

fn between(text: &str, left: &str, right: &str, nth: usize, needs: &mut Needs) -> String {
    needs.add("between");
    let nth = if nth == 0 { String::new() } else { format!(", {nth}") };
    format!("between({text}, {}, {}{nth})", quoted(left), quoted(right))
}

/// Takes a value out of a text: HTML, JSON or any.
fn within(
    own: &Finder,
    is_odd: bool,
    whole: String,
    variables: &Variables,
    needs: &mut Needs,
) -> String {
    match own {
        Finder::Field { .. } | Finder::Attribute { .. } | Finder::Text { .. } => {
            needs.add("import:parseHTML");
            let selector = |pieces: &[Piece], needs: &mut Needs| {
                text(pieces, Encoding::Plain, variables, needs)
            };
            element(own, &|css| format!("parseHTML({whole}).find({css})"), &selector, needs)
        }
        Finder::Json(path) => {
            json(path, is_odd, &format!("JSON.parse({whole})"), &whole, variables, needs)
        }
        Finder::Between { left, right, nth } => between(&whole, left, right, *nth, needs),
        _ => whole,
    }
}

fn json(
    path: &[PathStep],
    is_odd: bool,
    parsed: &str,
    body: &str,
    variables: &Variables,
    needs: &mut Needs,
) -> String {
    let parsed = if is_odd {
        needs.add("numbersAsText");
        format!("numbersAsText({body})")
    } else {
        parsed.to_owned()
    };
    let needs = std::cell::RefCell::new(needs);
    let code = |pieces: &[Piece]| text(pieces, Encoding::Plain, variables, &mut needs.borrow_mut());
    format!("{parsed}{}", path_code(path, &code))
}

fn element(
    own: &Finder,
    find: &dyn Fn(&str) -> String,
    code: &dyn Fn(&[Piece], &mut Needs) -> String,
    needs: &mut Needs,
) -> String {
    let (selector, nth) = match own {
        Finder::Field { selector, nth }
        | Finder::Attribute { selector, nth, .. }
        | Finder::Text { selector, nth } => (code(selector, needs), *nth),
        _ => (quoted("html"), 0),
    };
    let found = find(&selector);
    let chosen = if nth == 0 { found.clone() } else { format!("{found}.eq({nth})") };
    match own {
        // `val()` of a text area is HTML.
        Finder::Field { .. } if selector.contains("textarea") => format!("{chosen}.text()"),
        Finder::Field { .. } => format!("{chosen}.val()"),
        Finder::Attribute { attribute, .. } => format!("{chosen}.attr({})", quoted(attribute)),
        // The text of all matches is one text.
        _ if nth == 0 => format!("{found}.first().text().trim()"),
        _ => format!("{chosen}.text().trim()"),
    }
}

/// A header's name as Go writes it: `X-Csrf-Token`.
pub(crate) fn canonical(name: &str) -> String {
    let part = |part: &str| {
        let mut chars = part.chars();
        let first = chars.next().map(|char| char.to_ascii_uppercase());
        first.into_iter().chain(chars.map(|char| char.to_ascii_lowercase())).collect::<String>()
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// How a client makes a value.
pub(crate) fn made(own: &Made, variables: &Variables, needs: &mut Needs) -> String {
    const LETTERS: &str = "'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = |length: usize, letters: &str| {
        needs.add("randomText");
        format!("randomText({length}, {letters})")
    };
    match &own.kind {
        MadeKind::Uuid => {
            needs.add("uuid");
            "uuid()".to_owned()
        }
        MadeKind::Milliseconds => "String(Date.now())".to_owned(),
        MadeKind::Seconds => "String(Math.floor(Date.now() / 1000))".to_owned(),
        MadeKind::Timestamp => "new Date().toISOString()".to_owned(),
        MadeKind::Hex(length) => random(*length, "'0123456789abcdef'"),
        MadeKind::Base64Url(length) => random(*length, &format!("{LETTERS}-_'")),
        MadeKind::Alphanumeric(length) => random(*length, &format!("{LETTERS}'")),
        MadeKind::Digits(length) => random(*length, "'0123456789'"),
        MadeKind::PkceChallenge(verifier) => {
            needs.add("import:crypto");
            format!("crypto.sha256({}, 'base64rawurl')", variables.made(*verifier))
        }
    }
}
