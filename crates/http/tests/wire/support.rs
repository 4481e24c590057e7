//! A server that does exactly as it is told, and clients to point at it.

use std::cell::Cell;
use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use brunt_fiber::core::CoreRuntime;
use brunt_http::{
    Body, Client, Exchange, FileRange, Headers, Network, Payload, Request, Settings, Shared,
    Source, Target, clock,
};
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Runs a test on a runtime like a load core's.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    // A test that hangs fails.
    let test = async { tokio::time::timeout(Duration::from_secs(30), test).await.unwrap() };
    CoreRuntime::new(8).unwrap().block_on(test)
}

/// Accepts connections on a free port and gives each to `serve`, with its number from 0.
pub(crate) async fn server<F>(serve: impl Fn(TcpStream, usize) -> F + 'static) -> SocketAddr
where
    F: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        for number in 0.. {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::task::spawn_local(serve(socket, number));
        }
    });
    address
}

/// A server that answers every request on every connection with the same bytes.
pub(crate) async fn answering(bytes: impl Into<Vec<u8>>) -> SocketAddr {
    let bytes: Rc<Vec<u8>> = Rc::new(bytes.into());
    server(move |mut socket, _| {
        let bytes = bytes.clone();
        async move {
            while read_head(&mut socket).await.is_some() {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

/// A server that answers the first request of each connection and closes it.
pub(crate) async fn answering_once(bytes: impl Into<Vec<u8>>) -> SocketAddr {
    let bytes: Rc<Vec<u8>> = Rc::new(bytes.into());
    server(move |mut socket, _| {
        let bytes = bytes.clone();
        async move {
            read_head(&mut socket).await;
            let _ = socket.write_all(&bytes).await;
        }
    })
    .await
}

/// Reads up to the empty line; `None` at the end of the connection.
pub(crate) async fn read_head(socket: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// Waits until the other side has closed.
pub(crate) async fn until_closed(socket: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let mut nothing = [0; 64];
    while socket.read(&mut nothing).await.is_ok_and(|size| size > 0) {}
}

/// The next close is a reset.
pub(crate) fn reset_on_close(socket: &TcpStream) {
    socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO)).unwrap();
}

pub(crate) fn client(change: impl FnOnce(&mut Settings)) -> Client {
    let mut settings = Settings::default();
    change(&mut settings);
    Client::new(Network::new(settings, clock::now).unwrap(), None)
}

/// A GET that ends after 10 s at the latest.
pub(crate) async fn get(client: &Client, url: &str) -> Exchange {
    with(client, url, |_| ()).await
}

/// A GET with changes.
pub(crate) async fn with(
    client: &Client,
    url: &str,
    change: impl FnOnce(&mut Request<'_>),
) -> Exchange {
    let target = Target::parse(url).unwrap();
    let headers = Headers::new();
    let mut request = Request::new("GET", &target, &headers);
    request.deadline = Some(client.network().now() + 10_000_000_000);
    change(&mut request);
    client.exchange(&request).await
}

/// A POST.
pub(crate) async fn post(client: &Client, url: &str, body: &[u8]) -> Exchange {
    let target = Target::parse(url).unwrap();
    let headers = Headers::new();
    let mut request = Request::new("POST", &target, &headers);
    request.body = Body::Bytes(body);
    request.deadline = Some(client.network().now() + 10_000_000_000);
    client.exchange(&request).await
}

/// A POST of a payload.
pub(crate) async fn send(client: &Client, url: &str, payload: &Payload) -> Exchange {
    send_with(client, url, payload, &Headers::new()).await
}

/// A POST of a payload with headers.
pub(crate) async fn send_with(
    client: &Client,
    url: &str,
    payload: &Payload,
    headers: &Headers,
) -> Exchange {
    let target = Target::parse(url).unwrap();
    let mut request = Request::new("POST", &target, headers);
    request.body = Body::Payload(payload);
    request.deadline = Some(client.network().now() + 10_000_000_000);
    client.exchange(&request).await
}

/// A file with these bytes, gone when it is dropped.
pub(crate) fn file_of(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

pub(crate) fn range(file: &NamedTempFile, start: u64, len: u64) -> FileRange {
    FileRange { path: file.path().into(), start, len }
}

/// A stream of these chunks, one per turn of the task; `!…` is an error.
struct Chunks {
    texts: Vec<&'static str>,
    at: Cell<usize>,
    rests: Cell<bool>,
    size: Option<u64>,
    rewinds: bool,
}

impl Source for Chunks {
    fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>> {
        if !self.rests.replace(!self.rests.get()) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let chunk = self.texts.get(self.at.get());
        self.at.set(self.at.get() + 1);
        Poll::Ready(chunk.map(|chunk| match chunk.strip_prefix('!') {
            Some(error) => Err(error.to_owned()),
            None => Ok((*chunk).into()),
        }))
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn rewind(&self) -> bool {
        self.at.set(0);
        self.rewinds
    }
}

pub(crate) fn chunks(chunks: &[&'static str], size: Option<u64>) -> Rc<dyn Source> {
    let texts = chunks.to_vec();
    Rc::new(Chunks { texts, at: Cell::new(0), rests: Cell::new(false), size, rewinds: false })
}

/// The same, but it can begin again.
pub(crate) fn repeatable(chunks: &[&'static str]) -> Rc<dyn Source> {
    let (texts, rests) = (chunks.to_vec(), Cell::new(false));
    Rc::new(Chunks { texts, at: Cell::new(0), rests, size: None, rewinds: true })
}

/// k6's error code and text.
pub(crate) fn failed(exchange: &Exchange) -> (u16, String) {
    let failure = exchange.failure.expect("it failed");
    assert_eq!(exchange.response().unwrap_err(), failure);
    (failure.code(), failure.to_string())
}
