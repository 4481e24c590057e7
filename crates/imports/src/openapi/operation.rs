//! The operations of a document.

use serde_json::Value as Json;

use super::document::{Document, escape};
use super::identifier::Names;
use crate::error::Error;

/// The methods of a path.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// The part of a request that a parameter is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'a> {
    pub(super) name: String,
    /// In the object of arguments.
    pub(super) argument: String,
    pub(super) place: Place,
    pub(super) is_required: bool,
    pub(super) schema: Option<&'a Json>,
    /// `deepObject`, `pipeDelimited`, …
    pub(super) style: String,
    pub(super) explodes: bool,
    /// Its value is written as JSON.
    pub(super) is_json: bool,
    /// The whole object, for examples and descriptions.
    pub(super) source: &'a Json,
}

/// The kinds of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Form,
    Multipart,
    /// Text or bytes, as they are.
    Raw,
}

/// The body of an operation's request.
#[derive(Debug, Clone)]
pub(super) struct Body<'a> {
    pub(super) argument: String,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
    pub(super) media: String,
    pub(super) schema: Option<&'a Json>,
    /// The media type object.
    pub(super) source: &'a Json,
}

/// An operation.
#[derive(Debug, Clone)]
pub(super) struct Operation<'a> {
    /// Of the method.
    pub(super) name: String,
    pub(super) group: String,
    /// In capitals.
    pub(super) method: String,
    /// The path as the document has it.
    pub(super) route: String,
    pub(super) source: &'a Json,
    pub(super) parameters: Vec<Parameter<'a>>,
    pub(super) body: Option<Body<'a>>,
    /// The schema of its JSON answer.
    pub(super) answer: Option<&'a Json>,
    /// Of success: numbers, or `2XX`.
    pub(super) statuses: Vec<String>,
    /// Keys of the schemes that it wants.
    pub(super) security: Vec<String>,
}

/// How a scheme is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    Bearer,
    Basic,
    Header(String),
    Query(String),
    Cookie(String),
}

/// A way to prove who sends.
#[derive(Debug, Clone)]
pub(super) struct Scheme {
    /// In the document.
    pub(super) key: String,
    /// Of the secret, and of the member of the credentials.
    pub(super) name: String,
    pub(super) proof: Proof,
}

impl Scheme {
    /// The text in the file of secrets, until the user writes the secret.
    pub(super) fn stand_in(&self) -> &'static str {
        match self.proof {
            Proof::Basic => "user:password",
            _ => "write-it-here",
        }
    }
}

/// The schemes that a client can use.
pub(super) fn schemes(document: &Document, notes: &mut Vec<String>) -> Vec<Scheme> {
    let all = document.root.pointer("/components/securitySchemes").and_then(Json::as_object);
    let mut names = Names::default();
    let mut schemes = Vec::new();
    for (key, source) in all.into_iter().flatten() {
        let source = document.resolve(source);
        let text = |name: &str| source.get(name).and_then(Json::as_str).unwrap_or_default();
        let proof = match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
            ("http", "bearer", _) => Proof::Bearer,
            ("http", "basic", _) => Proof::Basic,
            ("apiKey", _, "header") => Proof::Header(text("name").to_owned()),
            ("apiKey", _, "query") => Proof::Query(text("name").to_owned()),
            ("apiKey", _, "cookie") => Proof::Cookie(text("name").to_owned()),
            ("oauth2" | "openIdConnect", ..) => {
                notes.push(format!(
                    "the scheme {key:?} ({}) is sent as a bearer token, which you get",
                    text("type")
                ));
                Proof::Bearer
            }
            (kind, scheme, _) => {
                let kind = format!("{kind} {scheme}");
                notes.push(format!("the scheme {key:?} ({}) is not in the client", kind.trim()));
                continue;
            }
        };
        schemes.push(Scheme { key: key.clone(), name: names.of_variable(key), proof });
    }
    schemes
}

/// All operations, in the order of the document.
pub(super) fn all<'a>(
    document: &'a Document,
    schemes: &[Scheme],
    notes: &mut Vec<String>,
) -> Result<Vec<Operation<'a>>, Error> {
    let mut names = Names::default();
    let mut operations = Vec::new();
    let paths = document.root.get("paths").and_then(Json::as_object);
    for (route, item) in paths.into_iter().flatten() {
        let item = document.resolve(item);
        if route.starts_with("x-") {
            continue;
        }
        if !route.starts_with('/') {
            let place = format!("/paths/{}", escape(route));
            return Err(Document::fault(&place, "a path begins with a slash; add it"));
        }
        for method in METHODS {
            if let Some(source) = item.get(method).filter(|own| own.is_object()) {
                let reader = Reader { document, route, item, source, schemes };
                operations.push(reader.operation(method, &mut names)?);
            }
        }
    }
    if document.root.get("webhooks").is_some() {
        notes.push(
            "webhooks are requests that your server gets: they are not in the client".to_owned(),
        );
    }
    Ok(operations)
}

/// Reads an operation.
struct Reader<'a, 'b> {
    document: &'a Document,
    route: &'a str,
    item: &'a Json,
    source: &'a Json,
    schemes: &'b [Scheme],
}

impl<'a> Reader<'a, '_> {
    fn operation(&self, method: &str, names: &mut Names) -> Result<Operation<'a>, Error> {
        let route = self.route;
        let of_route = || format!("{method} {}", route.replace('{', "by {"));
        let id = self
            .source
            .get("operationId")
            .and_then(Json::as_str)
            .map_or_else(of_route, str::to_owned);
        let mut arguments = Names::default();
        let mut parameters = self.parameters(&mut arguments)?;
        // A segment that no parameter describes is a text.
        for name in templates(route) {
            if !parameters.iter().any(|own| own.place == Place::Path && own.name == name) {
                parameters.push(Parameter {
                    name: name.to_owned(),
                    argument: arguments.of_member(name, "InPath"),
                    place: Place::Path,
                    is_required: true,
                    schema: None,
                    style: "simple".to_owned(),
                    explodes: false,
                    is_json: false,
                    source: &Json::Null,
                });
            }
        }
        parameters.retain(|own| {
            own.place != Place::Path || templates(route).any(|name| name == own.name)
        });
        let first_segment =
            || route.split('/').find(|own| !own.is_empty() && !own.starts_with('{'));
        let tag = self.source.pointer("/tags/0").and_then(Json::as_str);
        Ok(Operation {
            name: names.of_method(&id),
            group: tag.or_else(first_segment).unwrap_or("/").to_owned(),
            method: method.to_ascii_uppercase(),
            route: route.to_owned(),
            source: self.source,
            parameters,
            body: self.body(&mut arguments),
            answer: self.answer(),
            statuses: self.statuses(),
            security: self.security(),
        })
    }

    fn parameters(&self, arguments: &mut Names) -> Result<Vec<Parameter<'a>>, Error> {
        let list = |json: &'a Json| {
            json.get("parameters").and_then(Json::as_array).map_or(&[][..], Vec::as_slice)
        };
        let mut all: Vec<Parameter> = Vec::new();
        for source in list(self.item).iter().chain(list(self.source)) {
            let source = self.document.resolve(source);
            let text = |name: &str| source.get(name).and_then(Json::as_str);
            let (Some(name), Some(place)) = (text("name"), text("in")) else {
                let place = format!("/paths/{}", escape(self.route));
                return Err(Document::fault(
                    &place,
                    "a parameter has no name or no \"in\"; add it",
                ));
            };
            let place = match place {
                "path" => Place::Path,
                "query" => Place::Query,
                "header" => Place::Header,
                "cookie" => Place::Cookie,
                _ => continue,
            };
            // These are told elsewhere.
            let is_own = ["accept", "content-type", "authorization"]
                .contains(&name.to_ascii_lowercase().as_str());
            if place == Place::Header && is_own {
                continue;
            }
            let content =
                source.get("content").and_then(Json::as_object).and_then(|own| own.values().next());
            let default =
                if matches!(place, Place::Query | Place::Cookie) { "form" } else { "simple" };
            let style = text("style").unwrap_or(default).to_owned();
            let explodes = source.get("explode").and_then(Json::as_bool).unwrap_or(style == "form");
            let parameter = Parameter {
                name: name.to_owned(),
                argument: String::new(),
                place,
                is_required: place == Place::Path
                    || source.get("required") == Some(&Json::Bool(true)),
                schema: source.get("schema").or_else(|| content.and_then(|own| own.get("schema"))),
                style,
                explodes,
                is_json: content.is_some(),
                source,
            };
            // An operation's own parameter is in place of the path's.
            match all.iter_mut().find(|own| own.name == name && own.place == place) {
                Some(own) => *own = parameter,
                None => all.push(parameter),
            }
        }
        for parameter in &mut all {
            let suffix = match parameter.place {
                Place::Path => "InPath",
                Place::Query => "InQuery",
                Place::Header => "InHeader",
                Place::Cookie => "InCookie",
            };
            parameter.argument = arguments.of_member(&parameter.name, suffix);
        }
        Ok(all)
    }

    fn body(&self, arguments: &mut Names) -> Option<Body<'a>> {
        let source = self.document.resolve(self.source.get("requestBody")?);
        let content = source.get("content")?.as_object()?;
        let rank = |media: &str| match kind(media) {
            Kind::Json => 0,
            Kind::Form => 1,
            Kind::Multipart => 2,
            Kind::Raw => 3,
        };
        let (media, own) = content.iter().min_by_key(|(media, _)| rank(media))?;
        let own = self.document.resolve(own);
        Some(Body {
            argument: arguments.of_member("body", "OfRequest"),
            is_required: source.get("required") == Some(&Json::Bool(true)),
            kind: kind(media),
            media: if media.contains('*') {
                "application/octet-stream".to_owned()
            } else {
                media.clone()
            },
            schema: own.get("schema"),
            source: own,
        })
    }

    fn responses(&self) -> impl Iterator<Item = (&'a String, &'a Json)> {
        self.source.get("responses").and_then(Json::as_object).into_iter().flatten()
    }

    fn answer(&self) -> Option<&'a Json> {
        let schema = |response: &'a Json| {
            let content = self.document.resolve(response).get("content")?.as_object()?;
            let (_, own) = content.iter().find(|(media, _)| kind(media) == Kind::Json)?;
            self.document.resolve(own).get("schema")
        };
        let of_success = self.responses().filter(|(status, _)| status.starts_with('2'));
        let otherwise = self.responses().filter(|(status, _)| *status == "default");
        of_success.chain(otherwise).find_map(|(_, response)| schema(response))
    }

    fn statuses(&self) -> Vec<String> {
        let is_status = |status: &&String| {
            let bytes = status.as_bytes();
            bytes.len() == 3
                && matches!(bytes[0], b'2' | b'3')
                && bytes[1..]
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || matches!(byte, b'X' | b'x'))
        };
        self.responses()
            .map(|(status, _)| status)
            .filter(is_status)
            .map(|own| own.to_ascii_uppercase())
            .collect()
    }

    /// The first of the alternatives that the client can do.
    fn security(&self) -> Vec<String> {
        let list = self.source.get("security").or_else(|| self.document.root.get("security"));
        let is_known = |key: &String| self.schemes.iter().any(|scheme| scheme.key == *key);
        let alternatives =
            list.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object);
        let mut all = alternatives.map(|own| own.keys().cloned().collect::<Vec<_>>());
        all.find(|keys| keys.iter().all(is_known)).unwrap_or_default()
    }
}

/// The names between braces of a path.
pub(super) fn templates(route: &str) -> impl Iterator<Item = &str> {
    route.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

fn kind(media: &str) -> Kind {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media.as_str() {
        "application/x-www-form-urlencoded" => Kind::Form,
        "multipart/form-data" => Kind::Multipart,
        json if json.ends_with("/json") || json.ends_with("+json") => Kind::Json,
        _ => Kind::Raw,
    }
}
