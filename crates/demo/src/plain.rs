//! The plain routes: each shows one thing of HTTP that a client must be able to deal with.

mod access;
mod coding;
mod cookies;
mod digest;
mod documents;
mod echo;
mod graphql;
mod limits;
mod memory;
pub(crate) mod multipart;
mod ntlm;
mod redirect;
mod streams;
pub(crate) mod upload;
mod websocket;
mod windows;

use hyper::{Method, StatusCode};

pub(crate) use self::memory::Plain;
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};
use crate::routes::Route;

/// `GET /` and `/ping` say `ok`; a `POST` there is answered by an empty 200.
pub(crate) fn health(method: &Method) -> Reply {
    match *method {
        Method::GET | Method::HEAD => reply::text("ok"),
        _ => reply::bare(StatusCode::OK),
    }
}

/// Answers a plain route; `rest` is the path after its first segment.
pub(crate) async fn answer(
    call: &mut Call<'_>,
    route: Route,
    rest: &str,
) -> Result<Reply, Refusal> {
    match route {
        Route::Root | Route::Ping => Ok(health(&call.parts.method)),
        Route::Status => status(rest),
        Route::Delay => delay(rest).await,
        Route::Redirect => redirect::countdown(call, rest),
        Route::RedirectTo => redirect::to(call),
        Route::Gzip => Ok(coding::gzip(call)),
        Route::Brotli => Ok(coding::brotli(call)),
        Route::Deflate => Ok(coding::deflate(call)),
        Route::Zstd => Ok(coding::zstd(call)),
        Route::Cookies => cookies::answer(call, rest),
        Route::Basic => access::basic(call, rest),
        Route::Bearer => access::bearer(call),
        Route::Digest => digest::answer(call, rest),
        Route::Ntlm => ntlm::answer(call, rest),
        Route::Flaky => limits::flaky(call),
        Route::RateLimit => limits::rate_limit(call),
        Route::Chunked => streams::chunked(call),
        Route::Events => streams::events(call),
        Route::Source => streams::source(call),
        Route::Stream => streams::lines(call),
        Route::Sink => streams::sink(call).await,
        Route::GraphQl => graphql::answer(call).await,
        Route::Upload if rest == "detect" => upload::detect(call).await,
        Route::Json => documents::json(call),
        Route::Html => Ok(documents::html()),
        Route::WebSocket => websocket::answer(call, rest),
        Route::Headers => Ok(echo::headers(call)),
        Route::Anything => echo::anything(call).await,
        _ => Err(reply::not_found()),
    }
}

fn status(rest: &str) -> Result<Reply, Refusal> {
    let code = rest.parse().ok().filter(|code| (200..=599).contains(code));
    let status = code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status
        .ok_or_else(|| reply::bad_request(format!("'{rest}' is not a status from 200 to 599")))?;
    if matches!(status.as_u16(), 204 | 205 | 304) {
        return Ok(reply::bare(status));
    }
    Ok(reply::with_status(reply::text(status.canonical_reason().unwrap_or("")), status))
}

async fn delay(rest: &str) -> Result<Reply, Refusal> {
    let delay = reply::duration(rest)
        .ok_or_else(|| reply::bad_request(format!("'{rest}' is not a delay: use milliseconds")))?;
    tokio::time::sleep(delay).await;
    Ok(reply::text("ok"))
}
