//! The lines of a recording, on standard error. A thread of its own writes them: a slow terminal must not make a browser wait.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_recorder::{Line, Moment, Told, shown_url};
use brunt_traffic::Recording;
use brunt_traffic::filter::Filter;

use crate::Context;

/// Lines that wait for the terminal; later ones are counted instead.
const QUEUE: usize = 4096;

/// The way to the terminal. Clones share it.
#[derive(Clone)]
pub(super) struct Lines {
    is_quiet: bool,
    /// Requests that it leaves out have no line.
    filter: Arc<Filter>,
    color: bool,
    queue: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
}

enum Message {
    Text(String),
    End,
}

impl Lines {
    pub(super) fn start(context: &Context, filter: &Filter) -> Self {
        let (queue, messages) = sync_channel(QUEUE);
        let screen = Arc::clone(&context.screen);
        let write = move || {
            while let Ok(Message::Text(text)) = messages.recv() {
                screen.stderr(&text);
            }
        };
        // Without the thread there are no lines, and the recording is the same.
        let writer = std::thread::Builder::new().name("brunt-lines".to_owned()).spawn(write).ok();
        Self {
            is_quiet: context.global.quiet,
            filter: Arc::new(filter.clone()),
            color: context.global.color && context.screen.stderr_is_terminal(),
            queue,
            dropped: Arc::default(),
            writer: Arc::new(Mutex::new(writer)),
        }
    }

    /// Something that is no request.
    pub(super) fn say(&self, text: &str) {
        if !self.is_quiet {
            let mark = painted(self.color, "36", "·");
            self.push(format!("{mark} {text}\n"));
        }
    }

    /// Something that the user must know, `--quiet` or not.
    fn warn(&self, text: &str) {
        let mark = painted(self.color, "33", "!");
        self.push(format!("{mark} {text}\n"));
    }

    pub(super) fn line(&self, line: &Line) {
        match line {
            Line::Notice(text) => self.warn(text),
            Line::Exchange(told) => {
                if !self.is_quiet && self.filter.reason_of_url(&told.url).is_none() {
                    self.push(drawn(told, self.color));
                }
            }
        }
    }

    /// Writes all that waits, and what came of the session.
    pub(super) fn finish(&self, recording: &Recording) {
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            self.warn(&format!("{dropped} lines were not shown: the terminal was too slow"));
        }
        let failed = recording.exchanges.iter().filter(|it| it.response.is_none()).count();
        let mut text = format!("recorded {}", counted(recording.exchanges.len(), "request"));
        if failed > 0 {
            // Writing to a String can't fail.
            let _ = write!(text, ", {failed} of them without a response");
        }
        if !recording.steps.is_empty() {
            let _ = write!(text, ", {}", counted(recording.steps.len(), "step"));
        }
        self.say(&text);
        let _ = self.queue.send(Message::End);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }

    fn push(&self, text: String) {
        if self.queue.try_send(Message::Text(text)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}

fn painted(color: bool, code: &str, text: &str) -> String {
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// `200   1.2 kB   34 ms  GET https://shop.test/`
fn drawn(told: &Told, color: bool) -> String {
    let (status, code) = match told.status {
        Some(status @ 200..300) => (status.to_string(), "32"),
        Some(status @ (..200 | 300..400)) => (status.to_string(), "36"),
        Some(status @ 400..500) => (status.to_string(), "33"),
        Some(status) => (status.to_string(), "31"),
        None => ("---".to_owned(), "31"),
    };
    let status = painted(color, code, &status);
    let mut line = format!(
        "{status} {:>8} {:>8}  {} {}",
        size(told.size),
        time(told.elapsed),
        told.method,
        shown_url(&told.url)
    );
    let note = match told.moment {
        Moment::Done => "",
        Moment::EventsBegin => " (events begin)",
        Moment::SocketOpens => " (opens)",
        Moment::SocketCloses => " (closed)",
    };
    line.push_str(note);
    if let Some(failure) = &told.failure {
        let _ = write!(line, ": {failure}");
    }
    // A foreign text must not move the cursor.
    let mut line: String =
        line.chars().map(|c| if c.is_control() && c != '\x1b' { '\u{fffd}' } else { c }).collect();
    line.push('\n');
    line
}

fn size(bytes: u64) -> String {
    match bytes {
        ..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 10.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn told() -> Told {
        Told {
            number: 0,
            moment: Moment::Done,
            method: "GET".to_owned(),
            url: Url::parse("https://shop.test/a?token=abcdefghijkl").unwrap(),
            status: Some(200),
            size: 1234,
            elapsed: Duration::from_micros(34_400),
            failure: None,
        }
    }

    #[test]
    fn a_line_tells_status_size_time_and_url_without_its_token() {
        let line = drawn(&told(), false);
        assert_eq!(line, "200   1.2 kB    34 ms  GET https://shop.test/a?token=abcd…\n");
        let failed =
            Told { status: None, size: 0, failure: Some("refused\r\n".to_owned()), ..told() };
        let line = drawn(&failed, false);
        assert!(
            line.starts_with("---") && line.ends_with(": refused\u{fffd}\u{fffd}\n"),
            "{line:?}"
        );
        assert!(drawn(&told(), true).starts_with("\x1b[32m200\x1b[0m "));
    }

    #[test]
    fn sizes_and_times_are_short() {
        assert_eq!([size(0), size(999_999), size(2 << 30)], ["0 B", "1000.0 kB", "2.1 GB"]);
        assert_eq!(time(Duration::from_secs(75)), "75.0 s");
    }
}
