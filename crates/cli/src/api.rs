//! The REST API of a run (`--address`): how it stands, and a few levers. k6's version 1, to the letter of its JSON.
//!
//! It lives on a thread of its own with a small runtime; load cores never hear of it. What it shows it asks of
//! [`brunt_engine::Live`], what it changes goes through that as well.

use std::{
    net::{SocketAddr, TcpListener, ToSocketAddrs as _},
    sync::{Arc, Mutex, PoisonError},
};

use brunt_engine::{Live, RunReport};
use brunt_metrics::Summary;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

mod answer;
mod groups;
mod metrics;
mod process;
mod route;
mod setup;
mod status;

/// Connections at the same time; more wait in the system's queue.
const CONNECTIONS: usize = 64;

/// What the API tells of: a run, and what it came to.
pub(crate) struct Told {
    live: Live,
    profiling: bool,
    /// Set when the run is over; before, the engine is asked.
    last: Mutex<Option<Summary>>,
}

impl Told {
    async fn summary(&self) -> Option<Summary> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(summary) = last() {
            return Some(summary);
        }
        match self.live.summary_async().await {
            Some(summary) => Some(summary),
            None => last(),
        }
    }
}

/// The running server. It ends with the process.
pub(crate) struct Api(Arc<Told>);

/// Takes the address.
///
/// # Errors
/// It is none, or somebody else has it.
pub(crate) fn listen(address: &str) -> std::io::Result<TcpListener> {
    // Go's way to write all addresses of this machine.
    let everywhere = address.strip_prefix(':').map(|port| format!("0.0.0.0:{port}"));
    let address = everywhere.as_deref().unwrap_or(address);
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(&addresses[..])?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Api {
    /// Serves.
    ///
    /// # Errors
    /// The system gives no thread or no reactor.
    pub(crate) fn serve(
        listener: TcpListener,
        live: Live,
        profiling: bool,
    ) -> std::io::Result<Self> {
        let told = Arc::new(Told { live, profiling, last: Mutex::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::clone(&told);
        std::thread::Builder::new().name("brunt-api".to_owned()).spawn(move || {
            runtime.block_on(accept(listener, shared));
        })?;
        Ok(Self(told))
    }

    /// The run is over: from now on its end is told.
    pub(crate) fn ended(&self, report: &RunReport) {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(report.summary.clone());
    }
}

async fn accept(listener: TcpListener, told: Arc<Told>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return log::warn!("Error from API server: {error}"),
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "the REST API lost a connection");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let told = Arc::clone(&told);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let told = Arc::clone(&told);
                async move { route::answer(&told, request).await }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(std::time::Duration::from_secs(30));
            // That a client went away is its own affair.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}
