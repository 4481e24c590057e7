//! One request and its response on a stream of its own.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brunt_net::{Network, Received, Scratch};

use super::frame;
use super::link::{Inner, Link};
use super::outflow::Outflow;
use super::protocol::unfit;
use crate::exchange::Recording;
use crate::failure::Failure;
use crate::request::Request;

/// The bytes of a body that one poll sends before others get their turn.
const TURN: usize = 1 << 20;

/// A request under way. Its stream ends when this is dropped.
pub(crate) struct Running<'a, 'c> {
    link: &'a Link,
    network: &'a Network,
    request: &'a Request<'a>,
    recording: &'a mut Recording<'c>,
    /// 0: it has no stream yet.
    id: u32,
    /// With this it waits for a place.
    waits: Option<Waker>,
    outflow: Option<Outflow<'a>>,
    is_written: bool,
    /// The head of a streamed response was told.
    has_begun: bool,
    /// Its headers wait for those of others.
    is_held: bool,
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    /// The server has certainly not looked at the request.
    pub(crate) is_unseen: bool,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, is_unseen: false }
    }
}

impl<'a, 'c> Running<'a, 'c> {
    pub(crate) fn new(
        link: &'a Link,
        network: &'a Network,
        request: &'a Request<'a>,
        recording: &'a mut Recording<'c>,
    ) -> Self {
        Self {
            link,
            network,
            request,
            recording,
            id: 0,
            outflow: None,
            is_written: false,
            has_begun: false,
            waits: None,
            is_held: request.together,
        }
    }

    fn open(&mut self, cx: &Context<'_>, inner: &mut Inner) -> Poll<Result<(), Broken>> {
        let protocol = &mut inner.protocol;
        if !protocol.is_open() || inner.broken.is_some() {
            let failure = inner.broken.unwrap_or_else(|| protocol.refusal());
            return Poll::Ready(Err(Broken { failure, is_unseen: true }));
        }
        if let Some(failure) = unfit(self.request.headers) {
            return Poll::Ready(Err(failure.into()));
        }
        if !protocol.has_room() {
            protocol.wait_for_room(cx.waker());
            self.waits = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if let Some(waker) = self.waits.take() {
            protocol.stop_waiting(&waker);
        }
        let before = protocol.out.len();
        let answer = std::mem::take(&mut self.recording.answer);
        self.id = protocol.open(self.request, answer);
        self.recording.took_part(protocol.out.len() - before, 0);
        if !self.request.body.is_empty() {
            self.outflow = Some(Outflow::new(self.request.body));
        }
        Poll::Ready(Ok(()))
    }

    /// Sends as the server makes room and the socket takes it.
    fn send(
        &mut self,
        cx: &mut Context<'_>,
        inner: &mut Inner,
        scratch: &mut Scratch,
    ) -> Result<(), Failure> {
        let mut turn = 0;
        loop {
            let mut waits = false;
            while let Some(outflow) = &mut self.outflow {
                let room = inner.protocol.room(self.id);
                if room == 0 {
                    break;
                }
                let out = &mut inner.protocol.out;
                let start = out.len();
                out.extend_from_slice(&[0; frame::HEAD]);
                let filled = outflow.poll_fill(cx, room, out);
                let size = out.len() - start - frame::HEAD;
                if !matches!(filled, Poll::Ready(Ok(()))) {
                    out.truncate(start);
                }
                match filled {
                    Poll::Pending => {
                        waits = true;
                        break;
                    }
                    Poll::Ready(result) => result?,
                }
                let ends = outflow.is_done();
                inner.protocol.close_data(start, self.id, ends);
                self.recording.took_part(size + frame::HEAD, 0);
                turn += size;
                if ends {
                    self.outflow = None;
                }
            }
            if inner.poll_flush(cx, scratch, self.recording.meter()).is_pending() {
                return Ok(());
            }
            if self.outflow.is_none() {
                if !self.is_written && inner.broken.is_none() {
                    self.is_written = true;
                    self.recording.written();
                    if let Some(write_by) = self.request.write_by {
                        write_by.written();
                    }
                }
                return Ok(());
            }
            if waits || inner.broken.is_some() || inner.protocol.room(self.id) == 0 {
                return Ok(());
            }
            if turn >= TURN {
                cx.waker().wake_by_ref();
                return Ok(());
            }
        }
    }

    /// Takes what came. Ready when nothing more will.
    fn receive(&mut self, cx: &mut Context<'_>, inner: &mut Inner) -> Poll<Result<(), Broken>> {
        let Some(stream) = inner.protocol.stream(self.id) else {
            unreachable!("a stream stays until its request leaves it")
        };
        if stream.has_head {
            self.recording.answered_at(stream.first_byte);
            if stream.answer.is_enough() {
                return Poll::Ready(Ok(()));
            }
        }
        let mut waits = false;
        if let (Some(spool), true) = (self.request.spool, stream.has_head) {
            if !self.has_begun {
                self.has_begun = true;
                self.recording.answer = std::mem::take(&mut stream.answer);
                self.recording.answer.decide(spool);
                if self.recording.answer.is_streamed() {
                    spool.begin(|| self.recording.snapshot());
                }
            }
            match spool.poll_room(cx) {
                Poll::Ready(false) => return Poll::Ready(Ok(())),
                Poll::Pending => waits = true,
                Poll::Ready(true) => {
                    let queue = stream.queue.as_mut().map(std::mem::take).unwrap_or_default();
                    if !queue.is_empty() {
                        spool.arrives(self.recording.now());
                        self.recording.answer.take(&queue, Some(spool))?;
                        inner.protocol.taken(self.id, queue.len());
                    }
                }
            }
        }
        let stream = inner.protocol.stream(self.id).expect("it was there a moment ago");
        let rests = stream.queue.as_ref().is_some_and(|queue| !queue.is_empty());
        if !stream.is_done || (rests && waits && stream.failure.is_none()) {
            return Poll::Pending;
        }
        Poll::Ready(match stream.failure {
            Some(failure) => Err(Broken { failure, is_unseen: stream.is_unseen }),
            None => Ok(()),
        })
    }

    fn poll_on(
        &mut self,
        cx: &mut Context<'_>,
        inner: &mut Inner,
        scratch: &mut Scratch,
    ) -> Poll<Result<(), Broken>> {
        if self.id == 0 {
            std::task::ready!(self.open(cx, inner))?;
            if self.is_held {
                // Those who are polled in the same turn come first.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        inner.protocol.polls(self.id);
        loop {
            self.send(cx, inner, scratch)?;
            if let Poll::Ready(result) = self.receive(cx, inner) {
                return Poll::Ready(result);
            }
            let Inner { connection, protocol, .. } = inner;
            // Then all is there, and only the reader of the body is waited for.
            let received = if protocol.is_lost() {
                Poll::Pending
            } else {
                connection.poll_receive(cx, scratch, |bytes| protocol.take(bytes))
            };
            match received {
                Poll::Ready(Ok(Received::Bytes(size))) => {
                    self.recording.meter().received(size);
                    if connection.is_drained() {
                        protocol.give_back();
                    }
                }
                // A request that went out whole doesn't ask how the answers to the server's own questions fared.
                Poll::Ready(Ok(Received::End)) => {
                    protocol.ended(inner.broken.filter(|_| !self.is_written));
                }
                Poll::Ready(Err(failure)) => {
                    let broken = inner.broken.filter(|_| !self.is_written);
                    protocol.ended(broken.or(Some(failure.into())));
                }
                Poll::Pending
                    if inner.broken.is_some() && !protocol.is_lost() && !connection.rests() =>
                {
                    protocol.ended(inner.broken);
                }
                // Nothing is there: the server may wait for leave, which goes out first.
                Poll::Pending if !connection.rests() && protocol.give_back() => {}
                Poll::Pending => {
                    if let Some(stream) = protocol.stream(self.id) {
                        match &mut stream.waker {
                            Some(waker) => waker.clone_from(cx.waker()),
                            none => *none = Some(cx.waker().clone()),
                        }
                    }
                    inner.reader = self.id;
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Future for Running<'_, '_> {
    type Output = Result<(), Broken>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let link = this.link;
        let mut inner = link.inner.borrow_mut();
        inner.is_busy = true;
        let result = this.poll_on(cx, &mut inner, &mut this.network.scratch.borrow_mut());
        inner.is_busy = false;
        inner.protocol.polls(0);
        result
    }
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        let mut inner = self.link.inner.borrow_mut();
        if self.id == 0 {
            if let Some(waker) = self.waits.take()
                && !inner.protocol.stop_waiting(&waker)
            {
                // This one was woken for a place that it doesn't take.
                inner.protocol.pass_on();
            }
            return;
        }
        let Some(stream) = inner.protocol.leave(self.id) else { return };
        self.recording.took_part(0, stream.received);
        if stream.has_head {
            self.recording.answered_at(stream.first_byte);
        }
        if !self.has_begun {
            self.recording.answer = stream.answer;
        }
        if !inner.protocol.out.is_empty() {
            inner.flush(&mut self.network.scratch.borrow_mut(), self.recording.meter());
        }
        if inner.reader == self.id {
            inner.protocol.hand_over();
        }
    }
}
