//! Fetches into the cache what the next fiber will touch, while this one still works.
//!
//! With hundreds of fibers on a core, each finds that the others have pushed its stack out of the cache: a request of
//! 4 µs waits for some 300 lines of memory, one after the other. But fibers come round in much the same order: servers
//! answer in the order in which they were asked, and pauses end in the order in which they began. So each fiber
//! remembers whom it was followed by, and when it is resumed asks for that one's memory. A wrong guess costs nothing
//! but the asking. Addresses are kept as numbers: they are never read through.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that a fiber touches when it goes on: (address, bytes).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranges([(usize, usize); RANGES]);

pub(crate) const RANGES: usize = 5;

/// The unit of caches.
pub(crate) const LINE: usize = 64;

/// More than this of one range is not fetched.
const RANGE_MAX: usize = 8 * 1024;

/// Single lines that a fiber touches. Half the size of addresses, because there are hundreds for each of many fibers.
type Lines = Rc<[Offset]>;

/// How many lines after [`BASE`].
type Offset = i32;

/// Some line of the heap; 0 until there is one. All lines are kept as distances from it: up to 128 GiB.
static BASE: AtomicUsize = AtomicUsize::new(0);

/// The memory that one fiber touches, and the memory of the fiber after it.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    own: Cell<Ranges>,
    lines: RefCell<Lines>,
    /// The ranges of the fiber that was resumed after this one, the last time.
    successor: Cell<Ranges>,
    successor_lines: RefCell<Lines>,
    /// Where the list of the fiber after that lies: it is read when the successor is resumed.
    second: Cell<(usize, usize)>,
}

thread_local! {
    /// The fiber that was resumed last, and the one before.
    static LAST: RefCell<[Option<Rc<Ahead>>; 2]> = const { RefCell::new([None, None]) };
}

impl Ahead {
    /// Says what the fiber touches.
    pub(crate) fn set(&self, index: usize, address: usize, bytes: usize) {
        let mut own = self.own.get();
        own.0[index] = (address, bytes.min(RANGE_MAX));
        self.own.set(own);
    }

    /// Says which lines (addresses / 64) the fiber touches besides.
    pub(crate) fn set_lines(&self, lines: &[usize]) {
        let Some(&first) = lines.first() else { return };
        let base = match BASE.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => first,
            Err(known) => known,
        };
        let offsets =
            lines.iter().filter_map(|line| Offset::try_from(line.wrapping_sub(base) as isize).ok());
        *self.lines.borrow_mut() = offsets.collect();
    }

    /// The fiber is resumed: asks for what comes after it.
    pub(crate) fn resumed(self: &Rc<Self>) {
        // A fiber that is dropped as its thread ends finds no list any more, and needs none.
        let _ = LAST.try_with(|last| {
            let mut last = last.borrow_mut();
            let [before, earlier] = &mut *last;
            if before.as_ref().is_some_and(|before| Rc::ptr_eq(before, self)) {
                return;
            }
            let own = self.lines.borrow();
            if let Some(before) = &before {
                before.successor.set(self.own.get());
                let mut known = before.successor_lines.borrow_mut();
                if !Rc::ptr_eq(&known, &own) {
                    *known = Rc::clone(&own);
                }
            }
            if let Some(earlier) = earlier {
                earlier.second.set((own.as_ptr().addr(), size_of_val(&own[..])));
            }
            *earlier = before.take();
            *before = Some(Rc::clone(self));
        });
        for (address, bytes) in self.successor.get().0 {
            fetch(address, bytes);
        }
        let base = BASE.load(Ordering::Relaxed);
        for &offset in &**self.successor_lines.borrow() {
            fetch(base.wrapping_add_signed(offset as isize).wrapping_mul(LINE), 1);
        }
        let (address, bytes) = self.second.get();
        fetch(address, bytes);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) fn fetch(address: usize, bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for at in (address..address + bytes).step_by(LINE) {
        // SAFETY: a hint to the processor, which reads nothing and faults nowhere, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(at)) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn fetch(_: usize, _: usize) {}

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

    #[test]
    fn the_lines_of_the_next_are_known_and_where_the_list_after_them_lies() {
        let [one, two, three] = [1_000_000, 2_000_000, 3_000_000].map(|line| {
            let ahead = Rc::new(Ahead::default());
            ahead.set_lines(&[line, line + 7]);
            ahead
        });
        for ahead in [&one, &two, &three] {
            ahead.resumed();
        }
        assert!(Rc::ptr_eq(&one.successor_lines.borrow(), &two.lines.borrow()));
        assert_eq!(one.second.get().0, three.lines.borrow().as_ptr().addr());
        let base = BASE.load(Ordering::Relaxed);
        let back: Vec<usize> = (two.lines.borrow().iter())
            .map(|&offset| base.wrapping_add_signed(offset as isize))
            .collect();
        assert_eq!(back, [2_000_000, 2_000_007]);
    }
}
