//! The page's server: a thread of its own with a small runtime, which lives as long as somebody may look.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brunt_page::Feed;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use super::journal::{Event, Journal};

/// Connections at the same time; more wait in the system's queue.
const CONNECTIONS: usize = 64;

/// Events that are sent as one piece.
const EVENTS_AT_ONCE: usize = 64;

/// How often a silent stream says that it is there; a viewer who went away is noticed by it.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Browsers wait so long (in milliseconds) before they ask again for a test that is over.
const NEVER: u64 = 1 << 53;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The running server. It ends with the process.
pub(super) struct Server {
    address: String,
    viewers: Viewers,
}

/// Those who look at the page.
#[derive(Clone, Debug, Default)]
pub struct Viewers(Arc<Looking>);

#[derive(Debug, Default)]
struct Looking {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Viewers {
    /// How many streams of events are open.
    pub fn count(&self) -> usize {
        *self.0.lock()
    }

    /// Waits until no page is open, for the time `most` at most; whether that is so.
    pub fn wait_for_none(&self, most: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.0.lock(), most, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }

    fn come(&self) -> Viewer {
        *self.0.lock() += 1;
        Viewer(Arc::clone(&self.0))
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
        let shown = match (host, bound.ip()) {
            (_, ip) if ip.is_unspecified() => "127.0.0.1".to_owned(),
            ("", ip) => ip.to_string(),
            (host, IpAddr::V6(_)) if host.contains(':') => format!("[{host}]"),
            (host, _) => host.to_owned(),
        };
        let viewers = Viewers::default();
        let shared =
            Shared { journal: Arc::clone(journal), feed: feed.clone(), viewers: viewers.clone() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("output-page".to_owned()).spawn(move || {
            crate::priority::stand_back();
            runtime.block_on(accept(listener, shared));
        })?;
        Ok(Self { address: format!("http://{shown}:{}", bound.port()), viewers })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn viewers(&self) -> Viewers {
        self.viewers.clone()
    }
}

#[derive(Clone)]
struct Shared {
    journal: Arc<Journal>,
    feed: Feed,
    viewers: Viewers,
}

async fn accept(listener: TcpListener, shared: Shared) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return log::warn!("Error from web dashboard: {error}"),
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "the web dashboard lost a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let shared = shared.clone();
                async move {
                    let (head, _) = request.into_parts();
                    Ok::<_, Infallible>(answer(&shared, &head).await)
                }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
            // That a browser went away is its own affair.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

async fn answer(shared: &Shared, head: &Parts) -> Response<Body> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "");
        set(&mut answer, ALLOW, "GET, HEAD");
        return answer;
    }
    match head.uri.path() {
        "/" => moved("/ui?endpoint=/"),
        "/ui" => moved("/ui/"),
        "/ui/" | "/ui/index.html" => {
            let live = serde_json::json!({ "events": "stream", "report": "../report" });
            brunt_page::page(shared.feed.page(&live))
        }
        "/ui/stream" => {
            let last = head.headers.get("last-event-id");
            let viewer = shared.viewers.come();
            brunt_page::events(&shared.feed, last).map(|body| watched(body, viewer))
        }
        "/report" => brunt_page::report(&shared.feed).await,
        "/events" => events(shared),
        _ => text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n"),
    }
}

fn moved(to: &'static str) -> Response<Body> {
    let mut answer = text(StatusCode::TEMPORARY_REDIRECT, "text/html; charset=utf-8", "");
    set(&mut answer, LOCATION, to);
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
