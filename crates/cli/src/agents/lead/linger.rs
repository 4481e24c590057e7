//! `--linger`: the REST API of a test on several machines answers after its end, too.

use std::time::Duration;

use crate::run::signal::SignalWatch;

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for a signal. A test that a signal cut short does not linger.
///
/// The agents are free by then and the summary is told: nothing more can be measured.
pub(super) fn linger(signals: &SignalWatch, quiet: bool) {
    if signals.count() > 0 {
        return;
    }
    signals.only_count();
    if !quiet {
        log::info!("the test is over; --linger waits for Ctrl-C");
    }
    while signals.count() == 0 {
        std::thread::park_timeout(LOOK);
    }
}
