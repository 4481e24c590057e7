//! Fetches into the cache what the next fiber will touch, while this one still works.
//!
//! With hundreds of fibers on a core, each finds that the others have pushed its stack out of the cache: a request of
//! 4 µs waits for some 300 lines of memory, one after the other. But fibers come round in much the same order: servers
//! answer in the order in which they were asked, and pauses end in the order in which they began. So each fiber
//! remembers whom it was followed by, and when it is resumed asks for that one's memory. A wrong guess costs nothing
//! but the asking. Addresses are kept as numbers: they are never read through.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a fiber touches when it goes on: (address, bytes).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranges([(usize, usize); RANGES]);

const RANGES: usize = 5;

/// The unit of caches.
const LINE: usize = 64;

/// More than this of one range is not fetched.
const RANGE_MAX: usize = 8 * 1024;

/// What is known of one fiber.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    own: Cell<Ranges>,
    /// Those of the fiber that was resumed after this one, the last time.
    successor: Cell<Ranges>,
}

thread_local! {
    /// The fiber that was resumed last.
    static LAST: RefCell<Option<Rc<Ahead>>> = const { RefCell::new(None) };
}

impl Ahead {
    /// Says what the fiber touches.
    pub(crate) fn set(&self, index: usize, address: usize, bytes: usize) {
        let mut own = self.own.get();
        own.0[index] = (address, bytes.min(RANGE_MAX));
        self.own.set(own);
    }

    /// The fiber is resumed: asks for what comes after it.
    pub(crate) fn resumed(self: &Rc<Self>) {
        // A fiber that is dropped as its thread ends finds no list any more, and needs none.
        let _ = LAST.try_with(|last| {
            let mut last = last.borrow_mut();
            if let Some(before) = last.take_if(|before| !Rc::ptr_eq(before, self)) {
                before.successor.set(self.own.get());
            }
            if last.is_none() {
                *last = Some(Rc::clone(self));
            }
        });
        for (address, bytes) in self.successor.get().0 {
            fetch(address, bytes);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn fetch(address: usize, bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for at in (address..address + bytes).step_by(LINE) {
        // SAFETY: a hint to the processor, which reads nothing and faults nowhere, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(at)) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn fetch(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_remembers_whom_it_was_followed_by() {
        let [one, two] = [64, 128].map(|address| {
            let ahead = Rc::new(Ahead::default());
            ahead.set(0, address, 1 << 20);
            ahead
        });
        for ahead in [&one, &two, &two, &one] {
            ahead.resumed();
        }
        assert_eq!(one.successor.get().0[0], (128, RANGE_MAX));
        assert_eq!(two.successor.get().0[0], (64, RANGE_MAX));
    }
}
