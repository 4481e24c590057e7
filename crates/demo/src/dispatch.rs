//! One request from its arrival to its answer: the rules that hold for every route.

use std::sync::atomic::Ordering::Relaxed;

use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{Request, StatusCode};
use tokio::time::{Instant, sleep, sleep_until};

use crate::app::App;
use crate::call::Call;
use crate::governor::REQUEST_COST;
use crate::reply::{self, Reply};
use crate::routes::{self, Route};
use crate::{caching, control, forms, images, plain};

static SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

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
    /// Answers one request.
    ///
    /// # Errors
    /// [`Dropped`] when a fault wants the connection closed.
    pub(crate) async fn handle(&self, request: Request<Incoming>) -> Result<Reply, Dropped> {
        let begin = Instant::now();
        let _in_hand = self.stats.enter();
        let mut call = Call::new(self, request);
        let (route, _) = routes::of(&call.parts.uri);
        let undisturbed = route == Route::Control;
        if let Some(run) = call.header("run-id").filter(|_| !undisturbed) {
            self.stats.of_run(run);
        }
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

impl Call<'_> {
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
            Route::FormLogin
            | Route::FormOrders
            | Route::FormOrder
            | Route::FormUpload
            | Route::FormLogout
            | Route::FormResource
            | Route::Forms => forms::http::answer(self, route, rest).await,
            _ => match caching::strategy(route) {
                Some(strategy) => caching::http::answer(self, strategy, rest).await,
                None => plain::answer(self, route, rest).await,
            },
        };
        result.unwrap_or_else(|refusal| *refusal)
    }
}
