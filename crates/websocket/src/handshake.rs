//! The opening handshake (RFC 6455 §4).

use std::rc::Rc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use brunt_http::{Client, Exchange, Failure, Headers, Request, Response, Target};
use sha1::{Digest as _, Sha1};

use crate::socket::Socket;

/// Joined to the key by whoever has read the standard.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The offer, word for word k6's.
const OFFER: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// Headers that are the handshake's own.
const OURS: [&str; 5] = [
    "Upgrade",
    "Connection",
    "Sec-Websocket-Key",
    "Sec-Websocket-Version",
    "Sec-Websocket-Extensions",
];

/// A connection that is asked for.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The address, as http or https.
    pub target: &'a Target<'a>,
    /// The value of `User-Agent`; empty: none.
    pub agent: &'a str,
    /// Header lines, canonical names. `Sec-Websocket-Protocol` offers subprotocols.
    pub headers: &'a [(String, String)],
    /// Instead of the target's `Host`.
    pub host: Option<&'a str>,
    /// Offer permessage-deflate.
    pub compression: bool,
    /// When to give up, in nanoseconds of the network's clock.
    pub deadline: u64,
    /// The longest message that is taken, in bytes.
    pub message_max: usize,
}

/// The result of a handshake.
#[derive(Debug)]
pub struct Connected {
    /// The exchange of the handshake, with its moments and its head.
    pub exchange: Exchange,
    /// The open connection.
    pub outcome: Result<Handshake, HandshakeError>,
}

/// An open connection and what was agreed on.
#[derive(Debug)]
pub struct Handshake {
    /// The connection.
    pub socket: Socket,
    /// The subprotocol that the server chose; empty: none.
    pub protocol: String,
    /// Whether permessage-deflate is on.
    pub is_compressed: bool,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// No answer came.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The answer doesn't agree.
    #[error("websocket: bad handshake")]
    Refused,
    /// It agrees to a compression that was not offered.
    #[error("websocket: invalid compression negotiation")]
    Compression,
    /// A header that is the handshake's own was given.
    #[error("websocket: duplicate header not allowed: {0}")]
    OwnHeader(String),
}

/// Opens a connection.
pub async fn connect(client: &Rc<Client>, asked: &Asked<'_>) -> Connected {
    let dialer = client.dialer();
    let key = u128::from(dialer.draw()) << 64 | u128::from(dialer.draw());
    let key = BASE64_STANDARD.encode(key.to_be_bytes());
    let masks = dialer.draw();
    let headers = match headers(asked, &key) {
        Ok(headers) => headers,
        Err(error) => {
            let failure = match &error {
                HandshakeError::Failed(failure) => *failure,
                _ => Failure::Aborted,
            };
            let exchange = Exchange::unsent(failure, client.network().now());
            return Connected { exchange, outcome: Err(error) };
        }
    };
    let mut request = Request::new("GET", asked.target, &headers);
    request.host = asked.host;
    request.deadline = Some(asked.deadline);
    let (exchange, upgraded) = client.upgrade(&request).await;
    if let Some(failure) = exchange.failure {
        return Connected { exchange, outcome: Err(failure.into()) };
    }
    let agreed =
        exchange.head().map_or(Err(HandshakeError::Refused), |head| agreed(&head, &key, asked));
    let outcome = match (agreed, upgraded) {
        (Ok((protocol, is_compressed)), Some(stream)) => {
            let socket = Socket::new(stream, is_compressed, asked.message_max, masks);
            Ok(Handshake { socket, protocol, is_compressed })
        }
        (Err(error), _) => Err(error),
        (Ok(_), None) => Err(HandshakeError::Refused),
    };
    Connected { exchange, outcome }
}

/// In Go's order: the agent, then by name.
fn headers(asked: &Asked<'_>, key: &str) -> Result<Headers, HandshakeError> {
    let mut lines = vec![
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", key),
        ("Sec-WebSocket-Version", "13"),
        ("Upgrade", "websocket"),
    ];
    if asked.compression {
        lines.push(("Sec-WebSocket-Extensions", OFFER));
    }
    for (name, value) in asked.headers {
        if OURS.contains(&name.as_str()) {
            return Err(HandshakeError::OwnHeader(name.clone()));
        }
        let name = match name.as_str() {
            "Sec-Websocket-Protocol" => "Sec-WebSocket-Protocol",
            name => name,
        };
        lines.push((name, value));
    }
    lines.sort_by_key(|(name, _)| *name);
    let mut headers = Headers::new();
    if !asked.agent.is_empty() {
        headers.append("User-Agent", asked.agent)?;
    }
    for (name, value) in lines {
        headers.append(name, value)?;
    }
    Ok(headers)
}

/// The server's answer to a key.
pub(crate) fn accept_of(key: &str) -> String {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    BASE64_STANDARD.encode(digest)
}

/// The subprotocol, and whether there is compression.
fn agreed(
    head: &Response<'_>,
    key: &str,
    asked: &Asked<'_>,
) -> Result<(String, bool), HandshakeError> {
    let has_token = |name: &str, token: &str| {
        head.headers().filter(|(other, _)| other.eq_ignore_ascii_case(name)).any(|(_, value)| {
            String::from_utf8_lossy(value)
                .split(',')
                .any(|part| part.trim().eq_ignore_ascii_case(token))
        })
    };
    let accept = accept_of(key);
    if head.status() != 101
        || !has_token("Upgrade", "websocket")
        || !has_token("Connection", "upgrade")
        || head.header("Sec-WebSocket-Accept") != Some(accept.as_bytes())
    {
        return Err(HandshakeError::Refused);
    }
    let text = |name: &str| {
        head.header(name)
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .unwrap_or_default()
    };
    let extensions = text("Sec-WebSocket-Extensions");
    let mut is_compressed = false;
    for extension in extensions.split(',') {
        let mut parts = extension.split(';').map(str::trim);
        if parts.next() != Some("permessage-deflate") {
            continue;
        }
        let parts: Vec<&str> = parts.collect();
        let both = ["server_no_context_takeover", "client_no_context_takeover"];
        if !asked.compression || !both.iter().all(|part| parts.contains(part)) {
            return Err(HandshakeError::Compression);
        }
        is_compressed = true;
        break;
    }
    Ok((text("Sec-WebSocket-Protocol"), is_compressed))
}
