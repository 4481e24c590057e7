//! The atoms that a VM keeps until it goes.

use std::cell::RefCell;
use std::ptr::NonNull;

use crate::sys;

/// The engine's atoms that a VM keeps.
#[derive(Default)]
pub(crate) struct AtomCache {
    /// By the index of a [`Name`](super::Name); 0 where there is none yet.
    pub(super) names: RefCell<Vec<sys::JSAtom>>,
    /// The atoms of keys that are pinned.
    pub(super) pinned: RefCell<Vec<sys::JSAtom>>,
}

impl AtomCache {
    pub(crate) fn clear(&self, ctx: NonNull<sys::JSContext>) {
        for atom in self.names.take().into_iter().chain(self.pinned.take()) {
            if atom != 0 {
                // SAFETY: the cache owns one reference of each atom in it.
                unsafe { sys::JS_FreeAtom(ctx.as_ptr(), atom) };
            }
        }
    }
}
