//! A socket that can also be written to by the core's [`Outbox`](crate::outbox::Outbox).

use std::cell::{Cell, RefCell};

use super::socket::Socket;
use crate::failure::Failure;

/// A socket, and what became of the letter that was last put into the outbox for it.
#[derive(Debug)]
pub struct Wire {
    pub(crate) socket: RefCell<Socket>,
    letter: Cell<Letter>,
    /// The part of a letter that the socket did not take.
    rest: RefCell<Vec<u8>>,
}

/// Where a letter is.
#[derive(Copy, Clone, Debug)]
pub enum Letter {
    /// There is none.
    None,
    /// In the outbox.
    Waiting,
    /// Sent, as far as the socket took it.
    Sent(Sent),
    /// It could not be sent.
    Failed(Failure),
}

/// A letter that was sent.
#[derive(Copy, Clone, Debug)]
pub struct Sent {
    /// When the writing began (unix ns).
    pub begun: u64,
    /// When it ended (unix ns).
    pub at: u64,
    /// How many bytes went.
    pub size: usize,
}

impl Wire {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            socket: RefCell::new(socket),
            letter: Cell::new(Letter::None),
            rest: RefCell::default(),
        }
    }

    /// The fate of the last letter.
    #[inline]
    pub fn letter(&self) -> Letter {
        self.letter.get()
    }

    pub(crate) fn set_letter(&self, letter: Letter) {
        self.letter.set(letter);
    }

    /// Keeps what the socket did not take.
    pub(crate) fn keep_rest(&self, rest: &[u8]) {
        self.rest.borrow_mut().extend_from_slice(rest);
    }

    /// Takes out what was sent, and what is left to send.
    pub fn take_letter(&self) -> (Letter, Vec<u8>) {
        (self.letter.replace(Letter::None), self.rest.take())
    }
}
