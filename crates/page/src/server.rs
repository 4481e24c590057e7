//! A small server for pages: a thread of its own, which asks a [`Site`] what to answer.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::live::Feed;

/// Connections at the same time; more wait in the system's queue.
const CONNECTIONS: usize = 512;
/// A browser that takes nothing for so long is dropped.
#[cfg(target_os = "linux")]
const STILL_MAX: Duration = Duration::from_secs(30);
/// Bytes that the system keeps for a browser that takes nothing.
const WAITING_MAX: usize = 256 << 10;

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The mark of a request that comes from this machine, among its extensions.
#[derive(Clone, Copy, Debug)]
pub struct Near;

/// An answer that is being made.
pub type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// The pages and whatever else lies behind an address.
pub trait Site: Send + Sync + 'static {
    /// Answers a request that may be answered.
    fn answer(&self, request: Request<Incoming>) -> Answering;
}

/// Serves until the process ends, on a thread that begins with `stand_back`. Without `access` the site checks itself who may look.
///
/// # Errors
/// The system gives no thread or no reactor.
pub fn serve(
    listener: TcpListener,
    access: Option<Access>,
    site: Arc<dyn Site>,
    stand_back: fn(),
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("brunt-pages".to_owned()).spawn(move || {
        stand_back();
        runtime.block_on(accept(listener, Arc::new(access), site));
    })?;
    Ok(())
}

async fn accept(listener: TcpListener, access: Arc<Option<Access>>, site: Arc<dyn Site>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return log::warn!("the page can't be served: {error}"),
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "the page lost a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        give_up_on_the_silent(&stream);
        let is_near = stream.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_loopback());
        let (access, site) = (Arc::clone(&access), Arc::clone(&site));
        tokio::spawn(async move {
            let service = service_fn(move |mut request: Request<Incoming>| {
                if is_near {
                    request.extensions_mut().insert(Near);
                }
                let access = access.as_ref().as_ref();
                let refused =
                    access.and_then(|access| refused(access, request.uri(), request.headers()));
                let answering: Answering = match refused {
                    None => site.answer(request),
                    Some(answer) => Box::pin(async move { answer }),
                };
                async move { Ok::<_, Infallible>(answering.await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
            // That a browser went away is its own affair.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// The answer to a request that may not be answered.
pub fn refused(access: &Access, uri: &Uri, headers: &HeaderMap) -> Option<Response<Body>> {
    let (status, why) = access.check(uri, headers).err()?;
    Some(text(status, "text/plain; charset=utf-8", why))
}

/// A browser that reads nothing costs little, and not for long.
fn give_up_on_the_silent(stream: &tokio::net::TcpStream) {
    let socket = SockRef::from(stream);
    drop(socket.set_send_buffer_size(WAITING_MAX));
    #[cfg(target_os = "linux")]
    drop(socket.set_tcp_user_timeout(Some(STILL_MAX)));
}

/// An answer with a text.
pub fn text(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    answer(status, kind, Full::new(body.into()).boxed_unsync())
}

/// An answer with a page.
pub fn page(body: impl Into<Bytes>) -> Response<Body> {
    text(StatusCode::OK, "text/html; charset=utf-8", body)
}

/// An answer with the events of a feed. `last`: the request's `Last-Event-ID`.
pub fn events(feed: &Feed, last: Option<&HeaderValue>) -> Response<Body> {
    let stream = feed.stream(last.and_then(|last| last.to_str().ok()));
    answer(StatusCode::OK, "text/event-stream", StreamBody::new(stream).boxed_unsync())
}

/// The answer to a browser that shows that somebody looks.
pub fn alive(feed: &Feed) -> Response<Body> {
    feed.sign();
    text(StatusCode::OK, "text/plain; charset=utf-8", "")
}

/// The finished page, or a sentence if there is none.
pub async fn report(feed: &Feed) -> Response<Body> {
    if let Some(report) = feed.report().await {
        return page(report);
    }
    let why = "there are no data of the run yet\n";
    text(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", why)
}

fn answer(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let mut set = |name: HeaderName, value: &'static str| {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_TYPE, kind);
    set(CACHE_CONTROL, "no-store");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(X_FRAME_OPTIONS, "DENY");
    // The token is in the address.
    set(REFERRER_POLICY, "no-referrer");
    answer
}

/// `http://127.0.0.1:5665/`, as a browser on this machine reaches it.
pub fn shown(at: SocketAddr, named: &str, access: &Access) -> String {
    let host = match at {
        _ if !named.is_empty() && named.parse::<std::net::IpAddr>().is_err() => named.to_owned(),
        at if at.ip().is_unspecified() && at.is_ipv6() => "[::1]".to_owned(),
        at if at.ip().is_unspecified() => "127.0.0.1".to_owned(),
        SocketAddr::V6(at) => format!("[{}]", at.ip()),
        SocketAddr::V4(at) => at.ip().to_string(),
    };
    format!("http://{host}:{}{}", at.port(), access.address("/"))
}

/// Shows an address in whatever the desktop opens addresses with; false if there is no desktop.
pub fn open_browser(address: &str) -> bool {
    let is_there = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if !cfg!(target_os = "macos") && !is_there("DISPLAY") && !is_there("WAYLAND_DISPLAY") {
        return false;
    }
    let null = std::process::Stdio::null;
    let mut command = std::process::Command::new(opener);
    let started = command.arg(address).stdin(null()).stdout(null()).stderr(null()).spawn();
    match started {
        // How it ends does not matter, but it must be asked, or it stays in the system's table.
        Ok(mut child) => {
            let asked = std::thread::Builder::new().name("brunt-open".to_owned());
            drop(asked.spawn(move || child.wait()));
            true
        }
        Err(error) => {
            log::warn!("no browser can be opened with {opener}: {error}");
            false
        }
    }
}
