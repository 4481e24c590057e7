//! One request from its arrival to its answer: the rules that hold for every route.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body as _, Incoming};
use hyper::header::HeaderName;
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::time::{Instant, sleep, sleep_until};

use crate::caching::Caching;
use crate::config::DemoConfig;
use crate::dice::Dice;
use crate::faults::Switch;
use crate::governor::{Governor, REQUEST_COST};
use crate::images::Images;
use crate::plain::Plain;
use crate::reply::{self, Query, Refusal, Reply};
use crate::routes::{self, Route};
use crate::stats::Stats;
use crate::timing::Phases;
use crate::{control, images, plain};

static SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Bytes of request bodies that all requests together may hold.
const HELD_MAX: usize = 512 << 20;

/// Everything that the workers share.
pub(crate) struct App {
    pub(crate) config: DemoConfig,
    pub(crate) started: Instant,
    pub(crate) stats: Stats,
    pub(crate) dice: Arc<Dice>,
    pub(crate) faults: Arc<Switch>,
    pub(crate) caching: Arc<Caching>,
    pub(crate) images: Arc<Images>,
    pub(crate) plain: Plain,
    governor: Option<Governor>,
    held: AtomicUsize,
}

/// The connection is to be closed without an answer.
#[derive(Debug)]
pub(crate) struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dropped on demand")
    }
}

impl std::error::Error for Dropped {}

impl App {
    pub(crate) fn new(
        config: DemoConfig,
        caching: Caching,
        dice: Arc<Dice>,
        faults: Arc<Switch>,
    ) -> Self {
        Self {
            started: Instant::now(),
            stats: Stats::default(),
            plain: Plain::default(),
            governor: config.cpu_budget.map(Governor::new),
            held: AtomicUsize::new(0),
            caching: Arc::new(caching),
            images: Arc::new(Images::new(&config.image)),
            config,
            dice,
            faults,
        }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// [`Dropped`] when a fault wants the connection closed.
    pub(crate) async fn handle(&self, request: Request<Incoming>) -> Result<Reply, Dropped> {
        let begin = Instant::now();
        let _in_hand = self.stats.enter();
        let (parts, body) = request.into_parts();
        let mut call = Call { app: self, parts, body, phases: Phases::default() };
        let (route, _) = routes::of(&call.parts.uri);
        let undisturbed = route == Route::Control;
        if !undisturbed && self.faults.any() {
            // Boxed, as are all the rarer ways: the common one stays a small future.
            Box::pin(self.stall()).await;
            if self.dice.chance(self.faults.current().drop_connections) {
                self.stats.dropped.fetch_add(1, Relaxed);
                return Err(Dropped);
            }
        }
        let mut reply = match route {
            Route::Root | Route::Ping if !self.faults.any() => plain::health(&call.parts.method),
            _ => Box::pin(call.answer(route)).await,
        };
        call.drain().await;
        let mut phases = call.phases;
        if let Some(governor) = &self.governor {
            let now = Instant::now();
            let done = governor.book(now, REQUEST_COST + phases.cpu);
            phases.queue += done.saturating_duration_since(now);
            sleep_until(done).await;
        }
        if !self.config.rtt.is_zero() {
            sleep(self.config.rtt).await;
        }
        if !undisturbed && self.faults.any() {
            Box::pin(self.stall()).await;
            let slow = self.faults.current().slow_body_bps;
            if slow > 0 {
                reply = reply.map(|body| body.throttled(slow));
            }
        }
        let took = begin.elapsed();
        reply.headers_mut().insert(SERVER_TIMING.clone(), phases.header(took));
        self.stats.answered(route, reply.status().as_u16(), took, reply.body().known_size());
        Ok(reply)
    }

    /// Waits while the whole server pauses.
    async fn stall(&self) {
        while let Some(end) = self.faults.stalled_until(Instant::now()) {
            sleep_until(end).await;
        }
    }
}

/// A request in hand, with what answering it needs.
pub(crate) struct Call<'a> {
    pub(crate) app: &'a App,
    pub(crate) parts: Parts,
    body: Incoming,
    pub(crate) phases: Phases,
}

impl<'a> Call<'a> {
    async fn answer(&mut self, route: Route) -> Reply {
        if route != Route::Control && self.app.faults.any() {
            let faults = self.app.faults.current();
            if self.app.dice.chance(faults.error_rate) {
                let status = StatusCode::from_u16(faults.status)
                    .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                return *reply::refuse(status, "an artificial error, see /_demo/fault");
            }
        }
        let uri = self.parts.uri.clone();
        let (_, rest) = routes::of(&uri);
        let result = match route {
            Route::Control => control::answer(self, rest).await,
            Route::Image | Route::SaveImage | Route::Debug => {
                images::http::answer(self, route).await
            }
            _ => match crate::caching::strategy(route) {
                Some(strategy) => crate::caching::http::answer(self, strategy, rest).await,
                None => plain::answer(self, route, rest).await,
            },
        };
        result.unwrap_or_else(|refusal| *refusal)
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
    async fn drain(&mut self) {
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
