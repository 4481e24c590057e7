//! A request in hand: its parts, its body, the time that it takes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body as _, Incoming};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::time::Instant;

use crate::app::App;
use crate::reply::{self, Query, Refusal};
use crate::timing::Phases;

/// Bytes of request bodies that all requests together may hold.
const HELD_MAX: usize = 512 << 20;

/// A request in hand, with what answering it needs.
pub(crate) struct Call<'a> {
    pub(crate) app: &'a App,
    pub(crate) parts: Parts,
    body: Incoming,
    pub(crate) phases: Phases,
}

impl<'a> Call<'a> {
    /// A request that has come.
    pub(crate) fn new(app: &'a App, request: Request<Incoming>) -> Self {
        let (parts, body) = request.into_parts();
        Self { app, parts, body, phases: Phases::default() }
    }

    /// The request's query.
    pub(crate) fn query(&self) -> Query<'_> {
        Query(self.parts.uri.query().unwrap_or(""))
    }

    /// Whether the method reads only. HEAD counts: hyper leaves the body away.
    pub(crate) fn is_get(&self) -> bool {
        matches!(self.parts.method, Method::GET | Method::HEAD)
    }

    /// One header's value as text, if it is text.
    pub(crate) fn header(&self, name: impl hyper::header::AsHeaderName) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The next piece of the request body; `None` at its end.
    ///
    /// # Errors
    /// A 400 when the client breaks off (it will hardly read that).
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let frame =
                std::future::poll_fn(|cx| std::pin::Pin::new(&mut self.body).poll_frame(cx));
            match frame.await {
                None => return Ok(None),
                Some(Err(error)) => return Err(reply::bad_request(error.to_string())),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.app.stats.bytes_in.fetch_add(bytes.len() as u64, Relaxed);
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// The whole request body, held in memory.
    ///
    /// # Errors
    /// 413 beyond `limit` or the configured limit; 503 when all requests together hold too much.
    pub(crate) async fn whole_body(&mut self, limit: usize) -> Result<HeldBody<'a>, Refusal> {
        let limit = limit.min(self.app.config.max_body);
        let too_large = || {
            let message = format!("the body is larger than {limit} bytes");
            reply::refuse(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let announced = self.body.size_hint().exact().unwrap_or(0);
        if announced > limit as u64 {
            return Err(too_large());
        }
        let app = self.app;
        let mut held = HeldBody { held: &app.held, bytes: Bytes::new(), counted: 0 };
        let mut first: Option<Bytes> = None;
        let mut joined = BytesMut::new();
        while let Some(piece) = self.piece().await? {
            held.count(piece.len())?;
            if held.counted > limit {
                return Err(too_large());
            }
            match first.take() {
                // A small body arrives in one piece and is not copied.
                None if joined.is_empty() => first = Some(piece),
                None => joined.extend_from_slice(&piece),
                Some(begin) => {
                    joined.reserve((announced as usize).max(begin.len() + piece.len()));
                    joined.extend_from_slice(&begin);
                    joined.extend_from_slice(&piece);
                }
            }
        }
        held.bytes = first.unwrap_or_else(|| joined.freeze());
        Ok(held)
    }

    /// Takes what is left of the request body, so that the connection can serve another request.
    pub(crate) async fn drain(&mut self) {
        while !self.body.is_end_stream() && matches!(self.piece().await, Ok(Some(_))) {}
    }

    /// Does some computing and counts its time as `cpu`.
    pub(crate) fn compute<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.phases.cpu += begin.elapsed().max(Duration::from_nanos(1));
        result
    }
}

/// A body in memory; gives its share of the common limit back when dropped.
pub(crate) struct HeldBody<'a> {
    held: &'a AtomicUsize,
    pub(crate) bytes: Bytes,
    counted: usize,
}

impl HeldBody<'_> {
    fn count(&mut self, more: usize) -> Result<(), Refusal> {
        self.counted += more;
        if self.held.fetch_add(more, Relaxed) + more > HELD_MAX {
            let message = "all requests together hold too many body bytes";
            return Err(reply::refuse(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        Ok(())
    }
}

impl Drop for HeldBody<'_> {
    fn drop(&mut self) {
        self.held.fetch_sub(self.counted, Relaxed);
    }
}
