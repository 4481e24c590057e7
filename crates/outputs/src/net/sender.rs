//! Posts on their way: a thread with a runtime, a bounded queue in front of it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use brunt_duration::wait;
use tokio::sync::{mpsc, oneshot};

use super::client::{Answer, Client, Post};
use super::endpoint::Endpoint;
use crate::priority::stand_back;

/// How long the end of a test waits for what is on its way. More is lost, and counted.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// How posts are to be sent.
pub(crate) struct Sending {
    /// As messages name the output.
    pub(crate) output: String,
    /// The thing that failed, for messages.
    pub(crate) failure: &'static str,
    pub(crate) endpoint: Endpoint,
    /// How many requests at once; at most as many as may wait.
    pub(crate) at_once: usize,
    /// The maximum number of posts that wait. Posts beyond it are lost, and counted.
    pub(crate) waiting: usize,
    /// Sent before all others; nothing comes of its failure.
    pub(crate) first: Option<Post>,
    /// Whether the server took it, by its answer.
    pub(crate) judge: fn(&Answer) -> Result<(), String>,
}

/// Takes posts, and never waits.
pub(crate) struct Sender {
    jobs: mpsc::Sender<Job>,
    ending: oneshot::Sender<()>,
    thread: JoinHandle<()>,
    tally: Arc<Tally>,
}

struct Job {
    post: Post,
    weight: u64,
}

/// The outcome of the posts, by weight.
#[derive(Default)]
struct Tally {
    output: String,
    failure: &'static str,
    accepted: AtomicU64,
    sent: AtomicU64,
    lost: AtomicU64,
    was_full: AtomicBool,
    trouble: Mutex<Option<String>>,
}

/// The outcome of all posts.
#[derive(Debug)]
pub(crate) struct Sent {
    /// The weight that arrived.
    pub(crate) arrived: u64,
    /// The weight that did not.
    pub(crate) lost: u64,
    /// The first failure.
    pub(crate) trouble: Option<String>,
}

impl Sender {
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(sending: Sending) -> io::Result<Self> {
        let (jobs, received) = mpsc::channel(sending.waiting);
        let (ending, ended) = oneshot::channel();
        let tally = Arc::new(Tally {
            output: sending.output.clone(),
            failure: sending.failure,
            ..Tally::default()
        });
        let counts = Arc::clone(&tally);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = thread::Builder::new().name("output-net".to_owned()).spawn(move || {
            stand_back();
            runtime.block_on(work(sending, received, ended, &counts));
            // Name lookups that hang must not keep the end waiting.
            runtime.shutdown_background();
        })?;
        Ok(Self { jobs, ending, thread, tally })
    }

    /// Takes a post if there is room; `weight` is how many samples it tells.
    pub(crate) fn offer(&self, post: Post, weight: u64) -> bool {
        self.tally.accepted.fetch_add(weight, Relaxed);
        if self.jobs.try_send(Job { post, weight }).is_ok() {
            return true;
        }
        self.tally.lose(weight);
        false
    }

    /// Whether there is no room for posts: what weighs so much need not be made into one, it is lost.
    pub(crate) fn refuses(&self, weight: u64) -> bool {
        if self.jobs.capacity() > 0 {
            return false;
        }
        self.tally.accepted.fetch_add(weight, Relaxed);
        self.tally.lose(weight);
        true
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.tally.unsettled() == 0
    }

    /// The weight that was lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.tally.lost.load(Relaxed)
    }

    /// Waits until all is sent, but not for long.
    pub(crate) fn finish(self) -> Sent {
        drop(self.jobs);
        // The thread may be through already.
        let _ = self.ending.send(());
        let panicked = self.thread.join().is_err();
        let tally = &self.tally;
        let unsettled = tally.unsettled();
        let trouble = tally.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        let trouble = trouble.or_else(|| match (panicked, unsettled) {
            (true, _) => Some("its thread panicked".into()),
            (_, 0) => None,
            _ => Some(format!("the server did not take it within {}", wait::format(LAST_WAIT))),
        });
        Sent {
            arrived: tally.sent.load(Relaxed),
            lost: tally.lost.load(Relaxed) + unsettled,
            trouble,
        }
    }
}

impl Tally {
    fn unsettled(&self) -> u64 {
        let settled = self.sent.load(Relaxed) + self.lost.load(Relaxed);
        self.accepted.load(Relaxed).saturating_sub(settled)
    }

    /// There was no room for it: says so once.
    fn lose(&self, weight: u64) {
        self.lost.fetch_add(weight, Relaxed);
        if !self.was_full.swap(true, Relaxed) {
            let output = self.output.as_str();
            log::warn!(output; "The server is too slow for the output; some samples are lost for it");
        }
    }

    /// Says it once; the end of the test tells how much it was.
    fn fail(&self, weight: u64, error: String) {
        self.lost.fetch_add(weight, Relaxed);
        let (output, text) = (self.output.as_str(), error.as_str());
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.is_none() {
            log::error!(output, error = text; "{}", self.failure);
            *trouble = Some(error);
        } else {
            log::debug!(output, error = text; "{}", self.failure);
        }
    }
}

async fn work(
    sending: Sending,
    jobs: mpsc::Receiver<Job>,
    ended: oneshot::Receiver<()>,
    tally: &Tally,
) {
    let Sending { endpoint, at_once, waiting, first, judge, .. } = sending;
    // More would have nothing to do, and each is a connection.
    let at_once = at_once.min(waiting);
    let jobs = tokio::sync::Mutex::new(jobs);
    let everything = async {
        if let Some(post) = first {
            let answer = Client::new(endpoint.clone()).send(&post).await;
            if let Err(error) = answer.and_then(|answer| judge(&answer)) {
                let output = tally.output.as_str();
                log::debug!(output, error = error.as_str(); "The first request failed");
            }
        }
        let workers =
            (0..at_once).map(|_| serve(Client::new(endpoint.clone()), &jobs, judge, tally));
        futures_util::future::join_all(workers).await;
    };
    let patience = async {
        let _ = ended.await;
        tokio::time::sleep(LAST_WAIT).await;
    };
    tokio::select! {
        () = everything => {}
        () = patience => {}
    }
}

/// One of several that send at once.
async fn serve(
    mut client: Client,
    jobs: &tokio::sync::Mutex<mpsc::Receiver<Job>>,
    judge: fn(&Answer) -> Result<(), String>,
    tally: &Tally,
) {
    loop {
        let Some(Job { post, weight }) = jobs.lock().await.recv().await else { return };
        match client.send(&post).await.and_then(|answer| judge(&answer)) {
            Ok(()) => {
                tally.sent.fetch_add(weight, Relaxed);
            }
            Err(error) => tally.fail(weight, error),
        }
    }
}
