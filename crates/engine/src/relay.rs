//! Frames for another thread: the uplink of an agent.
//!
//! The gatherer's thread lays frames down, the other thread fetches them when it likes. The lock between the two is held for
//! the time of a push or of a swap; no core ever takes it.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brunt_metrics::{Frame, Verdict};

use crate::gather::Listener;

/// Frames that may lie there: above a minute of sixty cores. When they are not fetched for so long, each further one is merged
/// into the last: totals stay exact, moments become coarser.
const LYING_MAX: usize = 1 << 15;

/// The listener that lays frames down.
#[derive(Debug)]
pub struct Relay(Arc<Mutex<Lying>>);

/// The other end.
#[derive(Debug)]
pub struct Relayed(Arc<Mutex<Lying>>);

#[derive(Debug, Default)]
struct Lying {
    frames: Vec<Arc<Frame>>,
    is_over: bool,
}

impl Relay {
    /// Both ends.
    pub fn new() -> (Relay, Relayed) {
        let lying = Arc::new(Mutex::default());
        (Relay(Arc::clone(&lying)), Relayed(lying))
    }
}

impl Relayed {
    /// All frames since the last call, in their order; and whether these are the last ones.
    pub fn take(&self) -> (Vec<Arc<Frame>>, bool) {
        let mut lying = lock(&self.0);
        (take(&mut lying.frames), lying.is_over)
    }
}

impl Listener for Relay {
    fn frame(&mut self, frame: &Arc<Frame>) {
        let mut lying = lock(&self.0);
        if lying.frames.len() < LYING_MAX {
            lying.frames.push(Arc::clone(frame));
        } else if let Some(last) = lying.frames.last_mut() {
            Arc::make_mut(last).merge(Frame::clone(frame));
        }
    }

    fn end(&mut self, _: &Verdict) {
        lock(&self.0).is_over = true;
    }
}

fn lock(lying: &Mutex<Lying>) -> MutexGuard<'_, Lying> {
    lying.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use brunt_metrics::Dropped;

    use super::*;

    fn frame(samples: u64) -> Arc<Frame> {
        Arc::new(Frame { dropped: Dropped { samples, ..Dropped::default() }, ..Frame::default() })
    }

    #[test]
    fn each_frame_is_fetched_once_and_the_end_is_seen() {
        let (mut relay, relayed) = Relay::new();
        relay.frame(&frame(1));
        relay.frame(&frame(2));
        let (frames, is_over) = relayed.take();
        assert_eq!((frames.len(), is_over), (2, false));
        relay.end(&Verdict::default());
        let (frames, is_over) = relayed.take();
        assert_eq!((frames.len(), is_over), (0, true));
    }

    #[test]
    fn memory_has_a_bound_and_nothing_is_lost() {
        let (mut relay, relayed) = Relay::new();
        let count = LYING_MAX as u64 + 100;
        for _ in 0..count {
            relay.frame(&frame(1));
        }
        let (frames, _) = relayed.take();
        assert_eq!(frames.len(), LYING_MAX);
        assert_eq!(frames.iter().map(|frame| frame.dropped.samples).sum::<u64>(), count);
    }
}
