//! The servers of a site: HTTP/1.1 with WebSockets, all on one thread.

use std::convert::Infallible;
use std::net::TcpListener;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use brunt_websocket::frame::{self, Opcode};
use brunt_websocket::{Decoder, Event, Kind};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use sha1::{Digest as _, Sha1};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

use crate::app::{Said, Shared, lock};
use crate::call::{Call, Reply};

const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Bytes of the longest message.
const MESSAGE_MAX: usize = 1 << 20;

/// Serves until `halted` says so.
pub(crate) fn run(listeners: Vec<TcpListener>, app: &Shared, mut halted: watch::Receiver<bool>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.expect("a runtime of one thread starts");
    runtime.block_on(async {
        for (origin, listener) in listeners.into_iter().enumerate() {
            listener.set_nonblocking(true).expect("a listener can be asked without waiting");
            let listener = tokio::net::TcpListener::from_std(listener).expect("a bound listener");
            tokio::spawn(accept(listener, origin, app.clone()));
        }
        // An error means that the site is gone, which is the end as well.
        let _ = halted.wait_for(|halted| *halted).await;
    });
}

async fn accept(listener: tokio::net::TcpListener, origin: usize, app: Shared) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let app = app.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(request, origin, app.clone()));
            let http = hyper::server::conn::http1::Builder::new();
            // A client that hangs up is no fault of the server.
            let _ = http.serve_connection(TokioIo::new(stream), answer).with_upgrades().await;
        });
    }
}

async fn answer(
    mut request: Request<Incoming>,
    origin: usize,
    app: Shared,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    let header = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let call = Call {
        origin,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers.iter().map(header).collect(),
        body,
    };
    let reply = lock(&app).call(&call);
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    if let Some(name) = &reply.socket {
        let key = call.header("sec-websocket-key");
        let accept = BASE64_STANDARD.encode(Sha1::digest(format!("{key}{GUID}")));
        response = response
            .header("Upgrade", "websocket")
            .header("Connection", "Upgrade")
            .header("Sec-WebSocket-Accept", accept);
        let name = name.clone();
        tokio::spawn(async move {
            if let Ok(stream) = upgrade.await {
                // However it ends: the client has hung up by then.
                let _ = talk(TokioIo::new(stream), &name, &app).await;
            }
        });
    }
    let Reply { body, .. } = reply;
    Ok(response.body(Full::new(body.into())).expect("applications give whole headers"))
}

/// Talks over a WebSocket until one of both ends it.
async fn talk(mut stream: TokioIo<Upgraded>, name: &str, app: &Shared) -> std::io::Result<()> {
    let mut decoder = Decoder::new(true, false, MESSAGE_MAX);
    let mut read = vec![0; 16 * 1024];
    let first = lock(app).opened(name);
    if say(&mut stream, &first).await? {
        return Ok(());
    }
    loop {
        let count = stream.read(&mut read).await?;
        let mut input = &read[..count];
        while let Ok(Some(event)) = decoder.next(&mut input) {
            match event {
                Event::Message(Kind::Text, data) => {
                    let text = String::from_utf8_lossy(&data).into_owned();
                    let said = lock(app).said(name, &text);
                    if say(&mut stream, &said).await? {
                        return Ok(());
                    }
                }
                Event::Close(_) => {
                    say(&mut stream, &[Said::Close(1000)]).await?;
                    return Ok(());
                }
                _ => {}
            }
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Whether that was the end.
async fn say(stream: &mut TokioIo<Upgraded>, said: &[Said]) -> std::io::Result<bool> {
    for part in said {
        let mut bytes = Vec::new();
        match part {
            Said::Text(text) => {
                frame::encode(&mut bytes, Opcode::Text, text.as_bytes(), None, false);
            }
            Said::Close(code) => {
                frame::encode(&mut bytes, Opcode::Close, &code.to_be_bytes(), None, false);
            }
        }
        stream.write_all(&bytes).await?;
        if matches!(part, Said::Close(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}
