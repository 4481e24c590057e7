//! The limit of a server's frames that are of no use.

use brunt_net::clock::Clock;

/// The maximum number of frames without use in [`SPAN_NS`]: 2000 a second, where servers of good will send a few.
const FRAMES: usize = 20_000;

const SPAN_NS: u64 = 10_000_000_000;

/// The number of them that each frame of use gives back: some servers send a PING or a new window with each.
const GAIN: usize = 16;

/// Counts frames that cost work and yield nothing: a server that sends nothing else, as fast as it can, is cut off
/// (RFC 9113 §10.5), which takes it a few milliseconds.
#[derive(Debug)]
pub(super) struct Patience {
    left: usize,
    /// When it was whole (unix ns).
    since: u64,
}

impl Patience {
    pub(super) fn new(now: u64) -> Self {
        Self { left: FRAMES, since: now }
    }

    /// Something of use came, or went.
    pub(super) fn gains(&mut self) {
        self.left = (self.left + GAIN).min(FRAMES);
    }

    /// Something without use came. `false`: that was too much. The clock is looked at only at the end of patience.
    pub(super) fn bears(&mut self, cost: usize, clock: Clock) -> bool {
        if let Some(left) = self.left.checked_sub(cost) {
            self.left = left;
            return true;
        }
        let now = clock();
        let is_new = now.saturating_sub(self.since) >= SPAN_NS;
        if is_new {
            *self = Self::new(now);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local!(static NOW: Cell<u64> = const { Cell::new(1) });

    fn now() -> u64 {
        NOW.get()
    }

    fn borne(patience: &mut Patience) -> usize {
        (0..1_000_000).take_while(|_| patience.bears(1, now)).count()
    }

    #[test]
    fn it_ends_unless_something_of_use_comes_or_time_passes() {
        let mut patience = Patience::new(now());
        assert_eq!(borne(&mut patience), FRAMES);
        patience.gains();
        assert_eq!(borne(&mut patience), GAIN);
        NOW.set(NOW.get() + SPAN_NS);
        // The one that looks at the clock is a present.
        assert_eq!(borne(&mut patience), FRAMES + 1);
        for _ in 0..2 * FRAMES {
            patience.gains();
        }
        assert_eq!(borne(&mut patience), FRAMES);
    }
}
