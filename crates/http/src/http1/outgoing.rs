//! A request on its way out.

mod sending;

use std::io::IoSlice;
use std::task::{Context, Poll, ready};

use self::sending::Sending;
use super::encode::{self, Way};
use crate::connection::Connection;
use crate::exchange::Recording;
use crate::failure::Failure;
use crate::network::Scratch;
use crate::payload::cursor::{Cursor, SLICES};
use crate::request::Request;

/// What lies in pieces up to this size in all is copied behind the head, so that all goes in one plain write; larger
/// pieces are handed to the kernel where they lie.
const COPY_MAX: usize = 16 * 1024;

/// How much is encrypted at a time.
const RECORDS: usize = 64 * 1024;

/// What is still to be written of one request.
///
/// In the usual case it holds nothing at all: head and body leave the core's scratch buffer in the
/// first write. Only what the socket doesn't take, and what must be read first, is kept in a [`Sending`].
pub(crate) struct Outgoing<'a> {
    request: &'a Request<'a>,
    way: Way<'a>,
    stage: Stage<'a>,
}

enum Stage<'a> {
    Fresh,
    Sending(Box<Sending<'a>>),
    Done,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(request: &'a Request<'a>, way: Way<'a>) -> Self {
        Self { request, way, stage: Stage::Fresh }
    }

    /// All is written.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Writes as much as the socket takes.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<(), Failure>> {
        if matches!(self.stage, Stage::Fresh) {
            self.stage = match self.start(cx, connection, scratch, recording)? {
                Some(sending) => Stage::Sending(Box::new(sending)),
                None => Stage::Done,
            };
        }
        if let Stage::Sending(sending) = &mut self.stage {
            ready!(sending.poll(cx, connection, scratch, recording))?;
            self.stage = Stage::Done;
        }
        Poll::Ready(Ok(()))
    }

    /// The first write: head, and as much of the body as fits. Returns what is left.
    fn start(
        &self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Result<Option<Sending<'a>>, Failure> {
        scratch.clear_writing();
        encode::encode(self.request, self.way, &mut scratch.plain);
        let mut body = Cursor::new(self.request.body);
        let is_secure = connection.is_secure();
        // Chunks, and what waits for a "100 Continue", come after the head.
        let is_held = !body.is_done() && self.is_held();
        if !is_held {
            body.copy(&mut scratch.plain, if is_secure { RECORDS } else { COPY_MAX }, is_secure);
        }
        if is_secure {
            connection.encrypt(&scratch.plain, &mut scratch.cipher)?;
        }
        let wire = if is_secure { &scratch.cipher } else { &scratch.plain };
        let written = if is_secure || is_held || body.is_done() {
            connection.poll_write(cx, wire)
        } else {
            let mut slices = [IoSlice::new(&[]); SLICES];
            slices[0] = IoSlice::new(wire);
            let count = 1 + body.slices(&mut slices[1..]);
            connection.poll_write_slices(cx, &slices[..count])
        };
        let size = match written {
            Poll::Ready(result) => result?,
            Poll::Pending => 0,
        };
        recording.sent(size);
        let unsent = &wire[size.min(wire.len())..];
        body.advance(size.saturating_sub(wire.len()));
        if unsent.is_empty() && body.is_done() {
            return Ok(None);
        }
        let mut sending = Sending::new(body, unsent, is_secure);
        if is_held {
            sending.hold(self.request);
        }
        Ok(Some(sending))
    }

    /// The body doesn't simply follow the head.
    fn is_held(&self) -> bool {
        self.request.body.len().is_none() || sending::waits_for_leave(self.request)
    }
}
