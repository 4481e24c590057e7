//! `/redirect/{n}` and `/redirect-to?url=`.

use hyper::StatusCode;
use hyper::header::{HOST, HeaderValue, LOCATION};

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Redirects `n` times, each to `n - 1`, then says ok. `?status=` chooses 301, 302 (default), 303,
/// 307 or 308; `?absolute=1` sends whole URLs.
pub(super) fn countdown(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let left: u32 = rest
        .parse()
        .map_err(|_| reply::bad_request(format!("'{rest}' is not a number of redirects")))?;
    if left == 0 {
        return Ok(reply::text("ok"));
    }
    let query = call.parts.uri.query().map_or(String::new(), |query| format!("?{query}"));
    let mut location = format!("/redirect/{}{query}", left - 1);
    if call.query().parsed("absolute", 0u8)? == 1 {
        let scheme = if call.app.config.tls { "https" } else { "http" };
        location = format!("{scheme}://{}{location}", call.header(HOST).unwrap_or("localhost"));
    }
    redirect(call, &location)
}

/// Redirects once, to whatever is asked for.
pub(super) fn to(call: &Call<'_>) -> Result<Reply, Refusal> {
    let url =
        call.query().get("url").ok_or_else(|| reply::bad_request("parameter 'url' is missing"))?;
    redirect(call, &url)
}

fn redirect(call: &Call<'_>, location: &str) -> Result<Reply, Refusal> {
    let status = call.query().parsed("status", 302u16)?;
    let status = StatusCode::from_u16(status).ok().filter(StatusCode::is_redirection);
    let status =
        status.ok_or_else(|| reply::bad_request("parameter 'status' is not a redirect"))?;
    let location = HeaderValue::try_from(location)
        .map_err(|_| reply::bad_request("this URL cannot stand in a header"))?;
    let mut answer = reply::bare(status);
    answer.headers_mut().insert(LOCATION, location);
    Ok(answer)
}
