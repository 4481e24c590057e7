//! A watcher of each request and each check while the script runs: `--http-debug`, `--once`. As a rule there is none,
//! and then it costs a look at an `Option`.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::rc::Rc;
use std::sync::Arc;

use brunt_engine::ScenarioHere;
use brunt_http::{Body, Exchange, Request, Response};
use brunt_js::Host;

/// Looks on. Called on a load core: it must not wait.
pub trait Watcher: Send + Sync + fmt::Debug {
    /// An exchange is over.
    fn exchange(&self, vu: &Place<'_>, seen: &Seen<'_>);

    /// Whether it wants to see all: bodies that the script discards, checks, messages of sockets, calls of gRPC. A watcher
    /// of exchanges alone, as they are, costs less.
    fn sees_all(&self) -> bool {
        true
    }

    /// A check was made.
    fn check(&self, vu: &Place<'_>, name: &str, passed: bool);

    /// Something happened that is no exchange of HTTP. Not told unless somebody wants it.
    fn talk(&self, _vu: &Place<'_>, _talk: &Talk<'_>) {}
}

/// A message of a socket, a call of gRPC.
#[derive(Debug, Clone, Copy, Default)]
pub struct Talk<'a> {
    /// `WS`, `gRPC`.
    pub kind: &'a str,
    /// With whom, and how it ended.
    pub title: &'a str,
    /// The bytes that were sent.
    pub sent: &'a [u8],
    /// The bytes that came.
    pub received: &'a [u8],
}

/// Where the script is.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// `::outer::inner`, or empty.
    pub group: &'a str,
    /// The scenario; empty in `setup()` and its like.
    pub scenario: &'a str,
    /// The VU's number in the whole test.
    pub vu: u64,
    /// The iteration's number in this VU; `None` outside of iterations.
    pub iteration: Option<u64>,
}

/// One exchange: what was sent and what came.
pub struct Seen<'a> {
    /// As tags show it, credentials masked.
    pub url: &'a str,
    /// The tag `name`, if it is another text.
    pub name: Option<&'a str>,
    request: &'a Request<'a>,
    exchange: &'a Exchange,
    /// The body with its content codings taken off, if it had any.
    decoded: Option<&'a [u8]>,
    /// Each request has its own connection.
    closes: bool,
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen").field("url", &self.url).finish_non_exhaustive()
    }
}

impl<'a> Seen<'a> {
    pub(crate) fn new(
        (url, name): (&'a str, Option<&'a str>),
        request: &'a Request<'a>,
        exchange: &'a Exchange,
        decoded: Option<&'a [u8]>,
        closes: bool,
    ) -> Self {
        Self { url, name, request, exchange, decoded, closes }
    }

    /// `GET`.
    pub fn method(&self) -> &str {
        self.request.method
    }

    /// The head of the request as HTTP/1.1 writes it, with `\n` line ends, the empty line included.
    pub fn request_head(&self) -> String {
        self.request.head(self.closes)
    }

    /// The body that was sent, if it lies in memory.
    pub fn request_body(&self) -> Option<Cow<'_, [u8]>> {
        match self.request.body {
            Body::Payload(payload) => payload.in_memory(),
            Body::Bytes(bytes) => Some(bytes.into()),
            _ => None,
        }
    }

    /// The response, if a whole one came.
    pub fn response(&self) -> Option<Response<'_>> {
        self.exchange.response().ok()
    }

    /// The head of the response, likewise.
    pub fn response_head(&self) -> Option<String> {
        let response = self.response()?;
        let mut head =
            format!("{} {} {}\n", response.version(), response.status(), response.reason());
        for (name, value) in response.headers() {
            let _ = writeln!(head, "{name}: {}", String::from_utf8_lossy(value));
        }
        head.push('\n');
        Some(head)
    }

    /// The body that came, decoded; empty if it was thrown away.
    pub fn response_body(&self) -> &[u8] {
        self.decoded.unwrap_or_else(|| self.exchange.body())
    }

    /// Whether the body went to the script while it came.
    pub fn is_streamed(&self) -> bool {
        self.request.spool.is_some()
    }

    /// Why there is no response.
    pub fn failure(&self) -> Option<String> {
        self.exchange.failure.map(|failure| failure.to_string())
    }

    /// k6's number of that; 0 if there is a response.
    pub fn failure_code(&self) -> u32 {
        self.exchange.failure.map_or(0, |failure| u32::from(failure.code()))
    }

    /// The phases.
    pub fn timings(&self) -> brunt_http::Timings {
        self.exchange.timings
    }

    /// A header of the request, however its name is written.
    pub fn request_header(&self, name: &str) -> Option<&str> {
        self.request.headers.get(name)
    }

    /// From when it was asked for until its end: nanoseconds since the Unix epoch.
    pub fn moments(&self) -> (u64, u64) {
        (self.exchange.started_at, self.exchange.finished_at)
    }

    /// The address that answered.
    pub fn remote(&self) -> Option<std::net::SocketAddr> {
        self.exchange.remote
    }

    /// Milliseconds, as in `http_req_duration`.
    pub fn duration_ms(&self) -> f64 {
        self.exchange.timings.duration() as f64 / 1e6
    }
}

/// A watcher, and where the script was when it asked for what is watched. Nothing in it is counted atomically by several cores.
pub(crate) struct Watched {
    watcher: Rc<Arc<dyn Watcher>>,
    group: Arc<str>,
    scenario: Option<Rc<ScenarioHere>>,
    vu: u64,
    iteration: Option<u64>,
}

impl Watched {
    pub(crate) fn new(watcher: Rc<Arc<dyn Watcher>>, host: &Host, group: Arc<str>) -> Self {
        Self {
            watcher,
            group,
            scenario: host.scenario(),
            vu: host.ids().global,
            iteration: host.iteration().map(|iteration| iteration.vu_in_instance),
        }
    }

    /// Whether the watcher wants to see all.
    pub(crate) fn sees_all(&self) -> bool {
        self.watcher.sees_all()
    }

    fn place(&self) -> Place<'_> {
        let Self { group, vu, iteration, .. } = self;
        let scenario = self.scenario.as_ref().map_or("", |scenario| &scenario.spec().name);
        Place { group, scenario, vu: *vu, iteration: *iteration }
    }

    pub(crate) fn exchange(&self, seen: &Seen<'_>) {
        self.watcher.exchange(&self.place(), seen);
    }

    pub(crate) fn check(&self, name: &str, passed: bool) {
        self.watcher.check(&self.place(), name, passed);
    }

    pub(crate) fn talk(&self, talk: &Talk<'_>) {
        self.watcher.talk(&self.place(), talk);
    }
}
