//! The page's server: a thread of its own with a small runtime, which lives as long as somebody may look.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brunt_page::{Access, Answering, Body, Feed, Near, Site};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};

use super::journal::{Event, Journal};

/// Events that are sent as one piece.
const EVENTS_AT_ONCE: usize = 64;

/// How often a silent stream says that it is there; a viewer who went away is noticed by it.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Browsers wait so long (in milliseconds) before they ask again for a test that is over.
const NEVER: u64 = 1 << 53;

/// The running server. It ends with the process.
pub(super) struct Server {
    address: String,
    viewers: Viewers,
}

/// Those who look at the page.
#[derive(Clone, Debug)]
pub struct Viewers {
    looking: Arc<Looking>,
    feed: Feed,
}

#[derive(Debug, Default)]
struct Looking {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Viewers {
    /// How many streams of events are open.
    pub fn count(&self) -> usize {
        *self.looking.lock()
    }

    /// The run that they look at, which knows of their signs of life.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Waits until no page is open, for the time `most` at most; whether that is so.
    pub fn wait_for_none(&self, most: Duration) -> bool {
        let looking = &self.looking;
        let waited = looking.changed.wait_timeout_while(looking.lock(), most, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }

    fn come(&self) -> Viewer {
        *self.looking.lock() += 1;
        self.feed.sign();
        Viewer(Arc::clone(&self.looking))
    }
}

impl Looking {
    fn lock(&self) -> MutexGuard<'_, usize> {
        // A number is never half written.
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them; gone when dropped.
struct Viewer(Arc<Looking>);

impl Drop for Viewer {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.changed.notify_all();
    }
}

impl Server {
    /// Listens and serves. Port 0 is any that is free; an empty host is every address of this machine.
    pub(super) fn start(
        host: &str,
        port: u16,
        journal: &Arc<Journal>,
        feed: &Feed,
    ) -> io::Result<Self> {
        let everywhere = if host.is_empty() { "0.0.0.0" } else { host };
        let addresses: Vec<SocketAddr> = (everywhere, port).to_socket_addrs()?.collect();
        let listener = TcpListener::bind(&addresses[..])?;
        listener.set_nonblocking(true)?;
        let bound = listener.local_addr()?;
        let access = Access::new(bound, host, brunt_page::machine())?;
        let near = Access::new(SocketAddr::from(([127, 0, 0, 1], bound.port())), "", None)?;
        let address = brunt_page::shown(bound, host, &access).trim_end_matches('/').to_owned();
        let viewers = Viewers { looking: Arc::default(), feed: feed.clone() };
        let shared =
            Shared { journal: Arc::clone(journal), access, near, viewers: viewers.clone() };
        brunt_page::serve(listener, None, Arc::new(shared), crate::priority::stand_back)?;
        Ok(Self { address, viewers })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn viewers(&self) -> Viewers {
        self.viewers.clone()
    }
}

struct Shared {
    journal: Arc<Journal>,
    access: Access,
    /// For browsers on this machine that ask for it by a name of loopback: they need no token, as k6's printed address has none.
    near: Access,
    viewers: Viewers,
}

impl Site for Shared {
    fn answer(&self, request: Request<Incoming>) -> Answering {
        let (head, _) = request.into_parts();
        if head.uri.path() == "/report" && is_get(&head) && self.refused(&head).is_none() {
            let feed = self.viewers.feed.clone();
            return Box::pin(async move { brunt_page::report(&feed).await });
        }
        let answer = self.answer_now(&head);
        Box::pin(async move { answer })
    }
}

fn is_get(head: &Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD)
}

impl Shared {
    /// The answer to somebody who may not look: the page has all of the run in it, its script and what was sent and received.
    fn refused(&self, head: &Parts) -> Option<Response<Body>> {
        let is_near = head.extensions.get::<Near>().is_some();
        if is_near && self.near.check(&head.uri, &head.headers).is_ok() {
            return None;
        }
        brunt_page::refused(&self.access, &head.uri, &head.headers)
    }

    fn answer_now(&self, head: &Parts) -> Response<Body> {
        if !is_get(head) {
            let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "");
            set(&mut answer, ALLOW, "GET, HEAD");
            return answer;
        }
        if head.uri.path() == "/events" {
            return events(self);
        }
        if let Some(answer) = self.refused(head) {
            return answer;
        }
        let of = |path: &str| self.access.address(path);
        let feed = &self.viewers.feed;
        match head.uri.path() {
            "/" => moved(&of("/ui?endpoint=/")),
            "/ui" => moved(&of("/ui/")),
            "/ui/" | "/ui/index.html" if feed.is_closed() => {
                let why = "no page can be made of this run: its log says why\n";
                text(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", why)
            }
            "/ui/" | "/ui/index.html" => {
                let live = serde_json::json!({
                    "events": of("stream"), "report": of("../report"), "alive": of("alive"),
                });
                brunt_page::page(feed.page(&live))
            }
            "/ui/alive" => brunt_page::alive(feed),
            "/ui/stream" => {
                let last = head.headers.get("last-event-id");
                let viewer = self.viewers.come();
                brunt_page::events(feed, last).map(|body| watched(body, viewer))
            }
            _ => text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n"),
        }
    }
}

fn moved(to: &str) -> Response<Body> {
    let mut answer = text(StatusCode::TEMPORARY_REDIRECT, "text/html; charset=utf-8", "");
    if let Ok(to) = HeaderValue::from_str(to) {
        answer.headers_mut().insert(LOCATION, to);
    }
    answer
}

/// A stream of somebody who looks as long as it is open.
fn watched(body: Body, viewer: Viewer) -> Body {
    let pieces = body.into_data_stream();
    let stream = futures_util::StreamExt::map(pieces, move |piece| {
        let _looking = &viewer;
        piece.map(Frame::data)
    });
    StreamBody::new(stream).boxed_unsync()
}

fn text(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut answer = Response::new(Full::new(body.into()).boxed_unsync());
    *answer.status_mut() = status;
    set(&mut answer, CONTENT_TYPE, kind);
    answer
}

fn set(answer: &mut Response<Body>, name: HeaderName, value: &'static str) {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
}

fn events(shared: &Shared) -> Response<Body> {
    let stream = told(Arc::clone(&shared.journal), shared.viewers.come());
    let mut answer = Response::new(StreamBody::new(stream).boxed_unsync());
    set(&mut answer, CONTENT_TYPE, "text/event-stream");
    set(&mut answer, CACHE_CONTROL, "no-cache");
    // Whatever page wants to show the test, as in k6; there is nothing here that can be changed.
    set(&mut answer, ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    answer
}

/// Everything so far, then everything as it comes; without end, as the viewer decides how long to look.
fn told(
    journal: Arc<Journal>,
    viewer: Viewer,
) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    let watch = journal.watch();
    stream::unfold(
        (journal, watch, viewer, 0),
        |(journal, mut watch, viewer, mut next)| async move {
            watch.mark_unchanged();
            let mut events = journal.since(next, EVENTS_AT_ONCE);
            if events.is_empty() {
                let _ = tokio::time::timeout(HEARTBEAT, watch.changed()).await;
                events = journal.since(next, EVENTS_AT_ONCE);
            }
            let piece = if events.is_empty() { ":\n\n".to_owned() } else { written(&events) };
            next = events.last().map_or(next, |event| event.id + 1);
            Some((Ok(Frame::data(piece.into())), (journal, watch, viewer, next)))
        },
    )
}

fn written(events: &[Event]) -> String {
    let mut piece = String::new();
    for Event { id, name, data } in events {
        let retry = if *name == "stop" { format!("retry: {NEVER}\n") } else { String::new() };
        // Writing to a String can't fail.
        let _ = write!(piece, "id: {id}\ndata: {data}\nevent: {name}\n{retry}\n");
    }
    piece
}
