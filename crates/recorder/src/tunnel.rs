//! `CONNECT`: what a browser does inside is TLS, which is opened here, plain HTTP, or something that is passed on unread.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::uri::{Authority, Scheme};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::{AlertDescription, Error as TlsError};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio_rustls::LazyConfigAcceptor;

use crate::dialer::{Stream, Target};
use crate::forward::Answer;
use crate::gate::Gate;
use crate::prefixed::Prefixed;
use crate::shared::Shared;
use crate::{failure, page};

/// A client that says nothing by then waits for the server to speak.
const SILENCE: Duration = Duration::from_secs(5);

/// A client that has not finished TLS by then never will.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// Bytes that tell what a client speaks.
const GLIMPSE: usize = 4096;

/// Answers `CONNECT` and goes on inside.
pub(crate) async fn open(shared: &Arc<Shared>, mut request: Request<Incoming>) -> Answer {
    let Some(authority) = request.uri().authority().cloned() else {
        return page::failed(
            StatusCode::BAD_REQUEST,
            "CONNECT to where?",
            "A CONNECT request names a host and a port.",
            "CONNECT shop.test:443",
        );
    };
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    let port = authority.port_u16().unwrap_or(443);
    if shared.is_own(&host, port) {
        return page::not_a_server(&shared.own.to_string(), "CONNECT");
    }
    let passed = if shared.passes(&host) {
        match shared.network.plain(&host, port).await {
            Ok(server) => Some(server),
            Err(error) => {
                return page::failed(
                    StatusCode::BAD_GATEWAY,
                    "The server cannot be reached",
                    &error.to_string(),
                    "Is the server up, and is the address right?",
                );
            }
        }
    } else {
        None
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let shared = Arc::clone(shared);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let Ok(client) = upgrade.await else { return };
        let client = TokioIo::new(client);
        match passed {
            Some(server) => pass(&shared, client, server).await,
            None => inside(&shared, client, authority, Target { host, port, name: None }).await,
        }
    });
    Response::new(page::whole(Bytes::new()))
}

/// Passes everything on, unread.
async fn pass(
    shared: &Shared,
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut server: Stream,
) {
    shared.tape.passed();
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
}

async fn inside<T>(shared: &Arc<Shared>, mut client: T, authority: Authority, target: Target)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut first = BytesMut::with_capacity(GLIMPSE);
    let read = tokio::time::timeout(SILENCE, client.read_buf(&mut first)).await;
    if matches!(read, Ok(Ok(0) | Err(_))) {
        return;
    }
    let first = first.freeze();
    let speaks = speaks(&first);
    let client = Prefixed::new(first, client);
    match speaks {
        Speaks::Tls => tls(shared, client, authority, target).await,
        Speaks::Http => {
            Gate::inside(shared, Scheme::HTTP, authority, target).serve(client).await;
        }
        Speaks::Other => {
            shared.notice(
                format!("{authority} unread"),
                format!(
                    "{authority} speaks neither TLS nor HTTP: it is passed on, and not recorded"
                ),
            );
            if let Ok(server) = shared.network.plain(&target.host, target.port).await {
                pass(shared, client, server).await;
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Speaks {
    Tls,
    Http,
    Other,
}

/// From the first bytes of a client.
fn speaks(first: &[u8]) -> Speaks {
    // A TLS record that holds a handshake.
    if first.first() == Some(&0x16) {
        return Speaks::Tls;
    }
    let method = first.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let is_method = method > 0 && first.get(method).is_none_or(|&byte| byte == b' ');
    if is_method { Speaks::Http } else { Speaks::Other }
}

async fn tls<T>(shared: &Arc<Shared>, client: T, authority: Authority, mut target: Target)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let host = target.host.clone();
    let shake = async {
        let start =
            LazyConfigAcceptor::new(rustls::server::Acceptor::default(), client).await.ok()?;
        let name = start.client_hello().server_name().map(str::to_ascii_lowercase);
        let mut names: Vec<String> = name.iter().cloned().collect();
        if !names.contains(&host) {
            names.push(host.clone());
        }
        target.name = name;
        let config = match shared.authority.server(&names) {
            Ok(config) => config,
            Err(error) => {
                shared.notice(format!("{host} certificate"), error.to_string());
                return None;
            }
        };
        match start.into_stream(config).await {
            Ok(stream) => Some(stream),
            Err(error) => {
                if let Some(why) = refusal(&error) {
                    shared.notice(format!("{host} refused"), refused(&host, &why));
                }
                None
            }
        }
    };
    if let Ok(Some(stream)) = tokio::time::timeout(HANDSHAKE, shake).await {
        Gate::inside(shared, Scheme::HTTPS, authority, target).serve(stream).await;
    }
}

/// For the terminal.
fn refused(host: &str, why: &str) -> String {
    format!(
        "{host}: the client does not trust the recorder's certificate ({why}); see `brunt record ca`. If the client trusts one certificate \
         alone (pinning), record without it: --pass {host}"
    )
}

/// Why a client gave up in the middle of TLS, if it was for our certificate.
fn refusal(error: &std::io::Error) -> Option<String> {
    match failure::find::<TlsError>(error) {
        Some(TlsError::AlertReceived(
            alert @ (AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError),
        )) => Some(format!("it said {alert:?}")),
        Some(_) => None,
        // Some clients hang up without a word.
        None => Some("it hung up".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_what_a_client_speaks() {
        for (first, expected) in [
            (&b"\x16\x03\x01\x02\x00"[..], Speaks::Tls),
            (b"GET /chat HTTP/1.1\r\n", Speaks::Http),
            (b"PRI * HTTP/2.0\r\n", Speaks::Http),
            (b"GE", Speaks::Http),
            (b"SSH-2.0-x\r\n", Speaks::Other),
            (b"\x00\x01", Speaks::Other),
            (b"", Speaks::Other),
        ] {
            assert_eq!(speaks(first), expected, "{first:?}");
        }
    }
}
