//! Which memory a stretch of code touches, so that it can be fetched into the cache before the code runs again.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

use crate::sys;

/// The unit of caches, in bytes.
pub const LINE: usize = sys::LINE;

thread_local! {
    /// Where the engine writes; kept, for it is 10 KiB.
    static SCRATCH: RefCell<Option<Box<sys::BruntTouched>>> = const { RefCell::new(None) };
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Nothing is written any more, however the code ended.
struct Unwatch;

impl Drop for Unwatch {
    fn drop(&mut self) {
        IS_WATCHED.set(false);
        // SAFETY: NULL is no list.
        unsafe { sys::brunt_watch(ptr::null_mut()) };
    }
}

/// Runs code and adds to `lines` what its engines touch: addresses, divided by [`LINE`]. At most 256 in all. Not all is
/// seen: property lookups, blocks taken and freed, calls of functions, and what [`note`] is told.
///
/// # Panics
/// If it is called within itself.
pub fn watch<R>(lines: &mut Vec<usize>, run: impl FnOnce() -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        let touched = scratch.get_or_insert_with(|| Box::new(sys::BruntTouched::EMPTY));
        touched.count = 0;
        touched.slots.fill(0);
        let list = ptr::from_mut::<sys::BruntTouched>(touched);
        // SAFETY: the list lives in the borrowed scratch, and the engine forgets it before the borrow ends.
        unsafe { sys::brunt_watch(list) };
        let guard = Unwatch;
        IS_WATCHED.set(true);
        for line in &*lines {
            note_at(line * LINE, 1);
        }
        let result = run();
        drop(guard);
        // SAFETY: the list is the scratch's, which the engine has forgotten.
        let touched = unsafe { &*list };
        lines.clear();
        lines.extend_from_slice(&touched.lines[..touched.count as usize]);
        result
    })
}

/// Whether somebody watches: whether [`note`] is of any use.
#[inline]
pub fn is_watched() -> bool {
    IS_WATCHED.get()
}

/// Says that a value is touched, if somebody watches.
#[inline]
pub fn note<T: ?Sized>(value: &T) {
    if is_watched() {
        note_at(ptr::from_ref(value).cast::<u8>().addr(), size_of_val(value));
    }
}

/// The same for a shared value, with its counters before it.
#[inline]
pub fn note_shared<T>(value: &Rc<T>) {
    if is_watched() {
        let counters = 2 * size_of::<usize>();
        note_at(Rc::as_ptr(value).addr().wrapping_sub(counters), counters + size_of::<T>());
    }
}

/// Says that `bytes` bytes from an address on are touched, if there is a watcher.
pub fn note_at(address: usize, bytes: usize) {
    // SAFETY: the address is written down, never read through.
    unsafe { sys::brunt_note(ptr::without_provenance(address), bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_is_written_down_once_and_only_while_watched() {
        let values = [[0_u8; 256], [0; 256]];
        let mut lines = Vec::new();
        note(&values);
        assert_eq!(watch(&mut lines, || note(&values[0])), ());
        let first = lines.clone();
        assert!((4..=5).contains(&first.len()), "{first:?}");
        assert_eq!(first[0], values[0].as_ptr().addr() / LINE);
        watch(&mut lines, || (note(&values[0]), note(&values[1])));
        assert!(lines.starts_with(&first) && (8..=9).contains(&lines.len()), "{lines:?}");
    }

    #[test]
    fn the_list_is_bounded_and_survives_a_panic() {
        let large = vec![0_u8; 1 << 20];
        let mut lines = Vec::new();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            watch(&mut lines, || panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        watch(&mut lines, || note(&large[..]));
        assert_eq!(lines.len(), 256);
    }
}
