//! A request on its way out.

use std::task::{Context, Poll, ready};

use super::encode::{self, Way};
use crate::connection::Connection;
use crate::exchange::Recording;
use crate::failure::Failure;
use crate::network::Scratch;
use crate::request::Request;

/// Bodies up to this size are copied behind the head, so that both go in one plain write; larger ones
/// are handed to the kernel where they lie.
const COPY_MAX: usize = 16 * 1024;

/// How much is encrypted at a time.
const RECORDS: usize = 64 * 1024;

/// What is still to be written of one request.
///
/// In the usual case it holds nothing at all: head and body leave the core's scratch buffer in the
/// first write. Only what the socket doesn't take is kept here.
pub(crate) struct Outgoing<'a> {
    request: &'a Request<'a>,
    way: Way<'a>,
    started: bool,
    done: bool,
    /// Wire bytes that the socket didn't take yet, from `rest_at` on.
    rest: Vec<u8>,
    rest_at: usize,
    /// How much of the body is written, or encrypted.
    body_at: usize,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(request: &'a Request<'a>, way: Way<'a>) -> Self {
        Self { request, way, started: false, done: false, rest: Vec::new(), rest_at: 0, body_at: 0 }
    }

    /// All is written.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Writes as much as the socket takes.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<(), Failure>> {
        if !self.started {
            self.started = true;
            ready!(self.start(cx, connection, scratch, recording))?;
        }
        let body = self.request.body.as_bytes();
        loop {
            let rest = &self.rest[self.rest_at..];
            let unsent = if connection.is_secure() { &[][..] } else { &body[self.body_at..] };
            if !rest.is_empty() || !unsent.is_empty() {
                let size = ready!(connection.poll_write(cx, rest, unsent))?;
                recording.sent(size);
                let of_rest = size.min(rest.len());
                self.rest_at += of_rest;
                self.body_at += size - of_rest;
            } else if self.body_at < body.len() {
                let end = body.len().min(self.body_at + RECORDS);
                self.rest.clear();
                self.rest_at = 0;
                connection.encrypt(&body[self.body_at..end], &mut self.rest)?;
                self.body_at = end;
            } else {
                self.rest = Vec::new();
                self.done = true;
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// The first write: head, and as much of the body as fits.
    fn start(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<(), Failure>> {
        scratch.clear_writing();
        encode::encode(self.request, self.way, &mut scratch.plain);
        let body = self.request.body.as_bytes();
        let is_secure = connection.is_secure();
        if body.len() <= COPY_MAX || is_secure {
            self.body_at = body.len().min(RECORDS);
            scratch.plain.extend_from_slice(&body[..self.body_at]);
        }
        let wire = if is_secure {
            connection.encrypt(&scratch.plain, &mut scratch.cipher)?;
            &scratch.cipher
        } else {
            &scratch.plain
        };
        let unsent = if is_secure { &[][..] } else { &body[self.body_at..] };
        let size = match connection.poll_write(cx, wire, unsent) {
            Poll::Ready(result) => result?,
            Poll::Pending => 0,
        };
        recording.sent(size);
        if size < wire.len() {
            self.rest = wire[size..].to_vec();
        } else {
            self.body_at += size - wire.len();
        }
        Poll::Ready(Ok(()))
    }
}
