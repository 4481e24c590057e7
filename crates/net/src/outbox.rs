//! Requests that wait to be sent together.
//!
//! A client that is mostly idle wakes its server with every request, and finds the kernel's code for sending cold. So
//! requests of scripts that run one after the other are sent one after the other: when no task of the core is left to
//! run, when there are [`LETTERS_MAX`], or when the first has waited for too long. The wait is not part of a
//! request's duration but of the time that it was blocked.

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Waker;

use brunt_fiber::core::{Chore, does_chores};

use crate::clock::Clock;
use crate::connection::{Letter, Sent, Wire};
use crate::failure::{Operation, from_socket};

/// The maximum number of letters that wait; then they are sent.
const LETTERS_MAX: usize = 32;

/// Larger ones are sent at once.
const LETTER_SIZE_MAX: usize = 2048;

/// If a letter has waited for longer when the next one comes, the scripts compute more than they send.
const LATE_NS: u64 = 200_000;

/// The number of requests that are then sent at once.
const DIRECT_AFTER_LATE: u32 = 256;

/// The outbox of one core.
#[derive(Debug)]
pub struct Outbox {
    clock: Clock,
    inner: RefCell<Inner>,
    /// The number of next requests that don't wait.
    direct: Cell<u32>,
}

#[derive(Debug, Default)]
struct Inner {
    letters: Vec<Waiting>,
    /// The letters' bytes, one behind the other.
    bytes: Vec<u8>,
    /// When the first was put in (unix ns).
    since: u64,
}

#[derive(Debug)]
struct Waiting {
    wire: Rc<Wire>,
    /// Where its bytes end.
    end: usize,
    /// The waker of the task that must know if it can't be sent as a whole.
    waker: Waker,
}

impl Outbox {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, inner: RefCell::default(), direct: Cell::new(0) }
    }

    /// Takes a letter in, about `now` (unix ns). `false`: it is to be sent at once.
    pub fn take(&self, wire: &Rc<Wire>, bytes: &[u8], waker: &Waker, now: u64) -> bool {
        if bytes.len() > LETTER_SIZE_MAX || !does_chores() {
            return false;
        }
        let direct = self.direct.get();
        if direct > 0 {
            self.direct.set(direct - 1);
            return false;
        }
        let mut inner = self.inner.borrow_mut();
        if inner.letters.is_empty() {
            inner.since = now;
        } else if now.saturating_sub(inner.since) > LATE_NS {
            self.send(&mut inner);
            self.direct.set(DIRECT_AFTER_LATE);
            return false;
        }
        inner.bytes.extend_from_slice(bytes);
        let end = inner.bytes.len();
        wire.set_letter(Letter::Waiting);
        inner.letters.push(Waiting { wire: Rc::clone(wire), end, waker: waker.clone() });
        if inner.letters.len() == LETTERS_MAX {
            self.send(&mut inner);
        }
        true
    }

    fn send(&self, inner: &mut Inner) {
        let mut begun = (self.clock)();
        let mut from = 0;
        for Waiting { wire, end, waker } in inner.letters.drain(..) {
            let bytes = &inner.bytes[from..end];
            from = end;
            // Taken back meanwhile: its exchange was given up.
            if !matches!(wire.letter(), Letter::Waiting) {
                continue;
            }
            // Others' letters are sent on behalf of whoever is at work: a panic is the affair of this one alone.
            let write = AssertUnwindSafe(|| wire.socket.borrow_mut().try_write(bytes));
            let written = catch_unwind(write).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            let at = (self.clock)();
            let written = match written {
                Err(error) if is_passing(&error) => Ok(0),
                other => other,
            };
            match written {
                Ok(size) => {
                    wire.set_letter(Letter::Sent(Sent { begun, at, size }));
                    if size < bytes.len() {
                        wire.keep_rest(&bytes[size..]);
                        waker.wake();
                    }
                }
                Err(error) => {
                    wire.set_letter(Letter::Failed(from_socket(Operation::Write, &error)));
                    waker.wake();
                }
            }
            begun = at;
        }
        inner.bytes.clear();
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Chore for Outbox {
    fn carry_out(&self) {
        // Borrowed by whoever sends just now.
        if let Ok(mut inner) = self.inner.try_borrow_mut()
            && !inner.letters.is_empty()
        {
            self.send(&mut inner);
        }
    }
}
