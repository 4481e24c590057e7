//! A request's head, as bytes.

use crate::request::{Body, Request};
use crate::target::Scheme;

/// The additions to a head for the way to the server.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Way<'a> {
    /// The request goes to a proxy, which wants the whole URL.
    pub(crate) is_proxied: bool,
    /// The value of `Proxy-Authorization`.
    pub(crate) proxy_authorization: Option<&'a str>,
    /// Say that the connection ends with this response.
    pub(crate) close: bool,
}

/// Writes the head of `request` to the end of `out`.
///
/// No CR or LF is in any part, so nothing can be smuggled in: `Target` and `Headers` refuse control
/// characters, and [`Request::check`] method and host.
pub(crate) fn encode(request: &Request<'_>, way: Way<'_>, out: &mut Vec<u8>) {
    let target = request.target;
    out.extend_from_slice(request.method.as_bytes());
    out.push(b' ');
    if way.is_proxied && target.scheme == Scheme::Http {
        out.extend_from_slice(b"http://");
        out.extend_from_slice(target.authority.as_bytes());
    }
    out.extend_from_slice(target.path.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(request.host.unwrap_or(&target.authority).as_bytes());
    out.extend_from_slice(b"\r\n");
    // The length comes after the agent, where Go puts it.
    let (agent, lines) = request.headers.agent_and_rest();
    out.extend_from_slice(agent);
    match request.body.len() {
        Some(0)
            if !matches!(request.method, "POST" | "PUT" | "PATCH")
                && !matches!(request.body, Body::Nothing) => {}
        Some(length) => {
            out.extend_from_slice(b"Content-Length: ");
            decimal(length, out);
            out.extend_from_slice(b"\r\n");
        }
        None => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    out.extend_from_slice(lines);
    if let Some(authorization) = way.proxy_authorization {
        out.extend_from_slice(b"Proxy-Authorization: ");
        out.extend_from_slice(authorization.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    if way.close && !request.headers.asks_to_close() {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::task::{Context, Poll};

    use super::*;
    use crate::headers::Headers;
    use crate::payload::{Payload, Shared, Source};
    use crate::target::Target;

    fn head(url: &str, way: Way<'_>, change: impl Fn(&mut Request<'_>)) -> String {
        let target = Target::parse(url).unwrap();
        let mut headers = Headers::new();
        headers.append("User-Agent", "x").unwrap();
        let mut request = Request::new("GET", &target, &headers);
        change(&mut request);
        let mut out = Vec::new();
        encode(&request, way, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_get_is_what_k6_sends() {
        assert_eq!(
            head("http://a.test:81/b?c", Way::default(), |_| ()),
            "GET /b?c HTTP/1.1\r\nHost: a.test:81\r\nUser-Agent: x\r\n\r\n"
        );
    }

    #[test]
    fn a_length_is_told_with_a_body_and_with_methods_that_have_one() {
        let bytes = head("http://a/", Way::default(), |request| {
            request.method = "PATCH";
            request.body = Body::Bytes(&[0; 1203]);
        });
        assert!(bytes.contains("\r\nContent-Length: 1203\r\n"));
        let empty = head("http://a/", Way::default(), |request| {
            request.method = "POST";
        });
        assert!(empty.contains("\r\nContent-Length: 0\r\n"));
        assert!(
            !head("http://a/", Way::default(), |request| request.method = "DELETE").contains("Le")
        );
        let nothing = head("http://a/", Way::default(), |request| {
            request.method = "DELETE";
            request.body = Body::Nothing;
        });
        assert!(nothing.contains("\r\nContent-Length: 0\r\n"));
    }

    #[test]
    fn a_body_of_unknown_size_is_announced_as_chunked() {
        struct Unknown;
        impl Source for Unknown {
            fn poll_chunk(&self, _: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>> {
                Poll::Ready(None)
            }
        }
        let source: Rc<dyn Source> = Rc::new(Unknown);
        let payload = Payload::from(source);
        let (target, headers) = (Target::parse("http://a/").unwrap(), Headers::new());
        let mut request = Request::new("DELETE", &target, &headers);
        request.body = Body::Payload(&payload);
        let mut bytes = Vec::new();
        encode(&request, Way::default(), &mut bytes);
        let bytes = String::from_utf8(bytes).unwrap();
        assert!(bytes.contains("\r\nTransfer-Encoding: chunked\r\n") && !bytes.contains("Length"));
    }

    #[test]
    fn a_proxy_gets_the_whole_url() {
        let way = Way { is_proxied: true, proxy_authorization: Some("Basic eA=="), close: true };
        assert_eq!(
            head("http://a.test/b", way, |request| request.host = Some("other.test")),
            "GET http://a.test/b HTTP/1.1\r\nHost: other.test\r\nUser-Agent: x\r\n\
             Proxy-Authorization: Basic eA==\r\nConnection: close\r\n\r\n"
        );
    }
}
