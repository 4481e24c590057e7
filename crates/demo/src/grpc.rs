//! The gRPC port: a service of each kind, health, reflection, and an echo that behaves badly when it is told to.
//!
//! ```text
//! listener ─► TLS? ─► h2 connection ─► stream ─► services ─┬─ guide       hello, places and routes
//!                                        │                 ├─ echo        bytes as they came, faults on demand
//!                                   call: messages         ├─ health
//!                                   in and out, status     └─ reflection  v1 and v1alpha
//! ```

mod call;
mod echo;
mod guide;
mod health;
mod reflection;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, server};
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use self::call::{Call, Status};
use crate::server::Halt;

/// Connections at once; more wait unaccepted.
const CONNECTIONS_MAX: usize = 20_000;
/// Calls at once on one connection.
const STREAMS_MAX: u32 = 1000;
/// A handshake that takes longer is given up.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// The bytes that a client may send before they are read.
const WINDOW: u32 = 1 << 20;

/// Answers until the server ends.
pub(crate) async fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, mut halt: Halt) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let next = async {
            let permit = permits.clone().acquire_owned().await.ok()?;
            let (stream, _) = listener.accept().await.ok()?;
            Some((stream, permit))
        };
        let arrival = tokio::select! {
            () = halt.wait() => return,
            arrival = next => arrival,
        };
        let Some((stream, permit)) = arrival else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A failure here means that the client has gone already; reading will tell.
            let _ = stream.set_nodelay(true);
            match acceptor {
                None => connection(stream).await,
                Some(acceptor) => {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
                        connection(stream).await;
                    }
                }
            }
            drop(permit);
        });
    }
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let shaken = server::Builder::new()
        .max_concurrent_streams(STREAMS_MAX)
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .handshake(stream);
    let Ok(Ok(mut connection)) = timeout(HANDSHAKE_MAX, shaken).await else { return };
    // An echo may ask for the end of its connection.
    let (goodbye, mut goodbyes) = tokio::sync::mpsc::channel::<h2::Reason>(1);
    loop {
        let next = tokio::select! {
            reason = goodbyes.recv() => {
                if let Some(reason) = reason {
                    connection.abrupt_shutdown(reason);
                }
                continue;
            }
            next = connection.accept() => next,
        };
        let Some(Ok((request, respond))) = next else { return };
        tokio::spawn(stream_of(request, respond, goodbye.clone()));
    }
}

async fn stream_of(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    goodbye: tokio::sync::mpsc::Sender<h2::Reason>,
) {
    let (head, body) = request.into_parts();
    let content_type =
        head.headers.get(http::header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    if !content_type.is_some_and(|text| text.starts_with(b"application/grpc")) {
        let refusal = http::Response::builder().status(http::StatusCode::UNSUPPORTED_MEDIA_TYPE);
        if let Ok(refusal) = refusal.body(()) {
            // A client that does not listen is not told.
            let _ = respond.send_response(refusal, true);
        }
        return;
    }
    let mut call = Call::new(head.headers, body, respond);
    let path = head.uri.path();
    let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
    let ended = match service {
        "hello.HelloService" | "main.FeatureExplorer" | "main.RouteGuide" => {
            guide::answer(&mut call, service, method).await
        }
        "brunt.demo.Echo" => echo::answer(&mut call, method, &goodbye).await,
        "grpc.health.v1.Health" => health::answer(&mut call, method).await,
        "grpc.reflection.v1.ServerReflection" | "grpc.reflection.v1alpha.ServerReflection" => {
            reflection::answer(&mut call, service).await
        }
        _ => Err(Status::new(12, format!("unknown service {service}"))),
    };
    call.end(ended);
}
