//! `responseType: 'stream'` and `fetch`: the call returns at the head, and the body comes as the script reads it.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use brunt_fiber::clock;
use brunt_http::content::{Decoded, Decoder, Undecodable};
use brunt_http::cookie::Scope;
use brunt_http::{Chunk, Client, Exchange, Failure, Spool, Target};
use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::prepared::{Prepared, ResponseType};
use super::state::HttpState;
use super::transfer::{self, Finished, Sent, Sink};
use crate::vu_jar::SharedJar;

/// The most that waits to be read by the script; then the socket is not read.
const BUFFER: usize = 1 << 20;

/// The rest of a response of `fetch` that the script doesn't read may still come: so much, and for so long. Then the
/// connection can be used again, and the request is measured to its last byte. Beyond it the connection is closed.
const REST_MAX: usize = BUFFER;
const REST_WAIT: Duration = Duration::from_secs(1);

/// The bytes of a coded body that are decoded at a time.
const DECODED_STEP: usize = 64 * 1024;

/// A response on its way, shared by the task that runs the exchange and the script's objects.
pub(crate) struct Download {
    pub(super) spool: Spool,
    hop: RefCell<Hopped>,
    /// Set when the body has come, or has failed to after its head.
    finished: OnceCell<Box<Finished>>,
    /// The result in place of a head to be streamed.
    ended: RefCell<Option<Box<Finished>>>,
    task: RefCell<Option<AbortHandle>>,
    /// The task panicked.
    panic: RefCell<Option<Box<dyn Any + Send>>>,
    is_given_up: Cell<bool>,
    /// It is one of `fetch`: when the script reads no further, a short rest may still come.
    is_fetch: bool,
    /// The most bytes that it may have when it is put together.
    limit: Cell<u64>,
    /// Takes the body's codings off, from its head on.
    decoding: RefCell<Option<Decoding>>,
    /// The iteration ended before the body did: what the script reads later is no whole body.
    is_cut: Cell<bool>,
    /// The script doesn't want it any more.
    is_aborted: Cell<bool>,
    aborted: Notify,
    let_go: Notify,
}

/// A body that comes in a content coding.
struct Decoding {
    decoder: Decoder,
    /// When the last of what was decoded arrived.
    arrived_at: u64,
    /// The rest means nothing.
    is_over: bool,
    /// Others on the core have theirs first.
    turn: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// The request that a head responds to.
#[derive(Default)]
pub(super) struct Hopped {
    pub(super) url: String,
    pub(super) first_url: Option<String>,
    pub(super) first_cookies: Option<String>,
}

/// The script's side: when its last holder lets go, the body is no longer read.
pub(super) struct Reader(Rc<Download>);

/// The arrival that [`start`] waits for.
pub(super) struct Arrived {
    pub(super) reader: Reader,
    /// `None`: the exchange ended without a head to be streamed.
    pub(super) head: Option<Box<Finished>>,
}

impl Download {
    pub(super) fn new(is_fetch: bool) -> Rc<Self> {
        Rc::new(Self {
            spool: Spool::new(BUFFER),
            is_fetch,
            limit: Cell::new(u64::MAX),
            decoding: RefCell::default(),
            is_cut: Cell::new(false),
            is_aborted: Cell::new(false),
            aborted: Notify::new(),
            let_go: Notify::new(),
            hop: RefCell::default(),
            finished: OnceCell::new(),
            ended: RefCell::default(),
            task: RefCell::default(),
            panic: RefCell::default(),
            is_given_up: Cell::new(false),
        })
    }

    /// Another request goes out.
    pub(super) fn hop(&self, hop: Hopped) {
        *self.hop.borrow_mut() = hop;
    }

    /// The result of an exchange, unless the script aborts it before its head comes: that is a failed request.
    pub(super) async fn unless_aborted(
        &self,
        exchange: impl Future<Output = Exchange>,
    ) -> Exchange {
        let started_at = clock::now_ns();
        let aborted = async {
            if !self.is_aborted.get() {
                self.aborted.notified().await;
            }
        };
        tokio::select! {
            exchange = exchange => exchange,
            () = aborted => {
                let now = clock::now_ns();
                let mut exchange = Exchange::unsent(Failure::Aborted, now);
                exchange.started_at = started_at;
                exchange.timings.waiting = now.saturating_sub(started_at);
                exchange
            }
        }
    }

    /// The script doesn't want it any more: before the head that is a failure, later it ends with what has come.
    pub(super) fn abort(&self) {
        if self.spool.has_begun() {
            self.give_up();
        } else if !self.is_aborted.replace(true) {
            self.aborted.notify_one();
        }
    }

    /// The iteration is over, and with it what has not come yet.
    pub(super) fn cut(&self) {
        if !self.spool.has_ended() {
            self.is_cut.set(true);
            self.give_up();
        }
    }

    /// The script has nothing left to do. Tells whether the rest is waited for, as in [`Self::lets_go`].
    pub(super) fn is_left(&self) -> bool {
        let is_left = self.lets_go();
        self.is_cut.set(self.is_cut.get() || is_left);
        is_left
    }

    /// The script reads no further. Tells whether the rest is waited for: it is one of `fetch`, and has not ended.
    pub(super) fn lets_go(&self) -> bool {
        if !self.is_fetch || self.is_given_up.get() || self.spool.has_ended() {
            return false;
        }
        self.spool.drain(REST_MAX);
        self.let_go.notify_one();
        true
    }

    /// Once the script reads no further, gives up after a while.
    async fn watch(&self) {
        self.let_go.notified().await;
        tokio::time::sleep(REST_WAIT).await;
        self.give_up();
    }

    /// From now on the body comes, in these codings.
    fn begin(&self, exchange: &Exchange) {
        let codings = exchange.response().ok().and_then(|head| head.content_encoding());
        if let Some(decoder) = codings.and_then(|codings| Decoder::new(&codings)) {
            let decoding = Decoding { decoder, arrived_at: 0, is_over: false, turn: None };
            *self.decoding.borrow_mut() = Some(decoding);
        }
    }

    /// The next chunk, its codings taken off; `None` at the end.
    pub(super) fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Chunk, Failure>>> {
        if self.is_cut.replace(false) {
            return Poll::Ready(Some(Err(Failure::Aborted)));
        }
        let mut decoding = self.decoding.borrow_mut();
        let Some(decoding) = &mut *decoding else { return self.spool.poll_chunk(cx) };
        loop {
            if let Some(turn) = &mut decoding.turn {
                ready!(turn.as_mut().poll(cx));
                decoding.turn = None;
            }
            match decoding.next() {
                Ok(Some(chunk)) => return Poll::Ready(Some(Ok(chunk))),
                Ok(None) if decoding.turn.is_some() => continue,
                Ok(None) => {}
                Err(undecodable) => {
                    decoding.is_over = true;
                    self.give_up();
                    return Poll::Ready(Some(Err(Failure::Decompression(undecodable))));
                }
            }
            match ready!(self.spool.poll_chunk(cx)) {
                Some(Ok(chunk)) => {
                    decoding.arrived_at = chunk.arrived_at;
                    if !decoding.is_over {
                        decoding.decoder.push(chunk.bytes);
                    }
                }
                Some(Err(failure)) => {
                    decoding.is_over = true;
                    return Poll::Ready(Some(Err(failure)));
                }
                None if decoding.is_over => return Poll::Ready(None),
                None => decoding.decoder.end(),
            }
        }
    }

    /// The script reads no further. The part that has come is recorded; without a head, nothing has.
    pub(super) fn give_up(&self) {
        if self.is_given_up.replace(true) {
            return;
        }
        self.spool.abandon();
        if !self.spool.has_begun()
            && let Some(task) = self.task.borrow_mut().take()
        {
            task.abort();
        }
    }
}

impl Decoding {
    /// The next decoded chunk; `None`: more is needed, or all is out.
    fn next(&mut self) -> Result<Option<Chunk>, Undecodable> {
        if self.is_over {
            return Ok(None);
        }
        let mut bytes = vec![0; DECODED_STEP];
        match self.decoder.next(&mut bytes)? {
            Decoded::Bytes(size) => {
                bytes.truncate(size);
                Ok(Some(Chunk { bytes, arrived_at: self.arrived_at }))
            }
            Decoded::Hungry => Ok(None),
            Decoded::Busy => {
                self.turn = Some(Box::pin(brunt_fiber::turn::given_way()));
                Ok(None)
            }
            Decoded::End => {
                self.is_over = true;
                Ok(None)
            }
        }
    }
}

impl Reader {
    /// The next chunk of the body; `None` at its end.
    pub(super) fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Chunk, Failure>>> {
        self.0.poll_chunk(cx)
    }

    /// The result in place of a head to be streamed; given away once.
    pub(super) fn take_ended(&self) -> Option<Box<Finished>> {
        self.0.ended.take()
    }

    /// It is one of `fetch`.
    pub(super) fn is_fetch(&self) -> bool {
        self.0.is_fetch
    }

    /// The most bytes that it may have when it is put together.
    pub(super) fn limit(&self) -> u64 {
        self.0.limit.get()
    }

    /// The script reads no further: the connection is closed.
    pub(super) fn give_up(&self) {
        self.0.give_up();
    }

    /// The result of the request, once all of it is known.
    pub(super) fn finished(&self) -> Option<&Finished> {
        self.0.finished.get().map(|finished| &**finished)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if !self.0.lets_go() {
            self.0.give_up();
        }
    }
}

/// Starts the request on a task of its own. The result waits for the head.
pub(super) fn start(
    http: &HttpState,
    prepared: Prepared,
    sink: Sink,
) -> impl Future<Output = Arrived> + use<> {
    if let Some(download) = &prepared.download {
        http.keep_track_of(download);
    }
    begin(Rc::clone(&http.client), prepared, sink)
}

/// The same with a download that the VU keeps track of.
pub(super) fn begin(
    client: Rc<Client>,
    mut prepared: Prepared,
    sink: Sink,
) -> impl Future<Output = Arrived> + use<> {
    let download = prepared.download.clone().unwrap_or_else(|| Download::new(false));
    download.limit.set(client.network().body_limit());
    let reader = Reader(Rc::clone(&download));
    let seen = Seen::of(&prepared);
    let task = {
        let download = Rc::clone(&download);
        tokio::task::spawn_local(async move {
            let ended = {
                let run = AssertUnwindSafe(transfer::run(&client, &mut prepared, &sink));
                tokio::select! {
                    ended = run.catch_unwind() => ended,
                    () = never(download.watch()) => unreachable!("it never ends"),
                }
            };
            let ended = match ended {
                Ok(ended) => ended,
                Err(payload) => {
                    // The task that waits for the head panics in its stead; a reader of the rest has no whole body.
                    *download.panic.borrow_mut() = Some(payload);
                    return download.spool.end(Some(Failure::Aborted));
                }
            };
            let failure = ended.last.exchange.as_ref().and_then(|exchange| exchange.failure);
            let finished = Finished::new(prepared, ended);
            if download.spool.has_begun() {
                // It is set once, here.
                let _ = download.finished.set(finished);
            } else {
                *download.ended.borrow_mut() = Some(finished);
            }
            download.spool.end(failure);
        })
    };
    *download.task.borrow_mut() = Some(task.abort_handle());
    async move {
        let exchange = poll_fn(|cx| download.spool.poll_head(cx)).await;
        if let Some(payload) = download.panic.take() {
            resume_unwind(payload);
        }
        if let Some(exchange) = &exchange {
            download.begin(exchange);
        }
        let head = exchange.map(|exchange| seen.with(exchange, &download.hop.take()));
        Arrived { reader, head }
    }
}

/// Something that goes on beside a task and does not end it.
async fn never(aside: impl Future<Output = ()>) {
    aside.await;
    std::future::pending::<()>().await;
}

/// The facts of a response about its request.
struct Seen {
    sent: Sent,
    jar: SharedJar,
    throw: bool,
}

impl Seen {
    fn of(prepared: &Prepared) -> Self {
        Self {
            sent: Sent {
                method: prepared.method.clone(),
                url: None,
                headers: Rc::clone(&prepared.headers),
                host: prepared.host.clone(),
                cookies: None,
                body: prepared.shown_body.clone().or_else(|| prepared.body.clone()),
            },
            jar: Rc::clone(&prepared.jar),
            throw: prepared.throw,
        }
    }

    /// With the head of the response. Its cookies count from now on.
    fn with(self, exchange: Box<Exchange>, hop: &Hopped) -> Box<Finished> {
        let Self { mut sent, jar, throw } = self;
        let mut error_code = 0;
        if let Ok(response) = exchange.response() {
            if response.status() >= 400 {
                error_code = 1000 + response.status();
            }
            if response.has_cookies()
                && let Ok(target) = Target::parse(&hop.url)
            {
                let values = response
                    .headers()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
                    .map(|(_, value)| value);
                let now_ms = i64::try_from(clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
                jar.borrow_mut().set_from_response(&Scope::of(&target), values, now_ms);
            }
        }
        sent.url.clone_from(&hop.first_url);
        sent.cookies.clone_from(&hop.first_cookies);
        Box::new(Finished {
            exchange: Some(exchange),
            url: hop.url.clone(),
            decoded: None,
            error: String::new(),
            error_code,
            thrown: None,
            first: sent,
            response_type: ResponseType::Stream,
            throw,
        })
    }
}
