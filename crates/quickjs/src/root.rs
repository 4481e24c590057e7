//! References that are kept between calls.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

use crate::ctx::Ctx;
use crate::sys;
use crate::touched;
use crate::value::Value;

/// A value kept alive by its VM until [`Ctx::unroot`], until it is dropped, or until the VM goes. It holds no pointer to the
/// VM: it may be stored anywhere, the host included, without keeping the VM alive or leaking it.
///
/// A root that is dropped (an operation was given up, and with it what would have told its promise) frees nothing by
/// itself: it may be dropped where the VM cannot be used. Its value goes when the VM keeps the next one.
#[derive(Debug)]
pub struct Root {
    /// [`GIVEN_BACK`] after [`Ctx::unroot`].
    index: u32,
    dropped: Rc<Dropped>,
}

const GIVEN_BACK: u32 = u32::MAX;

/// Bytes that count as the VM's for each root: its slot, and the timer, listener or operation that keeps it.
const COST: usize = 96;

/// The places of roots that were dropped, in one VM.
#[derive(Debug, Default)]
struct Dropped(RefCell<Vec<u32>>);

impl Drop for Root {
    fn drop(&mut self) {
        if self.index != GIVEN_BACK {
            self.dropped.0.borrow_mut().push(self.index);
        }
    }
}

#[derive(Default)]
pub(crate) struct Roots {
    slots: RefCell<Vec<Option<sys::JSValue>>>,
    free: RefCell<Vec<u32>>,
    count: Cell<usize>,
    /// At most as many as there are slots.
    dropped: Rc<Dropped>,
}

impl Roots {
    pub(crate) fn clear(&self, ctx: NonNull<sys::JSContext>) {
        for value in self.slots.take().into_iter().flatten() {
            // SAFETY: each slot owns its reference.
            unsafe { sys::JS_FreeValue(ctx.as_ptr(), value) };
        }
    }

    fn knows(&self, root: &Root) -> bool {
        Rc::ptr_eq(&self.dropped, &root.dropped)
    }

    /// Takes a value of this runtime out of its slot.
    fn take(&self, rt: NonNull<sys::JSRuntime>, index: u32) -> Option<sys::JSValue> {
        let raw = self.slots.borrow_mut().get_mut(index as usize)?.take()?;
        self.free.borrow_mut().push(index);
        self.count.set(self.count.get() - 1);
        // SAFETY: the runtime is alive; `root` counted it.
        unsafe { sys::brunt_account(rt.as_ptr(), COST, 0) };
        Some(raw)
    }
}

impl<'js> Ctx<'js> {
    /// Keeps a value.
    pub fn root(self, value: Value<'js>) -> Root {
        self.free_dropped_roots();
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
        // SAFETY: the runtime is alive.
        unsafe { sys::brunt_account(self.inner.rt.as_ptr(), 0, COST) };
        Root { index, dropped: Rc::clone(&roots.dropped) }
    }

    /// The value that is kept.
    pub fn rooted(self, root: &Root) -> Value<'js> {
        assert!(self.inner.roots.knows(root), "a root is used in the VM that it came from");
        let slots = self.inner.roots.slots.borrow();
        let slot = &slots[root.index as usize];
        touched::note(slot);
        let raw = slot.expect("a root's slot is taken");
        // SAFETY: the slot owns a reference of this context.
        unsafe { Value::borrowed(self, raw) }
    }

    /// Gives the value back and forgets it.
    pub fn unroot(self, mut root: Root) -> Value<'js> {
        let roots = &self.inner.roots;
        assert!(roots.knows(&root), "a root is used in the VM that it came from");
        let raw = roots.take(self.inner.rt, root.index).expect("a root's slot is taken");
        root.index = GIVEN_BACK;
        // SAFETY: the slot's reference becomes the value's.
        unsafe { Value::owned(self, raw) }
    }

    /// Frees what roots kept that were dropped since.
    pub fn free_dropped_roots(self) {
        let roots = &self.inner.roots;
        // Freeing may drop others: closures of the script's hold roots, too.
        while !roots.dropped.0.borrow().is_empty() {
            for index in roots.dropped.0.take() {
                if let Some(raw) = roots.take(self.inner.rt, index) {
                    // SAFETY: the slot's reference becomes the value's, which frees it.
                    drop(unsafe { Value::owned(self, raw) });
                }
            }
        }
    }

    /// How many values are kept.
    pub fn root_count(self) -> usize {
        self.inner.roots.count.get()
    }
}
