//! SIGINT and SIGTERM.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Both signals, from the moment this exists: the process is no longer killed by them.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal; its name as k6 tells it.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupt",
            _ = self.terminate.recv() => "terminated",
        }
    }
}
