//! A request on its way out.

mod sending;

use std::io::IoSlice;
use std::task::{Context, Poll, ready};

use brunt_net::{Connection, Letter, Outbox, Scratch};

use self::sending::Sending;
use super::encode::{self, Way};
use crate::exchange::Recording;
use crate::failure::Failure;
use crate::payload::cursor::{Cursor, SLICES};
use crate::request::{Body, Request};

/// Pieces up to this size in all are copied behind the head, so that all goes in one plain write; larger pieces are
/// handed to the kernel in place.
const COPY_MAX: usize = 16 * 1024;

/// How much is encrypted at a time.
const RECORDS: usize = 64 * 1024;

/// The part of one request that is still to be written.
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
    /// In the core's outbox.
    Posted,
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
        outbox: &Outbox,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<(), Failure>> {
        match self.stage {
            Stage::Fresh => self.stage = self.start(cx, connection, outbox, scratch, recording)?,
            Stage::Posted => self.stage = ready!(Self::collect(connection, recording))?,
            Stage::Sending(_) | Stage::Done => {}
        }
        match &mut self.stage {
            Stage::Sending(sending) => {
                ready!(sending.poll(cx, connection, scratch, recording))?;
                recording.written();
                self.stage = Stage::Done;
            }
            Stage::Posted => return Poll::Pending,
            Stage::Fresh | Stage::Done => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Looks what became of it in the outbox.
    fn collect(
        connection: &Connection,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<Stage<'a>, Failure>> {
        if let Letter::Waiting = connection.wire().letter() {
            return Poll::Pending;
        }
        let (letter, rest) = connection.wire().take_letter();
        let sent = match letter {
            Letter::Sent(sent) => sent,
            Letter::Failed(failure) => return Poll::Ready(Err(failure.into())),
            Letter::Waiting | Letter::None => unreachable!("only this request has posted a letter"),
        };
        recording.sent(sent.size);
        recording.written_later(sent.begun, sent.at);
        if rest.is_empty() {
            return Poll::Ready(Ok(Stage::Done));
        }
        let none = Cursor::new(Body::Empty);
        let sending = Sending::new(none, &rest, connection.is_secure());
        Poll::Ready(Ok(Stage::Sending(Box::new(sending))))
    }

    /// It is given up: takes it back, or notes what was sent of it.
    pub(crate) fn withdraw(&mut self, connection: &Connection, recording: &mut Recording<'_>) {
        if let Stage::Posted = self.stage {
            if let (Letter::Sent(sent), _) = connection.wire().take_letter() {
                recording.sent(sent.size);
                recording.written_later(sent.begun, sent.at);
            }
            self.stage = Stage::Done;
        }
    }

    /// The first write: head, and as much of the body as fits; at once or later.
    fn start(
        &self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        outbox: &Outbox,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Result<Stage<'a>, Failure> {
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
        if !is_held
            && body.is_done()
            && self.request.write_by.is_none()
            && outbox.take(connection.wire(), wire, cx.waker(), recording.asked())
        {
            return Ok(Stage::Posted);
        }
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
            recording.written();
            return Ok(Stage::Done);
        }
        let mut sending = Sending::new(body, unsent, is_secure);
        if is_held {
            sending.hold(self.request);
        }
        Ok(Stage::Sending(Box::new(sending)))
    }

    /// The body doesn't simply follow the head.
    fn is_held(&self) -> bool {
        self.request.body.len().is_none() || sending::waits_for_leave(self.request)
    }
}
