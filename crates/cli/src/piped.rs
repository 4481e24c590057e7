//! Standard streams that may be a terminal by mistake: a reader that waits for input says so, and no command writes
//! binary data to a screen.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    time::Duration,
};

/// A pipe that delivers nothing for so long is worth a word.
const QUIET: Duration = Duration::from_secs(1);

/// Standard input. A user who gives a command none is told that it waits: at once on a terminal, after a second in a
/// pipe from which nothing comes.
pub(crate) struct Awaited {
    stdin: io::Stdin,
    /// Dropped with the first bytes (or the end): then nothing needs to be said.
    nothing_yet: Option<SyncSender<()>>,
}

impl Awaited {
    /// `what` is awaited; `instead` says how it is given otherwise.
    pub(crate) fn new(what: &'static str, instead: &'static str) -> Self {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            log::info!(hint = instead; "waiting for {what} on standard input; Ctrl-D ends it");
            return Self { stdin, nothing_yet: None };
        }
        let (sender, receiver) = sync_channel::<()>(0);
        let wait = move || {
            if receiver.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
                log::info!(hint = instead; "waiting for {what} on standard input");
            }
        };
        let thread = std::thread::Builder::new().name("brunt-waiting".to_owned()).spawn(wait);
        // Without the thread nothing is said.
        Self { stdin, nothing_yet: thread.is_ok().then_some(sender) }
    }
}

impl Read for Awaited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stdin.read(buffer);
        self.nothing_yet = None;
        read
    }
}

/// Whether what is written there appears on a screen. `stdout` is standard output, all else a path.
pub(crate) fn is_screen(output: &str) -> bool {
    if output == "stdout" {
        return io::stdout().is_terminal();
    }
    // A FIFO would block who opens it.
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let is_device =
            std::fs::metadata(output).is_ok_and(|found| found.file_type().is_char_device());
        is_device && File::options().write(true).open(output).is_ok_and(|file| file.is_terminal())
    }
    #[cfg(not(unix))]
    File::options().write(true).open(output).is_ok_and(|file| file.is_terminal())
}
