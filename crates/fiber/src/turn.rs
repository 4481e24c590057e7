//! How long a task may work on what a peer sends before the others of its core get their turn.
//!
//! A peer that sends faster than we read would keep its core for ever: there is always more to read, and each piece is
//! quickly done. A reader counts its pieces here, and gives way when its turn is over.

use std::future::Future;
use std::pin::pin;
use std::task::Context;

use crate::clock;
use crate::core::have_chores_done;

/// A turn, in nanoseconds.
const TURN_NS: u64 = 1_000_000;

/// The clock is looked at after this many units of work.
const LOOK: u32 = 64;

/// One task's turn.
#[derive(Debug, Default)]
pub struct Turn {
    units: u32,
    /// When the clock was looked at first in this turn (unix ns); 0: not yet.
    since: u64,
}

impl Turn {
    /// The least cost of a thing that was read.
    pub const THING: u32 = 2;

    /// The cost of reading `count` bytes.
    pub fn bytes(count: usize) -> u32 {
        u32::try_from(count / 512).unwrap_or(u32::MAX / 2)
    }

    /// Counts work. `true`: the turn is over, and a new one has begun; give way now.
    pub fn is_over(&mut self, units: u32) -> bool {
        self.units = self.units.saturating_add(units);
        if self.units < LOOK {
            return false;
        }
        self.units = 0;
        let now = clock::now_ns();
        if self.since == 0 {
            self.since = now;
            return false;
        }
        let is_over = now.saturating_sub(self.since) >= TURN_NS;
        if is_over {
            self.since = 0;
        }
        is_over
    }

    /// It waits by itself: the next turn begins with what it does next.
    pub fn rest(&mut self) {
        *self = Self::default();
    }
}

/// Has the task woken after the core has looked at its timers, its sockets and the other tasks, and what others have put off
/// until the core rests is done. For who polls: return `Pending` then.
pub fn give_way(cx: &mut Context<'_>) {
    have_chores_done();
    // Asked once, it has noted the task.
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

/// [`give_way`], for who awaits.
pub async fn given_way() {
    have_chores_done();
    tokio::task::yield_now().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_over_after_its_time_however_small_the_steps_are() {
        let mut turn = Turn::default();
        let began = clock::now_ns();
        let mut steps = 0u64;
        while !turn.is_over(1) {
            steps += 1;
        }
        assert!(clock::now_ns() - began >= TURN_NS && steps > u64::from(LOOK));
        assert!(!turn.is_over(LOOK), "a new one has begun");
        let rested = clock::now_ns();
        while clock::now_ns() - rested < 2 * TURN_NS {
            std::hint::spin_loop();
        }
        turn.rest();
        assert!(!turn.is_over(LOOK), "rest is no work");
    }
}
