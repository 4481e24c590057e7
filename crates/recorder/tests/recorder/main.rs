//! A recorder between a client and servers of hyper's, all on loopback.
#![allow(clippy::unwrap_used, reason = "tests; the lint's own exception ends at helpers")]

mod client;
mod misuse;
mod server;
mod streams;
mod trust;
mod upstream;
mod whole;

use std::sync::{Arc, Mutex};

use brunt_recorder::{Authority, Config, Limits, Line, Marker, Recorder, Upstream};
use brunt_traffic::{Exchange, Recording};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A recorder that runs, and its folders.
struct Running {
    address: std::net::SocketAddr,
    authority: Arc<Authority>,
    marker: Marker,
    lines: Arc<Mutex<Vec<Line>>>,
    stop: oneshot::Sender<()>,
    run: JoinHandle<Recording>,
    /// Bodies lie in it.
    folder: TempDir,
}

impl Running {
    async fn start(upstream: Upstream) -> Self {
        Self::start_with(|config| config.upstream = upstream).await
    }

    async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Arc::new(Authority::open(&folder.path().join("ca")).unwrap());
        let mut config = Config {
            address: ([127, 0, 0, 1], 0).into(),
            authority: Arc::clone(&authority),
            upstream: Upstream::default(),
            pass: Vec::new(),
            folder: folder.path().to_owned(),
            limits: Limits::default(),
        };
        change(&mut config);
        let recorder = Recorder::bind(config).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&lines);
        let (address, marker) = (recorder.address(), recorder.marker());
        let stopped = async {
            let _ = stopped.await;
        };
        let run = tokio::spawn(
            recorder.run(stopped, move |line| told.lock().unwrap().push(line.clone())),
        );
        Self { address, authority, marker, lines, stop, run, folder }
    }

    fn notices(&self) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let notices = lines.iter().filter_map(|line| match line {
            Line::Notice(text) => Some(text.clone()),
            Line::Exchange(_) => None,
        });
        notices.collect()
    }

    /// The recording; its bodies live as long as the folder.
    async fn end(self) -> (Recording, TempDir) {
        self.stop.send(()).unwrap();
        (self.run.await.unwrap(), self.folder)
    }
}

/// The exchange with this path.
fn of<'r>(recording: &'r Recording, path: &str) -> &'r Exchange {
    let found = recording.exchanges.iter().find(|it| it.request.url.path() == path);
    found.unwrap_or_else(|| panic!("{path} was not recorded: {recording:?}"))
}

/// The body of a response, as text.
fn body(exchange: &Exchange) -> String {
    let response = exchange.response.as_ref().expect("a response");
    String::from_utf8(response.body.read().unwrap().to_vec()).unwrap()
}
