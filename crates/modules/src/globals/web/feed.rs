//! A `ReadableStream` as the body of a request: JavaScript puts chunks in, the request that is being sent takes them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use brunt_http::{Payload, Piece, Shared, Source};
use brunt_js::Host;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use super::blob::shared_bytes;
use super::parts::{self, Set};

/// Bytes that wait to be sent. The stream is not asked for more while there are as many, so that one chunk more than
/// this is the most there is.
const WAITING_MAX: usize = 256 * 1024;

#[derive(Default)]
struct Feed(RefCell<State>);

#[derive(Default)]
struct State {
    chunks: VecDeque<Shared>,
    /// Bytes in `chunks`.
    waiting: usize,
    /// How the stream ended.
    end: Option<Result<(), String>>,
    /// Chunks are no longer taken: the request is over.
    is_over: bool,
    /// The wakers of tasks that wait for a chunk, and for room.
    taker: Option<Waker>,
    giver: Option<Waker>,
}

/// Kept by the request. When it goes, the stream is told that no more is wanted.
pub(crate) struct FeedGuard(Rc<Feed>);

impl Drop for FeedGuard {
    fn drop(&mut self) {
        let mut state = self.0.0.borrow_mut();
        state.is_over = true;
        state.chunks.clear();
        if let Some(giver) = state.giver.take() {
            giver.wake();
        }
    }
}

impl Source for Feed {
    fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>> {
        let mut state = self.0.borrow_mut();
        if let Some(chunk) = state.chunks.pop_front() {
            state.waiting -= chunk.as_slice().len();
            if let Some(giver) = state.giver.take() {
                giver.wake();
            }
            return Poll::Ready(Some(Ok(chunk)));
        }
        match state.end.take() {
            Some(Ok(())) => Poll::Ready(None),
            Some(Err(message)) => Poll::Ready(Some(Err(message))),
            None => {
                state.taker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Feed {
    fn give(&self, chunk: Shared) {
        let mut state = self.0.borrow_mut();
        if !state.is_over {
            state.waiting += chunk.as_slice().len();
            state.chunks.push_back(chunk);
        }
        if let Some(taker) = state.taker.take() {
            taker.wake();
        }
    }

    fn end(&self, how: Result<(), String>) {
        let mut state = self.0.borrow_mut();
        state.end.get_or_insert(how);
        if let Some(taker) = state.taker.take() {
            taker.wake();
        }
    }

    /// Whether more is wanted, if that can be said now.
    fn is_wanted(&self) -> Option<bool> {
        let state = self.0.borrow();
        if state.is_over { Some(false) } else { (state.waiting < WAITING_MAX).then_some(true) }
    }

    fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(wanted) = self.is_wanted() {
            return Poll::Ready(wanted);
        }
        self.0.borrow_mut().giver = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// The end that JavaScript holds.
struct FeedEnd(Rc<Feed>);

impl Class for FeedEnd {
    const NAME: &'static CStr = c"Feed";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"end", 0, |call| {
                    this(&call)?.end(Ok(()));
                    Ok(call.ctx().undefined())
                })
                .method(c"fail", 1, |call| {
                    this(&call)?.end(Err(call.argument(0).to_string_lossy()?));
                    Ok(call.ctx().undefined())
                })
                .method(c"push", 1, push)
        });
        &MEMBERS
    }
}

fn this<'js>(call: &Call<'js>) -> JsResult<'js, Rc<Feed>> {
    match call.this().instance::<FeedEnd>() {
        Some(end) => Ok(Rc::clone(&end.0)),
        None => Err(call.ctx().throw_type("this is not the end of a feed")),
    }
}

/// Takes a chunk. Tells whether more is wanted, or promises to tell.
fn push<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let feed = this(&call)?;
    let chunk = match value.as_str() {
        Some(text) => Some(Shared::from(text.as_str())),
        None => shared_bytes(&value),
    };
    let Some(chunk) = chunk else {
        return Err(ctx.throw_type("a chunk must be a string or bytes"));
    };
    feed.give(chunk);
    if let Some(wanted) = feed.is_wanted() {
        return Ok(ctx.bool(wanted));
    }
    let (promise, deferred) = ctx.promise()?;
    Host::of(ctx)
        .events()
        .spawn(async move { poll_fn(|cx| feed.poll_wanted(cx)).await }, move |ctx, wanted| {
            ctx.settle(deferred, Ok(ctx.bool(wanted)))
        });
    Ok(promise)
}

/// See [`feed`](super::bodies::feed).
pub(super) fn open<'js>(ctx: Ctx<'js>, stream: &Value<'js>) -> JsResult<'js, (Payload, FeedGuard)> {
    let feed = Rc::new(Feed::default());
    let end = ctx.instance(FeedEnd(Rc::clone(&feed)))?;
    parts::call(ctx, Set::Streams, "feed", &[stream.clone(), end])?;
    let source: Rc<dyn Source> = Rc::<Feed>::clone(&feed);
    Ok((Piece::from(source).into(), FeedGuard(feed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(feed: &Feed) -> Poll<Option<Result<String, String>>> {
        let chunk = feed.poll_chunk(&mut Context::from_waker(Waker::noop()));
        chunk.map(|chunk| {
            chunk.map(|chunk| {
                chunk.map(|chunk| String::from_utf8_lossy(chunk.as_slice()).into_owned())
            })
        })
    }

    #[test]
    fn chunks_come_in_order_and_then_the_end() {
        let feed = Feed::default();
        assert_eq!(take(&feed), Poll::Pending);
        feed.give("a".into());
        feed.give("b".into());
        feed.end(Err("torn".to_owned()));
        feed.end(Ok(()));
        assert_eq!(take(&feed), Poll::Ready(Some(Ok("a".to_owned()))));
        assert_eq!(take(&feed), Poll::Ready(Some(Ok("b".to_owned()))));
        assert_eq!(take(&feed), Poll::Ready(Some(Err("torn".to_owned()))));
    }

    #[test]
    fn a_full_feed_wants_more_when_something_was_taken_and_none_when_the_request_is_over() {
        let feed = Rc::new(Feed::default());
        feed.give(vec![0; WAITING_MAX - 1].into());
        assert_eq!(feed.is_wanted(), Some(true));
        feed.give("x".into());
        assert_eq!(feed.is_wanted(), None);
        assert!(take(&feed).is_ready());
        assert_eq!(feed.is_wanted(), Some(true));
        drop(FeedGuard(Rc::clone(&feed)));
        assert_eq!(feed.is_wanted(), Some(false));
        feed.give("y".into());
        assert_eq!(feed.0.borrow().chunks.len(), 0);
    }
}
