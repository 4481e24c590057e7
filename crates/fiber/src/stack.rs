//! Stacks for fibers: many in one mapping, each above a guard.
//!
//! A mapping with a `mprotect`ed page per stack costs two memory maps a stack, and Linux allows 65 530 of them in a
//! process. So stacks are cut from slabs of one mapping each, and the guards are installed with
//! `MADV_GUARD_INSTALL` (Linux 6.13), which does not split a mapping; older kernels get `mprotect`.
//!
//! ```text
//! slab   |guard| usable ............ |guard| usable ............ |  …
//!        ^limit                  base^
//! ```

use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

use corosensei::stack::{Stack as CoroutineStack, StackPointer};

/// Bytes below a stack that fault when touched. 16 KiB, so that no single frame of ours steps over it.
pub const GUARD: usize = 16 * 1024;

/// Stacks in a slab: 128 MiB of address space at the default size.
const PER_SLAB: usize = 16;

/// Asks the kernel for a guard region that does not split the mapping (Linux 6.13 and later).
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// How big stacks are.
#[derive(Debug, Clone, Copy)]
pub struct StackSettings {
    /// Usable bytes of one stack; a multiple of the page size. Only touched pages take memory.
    pub usable: usize,
}

impl Default for StackSettings {
    /// 8 MiB: about 12 000 plain JavaScript calls deep.
    fn default() -> Self {
        Self { usable: 8 * 1024 * 1024 }
    }
}

/// The stacks of one core. Grows by slabs and reuses what fibers give back; memory goes back to the system when
/// the pool and all its stacks are gone.
#[derive(Debug)]
pub struct StackPool {
    settings: StackSettings,
    slabs: RefCell<Vec<Slab>>,
    free: RefCell<Vec<usize>>,
    out: Cell<usize>,
}

/// The system had no address space left for another slab of stacks.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {bytes} bytes for VU stacks: {source}")]
pub struct StackError {
    bytes: usize,
    source: std::io::Error,
}

impl StackPool {
    /// An empty pool; nothing is mapped before the first [`StackPool::take`].
    pub fn new(settings: StackSettings) -> Rc<Self> {
        let page = page_size();
        let usable = settings.usable.max(16 * page).next_multiple_of(page);
        Rc::new(Self {
            settings: StackSettings { usable },
            slabs: RefCell::default(),
            free: RefCell::default(),
            out: Cell::new(0),
        })
    }

    /// Usable bytes of each stack.
    pub fn usable(&self) -> usize {
        self.settings.usable
    }

    /// How many stacks are in use.
    pub fn in_use(&self) -> usize {
        self.out.get()
    }

    /// A stack to run a fiber on.
    ///
    /// # Errors
    /// If the system refuses another slab.
    pub fn take(self: &Rc<Self>) -> Result<Stack, StackError> {
        let limit = self.free.borrow_mut().pop();
        let limit = if let Some(limit) = limit {
            limit
        } else {
            let mut slabs = self.slabs.borrow_mut();
            if slabs.last().is_none_or(|slab| slab.cut == PER_SLAB) {
                slabs.push(Slab::map(self.settings.usable)?);
            }
            slabs.last_mut().expect("a slab was just pushed").cut()
        };
        self.out.set(self.out.get() + 1);
        Ok(Stack { limit, usable: self.settings.usable, pool: Rc::clone(self) })
    }
}

/// One stack of a [`StackPool`]; goes back to it when dropped.
#[derive(Debug)]
pub struct Stack {
    limit: usize,
    usable: usize,
    pool: Rc<StackPool>,
}

impl Stack {
    /// The highest address, where it begins.
    pub(crate) fn top(&self) -> usize {
        self.limit + GUARD + self.usable
    }

    /// Usable bytes, guard not counted.
    pub fn usable(&self) -> usize {
        self.usable
    }

    /// Gives the memory below the first `kept` bytes back to the system. Nothing may run on the stack.
    pub(crate) fn trim(&mut self, kept: usize) {
        let bytes = self.usable.saturating_sub(kept.next_multiple_of(page_size()));
        // SAFETY: as in `drop`: the range lies inside the slab, and no fiber runs on the stack, which is borrowed
        // exclusively. Failure is harmless.
        unsafe {
            libc::madvise((self.limit + GUARD) as *mut libc::c_void, bytes, libc::MADV_DONTNEED)
        };
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Pages that a deep recursion touched would otherwise stay resident in a stack that may lie idle for the rest
        // of the test.
        let usable_from = self.limit + GUARD;
        // SAFETY: the range lies inside one slab that this pool mapped, and the fiber that ran on it is gone
        // (it owned this value), so the bytes that are thrown away are not read again. Failure is harmless.
        unsafe {
            libc::madvise(usable_from as *mut libc::c_void, self.usable, libc::MADV_DONTNEED)
        };
        self.pool.out.set(self.pool.out.get() - 1);
        self.pool.free.borrow_mut().push(self.limit);
    }
}

// SAFETY: `base` and `limit` bound memory that stays mapped, readable and writable (above the guard) as long as the
// pool lives, and each stack holds its pool. Both are page aligned, so `base` has the alignment that every ABI asks
// for. A stack is handed out once until it is dropped.
unsafe impl CoroutineStack for Stack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.top()).expect("a mapping is never at address 0")
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.limit).expect("a mapping is never at address 0")
    }
}

#[derive(Debug)]
struct Slab {
    address: usize,
    stride: usize,
    cut: usize,
}

impl Slab {
    fn map(usable: usize) -> Result<Self, StackError> {
        let stride = usable + GUARD;
        let bytes = stride * PER_SLAB;
        // SAFETY: an anonymous private mapping at an address that the kernel chooses touches no memory of ours.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_ANONYMOUS | libc::MAP_PRIVATE | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(StackError { bytes, source: std::io::Error::last_os_error() });
        }
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the mapping just made; the advice only keeps a stack from being backed by a 2 MiB page.
        unsafe {
            libc::madvise(address, bytes, libc::MADV_NOHUGEPAGE)
        };
        Ok(Self { address: address as usize, stride, cut: 0 })
    }

    fn cut(&mut self) -> usize {
        let limit = self.address + self.cut * self.stride;
        self.cut += 1;
        // SAFETY: the guard lies inside this slab and no stack uses it: stacks begin above their guard.
        let installed =
            unsafe { libc::madvise(limit as *mut libc::c_void, GUARD, MADV_GUARD_INSTALL) };
        if installed != 0 {
            // SAFETY: as above. Failure leaves the stack without a guard, which only costs the fault that would
            // have told of an overflow; the JavaScript stack limit lies well above it.
            unsafe { libc::mprotect(limit as *mut libc::c_void, GUARD, libc::PROT_NONE) };
        }
        limit
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: this unmaps exactly what `map` mapped. Stacks hold the pool, so none of them is left.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.stride * PER_SLAB) };
    }
}

fn page_size() -> usize {
    // SAFETY: sysconf has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap_and_come_back() {
        let pool = StackPool::new(StackSettings::default());
        let stacks: Vec<_> = (0..200).map(|_| pool.take().unwrap()).collect();
        let mut limits: Vec<_> = stacks.iter().map(|stack| stack.limit).collect();
        limits.sort_unstable();
        assert!(limits.windows(2).all(|pair| pair[1] - pair[0] >= pool.usable() + GUARD));
        assert_eq!(pool.in_use(), 200);
        drop(stacks);
        assert_eq!(pool.in_use(), 0);
        let again = pool.take().unwrap();
        assert!(limits.contains(&again.limit));
    }

    #[test]
    fn a_trimmed_stack_keeps_its_beginning_and_forgets_the_rest() {
        let pool = StackPool::new(StackSettings { usable: 256 * 1024 });
        let mut stack = pool.take().unwrap();
        let (first, last) = (stack.top() - 1, stack.limit + GUARD);
        // SAFETY: both bytes lie in the usable part of the stack that this test owns.
        let bytes = unsafe {
            *(first as *mut u8) = 1;
            *(last as *mut u8) = 2;
            stack.trim(64 * 1024);
            (*(first as *const u8), *(last as *const u8))
        };
        assert_eq!(bytes, (1, 0));
    }

    #[test]
    fn a_stack_is_writable_from_base_to_guard() {
        let pool = StackPool::new(StackSettings { usable: 64 * 1024 });
        let stack = pool.take().unwrap();
        let base = CoroutineStack::base(&stack).get();
        // SAFETY: both bytes lie in the usable part of the stack that this test owns.
        unsafe {
            *((base - 1) as *mut u8) = 1;
            *((base - stack.usable()) as *mut u8) = 2;
        }
    }
}
