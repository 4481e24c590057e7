//! The REST API of a run (`--address`): its state, and a few controls. k6's version 1, to the letter of its JSON.
//!
//! It lives on a thread of its own with a small runtime; load cores never hear of it. It asks for the state at
//! its [`Subject`], and changes go there as well: a run of this process, or one that it leads on other machines. It answers before there is a run, too, while init code runs: a
//! cluster that asks in vain for half a minute would kill the process.

use std::{net::TcpListener, pin::pin, sync::Arc, thread::JoinHandle, time::Duration};

use brunt_engine::RunReport;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    sync::{Semaphore, watch},
    time::{sleep, timeout},
};

mod answer;
mod groups;
mod listen;
mod metrics;
mod process;
mod route;
mod setup;
mod status;
mod subject;
mod told;

pub(crate) use self::{
    listen::listen,
    route::answer,
    subject::{Asked, Fleet, State, Subject},
    told::Told,
};

/// Connections at the same time; more wait in the system's queue.
const CONNECTIONS: u32 = 64;

/// So long the process waits at its end for answers that are on their way: who stops a run wants to hear of it.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The running server. It ends with this.
pub(crate) struct Api {
    told: Arc<Told>,
    is_over: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Api {
    /// Serves, before there is a run. `is_paused`: as far as is known before its script is read.
    ///
    /// # Errors
    /// The system gives no thread or no reactor.
    pub(crate) fn serve(
        listener: TcpListener,
        is_paused: bool,
        profiling: bool,
    ) -> std::io::Result<Self> {
        let told = Arc::new(Told::before(is_paused, profiling));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::clone(&told);
        let (is_over, over) = watch::channel(false);
        let thread = std::thread::Builder::new().name("brunt-api".to_owned()).spawn(move || {
            runtime.block_on(accept(listener, shared, Over(over)));
        })?;
        Ok(Self { told, is_over, thread: Some(thread) })
    }

    /// There is a run, which is not executed yet: gives it the wishes that came before.
    pub(crate) fn begins(&self, run: Arc<dyn Subject>) {
        self.told.begins(run);
    }

    /// The run is over: from now on its end is told.
    pub(crate) fn ended(&self, report: &RunReport) {
        self.told.ended(report);
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.told.gives_up();
        // Without a thread there is no receiver.
        let _ = self.is_over.send(true);
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            log::error!("the REST API panicked");
        }
    }
}

/// Tells the server and its connections that it is over.
#[derive(Clone)]
struct Over(watch::Receiver<bool>);

impl Over {
    async fn wait(&mut self) {
        // An error means that the server is gone, which is an end, too.
        let _ = self.0.wait_for(|is_over| *is_over).await;
    }
}

async fn accept(listener: TcpListener, told: Arc<Told>, mut over: Over) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return log::warn!("Error from API server: {error}"),
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS as usize));
    loop {
        let next = async {
            // It is never closed.
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            next = next => next,
            () = over.wait() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::debug!(error = error.to_string().as_str(); "the REST API lost a connection");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (told, over) = (Arc::clone(&told), over.clone());
        tokio::spawn(async move {
            serve(stream, told, over).await;
            drop(permit);
        });
    }
    // The room is empty when the last answer is out.
    let _ = timeout(LAST_ANSWERS, room.acquire_many(CONNECTIONS)).await;
}

async fn serve(stream: TcpStream, told: Arc<Told>, mut over: Over) {
    let service = service_fn(move |request| {
        let told = Arc::clone(&told);
        async move { route::answer(&told, request).await }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    // As Go writes names: some who read them don't know that their case is no matter.
    http.title_case_headers(true);
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // That a client went away is its own affair.
        _ = connection.as_mut() => {}
        () = over.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
