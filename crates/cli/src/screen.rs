//! The one owner of stdout and stderr: keeps progress bars below, and log lines above them.
//!
//! Bars are a block of lines at the bottom of a terminal. For any other text the block is
//! erased first and drawn again after, under one lock, so that nothing is garbled. A load core never
//! takes this lock.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, MutexGuard},
};

/// Both output streams of the process.
pub(crate) struct Screen {
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    inner: Mutex<Inner>,
}

struct Inner {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    /// The bars as they stand on the terminal now; empty if none. Each line ends with `\n` and fits
    /// the width of the terminal.
    bars: String,
}

impl Screen {
    /// The process's own streams. `TERM=dumb` counts as no terminal.
    pub(crate) fn of_this_process(term: Option<&str>) -> Self {
        let smart = term != Some("dumb");
        Self::new(
            Box::new(io::stdout()),
            smart && io::stdout().is_terminal(),
            Box::new(io::stderr()),
            smart && io::stderr().is_terminal(),
        )
    }

    /// Any two streams.
    pub(crate) fn new(
        stdout: Box<dyn Write + Send>,
        stdout_is_terminal: bool,
        stderr: Box<dyn Write + Send>,
        stderr_is_terminal: bool,
    ) -> Self {
        let inner = Mutex::new(Inner { stdout, stderr, bars: String::new() });
        Self { stdout_is_terminal, stderr_is_terminal, inner }
    }

    pub(crate) fn stdout_is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_terminal
    }

    /// Writes results.
    ///
    /// # Errors
    /// stdout is closed or full.
    pub(crate) fn stdout(&self, text: &str) -> io::Result<()> {
        self.stdout_bytes(text.as_bytes())
    }

    /// The same for what is no text.
    ///
    /// # Errors
    /// stdout is closed or full.
    pub(crate) fn stdout_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.lock();
        inner.erase();
        let Inner { stdout, .. } = &mut *inner;
        let written = stdout.write_all(bytes);
        inner.redraw();
        written.and(inner.stdout.flush())
    }

    /// Writes talk. A closed stderr is ignored.
    pub(crate) fn stderr(&self, text: &str) {
        let mut inner = self.lock();
        // Bars stand on stdout; they are in the way only if both streams are the same terminal.
        let in_the_way = self.stderr_is_terminal && !inner.bars.is_empty();
        if in_the_way {
            inner.erase();
            let _ = inner.stdout.flush();
        }
        let _ = inner.stderr.write_all(text.as_bytes());
        let _ = inner.stderr.flush();
        if in_the_way {
            inner.redraw();
            let _ = inner.stdout.flush();
        }
    }

    /// Puts `bars` in place of the bars that stand there now. An empty text takes them away.
    pub(crate) fn draw(&self, bars: String) {
        let mut inner = self.lock();
        inner.erase();
        inner.bars = bars;
        inner.redraw();
        let _ = inner.stdout.flush();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of a writer leaves nothing half done that matters more than the next line.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    /// Moves up to the first line of the bars and clears from there.
    fn erase(&mut self) {
        if !self.bars.is_empty() {
            let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
            let rows = rows(&self.bars, width.unwrap_or(usize::MAX));
            let _ = write!(self.stdout, "\r\x1b[{rows}A\x1b[J");
        }
    }

    fn redraw(&mut self) {
        let Self { stdout, bars, .. } = self;
        let _ = stdout.write_all(bars.as_bytes());
    }
}

/// How many rows of a terminal the bars take. They fitted when they were drawn; if it has become
/// narrower since, it has broken the longer lines.
fn rows(bars: &str, width: usize) -> usize {
    let of_line = |line: &str| {
        let mut columns = 0_usize;
        let mut in_sequence = false;
        for c in line.chars() {
            match c {
                '\x1b' => in_sequence = true,
                c if in_sequence => in_sequence = !c.is_ascii_alphabetic(),
                _ => columns += 1,
            }
        }
        columns.div_ceil(width.max(1)).max(1)
    };
    bars.lines().map(of_line).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;

    /// A stream that can be read afterwards.
    #[derive(Clone, Default)]
    pub(crate) struct Tape(Arc<Mutex<Vec<u8>>>);

    impl Tape {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Tape {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_line_goes_above_the_bars() {
        let tape = Tape::default();
        let screen = Screen::new(Box::new(tape.clone()), true, Box::new(tape.clone()), true);
        screen.draw("one\ntwo\n".to_owned());
        screen.stderr("log\n");
        assert_eq!(tape.text(), "one\ntwo\n\r\x1b[2A\x1b[Jlog\none\ntwo\n");
        screen.draw(String::new());
        screen.stderr("bye\n");
        assert!(tape.text().ends_with("one\ntwo\n\r\x1b[2A\x1b[Jbye\n"));
    }

    #[test]
    fn a_terminal_that_became_narrower_has_broken_the_lines() {
        let bars = "\nrunning (01.0s)\n\x1b[32mab\x1b[0m [====]\n";
        assert_eq!(rows(bars, 80), 3);
        assert_eq!(rows(bars, 10), 4);
        assert_eq!(rows(bars, 8), 5);
        assert_eq!(rows(bars, 0), 1 + 15 + 9);
    }

    #[test]
    fn a_log_file_does_not_disturb_the_bars() {
        let (out, err) = (Tape::default(), Tape::default());
        let screen = Screen::new(Box::new(out.clone()), true, Box::new(err.clone()), false);
        screen.draw("one\n".to_owned());
        screen.stderr("log\n");
        assert_eq!((out.text(), err.text()), ("one\n".to_owned(), "log\n".to_owned()));
    }
}
