//! Postman collections, versions 2.0 and 2.1, with their environments.
//!
//! Requests are sent in the order of the collection; a folder is a step. A variable is an input of the plan, or a secret if its
//! name or its type tells so; what a script takes from a response is an extraction; `{{$guid}}` and its like are made. Scripts are
//! not run: the commonest lines are understood, the others are counted in a note.

mod address;
mod auth;
mod content;
mod lines;
mod script;
mod variables;

use std::collections::HashSet;

use brunt_traffic::{Body, Headers, Response, Step};
use serde_json::Value as Json;

use crate::draft::{Draft, Ledger};
use crate::error::Error;
use crate::session::{Session, Surroundings};
use auth::Auth;
use script::{Outcome, Scripts};
use variables::Variables;

/// The deepest nesting of folders.
const DEPTH_MAX: usize = 100;

/// Reads a collection with the environments (or globals) that belong to it; a later one wins.
///
/// # Errors
/// A file is no JSON, no collection of version 2, or no environment; a request has no address, or its host is in a variable without a
/// value. Each error has the names of the folders and of the request.
pub fn read(
    collection: &[u8],
    environments: &[&[u8]],
    surroundings: &Surroundings,
) -> Result<Session, Error> {
    let mut root = json(collection, "the collection")?;
    if root.get("item").is_none()
        && let Some(inner) = root.get_mut("collection").filter(|inner| inner.is_object())
    {
        root = inner.take();
    }
    check(&root)?;
    let mut reader = Reader {
        variables: Variables::new(&root),
        ledger: Ledger::default(),
        session: Session::default(),
        surroundings,
        path: Vec::new(),
        step: None,
        told: HashSet::new(),
    };
    for environment in environments {
        let environment = json(environment, "the environment")?;
        let Some(values) = environment.get("values").and_then(Json::as_array) else {
            return Err(fault(
                "the environment",
                "it has no values; give a file that Postman exported as an environment",
            ));
        };
        reader.variables.add(values);
    }
    let name = root.pointer("/info/name").and_then(Json::as_str).unwrap_or_default();
    reader.session.recording.origin = format!("Postman collection {name:?}");
    let scripts = Scripts::default().within(&root, "the collection", &mut reader.ledger);
    let auth = Auth::default().within(root.get("auth"));
    reader.items(&root, &auth, &scripts)?;
    if reader.session.recording.exchanges.is_empty() {
        return Err(fault("the collection", "it has no requests"));
    }
    Ok(reader.session.finish(reader.ledger))
}

fn fault(place: impl Into<String>, what: impl Into<String>) -> Error {
    Error::Postman { place: place.into(), what: what.into() }
}

fn json(bytes: &[u8], place: &str) -> Result<Json, Error> {
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        let at = format!("{place}, line {} column {}", error.line(), error.column());
        let text = error.to_string();
        let why = text.split(" at line ").next().unwrap_or_default();
        fault(at, format!("it is no JSON: {why}; export it from Postman again"))
    })
}

/// An error for JSON of another kind.
fn check(root: &Json) -> Result<(), Error> {
    let schema = root.pointer("/info/schema").and_then(Json::as_str).unwrap_or_default();
    if root.get("item").is_some_and(Json::is_array) {
        return if schema.contains("/v1") || schema.contains("/v3") {
            Err(fault(
                "the collection",
                "only versions 2.0 and 2.1 are read; export it as Collection v2.1",
            ))
        } else {
            Ok(())
        };
    }
    let what = if root.get("values").is_some() {
        "this is an environment; give the collection first"
    } else if root.get("requests").is_some() {
        "this is a collection of version 1; export it as Collection v2.1"
    } else {
        "it has no list \"item\"; export it from Postman as Collection v2.1"
    };
    Err(fault("the collection", what))
}

/// Reads items into a session.
struct Reader<'a> {
    variables: Variables,
    ledger: Ledger,
    session: Session,
    surroundings: &'a Surroundings<'a>,
    /// Names of folders.
    path: Vec<String>,
    /// The name of the step that has begun.
    step: Option<String>,
    /// Variables without a value that were told.
    told: HashSet<String>,
}

impl Reader<'_> {
    fn items(&mut self, parent: &Json, auth: &Auth, scripts: &Scripts) -> Result<(), Error> {
        let items = parent.get("item").and_then(Json::as_array).into_iter().flatten();
        for item in items {
            let name = item.get("name").and_then(Json::as_str).unwrap_or("without a name");
            self.path.push(crate::template::plain(name));
            if self.path.len() > DEPTH_MAX {
                return Err(fault(name, "folders are nested more than 100 deep"));
            }
            let place = self.path.join(" / ");
            if item.get("item").is_some() {
                let variables = item.get("variable").and_then(Json::as_array);
                self.variables.add_collection(variables.map_or(&[], Vec::as_slice));
                let auth = auth.within(item.get("auth"));
                let scripts = scripts.within(item, &place, &mut self.ledger);
                self.items(item, &auth, &scripts)?;
            } else if let Some(request) = item.get("request") {
                self.request(item, request, &place, auth, scripts)?;
            }
            self.path.pop();
        }
        Ok(())
    }

    fn request(
        &mut self,
        item: &Json,
        request: &Json,
        place: &str,
        auth: &Auth,
        scripts: &Scripts,
    ) -> Result<(), Error> {
        self.begin_step();
        let before = script::of(item, "prerequest");
        script::before(&before, place, &mut self.variables, &mut self.ledger);
        let mut draft = Draft { method: "GET".to_owned(), ..Draft::default() };
        // A request may be its address alone.
        let url =
            if request.is_string() { request } else { request.get("url").unwrap_or(&Json::Null) };
        draft.url = address::of(url, &mut self.variables, &mut self.ledger);
        if let Some(method) =
            request.get("method").and_then(Json::as_str).filter(|own| !own.is_empty())
        {
            draft.method = self.variables.expand(method, &mut self.ledger);
        }
        draft.headers = content::headers(request, &mut self.variables, &mut self.ledger);
        let auth = auth.within(request.get("auth"));
        auth.apply(place, &mut draft, &mut self.variables, &mut self.ledger);
        let is_pruned =
            matches!(draft.method.as_str(), "GET" | "HEAD" | "COPY" | "PURGE" | "UNLOCK")
                && item.pointer("/protocolProfileBehavior/disableBodyPruning")
                    != Some(&Json::Bool(true));
        if let Some(body) = request.get("body").filter(|body| body.is_object() && !is_pruned) {
            let mut source = content::Source {
                variables: &mut self.variables,
                ledger: &mut self.ledger,
                surroundings: self.surroundings,
                place,
            };
            source.fill(body, &mut draft);
        }
        self.tell_of_values(&draft, place)?;
        let after = script::of(item, "test");
        let outcome = script::after(&after, place, &mut self.ledger);
        let response = response(item, &outcome, scripts.status);
        let index = self.session.recording.exchanges.len();
        self.session.push(&draft, &mut self.ledger, response).map_err(|what| fault(place, what))?;
        self.take(outcome, index);
        Ok(())
    }

    /// A step for each folder, and for each request beside folders.
    fn begin_step(&mut self) {
        let folders = self.path.len().saturating_sub(1);
        let name = match folders {
            0 => self.path.join(""),
            _ => self.path[..folders].join(" / "),
        };
        if self.step.as_ref() != Some(&name) {
            let at = self.session.next_sent();
            self.session.recording.steps.push(Step { at, name: name.clone() });
            self.step = Some(name);
        }
    }

    /// Notes of variables without a value; in a host they are an error.
    fn tell_of_values(&mut self, draft: &Draft, place: &str) -> Result<(), Error> {
        let host = draft.url.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        for name in self.variables.take_empty() {
            let mut in_host = host.chars().filter_map(|c| self.ledger.table.of(c));
            if in_host.any(|(_, variable)| variable.name == name) {
                let what = format!(
                    "its host is in the variable {name:?}, which has no value; give the environment that has it"
                );
                return Err(fault(place, what));
            }
            if self.told.insert(name.clone()) {
                self.ledger.note(format!(
                    "the variable {name:?} has no value in the collection or the environment; its name is sent in its place"
                ));
            }
        }
        Ok(())
    }

    /// Sets the variables that the script of a request took from its response.
    fn take(&mut self, outcome: Outcome, exchange: usize) {
        for set in outcome.sets {
            match set {
                script::Set::Text { name, text } => self.variables.set_text(&name, &text),
                script::Set::Unset { name } => self.variables.unset(&name),
                script::Set::Found { name, finder } => {
                    let response = self.session.recording.exchanges[exchange].response.as_ref();
                    let recorded =
                        response.and_then(|response| script::recorded(&finder, response));
                    let recorded = recorded.unwrap_or_else(|| variables::sent_for(&name));
                    let extraction = brunt_correlate::Extraction {
                        exchange,
                        name: crate::name::camel(&name, "value"),
                        recorded: recorded.clone(),
                        candidates: vec![brunt_correlate::Source { finder, changes: Vec::new() }],
                        chosen: 0,
                    };
                    self.session.plan.extractions.push(extraction);
                    let index = self.session.plan.extractions.len() - 1;
                    self.variables.set_value(&name, recorded, index, &mut self.ledger);
                }
            }
        }
    }
}

/// The response that is expected: with the script's status, or the example; or none.
fn response(item: &Json, outcome: &Outcome, of_parents: Option<u16>) -> Option<Response> {
    let examples = item.get("response").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let code = |example: &Json| {
        let code = example.get("code").and_then(Json::as_u64)?;
        u16::try_from(code).ok().filter(|code| (100..1000).contains(code))
    };
    let wanted = outcome.status.or(of_parents);
    let example = examples
        .iter()
        .find(|example| wanted.is_some() && code(example) == wanted)
        .or_else(|| {
            examples.iter().find(|example| code(example).is_some_and(|code| code / 100 == 2))
        })
        .or_else(|| examples.iter().find(|example| code(example).is_some()))
        .filter(|example| wanted.is_none_or(|wanted| code(example) == Some(wanted)));
    let finds = outcome.sets.iter().any(|set| matches!(set, script::Set::Found { .. }));
    let Some(example) = example else {
        let status = wanted.or(finds.then_some(200))?;
        let body = Body::Absent { why: "a collection has no responses".to_owned(), size: None };
        return Some(Response { status, headers: Headers::default(), body });
    };
    let headers = content::pairs(example.get("header").unwrap_or(&Json::Null));
    let body = match example.get("body").and_then(Json::as_str) {
        Some(text) => Body::Bytes(bytes::Bytes::from(text.to_owned())),
        None => Body::Absent { why: "the example has no body".to_owned(), size: None },
    };
    Some(Response { status: code(example)?, headers: Headers(headers), body })
}

#[cfg(test)]
mod tests;
