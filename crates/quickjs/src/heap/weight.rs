//! Memory that Rust code keeps for a script: it counts as the script's.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::ptr;
use std::rc::Rc;

use crate::ctx::Ctx;
use crate::error::Thrown;
use crate::sys;

/// The way to a runtime, for who may outlive it.
pub(crate) struct Ledger(Cell<*mut sys::JSRuntime>);

impl Ledger {
    pub(crate) fn new(rt: *mut sys::JSRuntime) -> Rc<Self> {
        Rc::new(Self(Cell::new(rt)))
    }

    /// The runtime is gone.
    pub(crate) fn close(&self) {
        self.0.set(ptr::null_mut());
    }

    /// Whether the VM may have this number of bytes more; one that is gone needs none.
    pub(crate) fn may_take(&self, bytes: usize) -> bool {
        // SAFETY: the runtime lives until `close`.
        self.0.get().is_null() || unsafe { sys::brunt_may_take(self.0.get(), bytes) }
    }

    /// The first number of bytes is gone, and the second has come.
    pub(crate) fn account(&self, less: usize, more: usize) {
        if !self.0.get().is_null() {
            // SAFETY: the runtime lives until `close`.
            unsafe { sys::brunt_account(self.0.get(), less, more) };
        }
    }
}

/// Bytes of Rust's that count as memory of a VM, until this is dropped: texts of an object that a script fills, entries of a
/// list that a loop makes. It may outlive the VM.
#[derive(Default)]
pub struct Weight {
    bytes: Cell<usize>,
    ledger: OnceCell<Rc<Ledger>>,
}

impl Weight {
    /// A number of bytes.
    ///
    /// # Errors
    /// As [`Weight::set`].
    pub fn of(ctx: Ctx<'_>, bytes: usize) -> Result<Self, Thrown> {
        let weight = Self::default();
        weight.set(ctx, bytes)?;
        Ok(weight)
    }

    /// Sets their number. Ask before the memory is taken, or soon after: in a loop, each time round.
    ///
    /// # Errors
    /// More than the VM may have: the script is stopped past `catch` and `finally`, with an error that names the limit. They
    /// are as many as before then.
    ///
    /// # Panics
    /// If they were those of another VM.
    pub fn set(&self, ctx: Ctx<'_>, bytes: usize) -> Result<(), Thrown> {
        let before = self.bytes.get();
        if bytes > before {
            ctx.may_take(bytes - before)?;
        }
        let ledger = self.ledger.get_or_init(|| Rc::clone(&ctx.inner.ledger));
        assert!(Rc::ptr_eq(ledger, &ctx.inner.ledger), "bytes weigh on the VM that they came from");
        self.bytes.set(bytes);
        ledger.account(before, bytes);
        Ok(())
    }

    /// Adds to their number.
    ///
    /// # Errors
    /// As [`Weight::set`].
    pub fn add(&self, ctx: Ctx<'_>, bytes: usize) -> Result<(), Thrown> {
        self.set(ctx, self.bytes.get().saturating_add(bytes))
    }

    /// How many bytes count.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger.get() {
            ledger.account(self.bytes.get(), 0);
        }
    }
}

impl fmt::Debug for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Weight").field(&self.bytes.get()).finish()
    }
}

/// Where the memory of a VM is counted, for who has no handle to it.
#[derive(Clone)]
pub struct Scale(Rc<Ledger>);

impl Scale {
    /// Bytes that count from now on. If they are more than the VM may have, its script is stopped when it is next looked at.
    pub fn weigh(&self, bytes: usize) -> Weight {
        self.0.account(0, bytes);
        Weight { bytes: Cell::new(bytes), ledger: OnceCell::from(Rc::clone(&self.0)) }
    }
}

impl fmt::Debug for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scale").finish_non_exhaustive()
    }
}

impl Ctx<'_> {
    /// Where the memory of this VM is counted.
    pub fn scale(self) -> Scale {
        Scale(Rc::clone(&self.inner.ledger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hooks, OverLimit, Vm};

    fn vm() -> Vm {
        Vm::new(Rc::new(()), Hooks::default(), 512 * 1024)
    }

    #[test]
    fn bytes_weigh_on_their_vm_until_they_are_dropped() {
        let vm = vm();
        vm.limit_memory(64 << 20);
        let ctx = vm.ctx();
        let before = ctx.memory_used();
        let (one, other) = (Weight::default(), Weight::default());
        one.add(ctx, 30 << 20).unwrap();
        other.set(ctx, 20 << 20).unwrap();
        assert_eq!(ctx.memory_used() - before, 50 << 20);
        one.set(ctx, 1 << 20).unwrap();
        drop(other);
        assert_eq!(ctx.memory_used() - before, 1 << 20);
        // It may outlive the VM.
        drop(vm);
        drop(one);
    }

    #[test]
    fn without_a_handle_bytes_are_counted_first_and_the_script_is_stopped_then() {
        let vm = vm();
        vm.limit_memory(16 << 20);
        let ctx = vm.ctx();
        let scale = ctx.scale();
        let all: Vec<_> = (0..20).map(|_| scale.weigh(1 << 20)).collect();
        assert!(ctx.eval("t.js", "for (;;);").is_err());
        drop(ctx.take_exception());
        assert_eq!(ctx.over_limit(), Some(OverLimit::Vm(16 << 20)));
        drop(all);
        assert!(ctx.take_over_limit().is_some());
        assert!(ctx.memory_used() < 8 << 20);
    }

    #[test]
    fn who_weighs_too_much_is_stopped_with_the_name_of_the_limit() {
        let vm = vm();
        vm.limit_memory(16 << 20);
        let ctx = vm.ctx();
        let weight = Weight::default();
        let grow = || (0..).try_for_each(|_| weight.add(ctx, 1000));
        assert!(grow().is_err());
        assert!(ctx.take_exception().unwrap().uncatchable);
        assert_eq!(ctx.over_limit(), Some(OverLimit::Vm(16 << 20)));
        assert!((15 << 20..16 << 20).contains(&weight.bytes()), "{weight:?}");
        // Nor may it have a little until it has stopped.
        assert!(weight.add(ctx, 1).is_err());
        assert!(ctx.take_exception().unwrap().uncatchable);
        weight.set(ctx, 0).unwrap();
        assert!(ctx.take_over_limit().is_some());
        weight.add(ctx, 1 << 20).unwrap();
    }
}
