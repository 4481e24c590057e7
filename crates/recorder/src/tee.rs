//! Bodies that pass at once, and leave a copy.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::event_stream::EventStream;
use crate::failure;
use crate::tape::Take;

/// The way of a body.
enum Way {
    ToServer,
    /// With the events that it holds, if it is a stream of them.
    ToClient(Option<Box<EventStream>>),
}

/// A body whose bytes are recorded as they pass.
pub(crate) struct Tee {
    body: Incoming,
    take: Arc<Take>,
    way: Way,
}

impl Tee {
    /// A request's.
    pub(crate) fn to_server(body: Incoming, take: &Arc<Take>) -> Self {
        Self { body, take: Arc::clone(take), way: Way::ToServer }
    }

    /// A response's. `is_events`: it is `text/event-stream` without a coding.
    pub(crate) fn to_client(body: Incoming, take: &Arc<Take>, is_events: bool) -> Self {
        let events = is_events.then(Box::default);
        let tee = Self { body, take: Arc::clone(take), way: Way::ToClient(events) };
        // Such a body is never asked for a frame.
        tee.note_end();
        tee
    }

    /// Nothing follows: hyper may not ask again.
    fn note_end(&self) {
        if matches!(self.way, Way::ToClient(_)) && self.body.is_end_stream() {
            self.take.done();
        }
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        match (&frame, &mut this.way) {
            (Some(Ok(frame)), way) => {
                if let Some(bytes) = frame.data_ref() {
                    match way {
                        Way::ToServer => this.take.request_bytes(bytes),
                        Way::ToClient(events) => {
                            this.take.response_bytes(bytes, events.as_deref_mut());
                        }
                    }
                }
                this.note_end();
            }
            (Some(Err(error)), Way::ToClient(_)) => {
                this.take.failed(&format!("the response broke off: {}", failure::chain(error)));
            }
            (None, Way::ToClient(_)) => this.take.done(),
            (Some(Err(_)) | None, Way::ToServer) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A client may leave while its response comes.
impl Drop for Tee {
    fn drop(&mut self) {
        if matches!(self.way, Way::ToClient(_)) {
            self.take.done();
        }
    }
}
