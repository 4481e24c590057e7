//! Headers and bodies of requests.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value as Json;

use super::variables::Variables;
use crate::draft::{Content, Draft, Ledger, Part, Value};
use crate::multipart;
use crate::session::Surroundings;

/// The largest file that becomes a part of a body.
const FILE_MAX: u64 = 64 << 20;

/// Text, or a number as text.
pub(super) fn text(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

/// Whether an entry is not switched off.
pub(super) fn is_on(entry: &Json) -> bool {
    entry.get("disabled") != Some(&Json::Bool(true))
}

/// Names and values: a list, or a text of lines.
pub(super) fn pairs(json: &Json) -> Vec<(String, String)> {
    match json {
        Json::Array(list) => list
            .iter()
            .filter(|entry| is_on(entry))
            .filter_map(|entry| {
                if let Some(line) = entry.as_str() {
                    let (name, value) = line.split_once(':')?;
                    return Some((name.trim().to_owned(), value.trim().to_owned()));
                }
                let value = entry.get("value").map(text).unwrap_or_default();
                Some((text(entry.get("key")?), value))
            })
            .filter(|(name, _)| !name.is_empty())
            .collect(),
        Json::String(lines) => lines
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

/// The headers of a request as templates.
pub(super) fn headers(
    request: &Json,
    variables: &mut Variables,
    ledger: &mut Ledger,
) -> Vec<(String, String)> {
    let pairs = pairs(request.get("header").unwrap_or(&Json::Null));
    let expand = |(name, value): (String, String)| {
        (variables.expand(&name, ledger), variables.expand(&value, ledger))
    };
    pairs.into_iter().map(expand).collect()
}

/// Where a body is read.
pub(super) struct Source<'a> {
    pub(super) variables: &'a mut Variables,
    pub(super) ledger: &'a mut Ledger,
    pub(super) surroundings: &'a Surroundings<'a>,
    pub(super) place: &'a str,
}

impl Source<'_> {
    fn expand(&mut self, text: &str) -> String {
        self.variables.expand(text, self.ledger)
    }

    /// Gives a request its body.
    pub(super) fn fill(&mut self, body: &Json, draft: &mut Draft) {
        if !is_on(body) {
            return;
        }
        match body.get("mode").and_then(Json::as_str) {
            Some("raw") => {
                let raw = text(body.get("raw").unwrap_or(&Json::Null));
                if raw.is_empty() {
                    return;
                }
                draft.body = Content::Text(self.expand(&raw));
                let language = body.pointer("/options/raw/language").and_then(Json::as_str);
                let kind = match language.unwrap_or_default() {
                    "json" => "application/json",
                    "xml" => "application/xml",
                    "html" => "text/html",
                    "javascript" => "application/javascript",
                    _ => "text/plain",
                };
                draft.default_header("Content-Type", kind);
            }
            Some("urlencoded") => {
                let pairs = pairs(body.get("urlencoded").unwrap_or(&Json::Null));
                let fields = pairs
                    .into_iter()
                    .map(|(name, value)| (self.expand(&name), self.expand(&value)))
                    .collect();
                draft.body = Content::Form(fields);
                draft.default_header("Content-Type", "application/x-www-form-urlencoded");
            }
            Some("formdata") => {
                let list = body.get("formdata").and_then(Json::as_array);
                let mut parts = Vec::new();
                for entry in list.into_iter().flatten().filter(|entry| is_on(entry)) {
                    self.parts(entry, &mut parts);
                }
                draft.body = Content::Parts(parts);
            }
            Some("graphql") => {
                let graphql = body.get("graphql").unwrap_or(&Json::Null);
                let query = self.expand(&text(graphql.get("query").unwrap_or(&Json::Null)));
                let variables = graphql.get("variables").map(text).unwrap_or_default();
                let variables = self.expand(&variables);
                let variables = if variables.trim().is_empty() { "{}" } else { variables.trim() };
                let mut out = format!("{{\"query\":{}", Json::String(query));
                if let Some(name) = graphql.get("operationName").and_then(Json::as_str) {
                    let _ = write!(out, ",\"operationName\":{}", Json::String(name.to_owned()));
                }
                let _ = write!(out, ",\"variables\":{variables}}}");
                draft.body = Content::Text(out);
                draft.default_header("Content-Type", "application/json");
            }
            Some("file") => {
                let src = body.pointer("/file/src").map(text).unwrap_or_default();
                let content = body.pointer("/file/content").and_then(Json::as_str);
                if let Some(content) = content {
                    draft.body = Content::Text(self.expand(content));
                    return;
                }
                let path = self.surroundings.folder.join(Path::new(&src));
                match std::fs::metadata(&path) {
                    Ok(metadata) if metadata.is_file() && !src.is_empty() => {
                        draft.body = Content::File { path, size: metadata.len() };
                    }
                    _ => draft.body = Content::Bytes(self.stand_in(&src)),
                }
                draft.default_header("Content-Type", multipart::kind_of(&src));
            }
            Some("none") | None => {}
            Some(other) => {
                let note = format!("{}: a body of the mode {other:?} is not read", self.place);
                self.ledger.note(note);
            }
        }
    }

    fn parts(&mut self, entry: &Json, parts: &mut Vec<Part>) {
        let name = self.expand(&text(entry.get("key").unwrap_or(&Json::Null)));
        let kind = entry.get("contentType").map(text).filter(|kind| !kind.is_empty());
        if entry.get("type").and_then(Json::as_str) != Some("file") {
            let value = self.expand(&text(entry.get("value").unwrap_or(&Json::Null)));
            let (filename, headers, value) = (None, Vec::new(), Value::Text(value));
            parts.push(Part { name, filename, kind, headers, value });
            return;
        }
        let sources = match entry.get("src") {
            Some(Json::Array(list)) if !list.is_empty() => list.iter().map(text).collect(),
            Some(Json::String(path)) => vec![path.clone()],
            _ => vec![String::new()],
        };
        for src in sources {
            let path = self.surroundings.folder.join(Path::new(&src));
            let is_small = std::fs::metadata(&path)
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= FILE_MAX);
            let bytes = std::fs::read(&path).ok().filter(|_| is_small && !src.is_empty());
            let bytes = bytes.unwrap_or_else(|| self.stand_in(&src));
            let filename = src.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
            let filename = filename.unwrap_or("file.bin").to_owned();
            let kind = kind.clone().unwrap_or_else(|| multipart::kind_of(&filename).to_owned());
            parts.push(Part {
                name: name.clone(),
                filename: Some(crate::template::plain(&filename)),
                kind: Some(kind),
                headers: Vec::new(),
                value: Value::Bytes(bytes),
            });
        }
    }

    /// The content for a file that is not there.
    fn stand_in(&mut self, src: &str) -> Vec<u8> {
        let which = if src.is_empty() { "a file".to_owned() } else { format!("the file {src:?}") };
        self.ledger.note(format!(
            "{}: {which} is not there (or larger than 64 MiB); a line of text is sent in its place",
            self.place
        ));
        b"This text is sent in place of a file that the collection did not have.\n".to_vec()
    }
}
