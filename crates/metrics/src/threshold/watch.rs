//! How long a threshold has been broken, and when it was first.

use std::time::Duration;

use super::Timing;
use crate::summary::Breach;

/// The looks at a threshold so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    hold: Duration,
    /// Since when it has not held without a break.
    since: Option<Duration>,
    breach: Option<Breach>,
}

impl Watch {
    /// Before the first look.
    pub fn new(timing: &Timing) -> Self {
        Self { hold: timing.hold.unwrap_or_default(), ..Self::default() }
    }

    /// Takes note of a look. `now` never goes back.
    pub fn look(&mut self, now: Duration, holds: bool, value: Option<f64>) {
        let was_since = self.since;
        self.since = (!holds).then(|| was_since.unwrap_or(now));
        let Some(at) = self.since.or(was_since) else { return };
        let lasted = now.saturating_sub(at);
        match &mut self.breach {
            Some(breach) if breach.at == at => breach.lasted = lasted,
            None if !holds && lasted + Timing::SLACK >= self.hold => {
                self.breach = Some(Breach { at, lasted, value });
            }
            _ => {}
        }
    }

    /// The first time that it was broken for as long as it must be.
    pub fn breach(&self) -> Option<Breach> {
        self.breach
    }
}
