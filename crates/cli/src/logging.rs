//! Log lines: everything that is talk, not result. `console.log` of scripts comes here too.
//!
//! Callers (load cores among them) hand an [`Entry`] to a bounded queue and go on; one thread formats
//! and writes. When the queue is full, entries are dropped and counted, and the count is told at the
//! end: a slow terminal must not slow the test.
//!
//! ```text
//! log::info!(source = "console"; "…")  ->  queue  ->  writer thread  ->  stderr | stdout | file | loki
//!                                                                   \->  --console-output file
//! ```

use std::{
    fs::File,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use log::{Level, LevelFilter};

use self::{
    entry::Entry,
    writer::{Message, Writer},
};
use crate::{screen::Screen, secrets};

mod entry;
mod format;
pub(crate) mod loki;
mod repeats;
mod setup;
mod writer;

pub(crate) use self::format::Format;

/// The target of what scripts say.
const CONSOLE: &str = "console";
/// The maximum number of entries that wait for the writer; more are dropped.
const QUEUE_ENTRIES: usize = 65_536;
/// The maximum number of bytes of text that wait for the writer; more are dropped.
const QUEUE_BYTES: usize = 64 << 20;

/// Where log lines go, and how they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogConfig {
    /// `--log-output`.
    pub(crate) output: Output,
    /// `--log-format`.
    pub(crate) format: Format,
    /// `--no-color` or its like was not given.
    pub(crate) color: bool,
    /// `--verbose`: debug lines too.
    pub(crate) verbose: bool,
    /// Lines that tell of no error do not have that word, as far as Brunt chooses the words: the k6-operator searches the log
    /// of `archive` and `inspect` for it.
    pub(crate) soft: bool,
    /// `--console-output`: a file for what scripts say.
    pub(crate) console_output: Option<PathBuf>,
}

/// `--log-output`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// The default.
    Stderr,
    /// Together with the results.
    Stdout,
    /// Nowhere.
    None,
    /// `file=PATH[,level=L]`: appended to, made with mode 0600.
    File {
        /// Its directory must exist.
        path: PathBuf,
        /// Less important entries stay out of the file.
        level: LevelFilter,
    },
    /// `loki[=URL][,…]`
    Loki(loki::LokiConfig),
}

/// The running writer. [`Logging::finish`] empties it.
pub(crate) struct Logging {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    screen: Arc<Screen>,
}

struct Shared {
    queue: SyncSender<Message>,
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
    unwritten: AtomicU64,
    soft: bool,
    /// Takes the messages of errors, too.
    errors: OnceLock<SyncSender<String>>,
}

/// Errors that may wait for whoever wants to hear of them; more are not told.
const ERRORS_WAITING: usize = 64;

impl Logging {
    /// Opens the files, starts the writer and makes it the process's logger.
    ///
    /// # Errors
    /// A file can't be opened. A logger that is installed already (in tests) is no error: it stays.
    pub(crate) fn start(config: &LogConfig, screen: &Arc<Screen>) -> anyhow::Result<Self> {
        let (queue, inbox) = sync_channel(QUEUE_ENTRIES);
        let shared = Arc::new(Shared {
            queue,
            queued_bytes: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
            soft: config.soft,
            errors: OnceLock::new(),
        });
        let writer = Writer::new(config, Arc::clone(screen), Arc::clone(&shared))?;
        let thread = std::thread::Builder::new().name("brunt-log".to_owned()).spawn(move || {
            brunt_outputs::stand_back();
            writer.run(&inbox);
        })?;
        let _ = log::set_boxed_logger(Box::new(Logger(Arc::clone(&shared))));
        log::set_max_level(if config.verbose { LevelFilter::Debug } else { LevelFilter::Info });
        Ok(Self { shared, thread: Some(thread), screen: Arc::clone(screen) })
    }

    /// Waits until all that was said so far is written, at most `limit`.
    pub(crate) fn flush(&self, limit: Duration) {
        self.flusher().flush(limit);
    }

    /// The messages of errors that are logged from now on; what scripts say is none. The first call counts.
    pub(crate) fn errors(&self) -> Receiver<String> {
        let (sender, receiver) = sync_channel(ERRORS_WAITING);
        let _ = self.shared.errors.set(sender);
        receiver
    }

    /// From now on the words of scripts go to this file; without one, where all else goes.
    pub(crate) fn console_to(&self, file: Option<File>) {
        let _ = self.shared.queue.send(Message::Console(file));
    }

    /// For a thread that may have to end the process.
    pub(crate) fn flusher(&self) -> Flusher {
        Flusher(Arc::clone(&self.shared))
    }

    /// Writes what waits and what was dropped, stops the writer, and tells what could not be written.
    pub(crate) fn finish(mut self) {
        let _ = self.shared.queue.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let unwritten = self.shared.unwritten.load(Relaxed);
        if unwritten > 0 {
            self.screen.stderr(&format!("{unwritten} writes of log lines failed (disk full?)\n"));
        }
    }
}

/// Has the queue emptied.
#[derive(Clone)]
pub(crate) struct Flusher(Arc<Shared>);

impl Flusher {
    /// Waits until all that was said so far is written, at most `limit`.
    pub(crate) fn flush(&self, limit: Duration) {
        let (done, wait) = sync_channel(1);
        if self.0.queue.try_send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(limit);
        }
    }
}

struct Logger(Arc<Shared>);

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        // Other people's crates talk about their insides; that is for `--verbose` alone.
        let target = metadata.target();
        metadata.level() <= log::max_level()
            && (target.starts_with("brunt")
                || target == CONSOLE
                || (log::max_level() >= LevelFilter::Debug
                    && metadata.level() <= LevelFilter::Warn))
    }

    fn log(&self, record: &log::Record) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let shared = &self.0;
        let mut entry = Entry::from_record(record);
        if let Some(redactor) = secrets::redactor() {
            entry.redact(redactor);
        }
        if shared.soft && entry.level > Level::Error {
            entry.soften();
        }
        let size = entry.size();
        if shared.queued_bytes.fetch_add(size, Relaxed) + size > QUEUE_BYTES {
            shared.queued_bytes.fetch_sub(size, Relaxed);
            shared.dropped.fetch_add(1, Relaxed);
            return;
        }
        // After the end of the run the log is closed: that is no loss to tell.
        if let Err(TrySendError::Full(_)) = shared.queue.try_send(Message::Entry(entry)) {
            shared.queued_bytes.fetch_sub(size, Relaxed);
            shared.dropped.fetch_add(1, Relaxed);
        }
    }

    fn flush(&self) {}
}
