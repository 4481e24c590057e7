//! A request that is not yet sent: templates, and where their variables stand when it is built.

mod places;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use brunt_correlate::{Input, Made, Piece, Secret, Substitution};
use brunt_traffic::{Body, Headers, Request};
use bytes::Bytes;
use url::{Url, form_urlencoded};

use crate::multipart;
use crate::name::camel;
use crate::template::{Kind, Table, Variable};

/// A request in templates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Content,
}

/// A body in templates.
#[derive(Debug, Clone, Default)]
pub(crate) enum Content {
    #[default]
    None,
    /// JSON or a form, if `Content-Type` says so; or any text.
    Text(String),
    /// A form, whose names and values are not yet encoded.
    Form(Vec<(String, String)>),
    /// A form with files. `Content-Type` is made with it.
    Parts(Vec<Part>),
    Bytes(Vec<u8>),
    File {
        path: PathBuf,
        size: u64,
    },
}

/// A part of a form with files.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) headers: Vec<String>,
    pub(crate) value: Value,
}

/// The content of a part.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Bytes(Vec<u8>),
}

/// The variables of a source, and the plan's lists of those that its requests have used so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) table: Table,
    pub(crate) inputs: Vec<Input>,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) made: Vec<Made>,
    pub(crate) notes: Vec<String>,
    /// How many things have a name, or it and a number.
    names: HashMap<String, usize>,
    /// Indices of made values by their texts.
    made_by_text: HashMap<String, usize>,
}

impl Ledger {
    /// The name, or the name with the first number that makes it new among secrets, inputs and made values.
    fn unused(&mut self, name: &str) -> String {
        let mut out = name.to_owned();
        loop {
            let count = self.names.entry(name.to_owned()).or_default();
            *count += 1;
            if *count > 1 {
                out = format!("{name}{count}");
            }
            if out == name || !self.names.contains_key(&out) {
                self.names.entry(out.clone()).or_insert(1);
                return out;
            }
        }
    }

    /// A line for the user, once.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A secret of the plan. One text is one secret; a name that another text has gets a number.
    pub(crate) fn secret(&mut self, name: &str, recorded: &str) -> usize {
        if let Some(index) = self.secrets.iter().position(|own| own.recorded == recorded) {
            return index;
        }
        let name = self.unused(&camel(name, "secret"));
        self.secrets.push(Secret { name, recorded: recorded.to_owned() });
        self.secrets.len() - 1
    }

    fn input(&mut self, name: &str, recorded: &str) -> usize {
        let name = camel(name, "value");
        let bare = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let is_it = |own: &Input| own.recorded == recorded && bare(&own.name) == bare(&name);
        if let Some(index) = self.inputs.iter().position(is_it) {
            return index;
        }
        let name = self.unused(&name);
        self.inputs.push(Input { name, recorded: recorded.to_owned() });
        self.inputs.len() - 1
    }

    /// The piece of a variable that is sent by this exchange.
    fn piece(&mut self, variable: &Variable, exchange: usize, is_secret: bool) -> Piece {
        match &variable.kind {
            Kind::Input if !is_secret => Piece::Input(self.input(&variable.name, &variable.value)),
            Kind::Input | Kind::Secret => {
                Piece::Secret(self.secret(&variable.name, &variable.value))
            }
            Kind::Value(extraction) => {
                Piece::Value { extraction: *extraction, changes: Vec::new() }
            }
            Kind::Made(kind) => {
                if let Some(index) = self.made_by_text.get(&variable.value) {
                    return Piece::Made(*index);
                }
                let name = self.unused(&camel(&variable.name, "made"));
                self.made_by_text.insert(variable.value.clone(), self.made.len());
                let (recorded, kind) = (variable.value.clone(), kind.clone());
                self.made.push(Made { name, recorded, kind, first: exchange });
                Piece::Made(self.made.len() - 1)
            }
        }
    }

    /// The pieces of a text. Literals that meet are one.
    fn pieces(&mut self, template: &str, exchange: usize, is_secret: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        for c in template.chars() {
            let Some(variable) = self.table.of(c).map(|(_, variable)| variable.clone()) else {
                literal.push(c);
                continue;
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(self.piece(&variable, exchange, is_secret));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        pieces
    }
}

/// Percent-encodes all but what may stand in a segment or in a value of a query.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$'()*,:;@".contains(&byte) {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

impl Draft {
    /// The value of a header, as a template.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let is_it = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
        self.headers.iter().find(is_it).map(|(_, value)| value.as_str())
    }

    /// Adds a header if the source has not set it.
    pub(crate) fn default_header(&mut self, name: &str, value: &str) {
        if self.header(name).is_none() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The URL and the template that it was made of. Variables that hold parts of a URL (a host, several segments, a query) are
    /// replaced by their values in both.
    fn url(&self, ledger: &Ledger) -> Result<(Url, String), String> {
        let table = &ledger.table;
        let rest = self.url.split_once("://").map_or(0, |(scheme, _)| scheme.len() + 3);
        let end = self.url[rest..].find(['/', '?', '#']).map_or(self.url.len(), |at| rest + at);
        let mut template = table.resolve(&self.url[..end]);
        template.push_str(&table.spell_out(&self.url[end..], &['/', '?', '&', '#', '=', '%', '+']));
        let template = template.split('#').next().unwrap_or_default().to_owned();
        let text = table.resolve_with(&template, encode);
        let url = Url::parse(&text).map_err(|error| {
            // Users and passwords are before an `@`.
            let template = template.rsplit('@').next().unwrap_or_default();
            let shown: String =
                template.split('?').next().unwrap_or_default().chars().take(100).collect();
            format!(
                "{:?} is not a URL: {error}; write it whole, with http:// or https://",
                table.resolve_with(&shown, |_| "…".into())
            )
        })?;
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            return Err(format!("{:?} is not a scheme of HTTP; http and https are", url.scheme()));
        }
        Ok((url, template))
    }

    /// The request, and which of its places have variables or secrets.
    pub(crate) fn build(
        &self,
        exchange: usize,
        ledger: &mut Ledger,
    ) -> Result<(Request, Vec<Substitution>), String> {
        let (mut url, url_template) = self.url(ledger)?;
        let mut headers = self.headers.clone();
        if !url.username().is_empty() || url.password().is_some() {
            let decode = |text: &str| places::decode(text, false);
            let user = decode(url.username());
            let password = decode(url.password().unwrap_or_default());
            let _ = url.set_username("");
            let _ = url.set_password(None);
            if self.header("authorization").is_none() {
                headers.push(("Authorization".to_owned(), basic(&user, &password)));
            }
        }
        let is_form = self.header("content-type").is_some_and(|kind| {
            let media = kind.split(';').next().unwrap_or_default().trim();
            media.eq_ignore_ascii_case("application/x-www-form-urlencoded")
        });
        let spelled;
        let content = match &self.body {
            Content::Text(text) if is_form => {
                spelled = Content::Text(ledger.table.spell_out(text, &['&', '=', '%', '+']));
                &spelled
            }
            other => other,
        };
        let body = match content {
            Content::None => Body::Empty,
            Content::Text(template) if is_form => {
                Body::Bytes(Bytes::from(ledger.table.resolve_with(template, encode)))
            }
            Content::Text(template) => Body::Bytes(Bytes::from(ledger.table.resolve(template))),
            Content::Form(fields) => {
                let mut out = form_urlencoded::Serializer::new(String::new());
                for (name, value) in fields {
                    out.append_pair(&ledger.table.resolve(name), &ledger.table.resolve(value));
                }
                Body::Bytes(Bytes::from(out.finish()))
            }
            Content::Parts(parts) => {
                let parts: Vec<multipart::Part> =
                    parts.iter().map(|part| part.resolve(&ledger.table)).collect();
                let boundary = multipart::boundary(&parts);
                headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
                let kind = format!("multipart/form-data; boundary={boundary}");
                headers.push(("Content-Type".to_owned(), kind));
                Body::Bytes(Bytes::from(multipart::body(&parts, &boundary)))
            }
            Content::Bytes(bytes) => Body::Bytes(Bytes::from(bytes.clone())),
            Content::File { path, size } => Body::File { path: path.clone(), size: *size },
        };
        let resolved = headers
            .iter()
            .map(|(name, value)| (ledger.table.resolve(name), ledger.table.resolve(value)))
            .collect();
        let request = Request {
            method: ledger.table.resolve(&self.method),
            url,
            version: None,
            headers: Headers(resolved),
            body,
        };
        let spots = places::spots(&request, &url_template, &headers, content, ledger);
        let substitutions = places::substitutions(&spots, exchange, ledger);
        Ok((request, substitutions))
    }
}

impl Part {
    fn resolve(&self, table: &Table) -> multipart::Part {
        multipart::Part {
            name: table.resolve(&self.name),
            filename: self.filename.as_deref().map(|name| table.resolve(name)),
            kind: self.kind.as_deref().map(|kind| table.resolve(kind)),
            headers: self.headers.clone(),
            data: match &self.value {
                Value::Text(text) => table.resolve(text).into_bytes(),
                Value::Bytes(bytes) => bytes.clone(),
            },
        }
    }
}

/// The header of basic authentication (RFC 7617).
pub(crate) fn basic(user: &str, password: &str) -> String {
    use base64::Engine as _;
    let text = format!("{user}:{password}");
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
}
