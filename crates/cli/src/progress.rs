//! How far the test is: bars on a terminal, plain lines in a pipe.
//!
//! A thread of its own takes a [`Snapshot`] from a [`ProgressSource`] every 100 ms (terminal) or every
//! second (pipe), [`render`]s it and hands it to the [`Screen`](crate::screen::Screen).

use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::screen::Screen;

mod clock;
mod line;
mod render;
mod snapshot;

pub(crate) use self::{
    clock::clock,
    render::{Style, render},
    snapshot::{Phase, ProgressSource, Rates, ScenarioProgress, Snapshot, State, Work},
};

const TERMINAL_PERIOD: Duration = Duration::from_millis(100);
const PIPE_PERIOD: Duration = Duration::from_secs(1);

/// The running display. Dropping it without [`Progress::stop`] leaves the thread to end by itself.
pub(crate) struct Progress {
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Starts to draw. `is_k6s`: as k6 does, on a terminal too.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(
        source: Arc<dyn ProgressSource>,
        screen: Arc<Screen>,
        (color, is_k6s): (bool, bool),
    ) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(1);
        let on_terminal = screen.stdout_is_terminal();
        let period = if on_terminal { TERMINAL_PERIOD } else { PIPE_PERIOD };
        let thread =
            std::thread::Builder::new().name("brunt-progress".to_owned()).spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(period) {
                    let snapshot = source.snapshot();
                    if on_terminal {
                        screen.draw(render(&snapshot, &terminal_style(color, is_k6s)));
                    } else {
                        // That stdout is closed is noticed when the summary is written.
                        let _ = screen.stdout(&render(&snapshot, &Style::pipe()));
                    }
                }
                if on_terminal {
                    screen.draw(String::new());
                }
            })?;
        Ok(Self { stop, thread })
    }

    /// Takes the bars away and waits for the thread.
    pub(crate) fn stop(self) {
        let _ = self.stop.try_send(());
        let _ = self.thread.join();
    }
}

/// Draws the state at the end once, as text that stays.
///
/// # Errors
/// stdout is closed.
pub(crate) fn draw_last(
    snapshot: &Snapshot,
    screen: &Screen,
    (color, is_k6s): (bool, bool),
) -> std::io::Result<()> {
    let style =
        if screen.stdout_is_terminal() { terminal_style(color, is_k6s) } else { Style::pipe() };
    screen.stdout(&render(snapshot, &Style { height: None, ..style }))
}

/// Columns and lines of the terminal now: a change of its size shows at the next drawing.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((80, 24), |(w, h)| (usize::from(w.0), usize::from(h.0)));
    (width.max(20), height.max(4))
}

/// As wide and high as the terminal is now.
fn terminal_style(color: bool, is_k6s: bool) -> Style {
    let (width, height) = size();
    Style { bars: true, color, width: Some(width), height: Some(height), is_k6s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::tests::Tape;

    struct Fixed;

    impl ProgressSource for Fixed {
        fn snapshot(&self) -> Snapshot {
            Snapshot { phase: Phase::Running, ..Snapshot::default() }
        }
    }

    #[test]
    fn stopping_takes_the_bars_away() {
        let tape = Tape::default();
        let screen = Screen::new(Box::new(tape.clone()), true, Box::new(Tape::default()), true);
        let screen = Arc::new(screen);
        let progress =
            Progress::start(Arc::new(Fixed), Arc::clone(&screen), (false, false)).unwrap();
        while !tape.text().contains("running") {
            std::thread::yield_now();
        }
        progress.stop();
        assert!(tape.text().ends_with("\x1b[J"));
    }
}
