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

/// The length of an array. Where there are more types, the array is followed by others, each a step further away.
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
    fn number(&self, key: &SlotKey) -> usize {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if key.0.load(Relaxed) == 0 {
            *last += 1;
            key.0.store(*last, Relaxed);
        }
        key.0.load(Relaxed)
    }
}

/// The slots of one VM or core. Slot 0 of the first array stays empty: types without a number have it.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    near: [OnceCell<Box<dyn Any>>; SLOTS],
    /// The slots of numbers beyond.
    more: OnceCell<Box<Self>>,
}

impl Slots {
    /// The content of a slot. The slot of a type without a number is empty.
    #[inline]
    pub(crate) fn get<T: 'static>(&self, key: &SlotKey) -> Option<&T> {
        let number = key.0.load(Relaxed);
        match self.near.get(number) {
            Some(slot) => slot.get()?.downcast_ref(),
            None => self.far(number)?.downcast_ref(),
        }
    }

    /// The content of a slot behind the first array.
    #[cold]
    fn far(&self, number: usize) -> Option<&dyn Any> {
        let (mut slots, mut number) = (self, number);
        while number >= SLOTS {
            slots = slots.more.get()?;
            number -= SLOTS;
        }
        Some(&**slots.near[number].get()?)
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
        let (mut slots, mut number) = (self, count.number(key));
        while number >= SLOTS {
            slots = slots.more.get_or_init(Box::default);
            number -= SLOTS;
        }
        let kept = slots.near[number].get_or_init(|| Box::new(make()));
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
    fn there_is_a_slot_for_any_number_of_types() {
        let count = Count::new();
        let keys: Vec<SlotKey> = (0..3 * SLOTS).map(|_| SlotKey::new()).collect();
        let slots = Slots::default();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(slots.make(key, &count, || number), &number);
            // Of types that other VMs or cores have used, this one may have none.
            assert_eq!(Slots::default().get::<usize>(key), None);
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(slots.get(key), Some(&number));
            assert_eq!(slots.make(key, &count, || 99), &number);
        }
        // In another VM the first to be made may be one far behind.
        let other = Slots::default();
        assert_eq!(other.make(&keys[40], &count, || 7), &7);
        assert_eq!((other.get::<i32>(&keys[40]), other.get::<i32>(&keys[41])), (Some(&7), None));
    }
}
