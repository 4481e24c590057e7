//! The limit of all bodies of the process together.
//!
//! One VU's body has a bound of its own; a thousand VUs with a thousand large bodies need another one. The holder
//! of a peer's bytes has a [`Share`] beside them and says how many they are. The first MiB of each is free: small bodies, which
//! are nearly all, touch nothing that cores share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// So much is free, and is counted at a time beyond that.
pub const STEP: u64 = 1 << 20;

/// The bound, and what is counted towards it, in steps.
#[derive(Debug)]
pub struct Budget {
    limit: AtomicU64,
    held: AtomicU64,
    spares_addresses: AtomicBool,
}

/// The budget of this process: HTTP bodies as they come, as they are unpacked, and as scripts hold them; messages of
/// other protocols that are put together before they are handed on. It is without bound until [`Budget::set_limit`]
/// is called.
pub static BODIES: Budget = Budget::new(u64::MAX);

/// Why there is no room for a body.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Exhausted {
    /// All bodies together would pass this many bytes.
    #[error("all bodies together would exceed {0} bytes (maxBodyMemory)")]
    Bound(u64),
    /// The system has none, though the bound allows it.
    #[error("the system has no memory left for the body")]
    System,
}

impl Budget {
    const fn new(limit: u64) -> Self {
        Self {
            limit: AtomicU64::new(limit),
            held: AtomicU64::new(0),
            spares_addresses: AtomicBool::new(false),
        }
    }

    /// From now on this is the bound, in bytes. Bytes that are held already stay.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Relaxed);
    }

    /// From now on, no addresses are reserved that may stay unused: there are few of them.
    pub fn spare_addresses(&self) {
        self.spares_addresses.store(true, Relaxed);
    }

    /// The bound, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// The bytes that are counted now.
    pub fn held(&self) -> u64 {
        self.held.load(Relaxed).saturating_mul(STEP)
    }

    fn take(&self, steps: u64) -> Result<(), Exhausted> {
        let limit = self.limit();
        let held = self.held.fetch_add(steps, Relaxed).saturating_add(steps);
        if held > limit / STEP {
            self.give_back(steps);
            return Err(Exhausted::Bound(limit));
        }
        Ok(())
    }

    fn give_back(&self, steps: u64) {
        self.held.fetch_sub(steps, Relaxed);
    }
}

/// One body's part of [`BODIES`]; given back when it is dropped.
#[derive(Debug, Default)]
pub struct Share {
    steps: u32,
}

impl Share {
    /// The body now has, or is about to have, `bytes` bytes in all.
    ///
    /// # Errors
    /// That would be more than the process may hold. Bytes that were covered before stay covered.
    #[inline]
    pub fn cover(&mut self, bytes: u64) -> Result<(), Exhausted> {
        if bytes <= STEP.max(u64::from(self.steps) * STEP) { Ok(()) } else { self.grow(bytes) }
    }

    #[cold]
    fn grow(&mut self, bytes: u64) -> Result<(), Exhausted> {
        let steps = u32::try_from(bytes.div_ceil(STEP)).unwrap_or(u32::MAX);
        BODIES.take(u64::from(steps - self.steps))?;
        self.steps = steps;
        Ok(())
    }

    /// Its bytes are gone.
    #[inline]
    pub fn release(&mut self) {
        if self.steps > 0 {
            BODIES.give_back(u64::from(self.steps));
            self.steps = 0;
        }
    }
}

impl Drop for Share {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

/// From this size on, all that may come is reserved at once: address space, which is memory only where something was written.
/// To grow a large buffer by and by is to copy it, which takes a core a second and twice the memory.
const WHOLE_MIN: usize = 32 << 20;

/// Makes room for `more` bytes in a buffer, to which `most` may be added at all, and no room beyond that.
///
/// # Errors
/// The system has no more memory.
pub fn make_room(buffer: &mut Vec<u8>, more: usize, most: u64) -> Result<(), Exhausted> {
    if more <= buffer.capacity() - buffer.len() {
        return Ok(());
    }
    make_more_room(buffer, more, usize::try_from(most).unwrap_or(usize::MAX))
}

#[inline(never)]
fn make_more_room(buffer: &mut Vec<u8>, more: usize, most: usize) -> Result<(), Exhausted> {
    let length = buffer.len();
    let all = most.min(usize::try_from(BODIES.limit()).unwrap_or(usize::MAX));
    let is_large = length >= WHOLE_MIN;
    let is_whole = is_large && !BODIES.spares_addresses.load(Relaxed);
    if is_whole && all > more && buffer.try_reserve_exact(all).is_ok() {
        return Ok(());
    }
    let usual = if is_large { length / 4 } else { length.max(4096) };
    let room = buffer.try_reserve_exact(usual.min(most).max(more));
    room.or_else(|_| buffer.try_reserve_exact(more)).map_err(|_| Exhausted::System)
}

/// How much room to make for `more` bytes behind `length`, where `room` are free and `most` can follow at all: for few bytes
/// as `Vec` does, but never beyond what may come, and for many by a quarter at a time. `None`: there is room.
///
/// For messages that are unpacked into all the room there is, and so must not have it at once as [`make_room`] gives it.
pub fn growth(length: usize, room: usize, more: usize, most: u64) -> Option<usize> {
    const DOUBLED_MAX: usize = 64 << 20;
    if more <= room {
        return None;
    }
    let usual = if length < DOUBLED_MAX { length.max(4096) } else { length / 4 };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Some(usual.min(most).max(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_passed_and_gets_back_what_was_taken() {
        let budget = Budget::new(10 * STEP + 5);
        assert_eq!(budget.take(10), Ok(()));
        assert_eq!(budget.take(1), Err(Exhausted::Bound(10 * STEP + 5)));
        assert_eq!(budget.held(), 10 * STEP);
        budget.give_back(4);
        assert_eq!(budget.take(5), Err(Exhausted::Bound(10 * STEP + 5)));
        assert_eq!(budget.take(4), Ok(()));
    }

    #[test]
    fn the_first_step_is_free_and_growing_counts_each_step_once() {
        let mut share = Share::default();
        share.cover(STEP).unwrap();
        assert_eq!(share.steps, 0);
        share.cover(STEP + 1).unwrap();
        assert_eq!(share.steps, 2);
        share.cover(2 * STEP).unwrap();
        share.cover(5).unwrap();
        assert_eq!(share.steps, 2);
        assert!(BODIES.held() >= 2 * STEP);
        share.release();
        assert_eq!(share.steps, 0);
    }

    #[test]
    fn room_grows_with_a_body_and_never_beyond_its_bound() {
        let room = |length: usize, more: usize, most: u64| {
            let mut buffer = vec![0; length];
            make_room(&mut buffer, more, most).unwrap();
            buffer.capacity() - length
        };
        assert_eq!(room(10, 100, 1000), 1000);
        assert_eq!(room(1 << 20, 100, 1 << 40), 1 << 20);
        assert_eq!(room(1 << 20, 100, 500), 500);
        assert_eq!(room(1 << 25, 100, 1 << 30), 1 << 30);
        // More than there is, even of addresses.
        assert_eq!(room(1 << 25, 100, 1 << 60), 1 << 23);
    }

    #[test]
    fn messages_grow_by_a_quarter_at_a_time() {
        assert_eq!(growth(10, 100, 100, 1000), None);
        assert_eq!(growth(10, 0, 100, 1000), Some(1000));
        assert_eq!(growth(1 << 20, 0, 100, 1 << 40), Some(1 << 20));
        assert_eq!(growth(1 << 29, 0, 100, 1 << 40), Some(1 << 27));
        assert_eq!(growth(1 << 29, 0, 100, 500), Some(500));
        assert_eq!(growth(1 << 29, 0, 100, 50), Some(100));
    }
}
