//! One request and its response on a stream of its own.

use std::future::poll_fn;

use bytes::Bytes;
use h2::{RecvStream, SendStream};
use http::{HeaderName, HeaderValue, Uri, Version, header};

use super::Line;
use crate::excerpt::Excerpt;
use crate::exchange::Recording;
use crate::failure::{Failure, from_http2};
use crate::payload::Piece;
use crate::request::{Body, Request};

/// Sends `request` and receives what comes back.
///
/// # Errors
/// Why there is no whole response. [`Recording::has_answer`] and [`Recording::bytes_sent`] tell how far it came.
pub(crate) async fn exchange(
    line: Line,
    request: &Request<'_>,
    recording: &mut Recording<'_>,
) -> Result<(), Failure> {
    let head = head(request)?;
    let mut sender = line.sender.ready().await.map_err(|error| from_http2(&error))?;
    let is_bodiless = request.body.is_empty();
    let sent = sender.send_request(head, is_bodiless);
    let (response, mut stream) = sent.map_err(|error| from_http2(&error))?;
    recording.sent(0);
    if !is_bodiless {
        send(request.body, &mut stream, recording).await?;
    }
    recording.written();
    let response = response.await.map_err(|error| from_http2(&error))?;
    recording.answered();
    let (head, body) = response.into_parts();
    let mut lines = Vec::new();
    for (name, value) in &head.headers {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.extend_from_slice(b": ");
        lines.extend_from_slice(value.as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
    let reason = head.status.canonical_reason().unwrap_or_default();
    let has = |name| head.headers.contains_key(name);
    let marks = (has(header::SET_COOKIE), has(header::CONTENT_ENCODING));
    recording.answer.accept_http2(head.status.as_u16(), reason, &lines, marks);
    receive(body, request, recording).await
}

/// The head, without what only connections of HTTP/1.1 know.
fn head(request: &Request<'_>) -> Result<http::Request<()>, Failure> {
    let target = request.target;
    let bad_value = |name: &str| Failure::HeaderValue(Excerpt::new(name.as_bytes()));
    let uri = Uri::builder()
        .scheme(target.scheme.as_str())
        .authority(request.host.unwrap_or(&target.authority))
        .path_and_query(&*target.path)
        .build()
        .map_err(|_| bad_value("Host"))?;
    let mut head = http::Request::new(());
    *head.version_mut() = Version::HTTP_2;
    *head.uri_mut() = uri;
    let bad_method = |_| Failure::Method(Excerpt::new(request.method.as_bytes()));
    *head.method_mut() = request.method.parse().map_err(bad_method)?;
    let headers = head.headers_mut();
    for (name, value) in request.headers {
        let is_of_connection =
            ["Connection", "Proxy-Connection", "Keep-Alive", "Upgrade", "Transfer-Encoding"]
                .iter()
                .any(|ours| name.eq_ignore_ascii_case(ours));
        if is_of_connection || (name.eq_ignore_ascii_case("te") && value != "trailers") {
            continue;
        }
        let bad_name = |_| Failure::HeaderName(Excerpt::new(name.as_bytes()));
        let key = HeaderName::try_from(name).map_err(bad_name)?;
        headers.append(key, HeaderValue::try_from(value).map_err(|_| bad_value(name))?);
    }
    let length = request.body.len();
    let has_length = length.is_some_and(|length| {
        length > 0
            || matches!(request.method, "POST" | "PUT" | "PATCH")
            || matches!(request.body, Body::Nothing)
    });
    if let (true, Some(length)) = (has_length, length) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Ok(head)
}

async fn send(
    body: Body<'_>,
    stream: &mut SendStream<Bytes>,
    recording: &mut Recording<'_>,
) -> Result<(), Failure> {
    match body {
        Body::Empty | Body::Nothing => {}
        Body::Bytes(bytes) => {
            return put(Bytes::copy_from_slice(bytes), true, stream, recording).await;
        }
        Body::Payload(payload) => {
            for piece in payload.pieces() {
                match piece {
                    Piece::Static(bytes) => {
                        put(Bytes::from_static(bytes), false, stream, recording).await?;
                    }
                    Piece::Bytes(shared) => {
                        let bytes = Bytes::copy_from_slice(shared.as_slice());
                        put(bytes, false, stream, recording).await?;
                    }
                    Piece::Stream(source) => {
                        while let Some(chunk) = poll_fn(|cx| source.poll_chunk(cx)).await {
                            let chunk = chunk.map_err(|text| {
                                Failure::BodySource(Excerpt::new(text.as_bytes()))
                            })?;
                            let bytes = Bytes::copy_from_slice(chunk.as_slice());
                            put(bytes, false, stream, recording).await?;
                        }
                    }
                    Piece::File(_) => {
                        let why = b"files can't be sent over HTTP/2 yet";
                        return Err(Failure::BodySource(Excerpt::new(why)));
                    }
                }
            }
        }
    }
    stream.send_data(Bytes::new(), true).map_err(|error| from_http2(&error))
}

/// Sends as the server makes room.
async fn put(
    mut bytes: Bytes,
    is_last: bool,
    stream: &mut SendStream<Bytes>,
    recording: &mut Recording<'_>,
) -> Result<(), Failure> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(Ok(room)) => room.min(bytes.len()),
            Some(Err(error)) => return Err(from_http2(&error)),
            // The server wants no more of it, and may have answered.
            None => return Ok(()),
        };
        let part = bytes.split_to(room);
        recording.sent(part.len());
        let ends = is_last && bytes.is_empty();
        stream.send_data(part, ends).map_err(|error| from_http2(&error))?;
    }
    Ok(())
}

async fn receive(
    mut body: RecvStream,
    request: &Request<'_>,
    recording: &mut Recording<'_>,
) -> Result<(), Failure> {
    while let Some(data) = body.data().await {
        let data = data.map_err(|error| from_http2(&error))?;
        recording.received(data.len());
        // A flow that is over takes no more leave.
        let _ = body.flow_control().release_capacity(data.len());
        recording.answer.take(&data, request.spool)?;
    }
    Ok(())
}
