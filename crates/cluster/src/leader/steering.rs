//! The leader is asked to pause the run, to go on, to scale it.

use super::{Leader, json};
use crate::keys::Key;
use crate::phase::Step;
use crate::steering::Wish;
use crate::time::Nanos;

impl Leader {
    /// Keeps a wish until this process leads the run; then it becomes a part of the phase at once.
    pub(super) fn wish(&mut self, wish: Wish) {
        self.wishes.add(wish);
    }

    /// Writes down how the run is steered, if somebody asked for a change.
    pub(super) fn steer(&mut self) {
        if !self.stage.is_leading() {
            return;
        }
        let wish = std::mem::take(&mut self.wishes);
        if self.phase.steering.take(wish) {
            self.desk.put(Key::Phase, Some(json(&self.phase)));
        }
    }

    /// Whether the run, with all agents ready, waits to be resumed. As long as it does, loading has all its time.
    pub(super) fn is_held(&mut self, now: Nanos) -> bool {
        let is_held = self.phase.steering.paused && self.phase.phase == Step::Load;
        if is_held {
            self.phase_at = now;
        }
        is_held
    }
}
