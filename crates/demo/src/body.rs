//! Response bodies: nothing, one piece, or pieces made one after another.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// The body of an answer.
pub(crate) enum Body {
    /// One piece; `None` once it was handed out, or when there is none.
    Whole(Option<Bytes>),
    /// Pieces made on demand, perhaps with a pause between them.
    Paced(Box<Paced>),
}

/// Pieces from a producer, with a pause before each but the first. Holds one piece at a time.
pub(crate) struct Paced {
    produce: Box<dyn FnMut() -> Option<Bytes> + Send>,
    pause: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    started: bool,
    /// Bytes still to come, where known beforehand: then `Content-Length` is sent, else chunks.
    remaining: Option<u64>,
}

impl Body {
    /// A body without bytes.
    pub(crate) const fn empty() -> Self {
        Self::Whole(None)
    }

    /// Pieces until `produce` gives `None`. `size`: the sum of their bytes, if known.
    pub(crate) fn paced(
        produce: impl FnMut() -> Option<Bytes> + Send + 'static,
        pause: Duration,
        size: Option<u64>,
    ) -> Self {
        Self::Paced(Box::new(Paced {
            produce: Box::new(produce),
            pause,
            sleep: None,
            started: false,
            remaining: size,
        }))
    }

    /// The same bytes at no more than `bytes_per_second`. A body that is paced already stays so.
    pub(crate) fn throttled(self, bytes_per_second: u64) -> Self {
        match self {
            Self::Whole(Some(mut bytes)) => {
                let size = bytes.len() as u64;
                let tick = Duration::from_millis(100);
                let step = (bytes_per_second / 10).max(1) as usize;
                let produce =
                    move || (!bytes.is_empty()).then(|| bytes.copy_to_bytes(step.min(bytes.len())));
                Self::paced(produce, tick, Some(size))
            }
            other => other,
        }
    }

    /// Bytes in the body, as far as they are known before it is sent.
    pub(crate) fn known_size(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.as_ref().map_or(0, |b| b.len() as u64),
            Self::Paced(paced) => paced.remaining.unwrap_or(0),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes))
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Self::Paced(paced) => paced.poll(cx).map(|piece| piece.map(|b| Ok(Frame::data(b)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Paced(paced) => paced.remaining == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64))
            }
            Self::Paced(paced) => {
                paced.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
            }
        }
    }
}

impl Paced {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.started && !self.pause.is_zero() {
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.pause)));
            ready!(sleep.as_mut().poll(cx));
            sleep.as_mut().reset(Instant::now() + self.pause);
        }
        self.started = true;
        let piece = (self.produce)();
        if let (Some(remaining), Some(piece)) = (&mut self.remaining, &piece) {
            *remaining = remaining.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use hyper::body::Body as _;

    use super::*;

    #[test]
    fn a_throttled_body_keeps_its_size() {
        let body = Body::from(Bytes::from_static(b"0123456789")).throttled(20);
        assert_eq!(body.size_hint().exact(), Some(10));
        assert_eq!(body.known_size(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paced_body_waits_between_its_pieces_but_not_before_the_first() {
        let mut left = 3;
        let produce = move || {
            left -= 1;
            (left >= 0).then(|| Bytes::from_static(b"x"))
        };
        let mut body = Body::paced(produce, Duration::from_secs(1), None);
        let begin = Instant::now();
        let mut pieces = 0;
        while let Some(Ok(_)) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
        {
            pieces += 1;
            assert_eq!(begin.elapsed().as_secs(), pieces - 1);
        }
        assert_eq!(pieces, 3);
    }
}
