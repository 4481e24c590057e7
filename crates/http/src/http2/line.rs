//! A connection of HTTP/2 for a protocol on top of it: its user opens streams and has both directions of each.
//!
//! ```text
//! Duplex (stream 1) ─┐ put frames, take bytes that came
//! Duplex (stream 3) ─┼─► Line ─ Link ─ Protocol ─ Connection
//! driver (one task) ─┘ reads for all, answers the server, writes what the socket did not take at once
//! ```

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker, ready};

use brunt_net::{Dialer, Opened, Received};

use super::asked::Asked;
use super::duplex::Duplex;
use super::link::{Inner, Link};
use crate::failure::{Failure, Http2Trouble};

/// The bytes that a server may send unasked on all streams of a line. Bytes that its user has not taken yet count.
const WINDOW_OF_ALL: u32 = 4 << 20;

/// A connection that speaks HTTP/2, for any number of streams. A task of the runtime's own thread reads it until it is
/// dropped, so that the server's questions are answered while no stream waits.
#[derive(Debug)]
pub struct Line {
    link: Link,
    dialer: Rc<Dialer>,
    driver: RefCell<Option<Waker>>,
}

/// Why a connection is no line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoLine {
    /// The connection failed before the server's greeting.
    Failed(Failure),
    /// The other side speaks HTTP/1.1.
    Http1,
    /// The other side does not speak HTTP/2.
    Strange,
}

/// Why a line has no stream for a request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoStream {
    /// The connection is lost, or the server takes no more streams.
    Failed(Failure),
    /// The head is larger than the server wants: its limit, in bytes.
    HeadTooLarge(u32),
}

impl Line {
    /// Begins HTTP/2 on a connection and waits for the server's greeting, as long as its caller does. Needs a runtime that
    /// takes tasks of its own thread. `head_limit`: the most bytes of a head, and of trailers.
    ///
    /// # Errors
    /// No greeting came.
    pub async fn open(opened: Opened, head_limit: usize) -> Result<Rc<Self>, NoLine> {
        let (connection, early, dialer) = opened.take_apart();
        let link = Link::narrow(connection, dialer.network().clock, head_limit, WINDOW_OF_ALL);
        link.inner.borrow_mut().protocol.take(&early);
        let line = Rc::new(Self { link, dialer, driver: RefCell::default() });
        poll_fn(|cx| {
            let is_over = line.poll_drive(cx).is_ready();
            let inner = line.link.inner.borrow();
            let protocol = &inner.protocol;
            if protocol.is_greeted() {
                return Poll::Ready(Ok(()));
            }
            if !is_over {
                return Poll::Pending;
            }
            Poll::Ready(Err(match protocol.refusal() {
                _ if protocol.saw_http1() => NoLine::Http1,
                Failure::Malformed(_) | Failure::Http2(Http2Trouble::Connection, _) => {
                    NoLine::Strange
                }
                failure => NoLine::Failed(failure),
            }))
        })
        .await?;
        tokio::task::spawn_local(drive(Rc::downgrade(&line)));
        Ok(line)
    }

    /// It takes new streams, as far as is known.
    pub fn is_open(&self) -> bool {
        let inner = self.link.inner.borrow();
        inner.protocol.takes_streams() && inner.broken.is_none()
    }

    /// Opens a stream, as soon as the server has room for one. Its head goes out with what is sent next, or with
    /// [`Duplex::flush`].
    ///
    /// # Errors
    /// The connection takes no more streams, or not this one.
    pub async fn begin(self: &Rc<Self>, asked: &Asked<'_>) -> Result<Duplex, NoStream> {
        let mut place = Place { line: self, waker: None };
        let id = poll_fn(|cx| place.poll(cx, asked)).await?;
        Ok(Duplex::new(Rc::clone(self), id))
    }

    /// Does something to the connection, and writes what is to be written.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Inner) -> R) -> R {
        let inner = &mut *self.link.inner.borrow_mut();
        let result = work(inner);
        self.flush(inner);
        if inner.protocol.has_left() {
            // The driver closes it.
            self.wake();
        }
        result
    }

    /// Does something to the connection that leaves nothing to be written at once.
    pub(super) fn look<R>(&self, work: impl FnOnce(&mut Inner) -> R) -> R {
        work(&mut self.link.inner.borrow_mut())
    }

    /// With one stream, its frames go out at once; with several, the driver writes for all in one go.
    fn flush(&self, inner: &mut Inner) {
        if inner.protocol.out.is_empty() {
            return;
        }
        if inner.protocol.is_alone() {
            inner.flush(&mut self.dialer.network().scratch.borrow_mut(), self.dialer.meter());
        }
        if inner.is_flushed() {
            inner.protocol.wake_senders();
        } else {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(driver) = &*self.driver.borrow() {
            driver.wake_by_ref();
        }
    }

    /// Writes what there is to write and reads what there is to read. Ready when the connection is over.
    fn poll_drive(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.link.inner.borrow_mut();
        let mut scratch = self.dialer.network().scratch.borrow_mut();
        let meter = self.dialer.meter();
        loop {
            // A socket that takes nothing more may still have something to read.
            if inner.poll_flush(cx, &mut scratch, meter).is_ready() {
                inner.protocol.wake_senders();
            }
            let Inner { connection, protocol, broken, .. } = &mut *inner;
            if protocol.is_lost() {
                return Poll::Ready(());
            }
            if protocol.has_left() {
                protocol.ended(None);
                return Poll::Ready(());
            }
            match connection.poll_receive(cx, &mut scratch, |bytes| protocol.take(bytes)) {
                Poll::Ready(Ok(Received::Bytes(size))) => meter.received(size),
                Poll::Ready(Ok(Received::End)) => protocol.ended(None),
                Poll::Ready(Err(failure)) => protocol.ended(Some(failure.into())),
                Poll::Pending if broken.is_some() && !connection.rests() => protocol.ended(*broken),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The connection is over: the server learns it now, not when the last stream is dropped.
    fn hang_up(&self) {
        let inner = &mut *self.link.inner.borrow_mut();
        if inner.is_flushed() {
            self.dialer.meter().sent(inner.connection.say_goodbye());
        }
        inner.connection.hang_up();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.wake();
        let inner = self.link.inner.get_mut();
        if inner.protocol.is_lost() {
            return;
        }
        inner.protocol.say_farewell();
        inner.flush(&mut self.dialer.network().scratch.borrow_mut(), self.dialer.meter());
        if inner.is_flushed() {
            self.dialer.meter().sent(inner.connection.say_goodbye());
        }
    }
}

/// Reads a line until it is over or dropped.
async fn drive(line: Weak<Line>) {
    poll_fn(|cx| {
        let Some(line) = line.upgrade() else { return Poll::Ready(()) };
        match &mut *line.driver.borrow_mut() {
            Some(driver) => driver.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        ready!(line.poll_drive(cx));
        line.hang_up();
        Poll::Ready(())
    })
    .await;
}

/// A request that waits for the server to have room for its stream.
struct Place<'a> {
    line: &'a Line,
    waker: Option<Waker>,
}

impl Place<'_> {
    fn poll(&mut self, cx: &Context<'_>, asked: &Asked<'_>) -> Poll<Result<u32, NoStream>> {
        self.line.look(|inner| {
            let protocol = &mut inner.protocol;
            if !protocol.takes_streams() || inner.broken.is_some() {
                let failure = inner.broken.unwrap_or_else(|| protocol.refusal());
                return Poll::Ready(Err(NoStream::Failed(failure)));
            }
            if let Some(limit) = protocol.passed_by(asked) {
                return Poll::Ready(Err(NoStream::HeadTooLarge(limit)));
            }
            let has_room = protocol.has_room();
            if !has_room || protocol.is_full() {
                if has_room {
                    protocol.wait_for_socket(cx.waker());
                } else {
                    protocol.wait_for_room(cx.waker());
                }
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if let Some(waker) = self.waker.take() {
                protocol.stop_waiting(&waker);
            }
            Poll::Ready(Ok(protocol.begin(asked)))
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(waker) = self.waker.take() else { return };
        self.line.look(|inner| {
            // This one was woken for a place that it doesn't take.
            if !inner.protocol.stop_waiting(&waker) {
                inner.protocol.pass_on();
            }
        });
    }
}
