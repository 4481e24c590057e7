//! Scripts of requests: which of their lines are understood.

use std::collections::HashMap;

use brunt_correlate::{Finder, MadeKind, PathStep};
use brunt_traffic::Response;
use serde_json::Value as Json;

use super::lines::{Statement, arguments, literal, statements};
use super::variables::Variables;
use crate::draft::Ledger;

/// The effects of a script that runs after the request.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The status that it expects.
    pub(super) status: Option<u16>,
    /// In order.
    pub(super) sets: Vec<Set>,
}

/// A change of a variable.
#[derive(Debug)]
pub(super) enum Set {
    Text { name: String, text: String },
    Unset { name: String },
    Found { name: String, finder: Finder },
}

/// The effects of the scripts of folders and of the collection on each request in them.
#[derive(Debug, Clone, Default)]
pub(super) struct Scripts {
    pub(super) status: Option<u16>,
}

impl Scripts {
    /// With those of a folder.
    pub(super) fn within(&self, folder: &Json, place: &str, ledger: &mut Ledger) -> Self {
        let before = statements(&of(folder, "prerequest"));
        let rest = before.iter().filter(|own| !is_silent(own)).count();
        if rest > 0 {
            ledger.note(format!(
                "{place}: not translated: {rest} lines of the script before each of its requests"
            ));
        }
        let source = of(folder, "test");
        let mut outcome = after(&source, place, ledger);
        let sets = outcome.sets.len();
        if sets > 0 {
            ledger.note(format!(
                "{place}: not translated: {sets} variables that its script sets after each of its requests"
            ));
        }
        Self { status: outcome.status.take().or(self.status) }
    }
}

/// The source of the scripts of an item for `test` or `prerequest`.
pub(super) fn of(item: &Json, listen: &str) -> String {
    let events = item.get("event").and_then(Json::as_array).into_iter().flatten();
    let mut out = String::new();
    for event in events {
        let is_off = event.get("disabled") == Some(&Json::Bool(true));
        if is_off || event.get("listen").and_then(Json::as_str) != Some(listen) {
            continue;
        }
        match event.pointer("/script/exec") {
            Some(Json::Array(lines)) => {
                for line in lines {
                    out.push_str(line.as_str().unwrap_or_default().trim_end_matches('\r'));
                    out.push('\n');
                }
            }
            Some(Json::String(text)) => out.push_str(text),
            _ => {}
        }
    }
    crate::template::plain(&out)
}

/// Reads a script that runs before the request.
pub(super) fn before(source: &str, place: &str, variables: &mut Variables, ledger: &mut Ledger) {
    let mut script = Script::default();
    for statement in statements(source) {
        if script.skips(&statement) {
            continue;
        }
        let done = set_of(&statement.text).and_then(|(name, value)| {
            let kind = match value.as_str() {
                "Date.now()" | "new Date().getTime()" | "Date.now().toString()" => {
                    MadeKind::Milliseconds
                }
                "new Date().toISOString()" | "(new Date()).toISOString()" => MadeKind::Timestamp,
                "Math.floor(Date.now() / 1000)" | "Math.round(Date.now() / 1000)" => {
                    MadeKind::Seconds
                }
                "crypto.randomUUID()" | "uuid.v4()" | "uuid()" => MadeKind::Uuid,
                value => {
                    let replaced = value.strip_prefix("pm.variables.replaceIn").and_then(arguments);
                    let text = match &replaced {
                        Some(list) => literal(list.first()?)?.to_owned(),
                        None => simple(value)?,
                    };
                    variables.set_text(&name, &text);
                    return Some(());
                }
            };
            variables.set_made(&name, kind, ledger);
            Some(())
        });
        if done.is_none() {
            script.refuse(&statement);
        }
    }
    script.tell("script before the request", place, ledger);
}

/// Reads a script that runs after the request.
pub(super) fn after(source: &str, place: &str, ledger: &mut Ledger) -> Outcome {
    let mut script = Script::default();
    let mut outcome = Outcome::default();
    let mut known: HashMap<String, Origin> = HashMap::new();
    for statement in statements(source) {
        if script.skips(&statement) {
            continue;
        }
        let text = statement.text.as_str();
        let done = if let Some(status) = status(text) {
            outcome.status.get_or_insert(status);
            true
        } else if let Some((name, value)) = declared(text) {
            origin(value, &known).is_some_and(|origin| {
                known.insert(name.to_owned(), origin);
                true
            })
        } else if let Some((name, value)) = set_of(text) {
            match (origin(&value, &known), simple(&value)) {
                (Some(Origin::Json(path)), _) if !path.is_empty() => {
                    outcome.sets.push(Set::Found { name, finder: Finder::Json(path) });
                    true
                }
                (Some(Origin::Header(header)), _) => {
                    outcome.sets.push(Set::Found { name, finder: Finder::Header(header) });
                    true
                }
                (Some(Origin::Cookie(cookie)), _) => {
                    outcome.sets.push(Set::Found { name, finder: Finder::Cookie(cookie) });
                    true
                }
                (_, Some(text)) => {
                    outcome.sets.push(Set::Text { name, text });
                    true
                }
                _ => false,
            }
        } else if let Some(name) = unset(text) {
            outcome.sets.push(Set::Unset { name });
            true
        } else {
            false
        };
        if !done {
            script.refuse(&statement);
        }
    }
    script.tell("test script", place, ledger);
    outcome
}

/// Keeps the lines that are not translated.
#[derive(Default)]
struct Script {
    refused: Vec<usize>,
    /// Open blocks of a statement that is not understood: all in them is left out, too.
    depth: usize,
}

impl Script {
    /// Whether a statement needs no look.
    fn skips(&mut self, statement: &Statement) -> bool {
        if self.depth > 0 {
            match statement.end {
                '{' => self.depth += 1,
                '}' => self.depth -= 1,
                _ => {}
            }
            if !is_mark(&statement.text) {
                self.refused.push(statement.line);
            }
            return true;
        }
        is_silent(statement)
    }

    fn refuse(&mut self, statement: &Statement) {
        self.refused.push(statement.line);
        self.depth = usize::from(statement.end == '{');
    }

    fn tell(mut self, which: &str, place: &str, ledger: &mut Ledger) {
        self.refused.dedup();
        let lines = match self.refused.as_slice() {
            [] => return,
            [line] => format!("1 line of the {which} (line {line})"),
            all => {
                let shown: Vec<String> = all.iter().take(8).map(ToString::to_string).collect();
                let more = if all.len() > 8 { ", …" } else { "" };
                format!("{} lines of the {which} (lines {}{more})", all.len(), shown.join(", "))
            }
        };
        ledger.note(format!("{place}: not translated: {lines}"));
    }
}

/// Whether it is punctuation alone.
fn is_mark(text: &str) -> bool {
    text.chars().all(|c| ")};,(".contains(c) || c.is_whitespace())
}

/// Statements that have no effect of their own.
fn is_silent(statement: &Statement) -> bool {
    let text = statement.text.trim_start_matches(|c: char| ")};, ".contains(c));
    let opens_test = text.starts_with("pm.test(") && statement.end == '{';
    // The recording is of the expected status: the lines of its block are taken.
    let is_of_status = statement.end == '{'
        && text.starts_with("if")
        && [
            "pm.response.code === 2",
            "pm.response.code == 2",
            "responseCode.code === 2",
            "responseCode.code == 2",
        ]
        .iter()
        .any(|part| text.contains(part))
        && !text.contains("||");
    is_mark(&statement.text)
        || opens_test
        || is_of_status
        || ["console.", "\"use strict\"", "'use strict'"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// The status that a statement expects.
fn status(text: &str) -> Option<u16> {
    let text = text
        .strip_prefix("pm.test(")
        .and_then(|rest| rest.split_once("=>"))
        .map_or(text, |(_, rest)| rest);
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let behind = [
        "pm.response.to.have.status(",
        "pm.expect(pm.response.code).to.equal(",
        "pm.expect(pm.response.code).to.eql(",
        "pm.expect(pm.response.code).to.be.equal(",
        "pm.expect(pm.response.code).to.be.oneOf([",
        "pm.expect(pm.response.status).to.equal(",
        "responseCode.code===",
        "responseCode.code==",
    ]
    .iter()
    .find_map(|start| squeezed.split_once(start))
    .filter(|(before, _)| before.is_empty() || before.starts_with("tests["));
    if squeezed.starts_with("pm.response.to.be.ok")
        || squeezed.starts_with("pm.response.to.be.success")
    {
        return Some(200);
    }
    let digits: String = behind?.1.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

/// `const name = value`.
fn declared(text: &str) -> Option<(&str, &str)> {
    let rest = ["const ", "let ", "var "].iter().find_map(|start| text.strip_prefix(start))?;
    let (name, value) = rest.split_once('=')?;
    let name = name.trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    (is_name && !name.is_empty() && !value.starts_with('=')).then_some((name, value.trim()))
}

const SCOPES: [&str; 4] =
    ["pm.environment", "pm.collectionVariables", "pm.globals", "pm.variables"];

/// The name and the value of `pm.environment.set("name", value)`.
fn set_of(text: &str) -> Option<(String, String)> {
    let behind = SCOPES
        .iter()
        .find_map(|scope| text.strip_prefix(scope)?.strip_prefix(".set"))
        .or_else(|| text.strip_prefix("postman.setEnvironmentVariable"))
        .or_else(|| text.strip_prefix("postman.setGlobalVariable"))?;
    match arguments(behind)?.as_slice() {
        [name, value] => Some((literal(name)?.to_owned(), value.clone())),
        _ => None,
    }
}

/// The name of `pm.environment.unset("name")`.
fn unset(text: &str) -> Option<String> {
    let behind = SCOPES
        .iter()
        .find_map(|scope| text.strip_prefix(scope)?.strip_prefix(".unset"))
        .or_else(|| text.strip_prefix("postman.clearEnvironmentVariable"))?;
    match arguments(behind)?.as_slice() {
        [name] => Some(literal(name)?.to_owned()),
        _ => None,
    }
}

/// A text or a number.
fn simple(value: &str) -> Option<String> {
    let is_number = value.parse::<f64>().is_ok() || matches!(value, "true" | "false");
    literal(value).map(str::to_owned).or_else(|| is_number.then(|| value.to_owned()))
}

/// Where in a response an expression points.
#[derive(Debug, Clone)]
enum Origin {
    Json(Vec<PathStep>),
    Header(String),
    Cookie(String),
}

/// The part of the response that an expression is.
fn origin(text: &str, known: &HashMap<String, Origin>) -> Option<Origin> {
    let text = text.trim().trim_end_matches(".toString()");
    let text = text.strip_prefix("String(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    for (start, make) in [
        ("pm.response.headers.get", Origin::Header as fn(String) -> Origin),
        ("postman.getResponseHeader", Origin::Header),
        ("pm.cookies.get", Origin::Cookie),
    ] {
        if let Some(list) = text.strip_prefix(start).and_then(arguments) {
            return Some(make(literal(list.first()?)?.to_owned()));
        }
    }
    let json = ["pm.response.json()", "JSON.parse(responseBody)", "JSON.parse(pm.response.text())"];
    if let Some(rest) = json.iter().find_map(|start| text.strip_prefix(start)) {
        return Some(Origin::Json(path(rest)?));
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && !"_$".contains(c)).unwrap_or(text.len());
    match known.get(&text[..end])? {
        Origin::Json(own) => {
            let mut own = own.clone();
            own.extend(path(&text[end..])?);
            Some(Origin::Json(own))
        }
        other if end == text.len() => Some(other.clone()),
        _ => None,
    }
}

/// `.a.b[0]["c"]` as steps.
fn path(text: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = rest.strip_prefix('?').filter(|rest| rest.starts_with('.')).unwrap_or(rest);
        if let Some(inside) = rest.strip_prefix('[').or_else(|| rest.strip_prefix(".[")) {
            let (key, behind) = inside.split_once(']')?;
            steps.push(match key.trim().parse() {
                Ok(index) => PathStep::Index(index),
                Err(_) => PathStep::Key(literal(key)?.to_owned()),
            });
            rest = behind;
        } else {
            let name = rest.strip_prefix('.')?;
            let end = name.find(|c: char| !c.is_alphanumeric() && !"_$".contains(c));
            let (key, behind) = name.split_at(end.unwrap_or(name.len()));
            if key.is_empty() || behind.starts_with('(') {
                return None;
            }
            steps.push(PathStep::Key(key.to_owned()));
            rest = behind;
        }
    }
    Some(steps)
}

/// The text that a finder has in an example.
pub(super) fn recorded(finder: &Finder, response: &Response) -> Option<String> {
    match finder {
        Finder::Header(name) => response.headers.get(name).map(str::to_owned),
        Finder::Json(path) => {
            let json: Json = serde_json::from_slice(response.body.in_memory()?).ok()?;
            let mut at = &json;
            for step in path {
                at = match step {
                    PathStep::Key(key) => at.get(key)?,
                    PathStep::Index(index) => at.get(index)?,
                    PathStep::Where { .. } => return None,
                };
            }
            match at {
                Json::String(text) if !text.is_empty() => Some(crate::template::plain(text)),
                Json::Number(number) => Some(number.to_string()),
                Json::Bool(bool) => Some(bool.to_string()),
                _ => None,
            }
        }
        _ => None,
    }
}
