//! One request and what came of it, with its moments.

mod answer;
mod recording;
mod response;

use std::net::SocketAddr;

pub(crate) use answer::{Answer, Fate};
pub(crate) use recording::Recording;
pub use response::{HeaderLines, Response};

use brunt_net::{Failure as Broken, TlsInfo};

use crate::failure::Failure;

/// One request on the wire and its response, or why there is none.
///
/// ```text
/// started_at                                                            finished_at
///   │ blocked                                │ sending │ waiting │ receiving  │
///   └─┬ lookup ┬ connecting ┬ tls_handshaking┴─────────┴─────────┴────────────┘
///     (only on a fresh connection)
/// ```
#[derive(Debug)]
pub struct Exchange {
    /// When it was asked for: nanoseconds of the network's clock.
    pub started_at: u64,
    /// When the body was read, or the failure happened.
    pub finished_at: u64,
    /// How long its parts took.
    pub timings: Timings,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// Whom we talked to, once connected (a proxy, if there is one).
    pub remote: Option<SocketAddr>,
    /// Whom we dialed, if a connection was opened for this exchange, or was to be.
    pub dialed: Option<SocketAddr>,
    /// The result of the TLS handshake.
    pub tls: Option<TlsInfo>,
    /// The connection had been used before.
    pub reused: bool,
    /// Bytes written to the socket, TLS and its handshake included.
    pub bytes_sent: u64,
    /// Bytes read from the socket, TLS and its handshake included.
    pub bytes_received: u64,
    answer: Answer,
}

/// The parts of an exchange, in nanoseconds, with k6's meanings. A part that wasn't reached is 0.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until there was a connection: lookup, connecting, proxy and TLS included. 0 if there never
    /// was one, as in k6.
    pub blocked: u64,
    /// From asking for a connection until its address was known: a place among the connections, and the name's lookup. 0 on a
    /// reused connection.
    pub looking_up: u64,
    /// Opening the TCP connection; 0 on a reused one.
    pub connecting: u64,
    /// The TLS handshake; 0 on a reused connection.
    pub tls_handshaking: u64,
    /// From having the connection until the request was written.
    pub sending: u64,
    /// Until the first byte of the response (or the failure).
    pub waiting: u64,
    /// Until the last byte of the response (or the failure).
    pub receiving: u64,
}

impl Timings {
    /// Sending, waiting and receiving: what k6 calls the duration.
    pub fn duration(&self) -> u64 {
        self.sending + self.waiting + self.receiving
    }
}

impl Exchange {
    /// An exchange that failed at `now` before anything was sent: a measurement all the same.
    pub fn unsent(failure: Failure, now: u64) -> Self {
        Self {
            started_at: now,
            finished_at: now,
            timings: Timings::default(),
            failure: Some(failure),
            remote: None,
            dialed: None,
            tls: None,
            reused: false,
            bytes_sent: 0,
            bytes_received: 0,
            answer: Answer::default(),
        }
    }

    /// The response.
    ///
    /// # Errors
    /// The failure, if there is no whole response.
    pub fn response(&self) -> Result<Response<'_>, Failure> {
        match (self.failure, self.answer.response()) {
            (None, Some(response)) => Ok(response),
            (failure, _) => Err(failure.expect("without a failure there is a response")),
        }
    }

    /// Why there is no response, in the words of Go's client, which say more than [`Failure`] does: whom it dialed, which
    /// `host` it looked up. `None`: there is one.
    pub fn reason(&self, host: &str) -> Option<String> {
        Some(match self.failure? {
            Failure::Net(Broken::NoTls) => {
                "http: server gave HTTP response to HTTPS client".to_owned()
            }
            Failure::Net(failure) => failure.reason(host, self.dialed),
            other => other.to_string(),
        })
    }

    /// The head, if one came, even when the body failed later.
    pub fn head(&self) -> Option<Response<'_>> {
        self.answer.response()
    }

    /// The body as it came on the wire (still encoded); what there is of it, on a failure. Empty when
    /// it was discarded or streamed.
    pub fn body(&self) -> &[u8] {
        self.answer.body()
    }

    /// The body, without copying if there is nothing before it in its buffer (else with one move
    /// inside it).
    pub fn into_body(self) -> Vec<u8> {
        self.answer.into_body()
    }

    /// Drops the body and keeps the rest: the head, and how large the body was.
    pub fn forget_body(&mut self) {
        self.answer.forget_body();
    }

    /// The size of the body on the wire, kept or not, transfer coding taken off.
    pub fn body_size(&self) -> u64 {
        self.answer.body_size()
    }
}
