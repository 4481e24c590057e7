//! Memory that Rust code keeps for all VMs.

use super::account::{OverLimit, give_back, take};
use crate::ctx::Ctx;
use crate::error::Thrown;

/// Bytes are counted in steps, so that most questions touch nothing that cores share.
const STEP: usize = 4096;

/// Bytes of Rust's, made by one VM and kept for all, that count as memory of all VMs together, until this is dropped. They are
/// no part of a VM's heap.
#[derive(Debug, Default)]
pub struct CommonWeight {
    counted: usize,
}

impl CommonWeight {
    /// Tells how many they are in all, or are about to be; they never become fewer. Ask before the memory is taken, or soon after.
    ///
    /// # Errors
    /// More than there may be: the script is stopped past `catch` and `finally`, with an error that names the limit.
    pub fn grow(&mut self, ctx: Ctx<'_>, bytes: usize) -> Result<(), Thrown> {
        if bytes <= self.counted {
            return Ok(());
        }
        let wanted = bytes.checked_next_multiple_of(STEP).unwrap_or(bytes);
        if let Err(over) = take(wanted - self.counted) {
            ctx.inner.refuse(over);
            return Err(ctx.throw_over());
        }
        self.counted = wanted;
        Ok(())
    }

    /// As [`CommonWeight::grow`], for what a script makes by itself: it may be as large as the VM's heap, and no larger.
    ///
    /// # Errors
    /// As there.
    pub fn grow_as_heap(&mut self, ctx: Ctx<'_>, bytes: usize) -> Result<(), Thrown> {
        let max = ctx.memory_limit();
        if max > 0 && bytes > max {
            ctx.inner.refuse(OverLimit::Vm(max));
            return Err(ctx.throw_over());
        }
        self.grow(ctx, bytes)
    }
}

impl Drop for CommonWeight {
    fn drop(&mut self) {
        give_back(self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hooks, Vm};
    use std::rc::Rc;

    #[test]
    fn what_is_kept_for_all_is_no_part_of_a_heap_and_may_be_as_large() {
        let vm = Vm::new(Rc::new(()), Hooks::default(), 512 * 1024);
        vm.limit_memory(32 << 20);
        let ctx = vm.ctx();
        let before = ctx.memory_used();
        let mut weights = [CommonWeight::default(), CommonWeight::default()];
        for weight in &mut weights {
            (0..300).for_each(|step| weight.grow_as_heap(ctx, step * 100_000).unwrap());
        }
        assert_eq!(ctx.memory_used(), before);
        assert!(weights[0].grow_as_heap(ctx, 33 << 20).is_err());
        assert!(ctx.take_exception().unwrap().uncatchable);
        assert_eq!(ctx.take_over_limit(), Some(OverLimit::Vm(32 << 20)));
        // The content of a file may be larger.
        drop(ctx.take_exception());
        assert!(weights[0].grow(ctx, 33 << 20).is_ok());
        assert!(weights[1].grow_as_heap(ctx, usize::MAX).is_err());
        assert!(ctx.take_over_limit().is_some());
        drop(ctx.take_exception());
        assert!(ctx.eval("t.js", "[1].length").is_ok());
    }
}
