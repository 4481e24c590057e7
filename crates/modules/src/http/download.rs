//! `responseType: 'stream'`: the call returns at the head, and the body comes as the script reads it.

mod body;

use std::cell::{Cell, OnceCell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::cookie::Scope;
use brunt_http::{Exchange, Spool, Target};
use brunt_quickjs::{Ctx, JsResult};
use tokio::task::AbortHandle;

use super::prepared::{Prepared, ResponseType};
use super::response::{self, Response};
use super::state::{HttpState, SharedJar};
use super::transfer::{self, Finished, Sent, Sink};
use crate::state::throw_stopped;

/// The most that waits to be read by the script; then the socket is not read.
const BUFFER: usize = 1 << 20;

/// A response on its way, shared by the task that runs the exchange and the script's objects.
pub(crate) struct Download {
    pub(super) spool: Spool,
    hop: RefCell<Hopped>,
    /// Set when the body has come, or has failed to after its head.
    finished: OnceCell<Box<Finished>>,
    /// What there is instead of a head to be streamed.
    ended: RefCell<Option<Box<Finished>>>,
    task: RefCell<Option<AbortHandle>>,
    is_given_up: Cell<bool>,
}

/// What a head is a response to.
#[derive(Default)]
pub(super) struct Hopped {
    pub(super) url: String,
    pub(super) first_url: Option<String>,
    pub(super) first_cookies: Option<String>,
}

/// The script's side: when its last holder lets go, nobody reads on.
pub(super) struct Reader(Rc<Download>);

/// What [`start`] waits for.
pub(super) struct Arrived {
    reader: Reader,
    /// `None`: the exchange ended without a head to be streamed.
    head: Option<Box<Finished>>,
}

impl Download {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self {
            spool: Spool::new(BUFFER),
            hop: RefCell::default(),
            finished: OnceCell::new(),
            ended: RefCell::default(),
            task: RefCell::default(),
            is_given_up: Cell::new(false),
        })
    }

    /// Another request goes out.
    pub(super) fn hop(&self, hop: Hopped) {
        *self.hop.borrow_mut() = hop;
    }

    /// Nobody reads on. What has come is recorded; without a head, nothing has.
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

impl Reader {
    /// What came of the request, once all of it is known.
    pub(super) fn finished(&self) -> Option<&Finished> {
        self.0.finished.get().map(|finished| &**finished)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Starts the request on a task of its own. What it returns waits for the head.
pub(super) fn start(
    http: &HttpState,
    mut prepared: Prepared,
    sink: Sink,
) -> impl Future<Output = Arrived> + use<> {
    let download = prepared.download.clone().unwrap_or_else(Download::new);
    http.keep_track_of(&download);
    let reader = Reader(Rc::clone(&download));
    let client = Rc::clone(&http.client);
    let seen = Seen::of(&prepared);
    let task = {
        let download = Rc::clone(&download);
        tokio::task::spawn_local(async move {
            let ended = transfer::run(&client, &mut prepared, &sink).await;
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
        let head = exchange.map(|exchange| seen.with(exchange, &download.hop.take()));
        Arrived { reader, head }
    }
}

/// What a response tells of its request.
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

/// A response as the script gets it, with its `stream`.
pub(super) fn received(ctx: Ctx<'_>, arrived: Arrived) -> JsResult<'_> {
    let Arrived { reader, head } = arrived;
    let reader = Rc::new(reader);
    let response = if let Some(head) = head {
        response::new(ctx, Response::streamed(head, Rc::clone(&reader)))?
    } else {
        let Some(ended) = reader.0.ended.take() else { return Err(throw_stopped(ctx)) };
        super::received(ctx, ended)?
    };
    response.define_hidden("stream", body::new(ctx, reader)?)?;
    Ok(response)
}
