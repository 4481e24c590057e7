//! Recordings written by hand.

use std::time::Duration;

use brunt_traffic::{Body, Exchange, Headers, Message, Recording, Request, Response, Side};
use url::Url;

/// A recording that grows: each request is sent a second after the last.
#[derive(Default)]
pub(crate) struct Tape(pub(crate) Recording);

impl Tape {
    pub(crate) fn new() -> Self {
        let mut tape = Self::default();
        tape.0.began = Some(1_764_150_000);
        tape
    }

    /// A request; its answer comes with the next call.
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> &mut Self {
        let number = self.0.exchanges.len();
        let url =
            if path.contains("://") { path.to_owned() } else { format!("http://app.test{path}") };
        let body = if body.is_empty() { Body::Empty } else { Body::Bytes(body.to_owned().into()) };
        self.0.exchanges.push(Exchange {
            number,
            sent: Duration::from_secs(number as u64),
            done: Duration::from_millis(number as u64 * 1_000 + 500),
            request: Request {
                method: method.to_owned(),
                url: Url::parse(&url).expect("a URL"),
                version: None,
                headers: owned(headers),
                body,
            },
            response: None,
            failure: None,
            resource: None,
            messages: Vec::new(),
            events: Vec::new(),
        });
        self
    }

    pub(crate) fn get(&mut self, path: &str) -> &mut Self {
        self.send("GET", path, &[], "")
    }

    /// Fields as a form sends them.
    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> &mut Self {
        let body: String =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", path, &[("Content-Type", "application/x-www-form-urlencoded")], &body)
    }

    pub(crate) fn json(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> &mut Self {
        let mut all = vec![("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        self.send(method, path, &all, body)
    }

    pub(crate) fn answer(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: &str,
    ) -> &mut Self {
        let exchange = self.0.exchanges.last_mut().expect("a request was sent");
        let body = Body::Bytes(body.to_owned().into());
        exchange.response = Some(Response { status, headers: owned(headers), body });
        self
    }

    pub(crate) fn page(&mut self, body: &str) -> &mut Self {
        self.answer(200, &[("Content-Type", "text/html")], body)
    }

    pub(crate) fn data(&mut self, body: &str) -> &mut Self {
        self.answer(200, &[("Content-Type", "application/json")], body)
    }

    pub(crate) fn redirect(&mut self, to: &str) -> &mut Self {
        self.answer(302, &[("Location", to)], "")
    }

    pub(crate) fn message(&mut self, from: Side, text: &str) -> &mut Self {
        let exchange = self.0.exchanges.last_mut().expect("a request was sent");
        let at = exchange.sent + Duration::from_millis(10 + exchange.messages.len() as u64);
        exchange.messages.push(Message { at, from, is_text: true, data: text.to_owned().into() });
        self
    }
}

fn owned(headers: &[(&str, &str)]) -> Headers {
    Headers(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}
