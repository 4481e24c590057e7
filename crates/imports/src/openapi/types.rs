//! Schemas as types.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::document::{Document, escape};
use super::identifier::Names;
use super::text::{doc, literal, member};

/// How deep types may be in types.
const DEPTH_MAX: usize = 40;

/// The longest chain of parts without names.
const CHAIN_MAX: usize = 100;

/// The names of the document's schemas.
pub(super) struct Types<'a> {
    document: &'a Document,
    /// By pointer.
    names: HashMap<String, String>,
    /// Pointers of parts without a name that are being written: a part in itself is unknown.
    open: RefCell<Vec<String>>,
}

/// The place of a type: with bodies of forms, files are files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Json,
    Multipart,
}

impl<'a> Types<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        let mut taken = Names::default();
        let mut names = HashMap::new();
        for (key, _) in schemas(document) {
            names.insert(format!("/components/schemas/{}", escape(key)), taken.of_type(key));
        }
        Self { document, names, open: RefCell::new(Vec::new()) }
    }

    fn name(&self, pointer: &str) -> Option<&str> {
        if let Some(name) = self.names.get(pointer) {
            return Some(name);
        }
        // `%20` and the like.
        let key = pointer.strip_prefix("/components/schemas/")?;
        let pair = format!("a={}", key.replace('&', "%26").replace('+', "%2B"));
        let (_, key) = url::form_urlencoded::parse(pair.as_bytes()).next()?;
        self.names.get(&format!("/components/schemas/{key}")).map(String::as_str)
    }

    /// The declarations of all named schemas.
    pub(super) fn declarations(&self) -> String {
        let circular = self.circular();
        let mut out = String::new();
        for (key, schema) in schemas(self.document) {
            let pointer = format!("/components/schemas/{}", escape(key));
            let Some(name) = self.names.get(&pointer) else { continue };
            out.push_str(&doc(&descriptions(schema), ""));
            if is_plain_object(schema) {
                let body = self.object(schema, 0, 0, Use::Json);
                let _ = write!(out, "export interface {name} {body}\n\n");
            } else if circular.contains(&pointer) {
                // A type that is directly itself.
                let _ = write!(out, "export type {name} = unknown;\n\n");
            } else {
                let body = self.of(schema, 0, 0, Use::Json);
                let _ = write!(out, "export type {name} = {body};\n\n");
            }
        }
        out
    }

    /// The named types that a schema is, or is put together of, without an object or a list between.
    fn parts(&self, schema: &'a Json, seen: &mut HashSet<&'a str>, found: &mut Vec<String>) {
        if let Some(pointer) = Document::reference(schema) {
            if self.names.contains_key(pointer) {
                found.push(pointer.to_owned());
            } else if seen.len() < CHAIN_MAX && seen.insert(pointer) {
                let target = self.document.root.pointer(pointer);
                self.parts(target.unwrap_or(&Json::Null), seen, found);
            }
        }
        let lists =
            ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        lists.flatten().for_each(|own| self.parts(own, seen, found));
    }

    /// Types that would be themselves: without one of each circle the others are none.
    fn circular(&self) -> HashSet<String> {
        let parts: HashMap<String, Vec<String>> = schemas(self.document)
            .map(|(key, schema)| {
                let mut found = Vec::new();
                self.parts(schema, &mut HashSet::new(), &mut found);
                (format!("/components/schemas/{}", escape(key)), found)
            })
            .collect();
        let mut circular = HashSet::new();
        // Those that are done are true, those on the way are false.
        let mut states: HashMap<&str, bool> = HashMap::new();
        for (key, _) in schemas(self.document) {
            let pointer = format!("/components/schemas/{}", escape(key));
            let Some((first, _)) = parts.get_key_value(&pointer) else { continue };
            let mut way: Vec<(&str, usize)> = Vec::new();
            if !states.contains_key(first.as_str()) {
                states.insert(first, false);
                way.push((first, 0));
            }
            while let Some((at, next)) = way.last_mut() {
                let Some(part) = parts.get(*at).and_then(|own| own.get(*next)) else {
                    states.insert(*at, true);
                    way.pop();
                    continue;
                };
                *next += 1;
                match states.get(part.as_str()) {
                    Some(true) => {}
                    Some(false) => {
                        circular.insert(part.clone());
                    }
                    None => {
                        states.insert(part, false);
                        way.push((part, 0));
                    }
                }
            }
        }
        circular
    }

    /// The type of a schema; `indent` is that of the line that it begins on.
    pub(super) fn of(&self, schema: &Json, indent: usize, depth: usize, place: Use) -> String {
        if depth > DEPTH_MAX {
            return "unknown".to_owned();
        }
        match schema {
            Json::Bool(false) => return "never".to_owned(),
            Json::Object(_) => {}
            _ => return "unknown".to_owned(),
        }
        if let Some(pointer) = Document::reference(schema) {
            let target = || self.document.resolve(schema);
            if place == Use::Multipart && depth == 0 {
                return self.of(target(), indent, depth + 1, place);
            }
            if let Some(name) = self.name(pointer) {
                return name.to_owned();
            }
            let is_open = self.open.borrow().iter().any(|own| own == pointer);
            if is_open || !self.document.spend() {
                return "unknown".to_owned();
            }
            self.open.borrow_mut().push(pointer.to_owned());
            let kind = self.of(target(), indent, depth + 1, place);
            self.open.borrow_mut().pop();
            return kind;
        }
        let mut parts = Vec::new();
        for (key, with) in [("allOf", " & "), ("oneOf", " | "), ("anyOf", " | ")] {
            let Some(list) =
                schema.get(key).and_then(Json::as_array).filter(|list| !list.is_empty())
            else {
                continue;
            };
            let mut all: Vec<String> = Vec::new();
            for own in list {
                let own = self.of(own, indent, depth + 1, place);
                if !all.contains(&own) {
                    all.push(own);
                }
            }
            // An unknown part adds nothing to the known ones.
            if key == "allOf" && all.len() > 1 {
                all.retain(|own| own != "unknown");
            }
            let is_single = all.len() < 2;
            let all = all.iter().map(|own| if is_single { own.clone() } else { wrapped(own) });
            parts.push(all.collect::<Vec<_>>().join(with));
        }
        let own = self.own(schema, indent, depth, place);
        if own != "unknown" || parts.is_empty() {
            parts.push(own);
        }
        let is_single = parts.len() < 2;
        let parts = parts.into_iter().map(|own| if is_single { own } else { wrapped(&own) });
        let joined = parts.collect::<Vec<_>>().join(" & ");
        if schema.get("nullable") == Some(&Json::Bool(true)) && joined != "unknown" {
            return format!("{} | null", wrapped_in_union(&joined));
        }
        joined
    }

    /// Without what it is put together of.
    fn own(&self, schema: &Json, indent: usize, depth: usize, place: Use) -> String {
        if let Some(value) = schema.get("const") {
            return value_type(value);
        }
        if let Some(list) =
            schema.get("enum").and_then(Json::as_array).filter(|list| !list.is_empty())
        {
            let mut all: Vec<String> = Vec::new();
            for own in list.iter().take(1000).map(value_type) {
                if !all.contains(&own) {
                    all.push(own);
                }
            }
            return all.join(" | ");
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(list)) => list.iter().filter_map(Json::as_str).collect(),
            _ if schema.get("properties").is_some()
                || schema.get("additionalProperties").is_some() =>
            {
                vec!["object"]
            }
            _ if schema.get("items").is_some() || schema.get("prefixItems").is_some() => {
                vec!["array"]
            }
            _ => return "unknown".to_owned(),
        };
        let all = kinds.iter().map(|kind| match *kind {
            "string" if place == Use::Multipart && is_binary(schema) => "FileData".to_owned(),
            "string" => "string".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => self.array(schema, indent, depth, place),
            "object" => self.object(schema, indent, depth, place),
            _ => "unknown".to_owned(),
        });
        all.collect::<Vec<_>>().join(" | ")
    }

    fn array(&self, schema: &Json, indent: usize, depth: usize, place: Use) -> String {
        let inner = if place == Use::Multipart { place } else { Use::Json };
        let items = schema.get("items").map(|own| self.of(own, indent, depth + 1, inner));
        if let Some(list) = schema.get("prefixItems").and_then(Json::as_array) {
            let mut all: Vec<String> =
                list.iter().map(|own| self.of(own, indent, depth + 1, inner)).collect();
            if items.as_deref() != Some("never") {
                all.push(format!("...{}[]", wrapped(items.as_deref().unwrap_or("unknown"))));
            }
            return format!("[{}]", all.join(", "));
        }
        format!("{}[]", wrapped(items.as_deref().unwrap_or("unknown")))
    }

    fn object(&self, schema: &Json, indent: usize, depth: usize, place: Use) -> String {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&empty);
        let more = match schema.get("additionalProperties") {
            Some(Json::Bool(true)) => Some("unknown".to_owned()),
            Some(own @ Json::Object(_)) => Some(self.of(own, indent, depth + 1, Use::Json)),
            _ => None,
        };
        if properties.is_empty() {
            return match more {
                Some(more) => format!("{{ [key: string]: {more} }}"),
                None if schema.get("additionalProperties") == Some(&Json::Bool(false)) => {
                    "{}".to_owned()
                }
                None => "{ [key: string]: unknown }".to_owned(),
            };
        }
        let required: HashSet<&str> = schema
            .get("required")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let inner = indent + 1;
        let pad = "  ".repeat(inner);
        let mut out = String::from("{\n");
        for (name, own) in properties {
            out.push_str(&doc(&descriptions(own), &pad));
            let mark = if required.contains(name.as_str()) { "" } else { "?" };
            let kind = self.of(own, inner, depth + 1, place);
            let _ = writeln!(out, "{pad}{}{mark}: {kind};", member(name));
        }
        // All members must fit an index: the others' types are not known to be of one.
        if more.is_some() {
            let _ = writeln!(out, "{pad}[key: string]: unknown;");
        }
        out.push_str(&"  ".repeat(indent));
        out.push('}');
        out
    }
}

/// The named schemas.
fn schemas(document: &Document) -> impl Iterator<Item = (&String, &Json)> {
    document.root.pointer("/components/schemas").and_then(Json::as_object).into_iter().flatten()
}

/// Whether it can be an interface.
fn is_plain_object(schema: &Json) -> bool {
    let is_object = matches!(schema.get("type"), Some(Json::String(kind)) if kind == "object")
        || (schema.get("type").is_none() && schema.get("properties").is_some());
    let others = ["$ref", "allOf", "oneOf", "anyOf", "enum", "const"];
    is_object
        && schema.get("properties").and_then(Json::as_object).is_some_and(|own| !own.is_empty())
        && schema.get("nullable") != Some(&Json::Bool(true))
        && others.iter().all(|key| schema.get(key).is_none())
}

/// Whether a string is bytes.
pub(super) fn is_binary(schema: &Json) -> bool {
    let text = |key: &str| schema.get(key).and_then(Json::as_str);
    text("format") == Some("binary")
        || text("contentMediaType").is_some() && text("contentEncoding").is_none()
}

fn descriptions(schema: &Json) -> Vec<String> {
    let text = |key: &str| schema.get(key).and_then(Json::as_str).map(str::to_owned);
    let mut all: Vec<String> = text("description").or_else(|| text("title")).into_iter().collect();
    if schema.get("deprecated") == Some(&Json::Bool(true)) {
        all.push("@deprecated".to_owned());
    }
    all
}

/// A value as a type.
fn value_type(value: &Json) -> String {
    match value {
        Json::String(text) => literal(text),
        Json::Number(number) => number.to_string(),
        Json::Bool(bool) => bool.to_string(),
        Json::Null => "null".to_owned(),
        Json::Array(_) | Json::Object(_) => "unknown".to_owned(),
    }
}

/// In parentheses, if it is put together of several.
fn wrapped(kind: &str) -> String {
    let mut depth = 0_i32;
    let mut quote = false;
    let mut last = ' ';
    for c in kind.chars() {
        match c {
            '\'' if last != '\\' => quote = !quote,
            '{' | '[' | '(' if !quote => depth += 1,
            '}' | ']' | ')' if !quote => depth -= 1,
            '|' | '&' if !quote && depth == 0 => return format!("({kind})"),
            _ => {}
        }
        last = if last == '\\' && c == '\\' { ' ' } else { c };
    }
    kind.to_owned()
}

/// In parentheses, if it has an `&`.
fn wrapped_in_union(kind: &str) -> String {
    if kind.contains('&') { wrapped(kind) } else { kind.to_owned() }
}
