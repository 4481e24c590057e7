//! Exchanges, as they happen; at the end, the recording.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brunt_traffic::{
    Body, Event, Exchange, Headers, Message, Recording, Request, Resource, Response, Side, Step,
};
use bytes::Bytes;
use url::Url;

use crate::coding;
use crate::event_stream::EventStream;
use crate::line::{Line, Moment, Told};
use crate::store::{Keeper, Store};

/// More steps than a user types.
const STEPS_MAX: usize = 10_000;

/// Reasons of the recording's `left_out`.
const TOO_MANY: &str = "requests beyond the most that a recording holds";
const MESSAGES: &str = "WebSocket messages beyond the memory for them";
const EVENTS: &str = "events beyond the memory for them";
const NO_BYTES: &str = "bodies that were too large to be kept";
const PASSED: &str = "connections that were passed on unread";

/// Shows a line to the user.
type Watch = Box<dyn Fn(&Line) + Send + Sync>;

/// Where all connections record.
pub(crate) struct Tape {
    began: Instant,
    began_at: SystemTime,
    store: Arc<Store>,
    /// Set when the recorder runs.
    watch: OnceLock<Watch>,
    reel: Mutex<Reel>,
}

#[derive(Default)]
struct Reel {
    entries: Vec<Entry>,
    steps: Vec<Step>,
    left_out: BTreeMap<&'static str, u64>,
    /// The recording is over: nothing is taken any more.
    is_over: bool,
}

/// An exchange and its bodies, as far as they have come.
struct Entry {
    exchange: Exchange,
    bodies: Arc<Bodies>,
    is_done: bool,
    is_socket: bool,
}

/// Both bodies of an exchange, under locks of their own: writing to a disk must not hold up other exchanges.
struct Bodies {
    request: Mutex<Keeper>,
    response: Mutex<Keeper>,
}

fn locked(keeper: &Mutex<Keeper>) -> MutexGuard<'_, Keeper> {
    keeper.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    pub(crate) fn new(store: Arc<Store>) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            began_at: SystemTime::now(),
            store,
            watch: OnceLock::new(),
            reel: Mutex::default(),
        })
    }

    /// Lines go here from now on.
    pub(crate) fn watch(&self, watch: Watch) {
        // A recorder runs once.
        let _ = self.watch.set(watch);
    }

    /// Tells the user.
    pub(crate) fn tell(&self, line: &Line) {
        if let Some(watch) = self.watch.get() {
            watch(line);
        }
    }

    /// A connection that is passed on unread.
    pub(crate) fn passed(&self) {
        *self.reel().left_out.entry(PASSED).or_default() += 1;
    }

    /// A part of the session begins.
    pub(crate) fn step(&self, name: &str) {
        let at = self.began.elapsed();
        let mut reel = self.reel();
        if !reel.is_over && reel.steps.len() < STEPS_MAX {
            reel.steps.push(Step { at, name: name.to_owned() });
        }
    }

    /// A request has come.
    pub(crate) fn begin(self: &Arc<Self>, request: Request) -> Take {
        let sent = self.began.elapsed();
        let limits = *self.store.limits();
        let (method, url) = (request.method.clone(), request.url.clone());
        let mut reel = self.reel();
        let number = reel.entries.len();
        if number >= limits.exchanges || reel.is_over {
            *reel.left_out.entry(TOO_MANY).or_default() += u64::from(!reel.is_over);
            return Take { tape: Arc::clone(self), kept: None, method, url, sent };
        }
        let bodies = Arc::new(Bodies {
            request: Mutex::new(Keeper::new(&self.store, limits.request)),
            response: Mutex::new(Keeper::new(&self.store, limits.response)),
        });
        reel.entries.push(Entry {
            exchange: Exchange {
                number,
                sent,
                done: sent,
                resource: resource(&request),
                request,
                response: None,
                failure: None,
                messages: Vec::new(),
                events: Vec::new(),
            },
            bodies: Arc::clone(&bodies),
            is_done: false,
            is_socket: false,
        });
        Take { tape: Arc::clone(self), kept: Some((number, bodies)), method, url, sent }
    }

    /// Ends the recording. Exchanges that still run are kept as they are.
    pub(crate) fn finish(&self) -> Recording {
        let now = self.began.elapsed();
        let reel = {
            let mut reel = self.reel();
            let steps = std::mem::take(&mut reel.steps);
            let left_out = std::mem::take(&mut reel.left_out);
            let entries = std::mem::take(&mut reel.entries);
            reel.is_over = true;
            Reel { entries, steps, left_out, is_over: true }
        };
        let mut left_out = reel.left_out;
        let exchanges: Vec<Exchange> = reel
            .entries
            .into_iter()
            .map(|entry| {
                let exchange = self.finished(entry, now);
                let bodies = [
                    Some(&exchange.request.body),
                    exchange.response.as_ref().map(|response| &response.body),
                ];
                let lost = bodies.into_iter().flatten();
                let lost = lost.filter(|body| matches!(body, Body::Absent { .. })).count();
                if lost > 0 {
                    *left_out.entry(NO_BYTES).or_default() += lost as u64;
                }
                exchange
            })
            .collect();
        let began = self.began_at.duration_since(UNIX_EPOCH).ok();
        Recording {
            origin: "brunt record".to_owned(),
            began: began.map(|since| since.as_secs() as i64),
            exchanges,
            steps: reel.steps,
            left_out: left_out.into_iter().map(|(why, count)| (why.to_owned(), count)).collect(),
        }
    }

    /// The exchange with its bodies, their codings taken off.
    fn finished(&self, entry: Entry, now: Duration) -> Exchange {
        let mut exchange = entry.exchange;
        if !entry.is_done {
            exchange.done = now;
        }
        if exchange.response.is_none() && exchange.failure.is_none() {
            exchange.failure = Some("the recording ended before a response came".to_owned());
        }
        let limits = *self.store.limits();
        let body = locked(&entry.bodies.request).finish();
        exchange.request.body =
            coding::decoded(body, &exchange.request.headers, &self.store, limits.request);
        let body = locked(&entry.bodies.response).finish();
        if let Some(response) = &mut exchange.response {
            response.body = coding::decoded(body, &response.headers, &self.store, limits.response);
        }
        exchange
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle of one exchange.
pub(crate) struct Take {
    tape: Arc<Tape>,
    /// Its number and its bodies; `None`: it is passed on, not kept.
    kept: Option<(usize, Arc<Bodies>)>,
    method: String,
    url: Url,
    sent: Duration,
}

impl Take {
    /// Changes the entry, unless the recording is over.
    fn with<T>(&self, change: impl FnOnce(&mut Entry, Duration) -> T) -> Option<T> {
        let (number, _) = self.kept.as_ref()?;
        let now = self.tape.began.elapsed();
        let mut reel = self.tape.reel();
        let is_over = reel.is_over;
        let entry = reel.entries.get_mut(*number).filter(|_| !is_over)?;
        Some(change(entry, now))
    }

    /// A part of the request's body was sent.
    pub(crate) fn request_bytes(&self, bytes: &[u8]) {
        if let Some((_, bodies)) = &self.kept {
            locked(&bodies.request).push(bytes);
        }
    }

    /// The head of the response has come.
    pub(crate) fn answered(&self, status: u16, headers: Headers) {
        let moment = self.with(|entry, now| {
            let is_events = status == 200 && headers.media_type() == "text/event-stream";
            entry.exchange.response = Some(Response { status, headers, body: Body::Empty });
            entry.exchange.done = now;
            entry.is_socket = status == 101;
            if is_events && entry.exchange.resource.is_none_or(|it| it == Resource::Fetch) {
                entry.exchange.resource = Some(Resource::EventSource);
            }
            match (entry.is_socket, is_events) {
                (true, _) => Some(Moment::SocketOpens),
                (_, true) => Some(Moment::EventsBegin),
                _ => None,
            }
        });
        if let Some(Some(moment)) = moment {
            self.tell(moment);
        }
    }

    /// A part of the response's body has come.
    pub(crate) fn response_bytes(&self, bytes: &[u8], events: Option<&mut EventStream>) {
        if let Some((_, bodies)) = &self.kept {
            locked(&bodies.response).push(bytes);
        }
        let found = events.map(|events| events.push(bytes)).unwrap_or_default();
        if found.is_empty() {
            return;
        }
        let mut lost = 0;
        self.with(|entry, at| {
            for (kind, data) in found {
                if self.tape.store.has_room_for_message(kind.len() + data.len() + 64) {
                    entry.exchange.events.push(Event { at, kind, data });
                } else {
                    lost += 1;
                }
            }
        });
        if lost > 0 {
            *self.tape.reel().left_out.entry(EVENTS).or_default() += lost;
        }
    }

    /// A message of a WebSocket has come.
    pub(crate) fn message(&self, from: Side, is_text: bool, data: Bytes) {
        let is_room = self.tape.store.has_room_for_message(data.len() + 64);
        if is_room {
            self.with(|entry, at| {
                entry.exchange.messages.push(Message { at, from, is_text, data });
            });
        } else {
            *self.tape.reel().left_out.entry(MESSAGES).or_default() += 1;
        }
    }

    /// It failed: no response came, or not the whole of it.
    pub(crate) fn failed(&self, why: &str) {
        self.with(|entry, _| {
            if !entry.is_done {
                entry.exchange.failure = Some(why.to_owned());
            }
        });
        self.done();
    }

    /// The last byte of the response has come. Later calls change nothing.
    pub(crate) fn done(&self) {
        let is_news = self.with(|entry, now| {
            if entry.is_done {
                return None;
            }
            entry.is_done = true;
            entry.exchange.done = now;
            Some(if entry.is_socket { Moment::SocketCloses } else { Moment::Done })
        });
        if let Some(Some(moment)) = is_news {
            self.tell(moment);
        }
    }

    fn tell(&self, moment: Moment) {
        let Some((_, bodies)) = &self.kept else { return };
        let size = locked(&bodies.response).size();
        let told = self.with(|entry, now| Told {
            number: entry.exchange.number,
            moment,
            method: self.method.clone(),
            url: self.url.clone(),
            status: entry.exchange.response.as_ref().map(|response| response.status),
            size,
            elapsed: now.saturating_sub(self.sent),
            failure: entry.exchange.failure.clone(),
        });
        if let Some(told) = told {
            self.tape.tell(&Line::Exchange(told));
        }
    }
}

/// A client that leaves in the middle ends its exchange, too.
impl Drop for Take {
    fn drop(&mut self) {
        self.with(|entry, _| {
            if !entry.is_done && entry.exchange.response.is_none() {
                let why = "the client went away before a response came";
                entry.exchange.failure.get_or_insert_with(|| why.to_owned());
            }
        });
        self.done();
    }
}

/// The browser's own word for what it wants.
fn resource(request: &Request) -> Option<Resource> {
    let headers = &request.headers;
    if matches!(request.url.scheme(), "ws" | "wss") {
        return Some(Resource::WebSocket);
    }
    if request.method == "OPTIONS" && headers.get("access-control-request-method").is_some() {
        return Some(Resource::Preflight);
    }
    let wants_events =
        headers.get("accept").is_some_and(|accept| accept.starts_with("text/event-stream"));
    Some(match headers.get("sec-fetch-dest")? {
        "document" | "iframe" | "frame" | "embed" | "object" => Resource::Document,
        "style" | "xslt" => Resource::Stylesheet,
        "script" | "worker" | "sharedworker" | "serviceworker" | "audioworklet"
        | "paintworklet" => Resource::Script,
        "image" => Resource::Image,
        "font" => Resource::Font,
        "audio" | "video" | "track" => Resource::Media,
        "empty" if wants_events => Resource::EventSource,
        "empty" => Resource::Fetch,
        "websocket" => Resource::WebSocket,
        _ => Resource::Other,
    })
}
