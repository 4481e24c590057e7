//! The turn in which a task reads a connection, before the others of its core have theirs.
//!
//! A socket that always has more to give keeps whoever reads it busy, and with it the core: the other VUs, the timers
//! (this one's own deadline too) and all other sockets. So reading comes in turns.

use std::task::Context;

use brunt_fiber::clock::now_ns;

/// The number of readings that are free: an ordinary answer takes one or two, and looks at no clock.
const FREE: u32 = 2;

/// The most readings of one turn. Each brings up to 64 KiB, or what a body has room for, which is not above 1 MiB.
const READS_MAX: u32 = 32;

/// How long a turn lasts beyond the free readings. The next reading may pass it, but no more than that one.
const TURN_NS: u64 = 200_000;

/// The turn of one connection.
#[derive(Debug, Default)]
pub(super) struct Turn {
    reads: u32,
    /// The last reading waits for the others of the core, not for the socket.
    rests: bool,
    /// The last reading left nothing in the socket.
    pub(super) is_drained: bool,
    /// When the third reading began (unix ns).
    since: u64,
}

impl Turn {
    /// Before each reading. `true`: the turn is over, and the task is woken when the others, the timers and the sockets
    /// were looked at.
    #[inline]
    pub(super) fn is_over(&mut self, cx: &Context<'_>) -> bool {
        self.reads += 1;
        self.rests = self.reads > FREE && self.look();
        if self.rests {
            come_again(cx);
        }
        self.rests
    }

    fn look(&mut self) -> bool {
        let now = now_ns();
        if self.reads == FREE + 1 {
            self.since = now;
            return false;
        }
        let is_over = self.reads > READS_MAX || now.saturating_sub(self.since) > TURN_NS;
        if is_over {
            self.reads = 0;
        }
        is_over
    }

    /// After a reading: nothing was there.
    #[inline]
    pub(super) fn paused(&mut self) {
        self.reads = 0;
    }

    /// Whether there may be more, and only the turn is over.
    pub(super) fn rests(&self) -> bool {
        self.rests
    }
}

/// The task goes on when all others of the core, its timers and its sockets were looked at. A task that merely wakes
/// itself comes before those.
pub(crate) fn come_again(cx: &Context<'_>) {
    brunt_fiber::turn::give_way(&mut Context::from_waker(cx.waker()));
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn a_turn_ends_and_the_next_one_begins_anew() {
        let mut turn = Turn::default();
        for _ in 0..2 {
            let mut reads = 0;
            poll_fn(|cx| {
                if turn.rests() && reads > 0 {
                    return Poll::Ready(());
                }
                while !turn.is_over(cx) {
                    reads += 1;
                }
                Poll::Pending
            })
            .await;
            assert!((FREE + 1..=READS_MAX).contains(&reads), "{reads}");
            turn.rests = false;
        }
    }

    #[tokio::test]
    async fn readings_that_wait_for_the_socket_never_end_a_turn() {
        let mut turn = Turn::default();
        poll_fn(|cx| {
            for _ in 0..1000 {
                assert!(!turn.is_over(cx) && !turn.is_over(cx));
                turn.paused();
            }
            Poll::Ready(())
        })
        .await;
    }
}
