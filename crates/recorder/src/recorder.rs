//! The proxy as a whole: from its first connection to the recording.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brunt_traffic::Recording;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::dialer::Network;
use crate::gate::Gate;
use crate::line::Line;
use crate::shared::Shared;
use crate::store::Store;
use crate::tape::Tape;
use crate::tasks::Tasks;
use crate::{Config, Error};

/// How long to wait when the system has no more sockets.
const BREATH: Duration = Duration::from_millis(100);

/// A proxy that listens.
pub struct Recorder {
    listener: TcpListener,
    connections: usize,
    shared: Arc<Shared>,
}

/// Marks the session while it runs.
#[derive(Clone)]
pub struct Marker(Arc<Tape>);

impl Marker {
    /// A part of the session begins: a `group()` of the script.
    pub fn step(&self, name: &str) {
        self.0.step(name);
    }
}

impl Recorder {
    /// Listens. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The address is taken; a file of the way to servers cannot be read.
    pub async fn bind(config: Config) -> Result<Self, Error> {
        let failed = |source| Error::Bind { address: config.address, source };
        let listener = TcpListener::bind(config.address).await.map_err(failed)?;
        let own = listener.local_addr().map_err(failed)?;
        let tasks = Tasks::default();
        let network = Arc::new(Network::new(&config.upstream, &tasks)?);
        let tape = Tape::new(Store::new(&config.folder, config.limits));
        let shared = Arc::new(Shared {
            own,
            authority: config.authority,
            network,
            pass: config.pass,
            tape,
            tasks,
            told: Mutex::new(HashSet::new()),
        });
        Ok(Self { listener, connections: config.limits.connections.max(1), shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.own
    }

    /// For steps, while [`Recorder::run`] has the recorder.
    pub fn marker(&self) -> Marker {
        Marker(Arc::clone(&self.shared.tape))
    }

    /// Serves browsers until `stop`, then ends all connections. `watch` is told of each exchange, in the midst of it: it must not wait.
    pub async fn run(
        self,
        stop: impl Future<Output = ()>,
        watch: impl Fn(&Line) + Send + Sync + 'static,
    ) -> Recording {
        let shared = self.shared;
        shared.tape.watch(Box::new(watch));
        tokio::select! {
            () = accept(&self.listener, &shared, self.connections) => {}
            () = stop => {}
        }
        drop(self.listener);
        let tape = Arc::clone(&shared.tape);
        // Codings are taken off bodies now, and that takes its time.
        let recording = tokio::task::spawn_blocking(move || tape.finish()).await;
        shared.tasks.end().await;
        recording.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

/// Serves connections, forever.
async fn accept(listener: &TcpListener, shared: &Arc<Shared>, connections: usize) {
    let places = Arc::new(Semaphore::new(connections));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                shared.notice("accept".to_owned(), format!("a connection was lost: {error}"));
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let gate = Arc::clone(shared);
        shared.tasks.spawn(async move {
            serve(&gate, stream).await;
            drop(place);
        });
    }
}

async fn serve(shared: &Arc<Shared>, stream: TcpStream) {
    // A connection that is gone already will say so when it is read.
    let _ = stream.set_nodelay(true);
    Gate::open(shared).serve(stream).await;
}
