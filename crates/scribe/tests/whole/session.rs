//! Sessions made by hand.

use std::path::PathBuf;
use std::time::Duration;

use brunt_correlate::Plan;
use brunt_correlate::plan::{Extraction, Finder, Piece, Place, Source, Substitution};
use brunt_scribe::{Content, Options, Script, write};
use brunt_traffic::{Body, Exchange, Headers, Recording, Request, Resource, Response, Step};

/// The server of all sessions.
pub(crate) const BASE: &str = "http://127.0.0.1:8080";

/// A recording and its plan, as they grow.
#[derive(Default)]
pub(crate) struct Journey {
    pub(crate) recording: Recording,
    pub(crate) plan: Plan,
}

impl Journey {
    pub(crate) fn new() -> Self {
        let recording = Recording {
            origin: "brunt record".to_owned(),
            began: Some(1_790_000_000),
            ..Recording::default()
        };
        Self { recording, ..Self::default() }
    }

    /// A request `ms` after the begin, answered 20 ms later.
    pub(crate) fn send(
        &mut self,
        ms: u64,
        method: &str,
        path: &str,
        resource: Resource,
    ) -> &mut Exchange {
        let number = self.recording.exchanges.len();
        let url = if path.contains("://") { path.to_owned() } else { format!("{BASE}{path}") };
        let headers = [
            ("user-agent", "Mozilla/5.0"),
            ("accept-language", "de,en;q=0.5"),
            ("cookie", "JSESSIONID=1"),
        ];
        self.recording.exchanges.push(Exchange {
            number,
            sent: Duration::from_millis(ms),
            done: Duration::from_millis(ms + 20),
            request: Request {
                method: method.to_owned(),
                url: url.parse().unwrap(),
                version: None,
                headers: headers_of(&headers),
                body: Body::Empty,
            },
            response: Some(Response {
                status: 200,
                headers: Headers::default(),
                body: Body::Empty,
            }),
            failure: None,
            resource: Some(resource),
            messages: Vec::new(),
            events: Vec::new(),
        });
        self.plan.folded.push(None);
        self.recording.exchanges.last_mut().unwrap()
    }

    pub(crate) fn page(&mut self, ms: u64, path: &str, html: &str) -> usize {
        self.send(ms, "GET", path, Resource::Document).answer(200, "text/html", html);
        self.recording.exchanges.len() - 1
    }

    /// A form is sent; the answer leads to a page.
    pub(crate) fn post(
        &mut self,
        ms: u64,
        path: &str,
        fields: &str,
        leads_to: &str,
        html: &str,
    ) -> usize {
        let sent = self.send(ms, "POST", path, Resource::Document);
        sent.body("application/x-www-form-urlencoded", fields);
        let first = self.recording.exchanges.len() - 1;
        if leads_to.is_empty() {
            self.recording.exchanges[first].answer(200, "text/html", html);
        } else {
            self.recording.exchanges[first].answer(302, "", "").header("location", leads_to);
            self.page(ms + 20, leads_to, html);
            *self.plan.folded.last_mut().unwrap() = Some(first);
        }
        first
    }

    pub(crate) fn step(&mut self, ms: u64, name: &str) {
        self.recording.steps.push(Step { at: Duration::from_millis(ms), name: name.to_owned() });
    }

    pub(crate) fn extract(
        &mut self,
        exchange: usize,
        name: &str,
        recorded: &str,
        finder: Finder,
    ) -> usize {
        self.plan.extractions.push(Extraction {
            exchange,
            name: name.to_owned(),
            recorded: recorded.to_owned(),
            candidates: vec![Source { finder, changes: Vec::new() }],
            chosen: 0,
        });
        self.plan.extractions.len() - 1
    }

    pub(crate) fn put(&mut self, exchange: usize, place: Place, pieces: Vec<Piece>) {
        self.plan.substitutions.push(Substitution { exchange, place, pieces });
    }

    pub(crate) fn write(&self) -> Script {
        write(&self.recording, &self.plan, &Options::default())
    }

    /// The text of `script.js`. All files are kept below the target folder, to be run by hand.
    pub(crate) fn script(&self, name: &str) -> String {
        let script = self.write();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        for (path, content) in &script.files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content {
                Content::Bytes(bytes) | Content::Secret(bytes) => {
                    std::fs::write(path, bytes).unwrap();
                }
                Content::Copy(from) => drop(std::fs::copy(from, path).unwrap()),
            }
        }
        text(&script)
    }
}

/// The text of `script.js`.
pub(crate) fn text(script: &Script) -> String {
    match &script.files[0].1 {
        Content::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        _ => String::new(),
    }
}

/// The iteration alone.
pub(crate) fn iteration(script: &str) -> String {
    let begin = script.find("export default").unwrap();
    let end = script[begin..].find("\n}\n").unwrap();
    script[begin..begin + end + 3].to_owned()
}

pub(crate) fn headers_of(all: &[(&str, &str)]) -> Headers {
    Headers(all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

pub(crate) fn literal(text: &str) -> Piece {
    Piece::Literal(text.to_owned())
}

pub(crate) fn value(extraction: usize) -> Piece {
    Piece::Value { extraction, changes: Vec::new() }
}

/// The parts of an exchange that tests change.
pub(crate) trait Change {
    fn answer(&mut self, status: u16, media: &str, body: &str) -> &mut Self;
    fn header(&mut self, name: &str, value: &str) -> &mut Self;
    fn sends(&mut self, name: &str, value: &str) -> &mut Self;
    fn body(&mut self, media: &str, body: &str) -> &mut Self;
}

impl Change for Exchange {
    fn answer(&mut self, status: u16, media: &str, body: &str) -> &mut Self {
        let headers = if media.is_empty() {
            Headers::default()
        } else {
            headers_of(&[("content-type", media)])
        };
        self.response =
            Some(Response { status, headers, body: Body::Bytes(body.to_owned().into()) });
        self
    }

    fn header(&mut self, name: &str, value: &str) -> &mut Self {
        let response = self.response.as_mut().unwrap();
        response.headers.0.push((name.to_owned(), value.to_owned()));
        self
    }

    fn sends(&mut self, name: &str, value: &str) -> &mut Self {
        self.request.headers.0.push((name.to_owned(), value.to_owned()));
        self
    }

    fn body(&mut self, media: &str, body: &str) -> &mut Self {
        self.request.body = Body::Bytes(body.to_owned().into());
        self.sends("content-type", media)
    }
}
