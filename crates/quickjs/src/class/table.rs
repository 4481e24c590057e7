//! Which classes a VM knows, and how they are found.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::hash::{Hash as _, Hasher};
use std::ptr::NonNull;

use crate::sys;

/// The classes that a VM knows.
#[derive(Default)]
pub(crate) struct ClassTable {
    pub(super) known: RefCell<Vec<(TypeId, sys::JSClassID)>>,
    /// Those that were asked for last, each in the place of its type. They lie where the VM itself does, which is in the
    /// processor's cache when the list is not.
    recent: [Cell<Option<(TypeId, sys::JSClassID)>>; RECENT],
    /// Objects that keep the classes' shapes.
    pub(super) keepers: RefCell<Vec<sys::JSValue>>,
}

/// How many classes are found without a search, at best.
const RECENT: usize = 8;

/// The place of a type in a table: a type's number is a hash already.
#[derive(Default)]
struct Place(u64);

impl Hasher for Place {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte));
    }
    fn write_u64(&mut self, number: u64) {
        self.0 ^= number;
    }
}

impl ClassTable {
    /// Frees the objects that keep the classes' shapes.
    pub(crate) fn clear(&self, ctx: NonNull<sys::JSContext>) {
        for keeper in self.keepers.take() {
            // SAFETY: the table owns its references.
            unsafe { sys::JS_FreeValue(ctx.as_ptr(), keeper) };
        }
    }

    pub(super) fn find<T: 'static>(&self) -> Option<sys::JSClassID> {
        let id = TypeId::of::<T>();
        let mut place = Place::default();
        id.hash(&mut place);
        let recent = &self.recent[place.finish() as usize % RECENT];
        if let Some((known, class)) = recent.get()
            && known == id
        {
            return Some(class);
        }
        let known = self.known.borrow();
        let &(_, class) = known.iter().find(|(known, _)| *known == id)?;
        recent.set(Some((id, class)));
        Some(class)
    }
}
