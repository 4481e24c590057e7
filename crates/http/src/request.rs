//! A request to send.

use std::cell::Cell;

use brunt_net::Excerpt;

use crate::failure::Failure;
use crate::headers::is_token;
use crate::headers::{Headers, is_value};
use crate::http1::encode;
use crate::payload::Payload;
use crate::spool::Spool;
use crate::target::Target;

/// One request, borrowed from the caller.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The method, sent as it is.
    pub method: &'a str,
    /// Where to.
    pub target: &'a Target<'a>,
    /// The headers after `Host`, in order.
    pub headers: &'a Headers,
    /// The body, after the head.
    pub body: Body<'a>,
    /// The value of `Host`, if not the target's authority.
    pub host: Option<&'a str>,
    /// The moment, in nanoseconds of the network's clock, at which the exchange ends as
    /// [`Failure::Timeout`](crate::Failure::Timeout). `None` waits for ever.
    pub deadline: Option<u64>,
    /// Read and count the response's body, but keep none of it.
    pub discard_body: bool,
    /// Keep no more than this many bytes of the response's body; all is read and counted.
    pub keep_max: Option<u64>,
    /// Until when all of it must be written.
    pub write_by: Option<&'a WriteBy>,
    /// Where the response's body goes while it comes, instead of into the [`Exchange`](crate::Exchange).
    pub spool: Option<&'a Spool>,
    /// The responses that lead to another request, so that their body is not needed: it is not kept.
    pub moves_on: MovesOn,
    /// Others follow in the same turn: over HTTP/2 it waits for them, so that all go out in one write.
    pub together: bool,
}

/// Which responses whoever asks goes on from.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct MovesOn {
    /// A redirect with a `Location`. If its body is more than 2 KiB, the exchange ends at its head, and the connection with
    /// it, as in Go.
    pub redirects: bool,
    /// A 401. All of its body comes, since what follows may need the same connection.
    pub challenges: bool,
}

/// The moment until which a request must be written.
#[derive(Debug)]
pub struct WriteBy {
    deadline: u64,
    is_written: Cell<bool>,
}

impl WriteBy {
    /// At this moment (nanoseconds of the network's clock), if it isn't all written, the exchange ends as
    /// [`Failure::Timeout`](crate::Failure::Timeout).
    pub fn new(deadline: u64) -> Self {
        Self { deadline, is_written: Cell::new(false) }
    }

    pub(crate) fn deadline(&self) -> u64 {
        self.deadline
    }

    pub(crate) fn is_written(&self) -> bool {
        self.is_written.get()
    }

    pub(crate) fn written(&self) {
        self.is_written.set(true);
    }
}

/// The body of a request.
#[derive(Copy, Clone, Debug, Default)]
#[non_exhaustive]
pub enum Body<'a> {
    /// None: `Content-Length` is written for POST, PUT and PATCH only.
    #[default]
    Empty,
    /// None, and `Content-Length: 0` says so, whatever the method.
    Nothing,
    /// All of it, in memory.
    Bytes(&'a [u8]),
    /// Pieces from wherever they lie.
    Payload(&'a Payload),
}

impl Body<'_> {
    /// Its size in bytes, if that is known before it is sent.
    pub fn len(&self) -> Option<u64> {
        match self {
            Self::Empty | Self::Nothing => Some(0),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Payload(payload) => payload.len(),
        }
    }

    /// There is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Makes ready to be sent again; `false` if it can't be.
    pub(crate) fn rewind(&self) -> bool {
        match self {
            Self::Empty | Self::Nothing | Self::Bytes(_) => true,
            Self::Payload(payload) => payload.rewind(),
        }
    }
}

impl<'a> Request<'a> {
    /// A request without body, host override and deadline.
    pub fn new(method: &'a str, target: &'a Target<'a>, headers: &'a Headers) -> Self {
        Self {
            method,
            target,
            headers,
            body: Body::Empty,
            host: None,
            deadline: None,
            discard_body: false,
            keep_max: None,
            write_by: None,
            spool: None,
            moves_on: MovesOn::default(),
            together: false,
        }
    }

    /// The head as HTTP/1.1 writes it to a server, with `\n` line ends, the empty line included. `closes`: each request has
    /// its own connection.
    pub fn head(&self, closes: bool) -> String {
        let mut head = Vec::new();
        encode::encode(self, encode::Way { close: closes, ..encode::Way::default() }, &mut head);
        String::from_utf8_lossy(&head).replace("\r\n", "\n")
    }

    /// Method and host can stand in a head.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.method.is_empty() || !self.method.bytes().all(is_token) {
            return Err(Failure::Method(Excerpt::new(self.method.as_bytes())));
        }
        if self.host.is_some_and(|host| !is_value(host)) {
            return Err(Failure::HeaderValue(Excerpt::new(b"Host")));
        }
        Ok(())
    }

    /// Sending it twice does no harm: Go's list of methods and headers.
    pub(crate) fn is_replayable(&self) -> bool {
        matches!(self.method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
            || self.headers.get("Idempotency-Key").is_some()
            || self.headers.get("X-Idempotency-Key").is_some()
    }
}
