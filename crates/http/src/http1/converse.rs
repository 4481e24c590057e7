//! One request and its response on one connection.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use brunt_net::{Connection, Outbox, Received, Scratch, Truncated};

use super::encode::Way;
use super::known::KnownHeads;
use super::outgoing::Outgoing;
use super::parser::Parser;
use crate::exchange::Recording;
use crate::failure::Failure;
use crate::network::Network;
use crate::request::{Request, WriteBy};
use crate::spool::Spool;

/// Bodies with at least this much left are read straight to where they are kept.
const DIRECT_MIN: u64 = 32 * 1024;

/// Sends `request` and receives what comes back. `true`: the connection can be used again.
///
/// Writing and reading go side by side, since a server may answer before it has read all.
pub(crate) async fn converse(
    connection: &mut Connection,
    network: &Network,
    request: &Request<'_>,
    way: Way<'_>,
    recording: &mut Recording<'_>,
) -> Result<bool, Failure> {
    let wants_close = way.close || request.headers.asks_to_close();
    let mut talk = Talk {
        connection,
        recording,
        outbox: &network.net.outbox,
        parser: Parser::new(request.method == "HEAD", network.settings.head_limit),
        outgoing: Outgoing::new(request, way),
        broken: None,
        spool: request.spool,
        write_by: request.write_by,
        known: &network.known,
    };
    let is_clean = poll_fn(|cx| {
        let mut scratch = network.net.scratch.borrow_mut();
        talk.poll(cx, &mut scratch)
    })
    .await?;
    Ok(is_clean && talk.recording.answer.keep_alive && !wants_close)
}

struct Talk<'a, 'c> {
    connection: &'a mut Connection,
    recording: &'a mut Recording<'c>,
    outbox: &'a Outbox,
    parser: Parser,
    outgoing: Outgoing<'a>,
    /// Writing failed. The server may have answered before it hung up, so we read on.
    broken: Option<Failure>,
    spool: Option<&'a Spool>,
    write_by: Option<&'a WriteBy>,
    known: &'a RefCell<KnownHeads>,
}

impl Drop for Talk<'_, '_> {
    fn drop(&mut self) {
        self.outgoing.withdraw(self.connection, self.recording);
    }
}

impl Talk<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>, scratch: &mut Scratch) -> Poll<Result<bool, Failure>> {
        loop {
            // Each time round: a "100 Continue" may just have been read.
            if !self.outgoing.is_done() && self.broken.is_none() {
                let (connection, recording) = (&mut *self.connection, &mut *self.recording);
                match self.outgoing.poll(cx, connection, self.outbox, scratch, recording) {
                    Poll::Ready(Ok(())) => {
                        if let Some(write_by) = self.write_by {
                            write_by.written();
                        }
                    }
                    Poll::Ready(Err(failure)) if failure.is_of_body() => {
                        return Poll::Ready(Err(failure));
                    }
                    Poll::Ready(Err(failure)) => self.broken = Some(failure),
                    Poll::Pending => {}
                }
            }
            let step = match self.broken {
                None => ready!(self.read(cx, scratch)),
                Some(failure) => match self.read(cx, scratch) {
                    Poll::Ready(Ok(step)) => Ok(step),
                    Poll::Pending if self.connection.rests() => return Poll::Pending,
                    Poll::Ready(Err(_)) | Poll::Pending => Err(failure),
                },
            };
            match step? {
                Step::More => {}
                Step::Whole { is_clean } => return Poll::Ready(Ok(is_clean)),
            }
        }
    }

    /// Reads once.
    fn read(&mut self, cx: &mut Context<'_>, scratch: &mut Scratch) -> Poll<Result<Step, Failure>> {
        let (connection, recording) = (&mut *self.connection, &mut *self.recording);
        if let Some(left) = self.parser.left()
            && left >= DIRECT_MIN
            && !connection.is_secure()
            && let Some(buffer) = recording.answer.buffer(left.min(READ_MIN) as usize)?
        {
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let size = ready!(connection.poll_read_into(cx, buffer, left))?;
            recording.received(size);
            if size == 0 {
                return Poll::Ready(self.end());
            }
            recording.answer.count()?;
            self.parser.skip(size as u64);
            return Poll::Ready(Ok(self.step(true)));
        }
        let spool = self.spool;
        if let Some(spool) = spool {
            if !ready!(spool.poll_room(cx)) {
                let has_head = recording.answer.status() != 0;
                return Poll::Ready(if has_head {
                    Ok(Step::Whole { is_clean: false })
                } else {
                    Err(Truncated::Partial.into())
                });
            }
            spool.arrives(recording.now());
        }
        let mut has_leftover = false;
        let mut fed = Ok(self.parser.is_done());
        let parser = &mut self.parser;
        let mut known = self.known.borrow_mut();
        let received = ready!(connection.poll_receive(cx, scratch, |bytes| {
            recording.answered();
            let mut bytes = bytes;
            if fed.is_ok() {
                fed = recording.answer.feed(parser, &mut bytes, spool, Some(&mut *known));
                has_leftover |= !bytes.is_empty();
            }
        }))?;
        match received {
            Received::End => Poll::Ready(self.end()),
            Received::Bytes(size) => {
                recording.received(size);
                if let Some(spool) = spool
                    && recording.answer.is_streamed()
                {
                    spool.begin(|| recording.snapshot());
                }
                fed?;
                if recording.answer.is_enough() && !self.parser.is_done() {
                    return Poll::Ready(Ok(Step::Whole { is_clean: false }));
                }
                let is_clean = !has_leftover && !connection.is_closed();
                Poll::Ready(Ok(self.step(is_clean)))
            }
        }
    }

    fn step(&self, is_clean: bool) -> Step {
        if self.parser.is_done() {
            Step::Whole { is_clean: is_clean && self.outgoing.is_done() }
        } else {
            Step::More
        }
    }

    /// The connection ended: so may the response, but the connection is of no more use.
    fn end(&mut self) -> Result<Step, Failure> {
        match self.broken {
            Some(failure) if self.parser.finish().is_err() => Err(failure),
            _ => {
                self.parser.end()?;
                Ok(Step::Whole { is_clean: false })
            }
        }
    }
}

/// Room for direct reading below which more is reserved.
const READ_MIN: u64 = 64 * 1024;

enum Step {
    More,
    Whole { is_clean: bool },
}
