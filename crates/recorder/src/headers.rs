//! Headers: those of one connection are not the next one's.

use brunt_traffic::Headers;
use http::header::{
    ALT_SVC, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");
const EXTENSIONS: HeaderName = HeaderName::from_static("sec-websocket-extensions");
const DICTIONARY: HeaderName = HeaderName::from_static("available-dictionary");

/// All but the headers that mean this connection alone (RFC 9110, 7.6.1), and but these others.
fn without_hops(headers: HeaderMap, others: &[HeaderName]) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let hops = [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_CONNECTION,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TRANSFER_ENCODING,
        UPGRADE,
        HTTP2_SETTINGS,
    ];
    let is_hop = |name: &HeaderName| {
        // Not even a client that says so may cut the message's frame.
        hops.contains(name)
            || others.contains(name)
            || named.contains(name) && *name != CONTENT_LENGTH
    };
    // Taking headers out of a map would change the order of the others.
    let mut kept = HeaderMap::with_capacity(headers.len());
    let mut last = None;
    for (name, value) in headers {
        last = name.or(last);
        if let Some(name) = last.as_ref().filter(|name| !is_hop(name)) {
            kept.append(name, value);
        }
    }
    kept
}

/// A request's headers as the server gets them. `Host` is set anew, from the URL.
pub(crate) fn to_server(headers: HeaderMap, is_socket: bool) -> HeaderMap {
    let has_trailers = headers.get_all(TE).iter().any(|value| {
        let value = value.to_str().unwrap_or_default();
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case("trailers"))
    });
    let mut others = vec![
        TE, HOST, // hyper has told the client to go on already.
        EXPECT,
        // A dictionary of the browser's would make a body that nothing else can read.
        DICTIONARY,
    ];
    if is_socket {
        others.push(EXTENSIONS);
    }
    let mut headers = without_hops(headers, &others);
    if has_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if is_socket {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    headers
}

/// A response's headers as the client gets them. Without `Alt-Svc`, by which a browser would leave the proxy for HTTP/3.
pub(crate) fn to_client(headers: HeaderMap, is_socket: bool) -> HeaderMap {
    let mut headers = without_hops(headers, &[ALT_SVC]);
    if is_socket {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    headers
}

/// HTTP/2 may send a cookie in parts; HTTP/1.1 must not (RFC 9113, 8.2.3).
pub(crate) fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(COOKIE).iter().count() > 1 {
        let parts: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(whole) = HeaderValue::from_bytes(&parts.join(&b"; "[..])) {
            headers.insert(COOKIE, whole);
        }
    }
}

/// As they are recorded: without those between browser and proxy.
pub(crate) fn recorded(headers: &HeaderMap) -> Headers {
    let all = headers
        .iter()
        .filter(|(name, _)| **name != PROXY_AUTHORIZATION && **name != PROXY_CONNECTION);
    Headers(all.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect())
}

/// UTF-8, or else each byte a character.
fn text(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Whether a request asks for a WebSocket.
pub(crate) fn asks_for_socket(headers: &HeaderMap) -> bool {
    let has = |name, word: &str| {
        headers.get_all(name).iter().any(|value| {
            let value = value.to_str().unwrap_or_default();
            value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
        })
    };
    has(CONNECTION, "upgrade") && has(UPGRADE, "websocket")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs
            .iter()
            .map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        headers.keys().map(HeaderName::as_str).collect()
    }

    #[test]
    fn headers_of_one_connection_end_there() {
        let request = map(&[
            ("host", "a.test"),
            ("connection", "keep-alive, X-Mine, content-length"),
            ("x-mine", "1"),
            ("content-length", "3"),
            ("proxy-authorization", "Basic x"),
            ("te", "gzip, trailers"),
            ("upgrade", "h2c"),
            ("accept", "*/*"),
        ]);
        let sent = to_server(request.clone(), false);
        assert_eq!(names(&sent), ["content-length", "accept", "te"]);
        assert_eq!(sent[TE], "trailers");
        assert!(recorded(&request).get("proxy-authorization").is_none());
        let response = map(&[("alt-svc", "h3=\":443\""), ("keep-alive", "timeout=5"), ("a", "b")]);
        assert_eq!(names(&to_client(response, false)), ["a"]);
    }

    #[test]
    fn a_socket_is_asked_for_without_extensions() {
        let request = map(&[
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-extensions", "permessage-deflate"),
            ("sec-websocket-key", "x"),
        ]);
        assert!(asks_for_socket(&request));
        let sent = to_server(request, true);
        assert!(sent.get(EXTENSIONS).is_none() && sent[UPGRADE] == "websocket");
        assert!(!asks_for_socket(&map(&[("connection", "upgrade"), ("upgrade", "h2c")])));
    }

    #[test]
    fn parts_of_a_cookie_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1"));
        headers.append(COOKIE, HeaderValue::from_static("b=2"));
        join_cookies(&mut headers);
        assert_eq!(recorded(&headers).0, [("cookie".to_owned(), "a=1; b=2".to_owned())]);
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_as_characters() {
        let mut headers = HeaderMap::new();
        headers.insert("x", HeaderValue::from_bytes(b"\xe9").unwrap());
        headers.insert("y", HeaderValue::from_bytes("é".as_bytes()).unwrap());
        assert_eq!(
            (recorded(&headers).get("x"), recorded(&headers).get("y")),
            (Some("é"), Some("é"))
        );
    }
}
