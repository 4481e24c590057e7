//! The thread that formats and writes.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use log::{Level, LevelFilter};

use super::{
    LogConfig, Output, Shared, entry::Entry, format::Formatter, loki::Loki, repeats::Repeats,
};
use crate::screen::Screen;

/// A message to the writer.
pub(super) enum Message {
    Entry(Entry),
    /// From now on the words of scripts go to this file.
    Console(Option<File>),
    /// Answer when all before it is written.
    Flush(SyncSender<()>),
    Stop,
}

/// Written at once if so much waits.
const BATCH_BYTES: usize = 64 << 10;
/// A file is flushed when nothing came for so long.
const IDLE: Duration = Duration::from_secs(1);

pub(super) struct Writer {
    main: Destination,
    level: LevelFilter,
    formatter: Formatter,
    console: Option<File>,
    console_formatter: Formatter,
    shared: Arc<Shared>,
    repeats: Repeats,
    main_text: String,
    console_text: String,
}

enum Destination {
    Stderr(Arc<Screen>),
    Stdout(Arc<Screen>),
    File(File),
    Loki(Loki),
    Nowhere,
}

impl Writer {
    pub(super) fn new(
        config: &LogConfig,
        screen: Arc<Screen>,
        shared: Arc<Shared>,
    ) -> anyhow::Result<Self> {
        let mut level = LevelFilter::Trace;
        let (main, on_terminal) = match &config.output {
            Output::Stderr => {
                let on_terminal = screen.stderr_is_terminal();
                (Destination::Stderr(screen), on_terminal)
            }
            Output::Stdout => {
                let on_terminal = screen.stdout_is_terminal();
                (Destination::Stdout(screen), on_terminal)
            }
            Output::None => (Destination::Nowhere, false),
            Output::File { path, level: least } => {
                level = *least;
                (Destination::File(append(path, 0o600)?), false)
            }
            Output::Loki(config) => {
                level = config.level;
                (Destination::Loki(Loki::start(config)?), false)
            }
        };
        let console =
            config.console_output.as_deref().map(|path| append(path, 0o644)).transpose()?;
        Ok(Self {
            main,
            level,
            formatter: Formatter::new(config.format, config.color && on_terminal),
            console,
            console_formatter: Formatter::new(config.format, false),
            shared,
            repeats: Repeats::default(),
            main_text: String::new(),
            console_text: String::new(),
        })
    }

    pub(super) fn run(mut self, inbox: &Receiver<Message>) {
        loop {
            let due = self.repeats.next().map(|due| due.saturating_duration_since(Instant::now()));
            let first = match inbox.recv_timeout(due.map_or(IDLE, |due| due.min(IDLE))) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.tell_repeats();
                    self.write();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut stop = false;
            let mut next = Some(first);
            let mut answer = None;
            while let Some(message) = next {
                match message {
                    Message::Entry(entry) => self.take(&entry),
                    Message::Console(file) => {
                        self.write();
                        self.console = file;
                    }
                    Message::Flush(done) => answer = Some(done),
                    Message::Stop => stop = true,
                }
                let enough = self.main_text.len() + self.console_text.len() > BATCH_BYTES;
                next =
                    if stop || enough || answer.is_some() { None } else { inbox.try_recv().ok() };
            }
            self.tell_repeats();
            if stop || answer.is_some() {
                for entry in self.repeats.rest() {
                    self.format(&entry);
                }
            }
            if stop {
                self.tell_dropped();
            }
            self.write();
            if let Some(answer) = answer {
                let _ = answer.try_send(());
            }
            if stop {
                break;
            }
        }
        if let Destination::Loki(loki) = self.main {
            loki.finish();
        }
    }

    /// Writes it, unless it was said just now.
    fn take(&mut self, entry: &Entry) {
        self.shared.queued_bytes.fetch_sub(entry.size(), Relaxed);
        if entry.level == Level::Error
            && !entry.is_console()
            && let Some(errors) = self.shared.errors.get()
        {
            // The log has it in any case.
            drop(errors.try_send(entry.message.clone()));
        }
        if !self.repeats.counts(entry, Instant::now()) {
            self.format(entry);
        }
    }

    fn tell_repeats(&mut self) {
        for entry in self.repeats.due(Instant::now()) {
            self.format(&entry);
        }
    }

    fn format(&mut self, entry: &Entry) {
        if self.console.is_some() && entry.is_console() && !entry.of_init {
            self.console_formatter.write(entry, true, &mut self.console_text);
        } else if entry.level <= self.level {
            match &self.main {
                Destination::Nowhere => {}
                Destination::Loki(loki) => loki.put(entry),
                _ => self.formatter.write(entry, false, &mut self.main_text),
            }
        }
    }

    /// The loss is told in the format of all other lines.
    fn tell_dropped(&mut self) {
        let dropped = self.shared.dropped.load(Relaxed);
        if dropped > 0 {
            let entry = Entry {
                at: std::time::SystemTime::now(),
                level: log::Level::Warn,
                message: format!(
                    "{dropped} log lines were dropped: they came faster than they could be written"
                ),
                of_init: false,
                fields: Vec::new(),
                more: 0,
            };
            self.format(&entry);
        }
    }

    fn write(&mut self) {
        if !self.main_text.is_empty() {
            let text = self.main_text.as_str();
            let written = match &mut self.main {
                Destination::Stderr(screen) => {
                    screen.stderr(text);
                    Ok(())
                }
                Destination::Stdout(screen) => screen.stdout(text),
                Destination::File(file) => file.write_all(text.as_bytes()),
                Destination::Loki(_) | Destination::Nowhere => Ok(()),
            };
            self.note(&written);
            self.main_text.clear();
        }
        if let (Some(file), false) = (&mut self.console, self.console_text.is_empty()) {
            let written = file.write_all(self.console_text.as_bytes());
            self.note(&written);
            self.console_text.clear();
        }
    }

    fn note(&self, written: &std::io::Result<()>) {
        if written.is_err() {
            self.shared.unwritten.fetch_add(1, Relaxed);
        }
    }
}

fn append(path: &Path, mode: u32) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path).with_context(|| format!("cannot open the log file {}", path.display()))
}
