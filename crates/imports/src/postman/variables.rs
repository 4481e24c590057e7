//! The variables of a collection: `{{name}}` in any of its texts.

use std::collections::HashMap;

use brunt_correlate::MadeKind;
use serde_json::Value as Json;

use crate::draft::Ledger;
use crate::name;
use crate::template::{Kind, Variable, plain};

/// The longest text that nested variables may become.
const LENGTH_MAX: usize = 1 << 20;

/// How deep variables may be in variables.
const DEPTH_MAX: usize = 8;

/// The content of a variable.
#[derive(Debug, Clone)]
enum Held {
    /// A text of the user, in which there may be variables.
    Text { text: String, is_secret: bool },
    /// A value that a script took from a response or made: a template.
    Value(String),
}

/// All of them, by name.
#[derive(Debug, Default)]
pub(super) struct Variables {
    of_collection: HashMap<String, Held>,
    of_environment: HashMap<String, Held>,
    /// Made values so far: each is another one.
    made: u32,
    /// Names that had no value when they were asked for.
    empty: Vec<String>,
}

/// The text that is sent for a variable without a value.
pub(super) fn sent_for(name: &str) -> String {
    crate::name::camel(name, "value")
}

impl Variables {
    /// The variables of a collection.
    pub(super) fn new(root: &Json) -> Self {
        let mut variables = Self::default();
        let list = root.get("variable").and_then(Json::as_array);
        variables.add_collection(list.map_or(&[], Vec::as_slice));
        variables
    }

    /// Adds the variables of a collection or a folder.
    pub(super) fn add_collection(&mut self, list: &[Json]) {
        add(&mut self.of_collection, list);
    }

    /// Adds the variables of an environment.
    pub(super) fn add(&mut self, list: &[Json]) {
        add(&mut self.of_environment, list);
    }

    /// A script gave it a text.
    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        let held = Held::Text { text: text.to_owned(), is_secret: name::is_secret_outside(name) };
        self.of_environment.insert(name.to_owned(), held);
    }

    /// A script took it away.
    pub(super) fn unset(&mut self, name: &str) {
        self.of_environment.remove(name);
    }

    /// A script took it from a response.
    pub(super) fn set_value(
        &mut self,
        name: &str,
        recorded: String,
        extraction: usize,
        ledger: &mut Ledger,
    ) {
        let variable =
            Variable { name: name.to_owned(), value: recorded, kind: Kind::Value(extraction) };
        let mark = ledger.table.add(variable);
        self.of_environment.insert(name.to_owned(), Held::Value(mark));
    }

    /// A script made it once: time, UUID.
    pub(super) fn set_made(&mut self, name: &str, kind: MadeKind, ledger: &mut Ledger) {
        let mark = self.made(name, kind, ledger);
        self.of_environment.insert(name.to_owned(), Held::Value(mark));
    }

    /// The names without a value since the last time.
    pub(super) fn take_empty(&mut self) -> Vec<String> {
        std::mem::take(&mut self.empty)
    }

    /// A text of the collection as a template.
    pub(super) fn expand(&mut self, text: &str, ledger: &mut Ledger) -> String {
        let mut out = String::new();
        self.expand_into(&plain(text), ledger, &mut out, 0);
        out
    }

    fn expand_into(&mut self, text: &str, ledger: &mut Ledger, out: &mut String, depth: usize) {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, after)) = behind.split_once("}}") else { break };
            // `{{{x}}`: the braces of JSON before it.
            if let Some(at) = name.rfind("{{") {
                let end = before.len() + 2 + at;
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            let braces = name.len() - name.trim_start_matches('{').len();
            out.push_str(before);
            out.push_str(&"{".repeat(braces));
            self.variable(name[braces..].trim(), ledger, out, depth);
            rest = after;
        }
        out.push_str(rest);
    }

    fn variable(&mut self, name: &str, ledger: &mut Ledger, out: &mut String, depth: usize) {
        if let Some(dynamic) = name.strip_prefix('$') {
            let mark = self.dynamic(dynamic, ledger);
            out.push_str(&mark);
            return;
        }
        let held = self.of_environment.get(name).or_else(|| self.of_collection.get(name)).cloned();
        let (value, is_secret) = match held {
            Some(Held::Value(mark)) => return out.push_str(&mark),
            Some(Held::Text { text, .. })
                if text.contains("{{") && depth < DEPTH_MAX && out.len() < LENGTH_MAX =>
            {
                return self.expand_into(&text, ledger, out, depth + 1);
            }
            Some(Held::Text { text, is_secret }) if !text.is_empty() => (text, is_secret),
            Some(Held::Text { is_secret, .. }) => {
                self.empty.push(name.to_owned());
                (sent_for(name), is_secret)
            }
            None => {
                self.empty.push(name.to_owned());
                (sent_for(name), name::is_secret_outside(name))
            }
        };
        let kind = if is_secret { Kind::Secret } else { Kind::Input };
        out.push_str(&ledger.table.add(Variable { name: name.to_owned(), value, kind }));
    }

    fn made(&mut self, name: &str, kind: MadeKind, ledger: &mut Ledger) -> String {
        self.made += 1;
        let number = u64::from(self.made);
        let value = match kind {
            MadeKind::Uuid => format!("00000000-0000-4000-8000-{number:012}"),
            MadeKind::Milliseconds => (1_767_225_600_000 + number).to_string(),
            MadeKind::Seconds => (1_767_225_600 + number).to_string(),
            MadeKind::Timestamp => {
                format!("2026-01-01T00:{:02}:{:02}.000Z", number / 60 % 60, number % 60)
            }
            MadeKind::Hex(size)
            | MadeKind::Base64Url(size)
            | MadeKind::Alphanumeric(size)
            | MadeKind::Digits(size) => {
                let text = format!("{number:0size$}");
                text[text.len() - size.min(text.len())..].to_owned()
            }
            MadeKind::PkceChallenge(_) => number.to_string(),
        };
        ledger.table.add(Variable { name: name.to_owned(), value, kind: Kind::Made(kind) })
    }

    /// A value that Postman makes for each request.
    pub(super) fn dynamic(&mut self, name: &str, ledger: &mut Ledger) -> String {
        let kind = match name {
            "guid" | "randomUUID" => MadeKind::Uuid,
            "timestamp" => MadeKind::Seconds,
            "isoTimestamp" => MadeKind::Timestamp,
            "randomInt" => MadeKind::Digits(3),
            "randomAlphaNumeric" => MadeKind::Alphanumeric(1),
            "randomHexaDecimal" | "randomHexadecimal" => MadeKind::Hex(4),
            "randomPassword" => MadeKind::Alphanumeric(15),
            "randomBankAccount" => MadeKind::Digits(8),
            "randomPhoneNumber" => MadeKind::Digits(10),
            _ => {
                let value = match name {
                    "randomFirstName" => "Ada".to_owned(),
                    "randomLastName" => "Lovelace".to_owned(),
                    "randomFullName" => "Ada Lovelace".to_owned(),
                    "randomUserName" => "ada.lovelace".to_owned(),
                    "randomEmail" | "randomExampleEmail" => "ada@example.com".to_owned(),
                    "randomBoolean" => "true".to_owned(),
                    "randomColor" => "teal".to_owned(),
                    "randomCity" => "Oslo".to_owned(),
                    "randomCountry" => "Norway".to_owned(),
                    "randomCountryCode" => "NO".to_owned(),
                    "randomPrice" => "12.50".to_owned(),
                    "randomIP" => "192.0.2.1".to_owned(),
                    "randomUrl" => "https://example.com".to_owned(),
                    _ => sent_for(name),
                };
                ledger.note(format!(
                    "{{{{${name}}}}} is a column of the data file, not a random value; add rows to it"
                ));
                let (name, kind) = (name.to_owned(), Kind::Input);
                return ledger.table.add(Variable { name, value, kind });
            }
        };
        self.made(name, kind, ledger)
    }
}

/// Adds a list of Postman's variables. Those that are switched off are left out.
fn add(held: &mut HashMap<String, Held>, list: &[Json]) {
    for entry in list {
        let is_off = entry.get("disabled") == Some(&Json::Bool(true))
            || entry.get("enabled") == Some(&Json::Bool(false));
        let name = entry.get("key").or_else(|| entry.get("id")).and_then(Json::as_str);
        let Some(name) = name.filter(|_| !is_off) else { continue };
        let text = match entry.get("value") {
            Some(Json::String(text)) => plain(text),
            Some(Json::Null) | None => String::new(),
            Some(other) => plain(&other.to_string()),
        };
        let is_secret = entry.get("type").and_then(Json::as_str) == Some("secret")
            || name::is_secret_outside(name);
        held.insert(name.to_owned(), Held::Text { text, is_secret });
    }
}
