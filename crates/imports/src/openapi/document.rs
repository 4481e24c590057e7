//! The document: its parts by reference.

use std::cell::Cell;
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::error::Error;

/// The longest chain of references.
const CHAIN_MAX: usize = 50;

/// A document that is known to be OpenAPI 3, and to refer to nothing outside.
pub(super) struct Document {
    pub(super) root: Json,
    /// How often a part that is no component may still be taken by reference.
    budget: Cell<u32>,
}

/// A key as part of a JSON pointer.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl Document {
    pub(super) fn new(root: Json) -> Result<Self, Error> {
        let document = Self { root, budget: Cell::new(20_000) };
        if document.root.get("swagger").is_some() {
            let what = "this is Swagger 2.0; only OpenAPI 3.0 and 3.1 are read: convert it first";
            return Err(Self::fault("/swagger", what));
        }
        let version = match document.root.get("openapi") {
            Some(Json::String(version)) => version.clone(),
            Some(Json::Number(number)) => number.to_string(),
            _ => {
                let what = "it has no \"openapi\"; give an OpenAPI document of version 3.0 or 3.1";
                return Err(Self::fault("/", what));
            }
        };
        if !version.starts_with("3.") {
            let what = format!("version {version:?} is not read; 3.0 and 3.1 are");
            return Err(Self::fault("/openapi", what));
        }
        document.check(&document.root, &mut String::new())?;
        Ok(document)
    }

    pub(super) fn fault(place: &str, what: impl Into<String>) -> Error {
        Error::OpenApi { place: place.to_owned(), what: what.into() }
    }

    /// All references lead to something inside.
    fn check(&self, json: &Json, place: &mut String) -> Result<(), Error> {
        let length = place.len();
        match json {
            Json::Array(list) => {
                for (index, own) in list.iter().enumerate() {
                    let _ = write!(place, "/{index}");
                    self.check(own, place)?;
                    place.truncate(length);
                }
            }
            Json::Object(object) => {
                if let Some(Json::String(reference)) = object.get("$ref") {
                    self.check_reference(reference, place)?;
                }
                for (key, own) in object {
                    // Data, in which `$ref` is a name like others.
                    if matches!(key.as_str(), "example" | "examples" | "default" | "enum" | "const")
                        && !place.ends_with("/properties")
                        && !(key == "examples" && place.ends_with("/components"))
                    {
                        continue;
                    }
                    place.push('/');
                    place.push_str(&escape(key));
                    self.check(own, place)?;
                    place.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check_reference(&self, reference: &str, place: &str) -> Result<(), Error> {
        let Some(pointer) = reference.strip_prefix('#') else {
            let what =
                format!("{reference:?} is in another file; bundle the documents into one first");
            return Err(Self::fault(place, what));
        };
        if self.at(pointer).is_none() {
            let what = format!("{reference:?} leads to nothing; correct it (anchors are not read)");
            return Err(Self::fault(place, what));
        }
        Ok(())
    }

    /// The part at a pointer that may be percent-encoded.
    fn at(&self, pointer: &str) -> Option<&Json> {
        let decoded = percent(pointer);
        self.root.pointer(pointer).or_else(|| self.root.pointer(&decoded))
    }

    /// Where a reference leads, if it is one: the pointer.
    pub(super) fn reference(json: &Json) -> Option<&str> {
        json.get("$ref").and_then(Json::as_str).and_then(|text| text.strip_prefix('#'))
    }

    /// The part itself, behind its references; a circle of them gives the last one.
    pub(super) fn resolve<'a>(&'a self, json: &'a Json) -> &'a Json {
        let mut json = json;
        for _ in 0..CHAIN_MAX {
            let Some(target) = Self::reference(json).and_then(|pointer| self.at(pointer)) else {
                return json;
            };
            json = target;
        }
        json
    }

    /// Whether one more part may be taken; there is an end, so that parts in parts end.
    pub(super) fn spend(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    /// The address of the first server.
    pub(super) fn server(&self, notes: &mut Vec<String>) -> String {
        let server = self.root.pointer("/servers/0");
        let mut url = server
            .and_then(|own| own.get("url"))
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned();
        let variables = server.and_then(|own| own.get("variables")).and_then(Json::as_object);
        for (name, variable) in variables.into_iter().flatten() {
            let value = variable.get("default").and_then(Json::as_str).unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), value);
        }
        if url.contains("://") {
            return url;
        }
        notes.push(
            "the document has no whole address of a server: set BASE_URL, or the address in script.ts".to_owned(),
        );
        let path = url.trim_start_matches('/');
        format!("http://127.0.0.1:8080/{path}").trim_end_matches('/').to_owned()
    }

    /// Name and version, for a comment.
    pub(super) fn title(&self) -> String {
        let text = |pointer: &str| match self.root.pointer(pointer) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        format!("{} {}", text("/info/title"), text("/info/version")).trim().to_owned()
    }
}

/// Percent-decoded.
fn percent(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let pair = format!("a={}", text.replace('&', "%26").replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}
