//! A connection that one task reads and many write to, until somebody closes it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use brunt_net::{Dialer, Endpoint, Failure, Offer, Opened};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::sync::{Mutex, Notify};

/// Room for one reading.
const READ: usize = 16 * 1024;

thread_local! {
    /// A connection that waits holds no buffer: this one is borrowed for one reading.
    static ROOM: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// The connection.
pub(crate) struct Stream {
    opened: RefCell<Option<Opened>>,
    /// Writings come one after the other.
    order: Mutex<()>,
    closed: Notify,
}

/// Opens one by the rules of the options.
///
/// # Errors
/// Why not, in Go's words.
pub(crate) async fn dial(
    dialer: &Rc<Dialer>,
    is_secure: bool,
    host: &str,
    port: u16,
) -> Result<Opened, String> {
    // Characters that no host has.
    if host.is_empty() || host.contains(['/', '?', '#', '@', '[', ']', '\\', '%', ' ']) {
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        return Err(format!("dial tcp: {shown}:{port} is not an address"));
    }
    let endpoint = Endpoint { host, port, is_secure };
    let opened = dialer.open(&endpoint, Offer::Nothing).await;
    opened.map_err(|failure| told(failure, host, port))
}

fn told(failure: Failure, host: &str, port: u16) -> String {
    let said = failure.reason(host, None);
    let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    match said.strip_prefix("dial tcp: ") {
        Some(why) => format!("dial tcp {shown}:{port}: {why}"),
        None => said,
    }
}

fn is_closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the connection is closed")
}

impl Stream {
    pub(crate) fn new(opened: Opened) -> Self {
        Self { opened: RefCell::new(Some(opened)), order: Mutex::default(), closed: Notify::new() }
    }

    /// The next bytes; `None` at the end, or when it was closed here.
    ///
    /// # Errors
    /// The connection broke.
    pub(crate) async fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let closed = self.closed.notified();
        let reading = poll_fn(|cx| {
            let mut opened = self.opened.borrow_mut();
            let Some(opened) = opened.as_mut() else { return Poll::Ready(Ok(None)) };
            ROOM.with_borrow_mut(|room| {
                let mut room = ReadBuf::new(room);
                let read = Pin::new(opened).poll_read(cx, &mut room);
                read.map_ok(|()| {
                    let came = room.filled();
                    if came.is_empty() { None } else { Some(came.to_vec()) }
                })
            })
        });
        tokio::select! {
            biased;
            () = closed => Ok(None),
            read = reading => read,
        }
    }

    /// Writes all of it, after what others write.
    ///
    /// # Errors
    /// Why not all was written, and how much was.
    pub(crate) async fn write(&self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut written = 0;
        let closed = self.closed.notified();
        let writing = async {
            let _turn = self.order.lock().await;
            while written < bytes.len() {
                let size = poll_fn(|cx| match self.opened.borrow_mut().as_mut() {
                    Some(opened) => Pin::new(opened).poll_write(cx, &bytes[written..]),
                    None => Poll::Ready(Err(is_closed())),
                });
                match size.await? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    size => written += size,
                }
            }
            poll_fn(|cx| match self.opened.borrow_mut().as_mut() {
                Some(opened) => Pin::new(opened).poll_flush(cx),
                None => Poll::Ready(Err(is_closed())),
            })
            .await
        };
        let result = tokio::select! {
            biased;
            () = closed => Err(is_closed()),
            result = writing => result,
        };
        result.map_err(|error| (written, error))
    }

    /// Closes it; whoever reads or writes is told.
    pub(crate) fn close(&self) {
        let opened = self.opened.borrow_mut().take();
        if let Some(opened) = opened {
            opened.close();
        }
        self.closed.notify_waiters();
    }
}
