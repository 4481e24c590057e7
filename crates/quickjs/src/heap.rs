//! How much memory VMs may have: each of them, and all of the process together.
//!
//! A VM is promised memory in steps, which are counted for the whole process. The engine asks ([`on_more`]) before its heap
//! grows beyond what was promised, so that an allocation costs one comparison. A VM that asks for more than there may be is
//! *over its limit* until [`Ctx::take_over_limit`]: large allocations fail, the interrupt stops the script past `catch` and
//! `finally`, and only a little more is given meanwhile, so that small allocations, which are not expected to fail,
//! do not.

mod account;
mod common;
mod weight;

use std::sync::atomic::Ordering;

use account::{ALL, EACH, STEP};

use crate::ctx::{Ctx, Inner};
use crate::error::Thrown;
use crate::sys;
use crate::vm::Vm;

pub(crate) use account::Account;
pub use account::OverLimit;
pub use common::CommonWeight;
pub(crate) use weight::Ledger;
pub use weight::{Scale, Weight};

/// Limits the heaps of VMs that are made from now on to `each` bytes (0: no limit), and those of the process to `all`.
pub fn limit(each: usize, all: usize) {
    EACH.store(each, Ordering::Relaxed);
    ALL.store(all, Ordering::Relaxed);
}

/// Asked by the engine: `used` bytes are in use, `size` more are wanted. Answers up to where the heap may grow now; 0 is no.
pub(crate) unsafe extern "C" fn on_more(
    rt: *mut sys::JSRuntime,
    used: usize,
    size: usize,
) -> usize {
    // SAFETY: only VMs are given promises, whose boxed `Inner` their runtime's opaque pointer is.
    let inner = unsafe { &*sys::JS_GetRuntimeOpaque(rt).cast::<Inner>() };
    let promise = inner.account.more(used, size);
    if inner.account.over.get().is_some() {
        // SAFETY: the context is alive.
        unsafe { sys::brunt_is_over(inner.ctx.as_ptr()) };
    }
    promise.unwrap_or(0)
}

impl Inner {
    pub(crate) fn is_over_limit(&self) -> bool {
        self.account.over.get().is_some()
    }

    /// Gives back what was promised and is not used.
    pub(crate) fn settle_memory(&self) {
        // SAFETY: the runtime is alive.
        let used = unsafe { sys::brunt_allocated(self.rt.as_ptr()) };
        if let Some(promise) = self.account.settled(used) {
            self.promise_memory(promise);
        }
    }

    /// Refuses memory that Rust code wants: the VM is over this limit.
    fn refuse(&self, over: OverLimit) {
        // SAFETY: the runtime and its context are alive.
        unsafe {
            self.account.refuse(over, sys::brunt_allocated(self.rt.as_ptr()));
            sys::brunt_is_over(self.ctx.as_ptr());
        }
    }

    fn promise_memory(&self, promise: usize) {
        // SAFETY: the runtime is alive.
        unsafe { sys::brunt_promise(self.rt.as_ptr(), promise, self.account.max.get()) };
    }
}

impl Vm {
    /// Limits the heap to this many bytes; 0 is no limit of its own. It covers values, strings, buffers and code. A script
    /// that wants more is stopped past `catch` and `finally`; see [`Ctx::take_over_limit`].
    pub fn limit_memory(&self, bytes: usize) {
        let inner = self.ctx().inner;
        inner.account.max.set(bytes);
        // SAFETY: the runtime is alive.
        let used = unsafe { sys::brunt_allocated(inner.rt.as_ptr()) };
        let promise = used.saturating_add(STEP).min(if bytes > 0 { bytes } else { usize::MAX });
        inner.account.promise(promise);
        inner.promise_memory(promise);
    }

    /// As [`limit`] said for new VMs.
    pub(crate) fn limit_memory_as_all(&self) {
        let (each, all) = (EACH.load(Ordering::Relaxed), ALL.load(Ordering::Relaxed));
        if each > 0 || all < usize::MAX {
            self.limit_memory(each);
        }
    }
}

impl Ctx<'_> {
    /// Which limit the VM went over since this was last asked. From now on it has what is left below it; what the script
    /// left behind is collected, if that helps. The interrupt handler may let neighbours run meanwhile.
    pub fn take_over_limit(self) -> Option<OverLimit> {
        let account = &self.inner.account;
        let over = account.over.take()?;
        let rt = self.inner.rt.as_ptr();
        // A collection that was in vain is not done again soon: it takes a while.
        let worth_it = (account.over_at.get() / 2).max(account.kept.get() / 8 * 9);
        // SAFETY: the runtime is alive, and no object of it is half made: scripts do not run.
        unsafe {
            sys::brunt_recover(rt);
            if sys::brunt_allocated(rt) > worth_it {
                sys::brunt_collect(rt);
                account.kept.set(sys::brunt_allocated(rt));
            }
        }
        self.inner.settle_memory();
        Some(over)
    }

    /// For who has run a script: frees and collects what the engine has put off until the next poll. The interrupt handler may
    /// let neighbours run meanwhile.
    pub fn catch_up(self) {
        // SAFETY: the runtime is alive, and no object of it is half made: scripts do not run.
        unsafe { sys::brunt_catch_up(self.inner.rt.as_ptr()) };
    }

    /// Bytes of the heap in use.
    pub fn memory_used(self) -> usize {
        // SAFETY: the runtime is alive.
        unsafe { sys::brunt_allocated(self.inner.rt.as_ptr()) }
    }

    /// Which limit the VM is over: what runs must end.
    pub fn over_limit(self) -> Option<OverLimit> {
        self.inner.account.over.get()
    }

    /// The limit of this VM's heap in bytes; 0 is no limit of its own.
    pub fn memory_limit(self) -> usize {
        self.inner.account.max.get()
    }

    /// Asks for memory for Rust code.
    ///
    /// # Errors
    /// More than the VM may have: it is stopped past `catch` and `finally`.
    pub(crate) fn may_take(self, bytes: usize) -> Result<(), Thrown> {
        let may = self.inner.ledger.may_take(bytes) && !self.inner.is_over_limit();
        if may { Ok(()) } else { Err(self.throw_over()) }
    }

    /// Memory was refused: throws an exception that no script catches.
    fn throw_over(self) -> Thrown {
        match self.poll(0) {
            Err(thrown) => thrown,
            Ok(()) => self.throw_uncatchable("there is no memory left"),
        }
    }

    /// Rust code reads or makes these bytes at once. They count as operations, so that a script that has much of it done is
    /// looked at as often as any other.
    pub(crate) fn count_bytes(self, bytes: usize) {
        if bytes >= 1024 {
            // SAFETY: the context is alive.
            unsafe { sys::brunt_count(self.raw(), bytes / 256) };
        }
    }

    /// For long work between values, such as parsing: counts `cost` operations, lets neighbours run when it is time, and
    /// throws an exception that no script catches when it must stop.
    ///
    /// # Errors
    /// The VM was told to stop.
    pub fn poll(self, cost: i32) -> Result<(), Thrown> {
        // SAFETY: the context is alive and entered, as for making values.
        if unsafe { sys::brunt_poll(self.raw(), cost) } { Err(Thrown(())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
