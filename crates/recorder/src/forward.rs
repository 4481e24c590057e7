//! A request's way to its server, and the response's way back.

use std::sync::Arc;
use std::time::Duration;

use brunt_traffic::{Body, Request as Recorded};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, Uri, Version};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as _, Incoming};
use hyper::upgrade::OnUpgrade;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioIo, TokioTimer};
use url::Url;

use crate::dialer::{Dialer, Target};
use crate::failure::{self, Failure};
use crate::shared::Shared;
use crate::tape::Take;
use crate::tee::Tee;
use crate::{headers, page, socket};

/// A body that goes on to its end.
pub(crate) type OutBody = UnsyncBoxBody<Bytes, hyper::Error>;

/// A response to the browser.
pub(crate) type Answer = Response<OutBody>;

/// Servers often close idle connections after five seconds; a request should not meet the end of one.
const IDLE: Duration = Duration::from_secs(4);

/// More headers than any page has.
pub(crate) const HEADERS_MAX: usize = 500;

/// Bytes of all headers of a message in HTTP/2.
pub(crate) const HEADERS_SIZE_MAX: u32 = 1 << 20;

/// How much of a body HTTP/2 may send ahead: per stream, and per connection.
pub(crate) const WINDOWS: (u32, u32) = (1 << 20, 4 << 20);

/// hyper's clients for one connection of a browser. Connections that the browser keeps apart are apart for the server, too: a login by
/// NTLM is one of its connection.
pub(crate) struct Clients {
    any: Client<Dialer, OutBody>,
    http1: Client<Dialer, OutBody>,
    is_tunnel: bool,
}

impl Clients {
    /// `target`: the end of the browser's tunnel, if it asked for one.
    pub(crate) fn new(shared: &Shared, target: Option<Target>) -> Self {
        let is_tunnel = target.is_some();
        let dialer = Dialer {
            network: Arc::clone(&shared.network),
            target,
            is_http1: false,
            may_ask_proxy: !is_tunnel,
        };
        let mut builder = Client::builder(shared.tasks.clone());
        builder
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http1_preserve_header_case(true)
            .http1_max_headers(HEADERS_MAX)
            .http2_max_header_list_size(HEADERS_SIZE_MAX)
            .http2_initial_stream_window_size(WINDOWS.0)
            .http2_initial_connection_window_size(WINDOWS.1);
        let http1 = Dialer { is_http1: true, may_ask_proxy: false, ..dialer.clone() };
        Self { any: builder.build(dialer), http1: builder.build(http1), is_tunnel }
    }
}

/// Passes a request on and records both.
pub(crate) async fn forward(
    shared: &Arc<Shared>,
    clients: &Clients,
    uri: Uri,
    request: Request<Incoming>,
) -> Answer {
    let is_socket =
        request.version() <= Version::HTTP_11 && headers::asks_for_socket(request.headers());
    let Some(url) = recorded_url(&uri, is_socket) else {
        return page::failed(
            StatusCode::BAD_REQUEST,
            "This address is not understood",
            &format!("\"{uri}\" is no URL that can be recorded."),
            "Is it spelt right?",
        );
    };
    let host = url.host_str().unwrap_or_default().to_owned();
    let take = Arc::new(shared.tape.begin(Recorded {
        method: request.method().as_str().to_owned(),
        url,
        version: Some(version(request.version()).to_owned()),
        headers: headers::recorded(request.headers()),
        body: Body::Empty,
    }));
    let answered = if is_socket {
        upgrade(shared, clients, uri, request, &take).await
    } else {
        plain(shared, clients, uri, request, &take).await
    };
    answered.unwrap_or_else(|error| failed(shared, &take, &host, &Failure::new(&host, &error)))
}

/// The page in place of a response. `about`: the notices on the same thing are one.
fn failed(shared: &Shared, take: &Take, about: &str, failure: &Failure) -> Answer {
    take.failed(&failure.why);
    if failure.is_notice {
        let topic = format!("{about} {}", failure.title);
        shared.notice(topic, format!("{}. {}", failure.why, failure.advice));
    }
    page::failed(failure.status, failure.title, &failure.why, &failure.advice)
}

async fn plain(
    shared: &Arc<Shared>,
    clients: &Clients,
    uri: Uri,
    request: Request<Incoming>,
    take: &Arc<Take>,
) -> Result<Answer, ClientError> {
    let (mut parts, body) = request.into_parts();
    parts.extensions.remove::<OnUpgrade>();
    parts.version = Version::HTTP_11;
    parts.headers = headers::to_server(parts.headers, false);
    if !clients.is_tunnel
        && uri.scheme_str() == Some("http")
        && let Some(credentials) = shared.network.proxy_credentials()
    {
        parts.headers.insert(http::header::PROXY_AUTHORIZATION, credentials.clone());
    }
    parts.uri = uri;
    let again = body.is_end_stream().then(|| parts.clone());
    let body = Tee::to_server(body, take).boxed_unsync();
    let answer = match clients.any.request(Request::from_parts(parts, body)).await {
        Ok(answer) => answer,
        Err(error) => match again {
            Some(again) if wants_http1(&error) => {
                clients.http1.request(Request::from_parts(again, page::whole(Bytes::new()))).await?
            }
            Some(again) if is_harmless(&again.method) && was_cut(&error) => {
                clients.any.request(Request::from_parts(again, page::whole(Bytes::new()))).await?
            }
            _ => return Err(error),
        },
    };
    if answer.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED
        && let Some(failure) = shared.network.refusal()
    {
        return Ok(failed(shared, take, "proxy", &failure));
    }
    Ok(back(answer, take))
}

/// The response as the browser gets it.
fn back(answer: Response<Incoming>, take: &Arc<Take>) -> Answer {
    let (mut parts, body) = answer.into_parts();
    parts.extensions.remove::<OnUpgrade>();
    let recorded = headers::recorded(&parts.headers);
    let is_events = recorded.media_type() == "text/event-stream"
        && recorded.get("content-encoding").is_none_or(|coding| coding == "identity");
    take.answered(parts.status.as_u16(), recorded);
    parts.headers = headers::to_client(parts.headers, false);
    parts.version = Version::HTTP_11;
    Response::from_parts(parts, Tee::to_client(body, take, is_events).boxed_unsync())
}

/// The handshake of a WebSocket, and then the socket. A server that refuses answers as to any other request.
async fn upgrade(
    shared: &Arc<Shared>,
    clients: &Clients,
    uri: Uri,
    mut request: Request<Incoming>,
    take: &Arc<Take>,
) -> Result<Answer, ClientError> {
    let client = hyper::upgrade::on(&mut request);
    let (mut parts, body) = request.into_parts();
    parts.headers = headers::to_server(parts.headers, true);
    parts.version = Version::HTTP_11;
    parts.uri = uri;
    let body = Tee::to_server(body, take).boxed_unsync();
    let mut answer = clients.http1.request(Request::from_parts(parts, body)).await?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(back(answer, take));
    }
    let server = hyper::upgrade::on(&mut answer);
    let (mut parts, _) = answer.into_parts();
    take.answered(parts.status.as_u16(), headers::recorded(&parts.headers));
    parts.headers = headers::to_client(parts.headers, true);
    parts.version = Version::HTTP_11;
    let take = Arc::clone(take);
    shared.tasks.spawn(async move {
        match tokio::try_join!(client, server) {
            Ok((client, server)) => {
                socket::pass(TokioIo::new(client), TokioIo::new(server), take).await;
            }
            Err(error) => take.failed(&failure::chain(&error)),
        }
    });
    Ok(Response::from_parts(parts, page::whole(Bytes::new())))
}

fn recorded_url(uri: &Uri, is_socket: bool) -> Option<Url> {
    let text = uri.to_string();
    let text = match (is_socket, text.split_once("://")) {
        (true, Some(("http", rest))) => format!("ws://{rest}"),
        (true, Some(("https", rest))) => format!("wss://{rest}"),
        _ => text,
    };
    Url::parse(&text).ok().filter(Url::has_host)
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "h2",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    }
}

/// Sending it twice changes nothing.
fn is_harmless(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// The connection ended before the response began. A server that closes an idle connection does that to the request that comes just then;
/// browsers send it again, and so do we.
fn was_cut(error: &ClientError) -> bool {
    let is_broken = |error: &std::io::Error| {
        use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
    };
    !error.is_connect()
        && (failure::find::<hyper::Error>(error)
            .is_some_and(|error| error.is_incomplete_message() || error.is_closed())
            || failure::find::<std::io::Error>(error).is_some_and(is_broken))
}

/// The server has not looked at the request: it wants HTTP/1.1 for it.
fn wants_http1(error: &ClientError) -> bool {
    failure::find::<h2::Error>(error)
        .is_some_and(|error| error.reason() == Some(h2::Reason::HTTP_1_1_REQUIRED))
}
