//! One stream of a [`Line`]: bytes out and bytes in, side by side.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::frame;
use super::line::Line;
use super::stream::Stream;
use crate::exchange::{HeaderLines, Response};
use crate::failure::Failure;

/// Why no more comes on a stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server ended it with this reason (RFC 9113 §7).
    Reset(u32),
    /// It, or its connection, failed.
    Failed(Failure),
    /// It was given up here.
    GivenUp,
}

/// A stream. Dropping it gives it up, unless both sides have ended it.
#[derive(Debug)]
pub struct Duplex {
    line: Rc<Line>,
    id: u32,
}

impl Duplex {
    pub(super) fn new(line: Rc<Line>, id: u32) -> Self {
        Self { line, id }
    }

    /// Writes the frames that were put off.
    pub fn flush(&self) {
        self.line.with(|_| ());
    }

    /// Sends bytes as the server makes room for them; if they are the last, the end goes with them. `false`: the server
    /// wants no more.
    pub async fn send(&self, mut bytes: &[u8], is_last: bool) -> bool {
        poll_fn(|cx| self.poll_send(cx, &mut bytes, is_last)).await
    }

    fn poll_send(&self, cx: &Context<'_>, bytes: &mut &[u8], is_last: bool) -> Poll<bool> {
        self.line.with(|inner| {
            loop {
                let protocol = &mut inner.protocol;
                match protocol.stream(self.id) {
                    Some(stream) if !stream.is_done && !stream.has_sent_all => {}
                    _ => return Poll::Ready(false),
                }
                let room = protocol.room(self.id).min(bytes.len());
                if room == 0 && !bytes.is_empty() {
                    let stream = protocol.stream(self.id).expect("it was there a moment ago");
                    set(&mut stream.sender, cx);
                    return Poll::Pending;
                }
                let (part, rest) = bytes.split_at(room);
                *bytes = rest;
                let ends = is_last && rest.is_empty();
                if !part.is_empty() || ends {
                    let start = protocol.out.len();
                    protocol.out.extend_from_slice(&[0; frame::HEAD]);
                    protocol.out.extend_from_slice(part);
                    protocol.close_data(start, self.id, ends);
                }
                if rest.is_empty() {
                    return Poll::Ready(true);
                }
            }
        })
    }

    /// Says that nothing follows.
    pub fn finish(&self) {
        let mut nothing: &[u8] = &[];
        let _ = self.poll_send(&Context::from_waker(Waker::noop()), &mut nothing, true);
    }

    /// Gives it up: the server is told, and nothing comes any more.
    pub fn cancel(&self) {
        self.line.with(|inner| drop(inner.protocol.leave(self.id)));
    }

    /// Waits for the head of the response, and gives it to `read`, together with whether the response ends with it.
    ///
    /// # Errors
    /// None came.
    pub async fn head<R>(&self, read: impl FnOnce(&Response<'_>, bool) -> R) -> Result<R, Cut> {
        let mut read = Some(read);
        poll_fn(|cx| {
            self.line.look(|inner| {
                let Some(stream) = inner.protocol.stream(self.id) else {
                    return Poll::Ready(Err(Cut::GivenUp));
                };
                if let (true, Some(head)) = (stream.has_head, stream.answer.response()) {
                    let read = read.take().expect("it is polled no more once it was ready");
                    return Poll::Ready(Ok(read(&head, stream.ends_with_head)));
                }
                wait(stream, cx).map(|cut| Err(cut.unwrap_or(Cut::GivenUp)))
            })
        })
        .await
    }

    /// The next bytes of the response's body; `None` at its end. The server may send as much again.
    ///
    /// # Errors
    /// The body was cut.
    pub async fn data(&self) -> Result<Option<Vec<u8>>, Cut> {
        poll_fn(|cx| {
            self.line.with(|inner| {
                let Some(stream) = inner.protocol.stream(self.id) else {
                    return Poll::Ready(Err(Cut::GivenUp));
                };
                let came = stream.queue.as_mut().map(std::mem::take).unwrap_or_default();
                if came.is_empty() {
                    return wait(stream, cx).map(|cut| cut.map_or(Ok(None), Err));
                }
                inner.protocol.taken(self.id, came.len());
                Poll::Ready(Ok(Some(came)))
            })
        })
        .await
    }

    /// Gives the trailers to `read`, if any came. They are there when [`Self::data`] has told the end.
    pub fn trailers<R>(&self, read: impl FnOnce(HeaderLines<'_>) -> R) -> Option<R> {
        self.line.look(|inner| {
            let stream = inner.protocol.stream(self.id)?;
            stream.trailers.as_deref().map(|lines| read(HeaderLines::of(lines)))
        })
    }
}

/// Ready when nothing more comes: why, if that is no good end.
fn wait(stream: &mut Stream, cx: &Context<'_>) -> Poll<Option<Cut>> {
    if !stream.is_done {
        set(&mut stream.waker, cx);
        return Poll::Pending;
    }
    Poll::Ready(match (stream.reset_by_server, stream.failure) {
        (Some(reason), _) => Some(Cut::Reset(reason)),
        (None, failure) => failure.map(Cut::Failed),
    })
}

fn set(place: &mut Option<Waker>, cx: &Context<'_>) {
    match place {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        self.cancel();
    }
}
