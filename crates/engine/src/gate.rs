//! How many VUs of a scenario iterate, decided from outside while the test runs (`externally-controlled`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use brunt_schedule::Segment;
use tokio::sync::Notify;

use crate::stop::StopHandle;

/// Lets the first VUs through and keeps the others waiting. Shared by all cores and whoever decides.
#[derive(Debug)]
pub(crate) struct Gate {
    segment: Segment,
    /// Of the whole test.
    vus: AtomicU64,
    max: u64,
    is_paused: AtomicBool,
    /// Of this process; 0 while it is paused.
    open: AtomicU64,
    changed: Notify,
}

impl Gate {
    pub(crate) fn new(vus: u64, max: u64, segment: Segment) -> Gate {
        let gate = Gate {
            segment,
            vus: AtomicU64::new(vus),
            max,
            is_paused: AtomicBool::new(false),
            open: AtomicU64::new(0),
            changed: Notify::new(),
        };
        gate.apply();
        gate
    }

    fn apply(&self) {
        let vus = if self.is_paused.load(SeqCst) { 0 } else { self.vus.load(SeqCst) };
        self.open.store(self.segment.scale(vus), SeqCst);
        self.changed.notify_waiters();
    }

    /// Another number of VUs, or another limit. Nothing changes if that can't be.
    pub(crate) fn scale(&self, vus: Option<u64>, max: Option<u64>) -> Result<(), String> {
        let vus = vus.unwrap_or_else(|| self.vus.load(SeqCst));
        let most = max.unwrap_or(self.max);
        if most > self.max {
            return Err(format!(
                "the number of maxVUs ({most}) can't be raised above that of the script ({})",
                self.max
            ));
        }
        if vus > most {
            return Err(format!(
                "invalid configuration supplied: the number of active VUs ({vus}) must be less than or equal to the \
                 number of maxVUs ({most})"
            ));
        }
        self.vus.store(vus, SeqCst);
        self.apply();
        Ok(())
    }

    pub(crate) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, SeqCst);
        self.apply();
    }

    /// Whether this handle's VU may iterate.
    pub(crate) fn admits(&self, handle: u32) -> bool {
        u64::from(handle) < self.open.load(SeqCst)
    }

    /// Waits until it may, or until it is stopped.
    pub(crate) async fn wait(&self, handle: u32, stop: &StopHandle) {
        loop {
            // Before looking: what changes from here on wakes it.
            let changed = self.changed.notified();
            if self.admits(handle) || stop.is_stopped() {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = stop.stopped() => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_admits_as_many_as_it_is_told() {
        let gate = Gate::new(2, 5, Segment::full());
        let admitted = || (0..5).filter(|handle| gate.admits(*handle)).count();
        assert_eq!(admitted(), 2);
        gate.scale(Some(4), None).unwrap();
        assert_eq!(admitted(), 4);
        gate.pause(true);
        assert_eq!(admitted(), 0);
        gate.scale(Some(1), None).unwrap();
        gate.pause(false);
        assert_eq!(admitted(), 1);
        assert!(gate.scale(Some(6), None).is_err());
        assert!(gate.scale(Some(3), Some(2)).is_err());
        assert!(gate.scale(None, Some(6)).is_err());
        assert_eq!(admitted(), 1);
    }
}
