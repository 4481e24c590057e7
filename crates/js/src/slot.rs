//! State of modules: each type has a slot of its own in a VM or on a core, and no other type names it.
//!
//! A slot is found by a number, which a type gets when it is first used in the process: a look at an array, as cheap as
//! at a member.

use std::any::Any;
use std::cell::OnceCell;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use crate::host::Host;

/// The length of the array: a power of two, since numbers are masked with it. Slot 0 stays empty; the type after the last
/// one stops the program at its first use, so a test that uses all modules finds it.
const SLOTS: usize = 16;

/// State that each VM has of its own.
pub trait VuSlot: Sized + 'static {
    /// A `static` of this type alone.
    fn key() -> &'static SlotKey;

    /// The state of a VM that has none yet. It may ask the host for other slots.
    fn new(host: &Host) -> Self;
}

/// State that the VUs of a core share.
pub trait CoreSlot: Sized + 'static {
    /// A `static` of this type alone.
    fn key() -> &'static SlotKey;

    /// The state of a core that has none yet, asked for by a VM.
    fn new(host: &Host) -> Self;
}

/// The number of a type's slot: 0 until it is first used.
#[derive(Debug)]
pub struct SlotKey(AtomicUsize);

impl SlotKey {
    /// Without a number.
    #[expect(
        clippy::new_without_default,
        reason = "a default would hide that each type needs its own"
    )]
    pub const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }
}

/// How many types have a number.
pub(crate) struct Count(Mutex<usize>);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(0))
    }

    /// The number of a type, given now if it has none.
    ///
    /// # Panics
    /// If there are more types than [`SLOTS`].
    fn number(&self, key: &SlotKey) -> usize {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if key.0.load(Relaxed) == 0 {
            assert!(*last + 1 < SLOTS, "there is a slot for each type of state: raise SLOTS");
            *last += 1;
            key.0.store(*last, Relaxed);
        }
        key.0.load(Relaxed)
    }
}

/// The slots of one VM or core.
#[derive(Debug, Default)]
pub(crate) struct Slots([OnceCell<Box<dyn Any>>; SLOTS]);

impl Slots {
    /// The content of a slot. The slot of a type without a number is empty.
    #[inline]
    pub(crate) fn get<T: 'static>(&self, key: &SlotKey) -> Option<&T> {
        self.0[key.0.load(Relaxed) & (SLOTS - 1)].get()?.downcast_ref()
    }

    /// Fills a slot.
    ///
    /// # Panics
    /// If two types share a key.
    #[cold]
    pub(crate) fn make<T: 'static>(
        &self,
        key: &SlotKey,
        count: &Count,
        make: impl FnOnce() -> T,
    ) -> &T {
        let kept = self.0[count.number(key)].get_or_init(|| Box::new(make()));
        kept.downcast_ref().expect("each type of state has a key of its own")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static COUNT: Count = Count::new();
    static FIRST: SlotKey = SlotKey::new();
    static SECOND: SlotKey = SlotKey::new();

    #[test]
    fn each_type_has_a_slot_of_its_own_and_is_made_once() {
        let slots = Slots::default();
        assert!(slots.get::<u8>(&FIRST).is_none());
        assert_eq!(slots.make(&FIRST, &COUNT, || 1u8), &1);
        // One may be made while another is.
        let nested = || slots.get::<u8>(&FIRST).map_or(0, |first| u16::from(*first) + 1);
        assert_eq!(slots.make(&SECOND, &COUNT, nested), &2);
        assert_eq!(slots.make(&FIRST, &COUNT, || 9u8), &1);
        assert_eq!((slots.get::<u8>(&FIRST), slots.get::<u16>(&SECOND)), (Some(&1), Some(&2)));
        // Another VM has the same numbers, and nothing in them.
        assert!(Slots::default().get::<u8>(&FIRST).is_none());
    }

    #[test]
    #[should_panic(expected = "raise SLOTS")]
    fn a_type_too_many_is_told() {
        let count = Count::new();
        let keys: Vec<SlotKey> = (0..SLOTS).map(|_| SlotKey::new()).collect();
        for key in &keys {
            count.number(key);
        }
    }
}
