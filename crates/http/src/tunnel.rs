//! `CONNECT`: a way through a proxy (RFC 9110 §9.3.6).

use std::future::poll_fn;
use std::task::{Poll, ready};

use brunt_net::{Connection, Endpoint, Failure as Broken, Moments, Received};

use crate::exchange::{Answer, Fate};
use crate::failure::Failure;
use crate::http1::Parser;
use crate::network::Network;

/// Asks the proxy on `connection` for a tunnel to `target`.
pub(crate) async fn open(
    connection: &mut Connection,
    network: &Network,
    target: &Endpoint<'_>,
    authorization: Option<&str>,
    moments: &mut Moments<'_>,
) -> Result<(), Failure> {
    let host = if target.host.contains(':') {
        format!("[{}]:{}", target.host, target.port)
    } else {
        format!("{}:{}", target.host, target.port)
    };
    let mut head = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
    if let Some(authorization) = authorization {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(authorization.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(network.settings.proxy_headers.wire());
    head.extend_from_slice(b"\r\n");
    let mut at = 0;
    while at < head.len() {
        let size = poll_fn(|cx| connection.poll_write(cx, &head[at..])).await?;
        moments.sent(size);
        at += size;
    }
    // As after HEAD, no body follows, whatever the headers say.
    let mut parser = Parser::new(true, network.settings.head_limit);
    let mut answer = Answer::new(Fate::Discard, 0);
    let mut has_leftover = false;
    poll_fn(|cx| {
        let mut scratch = network.net.scratch.borrow_mut();
        loop {
            let mut fed = Ok(false);
            let received = ready!(connection.poll_receive(cx, &mut scratch, |mut bytes| {
                fed = answer.feed(&mut parser, &mut bytes, None, None);
                has_leftover |= !bytes.is_empty();
            }))?;
            match received {
                Received::End => return Poll::Ready(parser.end()),
                Received::Bytes(size) => moments.received(size),
            }
            if fed? {
                return Poll::Ready(Ok(()));
            }
        }
    })
    .await?;
    match answer.status() {
        200..=299 if !has_leftover => Ok(()),
        // A server that speaks before it is asked speaks no TLS.
        200..=299 => Err(Broken::NoTls.into()),
        status => Err(Broken::Proxy(status).into()),
    }
}
