//! A request, ready to be sent again and again.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use brunt_http::{Failure, Headers, Payload, TargetError, TlsInfo};
use brunt_js::{CoreSlot, Host, SlotKey};
use brunt_metrics::{CheckId, Recorder, SeriesId, TagsId};
use brunt_quickjs::{Ctx, JsResult, Value};

use super::super::body;
use super::super::prepared::ResponseType;
use super::super::record::{self, Block, Labels};
use super::super::state::{HttpState, Place};
use super::file_stream::FileStream;
use super::request::Asked;
use super::send::Method;
use crate::globals::web::bodies::native_body;
use crate::reading::keys_of;
use crate::state::VuState;
use crate::throwing::throw;

/// The default `Content-Type` of methods that have a body.
const DEFAULT_TYPE: &str = "application/octet-stream";

/// A request whose every part is as it goes on the wire.
pub(super) struct Ready {
    /// The user agent that its headers are for.
    agent: Option<Rc<str>>,
    pub(super) url: String,
    pub(super) place: Result<Rc<Place>, TargetError>,
    pub(super) host: Option<String>,
    /// With `get`, and with the other methods.
    headers: [Headers; 2],
    /// A header that cannot be sent: each try fails.
    pub(super) refused: Option<Failure>,
    body: Body,
    pub(super) throw: bool,
    pub(super) response_type: ResponseType,
    /// Where the samples of the last response went: most responses are like the one before.
    last: Cell<Option<(Kind, Block)>>,
    /// The same of the last `checkstatus`.
    pub(super) check: RefCell<Option<KnownCheck>>,
}

enum Body {
    None,
    Memory(Payload),
    /// Looked at each time: the file may have changed.
    File(FileStream),
}

/// All that tells the samples of two whole responses to one request apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) epoch: u32,
    pub(super) base: TagsId,
    pub(super) method: Method,
    pub(super) status: u16,
    pub(super) proto: &'static str,
    pub(super) tls: Option<TlsInfo>,
    /// `None` unless addresses are tags.
    pub(super) remote: Option<std::net::SocketAddr>,
    pub(super) expected: Option<bool>,
}

/// The series of one expected status.
pub(super) struct KnownCheck {
    pub(super) epoch: u32,
    pub(super) base: TagsId,
    pub(super) group: Arc<str>,
    pub(super) expected: i64,
    pub(super) series: SeriesId,
    pub(super) check: CheckId,
}

/// The requests without a body that the VUs of a core make ready: each of them is the same in all VUs, as a rule, and
/// one that all use stays in the processor's cache.
#[derive(Default)]
pub(super) struct SharedReady(RefCell<Vec<Rc<Ready>>>);

impl CoreSlot for SharedReady {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

/// Requests that are remembered; a script that makes up more has the later ones for each VU.
const SHARED_MAX: usize = 32;

impl SharedReady {
    /// This request, or the one that is the same.
    pub(super) fn share(&self, ready: Ready) -> Rc<Ready> {
        let mut shared = self.0.borrow_mut();
        if let Some(same) = shared.iter().find(|other| other.is_same(&ready)) {
            return Rc::clone(same);
        }
        let ready = Rc::new(ready);
        if matches!(ready.body, Body::None) && shared.len() < SHARED_MAX {
            shared.push(Rc::clone(&ready));
        }
        ready
    }
}

impl Ready {
    /// Whether the two are the same to every observer.
    fn is_same(&self, other: &Self) -> bool {
        matches!((&self.body, &other.body), (Body::None, Body::None))
            && matches!((&self.place, &other.place), (Ok(place), Ok(same)) if Rc::ptr_eq(place, same))
            && self.url == other.url
            && self.agent == other.agent
            && self.host == other.host
            && self.headers == other.headers
            && self.refused.is_none()
            && other.refused.is_none()
            && self.throw == other.throw
            && self.response_type == other.response_type
    }

    pub(super) fn new<'js>(
        ctx: Ctx<'js>,
        http: &HttpState,
        agent: Option<&Rc<str>>,
        asked: Asked<'js>,
    ) -> JsResult<'js, Self> {
        let (body, body_type) = read_body(ctx, &asked.body)?;
        let place = http.shared.place(&asked.url);
        let mut lines = Vec::new();
        let mut host = asked.host;
        if asked.headers.is_object() {
            for name in keys_of(&asked.headers)? {
                let value = asked.headers.get(&name)?.to_string_lossy()?;
                let name = name.text().unwrap_or_default();
                if !name.eq_ignore_ascii_case("host") {
                    lines.push((name, value));
                } else if host.is_empty() {
                    host = value;
                }
            }
        }
        let has = |wanted: &str| lines.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let mut front = Vec::new();
        let options = VuState::of(ctx).shared.config();
        let named = agent.map_or(options.user_agent.as_str(), |agent| agent);
        if !named.is_empty() && !has("User-Agent") {
            front.push(("User-Agent", Cow::Borrowed(named)));
        }
        let mut back = Vec::new();
        let userinfo =
            place.as_ref().ok().and_then(|place| place.target.borrow().basic_authorization());
        if let (Some(basic), false) = (userinfo, has("Authorization")) {
            back.push(("Authorization", Cow::Owned(basic)));
        }
        if asked.disable_keep_alive && !has("Connection") {
            back.push(("Connection", Cow::Borrowed("close")));
        }
        let has_type = has("Content-Type");
        let mut refused = None;
        let headers = [false, true].map(|has_body| {
            let mut headers = Headers::new();
            let content_type = body_type.as_deref().unwrap_or(DEFAULT_TYPE);
            let typed = (has_body && !has_type).then_some(("Content-Type", content_type));
            let front = front.iter().map(|(name, value)| (*name, &**value));
            let own = lines.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let back = back.iter().map(|(name, value)| (*name, &**value));
            for (name, value) in front.chain(typed).chain(own).chain(back) {
                if let Err(failure) = headers.append(name, value) {
                    refused.get_or_insert(failure);
                }
            }
            headers
        });
        Ok(Self {
            agent: agent.cloned(),
            url: asked.url,
            place,
            host: (!host.is_empty()).then_some(host),
            headers,
            refused,
            body,
            throw: asked.throw,
            response_type: asked.response_type,
            last: Cell::new(None),
            check: RefCell::new(None),
        })
    }

    /// Its headers are those for clients of this user agent.
    pub(super) fn is_of(&self, agent: Option<&Rc<str>>) -> bool {
        match (&self.agent, agent) {
            (None, None) => true,
            (Some(mine), Some(other)) => Rc::ptr_eq(mine, other) || mine == other,
            _ => false,
        }
    }

    pub(super) fn headers(&self, method: Method) -> &Headers {
        &self.headers[usize::from(method != Method::Get)]
    }

    /// The body to send; nothing with `get`.
    pub(super) fn body(&self, method: Method) -> Option<Payload> {
        match &self.body {
            _ if method == Method::Get => None,
            Body::None => None,
            Body::Memory(payload) => Some(payload.clone()),
            Body::File(file) => Some(file.payload()),
        }
    }

    /// The URL as tags and messages show it.
    pub(super) fn shown(&self) -> &str {
        match &self.place {
            Ok(place) => &place.shown,
            Err(_) => &self.url,
        }
    }

    /// Where the samples of a whole response belong. Without a search if the last was of the same kind.
    pub(super) fn series(&self, recorder: &mut Recorder, place: Sources<'_>, kind: Kind) -> Block {
        if let Some((last, block)) = self.last.get()
            && last == kind
        {
            return block;
        }
        let error_code = error_code(kind.status);
        let block = self.find_series(recorder, place, kind, "", error_code);
        self.last.set(Some((kind, block)));
        block
    }

    /// The same with a failure's text and code.
    pub(super) fn find_series(
        &self,
        recorder: &mut Recorder,
        (state, http): Sources<'_>,
        kind: Kind,
        error: &str,
        error_code: u16,
    ) -> Block {
        let tags = state.tags();
        let labels = Labels {
            base: kind.base,
            method: kind.method.name(),
            url: self.shown(),
            // A name that the script gave all samples through `exec.vu.tags` takes the URL's place.
            name: tags.name(),
            is_named: false,
            tags: &[],
            status: kind.status,
            proto: kind.proto,
            tls_version: kind.tls.map_or("", |tls| tls.version),
            ocsp_status: kind.tls.as_ref().map_or("", TlsInfo::ocsp_status),
            remote: kind.remote,
            expected: kind.expected,
            error,
            error_code,
        };
        let mut cache = http.shared.series.borrow_mut();
        record::find(recorder, &mut cache, http.shared.system_tags, labels)
    }
}

/// The sources of a VU's series.
pub(super) type Sources<'a> = (&'a VuState, &'a HttpState);

/// k6's number for a status that is an error; 0 for others.
pub(super) fn error_code(status: u16) -> u16 {
    if status >= 400 { 1000 + status } else { 0 }
}

/// The body, and its type if it has one. Plain objects as forms are `k6/http`'s business.
fn read_body<'js>(ctx: Ctx<'js>, body: &Value<'js>) -> JsResult<'js, (Body, Option<String>)> {
    if body.is_nullish() {
        return Ok((Body::None, None));
    }
    if let Some(file) = body.instance::<FileStream>() {
        return Ok((Body::File(file.clone()), None));
    }
    if let Some(payload) = body::payload_of(body) {
        return Ok((Body::Memory(payload), None));
    }
    if let Some(native) = native_body(body) {
        let content_type = Some(native.content_type).filter(|kind| !kind.is_empty());
        return Ok((Body::Memory(native.payload), content_type));
    }
    Err(throw(ctx, "req body type not supported"))
}
