//! References that are kept between calls.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use crate::sys;
use crate::touched;
use crate::value::Value;
use crate::vm::Ctx;

/// A value kept alive by its VM until [`Ctx::unroot`], or until the VM goes. It is a number, not a pointer: it may be
/// stored anywhere, the host included, without keeping the VM alive or leaking it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a root that is dropped keeps its value until the VM goes"]
pub struct Root {
    index: u32,
    vm: u64,
}

#[derive(Default)]
pub(crate) struct Roots {
    slots: RefCell<Vec<Option<sys::JSValue>>>,
    free: RefCell<Vec<u32>>,
    count: Cell<usize>,
}

impl Roots {
    pub(crate) fn clear(&self, ctx: NonNull<sys::JSContext>) {
        for value in self.slots.take().into_iter().flatten() {
            // SAFETY: each slot owns its reference.
            unsafe { sys::JS_FreeValue(ctx.as_ptr(), value) };
        }
    }
}

impl<'js> Ctx<'js> {
    /// Keeps a value.
    pub fn root(self, value: Value<'js>) -> Root {
        let roots = &self.inner.roots;
        assert!(
            value.ctx().inner.id == self.inner.id,
            "a value is kept in the VM that it came from"
        );
        let raw = value.into_raw();
        roots.count.set(roots.count.get() + 1);
        let mut slots = roots.slots.borrow_mut();
        let index = if let Some(index) = roots.free.borrow_mut().pop() {
            slots[index as usize] = Some(raw);
            index
        } else {
            slots.push(Some(raw));
            u32::try_from(slots.len() - 1).expect("fewer than four billion roots")
        };
        Root { index, vm: self.inner.id }
    }

    /// The value that is kept.
    pub fn rooted(self, root: &Root) -> Value<'js> {
        assert!(root.vm == self.inner.id, "a root is used in the VM that it came from");
        let slots = self.inner.roots.slots.borrow();
        let slot = &slots[root.index as usize];
        touched::note(slot);
        let raw = slot.expect("a root's slot is taken");
        // SAFETY: the slot owns a reference of this context.
        unsafe { Value::borrowed(self, raw) }
    }

    /// Gives the value back and forgets it.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a root that was given back must not be used again"
    )]
    pub fn unroot(self, root: Root) -> Value<'js> {
        assert!(root.vm == self.inner.id, "a root is used in the VM that it came from");
        let roots = &self.inner.roots;
        let raw =
            roots.slots.borrow_mut()[root.index as usize].take().expect("a root's slot is taken");
        roots.free.borrow_mut().push(root.index);
        roots.count.set(roots.count.get() - 1);
        // SAFETY: the slot's reference becomes the value's.
        unsafe { Value::owned(self, raw) }
    }

    /// How many values are kept.
    pub fn root_count(self) -> usize {
        self.inner.roots.count.get()
    }
}
