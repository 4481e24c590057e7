//! One request on a connection, and what has come of it.

use std::task::Waker;

use super::frame::{self, kind};
use super::protocol::WINDOW;
use crate::exchange::Answer;
use crate::failure::{Failure, Http2Trouble};

/// A stream, from its first frame until whoever waits for it has taken what came.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// The waker of its task, if it is not being polled.
    pub(super) waker: Option<Waker>,
    /// The waker of the task that sends more of it.
    pub(super) sender: Option<Waker>,
    /// The bytes of the body that may still be sent.
    pub(super) window: i64,
    /// The response as far as it came, unless its body is streamed: then only the head, until it is taken.
    pub(super) answer: Answer,
    /// A body that is streamed, until it is taken.
    pub(super) queue: Option<Vec<u8>>,
    pub(super) has_head: bool,
    /// The response is over with its head.
    pub(super) ends_with_head: bool,
    /// The lines behind a body that is streamed.
    pub(super) trailers: Option<Vec<u8>>,
    /// When the head came.
    pub(super) first_byte: u64,
    /// All of the response came, or nothing more will.
    pub(super) is_done: bool,
    /// All of the request went out.
    pub(super) has_sent_all: bool,
    pub(super) failure: Option<Failure>,
    /// The server ended it, for this reason.
    pub(super) reset_by_server: Option<u32>,
    /// The server has not looked at it, and says so.
    pub(super) is_unseen: bool,
    /// Asked with HEAD: a length says nothing.
    pub(super) is_bodiless: bool,
    /// The value of `Content-Length`.
    pub(super) declared: Option<u64>,
    /// Bytes of the body that came.
    pub(super) body: u64,
    /// Bytes of its frames that came.
    pub(super) received: usize,
    /// Bytes of the body for which the server has no new leave yet.
    pub(super) unreturned: usize,
    /// The bytes that the server may still send.
    pub(super) allowance: i64,
    /// How much of heads may still come, provisional ones among them.
    pub(super) head_left: usize,
}

impl Stream {
    /// It ends with this failure, unless it has ended.
    pub(super) fn fail(&mut self, failure: Failure) {
        if !self.is_done {
            self.is_done = true;
            self.failure = Some(failure);
            self.wake();
        }
    }

    /// The server ended it.
    pub(super) fn reset(&mut self, code: u32, is_unseen: bool) {
        self.is_unseen = is_unseen;
        self.fail(Failure::Http2(Http2Trouble::Stream, code));
    }

    /// Gives leave for as much as was read, when that is half a window.
    pub(super) fn give_back(&mut self, out: &mut Vec<u8>) {
        if self.unreturned >= WINDOW as usize / 2 && !self.is_done {
            let bytes = std::mem::take(&mut self.unreturned) as u32;
            self.allowance += i64::from(bytes);
            frame::write_number(kind::WINDOW_UPDATE, self.id, bytes, out);
        }
    }

    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        if let Some(sender) = self.sender.take() {
            sender.wake();
        }
    }
}
