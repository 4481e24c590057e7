//! The `Response` object: its properties are made when a script asks for them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::cookie::SetCookie;
use brunt_http::{Exchange, Payload, Response as Head, canonical_name};
use brunt_js::Host;
use brunt_net::budget::Share;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use super::download::Reader;
use super::prepared::{Asked, ResponseType};
use super::sending::send;
use super::shown::{
    BLOCKED, BODY, CLICK_LINK, CONNECTING, COOKIES, DURATION, ERROR, ERROR_CODE, HEADERS, HTML,
    JSON, LOOKING_UP, NAMES, OCSP, PROTO, RECEIVING, REMOTE_IP, REMOTE_PORT, REQUEST, SENDING,
    STATUS, STATUS_TEXT, SUBMIT_FORM, TIMINGS, TLS_CIPHER_SUITE, TLS_HANDSHAKING, TLS_VERSION, URL,
    WAITING, html_of, json_of, no_body, page_of,
};
use super::transfer::Finished;
use crate::go_error::go_type;
use crate::html::links::{self, Link};
use crate::html::page::Page;
use crate::throwing::{throw, throw_type};

/// A request that is over, or that could not be sent, as scripts see it.
pub(crate) struct Response {
    finished: Option<Box<Finished>>,
    /// Where the body comes from, if it is streamed. `finished` is then what was known when the head came.
    reader: Option<Rc<Reader>>,
    /// For a request that could not be sent: why.
    error: String,
    error_code: u16,
    /// The part of the bound on all bodies that belongs to the body that the script holds beside ours.
    shown: RefCell<Share>,
}

static METHOD: Name = Name::new("method");
static NAME: Name = Name::new("name");
static VALUE: Name = Name::new("value");
static REPLACE: Name = Name::new("replace");
static DOMAIN: Name = Name::new("domain");
static PATH: Name = Name::new("path");
static HTTP_ONLY: Name = Name::new("http_only");
static SECURE: Name = Name::new("secure");
static MAX_AGE: Name = Name::new("max_age");
static EXPIRES: Name = Name::new("expires");

/// The value of `expires` without such a date: k6's, which is the first instant of Go's calendar, shortened to 64
/// bits of ns.
const NO_DATE_MS: i64 = -6_795_364_578_871;

static PRODUCED_AT: Name = Name::new("produced_at");
static THIS_UPDATE: Name = Name::new("this_update");
static NEXT_UPDATE: Name = Name::new("next_update");
static REVOKED_AT: Name = Name::new("revoked_at");
static REVOCATION_REASON: Name = Name::new("revocation_reason");
static SET_COOKIES: Name = Name::new("\u{0}set-cookie");
static GET_SET_COOKIE: Name = Name::new("getSetCookie");

/// Bodies up to this size are decoded anew each time: keeping them would cost more.
const KEEP_BODY: usize = 256;

impl Response {
    pub(super) fn of(finished: Box<Finished>) -> Self {
        Self {
            finished: Some(finished),
            reader: None,
            error: String::new(),
            error_code: 0,
            shown: RefCell::default(),
        }
    }

    /// Where it lies: (address, bytes).
    fn places(&self) -> [(usize, usize); 3] {
        fn place<T>(value: &T) -> (usize, usize) {
            (std::ptr::from_ref(value).addr(), size_of::<T>())
        }
        let finished = self.finished.as_deref();
        let exchange = finished.and_then(|finished| finished.exchange.as_deref());
        [
            place(self),
            finished.map(place).unwrap_or_default(),
            exchange.map(place).unwrap_or_default(),
        ]
    }

    /// With its body to come.
    pub(super) fn streamed(finished: Box<Finished>, reader: Rc<Reader>) -> Self {
        Self { reader: Some(reader), ..Self::of(finished) }
    }

    /// For a request that could not be sent.
    pub(super) fn unsent(error: &str, code: u16) -> Self {
        let shown = RefCell::default();
        Self { finished: None, reader: None, error: error.to_owned(), error_code: code, shown }
    }

    /// The result of the request up to now: with a streamed body, more than when the head came.
    fn latest(&self) -> Option<&Finished> {
        let streamed = self.reader.as_ref().and_then(|reader| reader.finished());
        streamed.or(self.finished.as_deref())
    }

    fn exchange(&self) -> Option<&Exchange> {
        self.finished.as_ref()?.exchange.as_deref()
    }

    /// Whether redirects led to it.
    pub(super) fn is_redirected(&self) -> bool {
        self.finished.as_ref().is_some_and(|finished| finished.first.url.is_some())
    }

    /// The body, if it was to be kept.
    pub(super) fn kept_body(&self) -> Option<&[u8]> {
        if self.response_type() == ResponseType::None { None } else { self.body_bytes() }
    }

    /// The whole response's head, if all went well.
    pub(super) fn head(&self) -> Option<Head<'_>> {
        let finished = self.finished.as_ref().filter(|finished| finished.error.is_empty())?;
        finished.exchange.as_ref()?.response().ok()
    }

    fn body_bytes(&self) -> Option<&[u8]> {
        let finished = self.finished.as_ref()?;
        let exchange = finished.exchange.as_ref()?;
        if let Some(decoded) = &finished.decoded {
            return Some(decoded);
        }
        let body = exchange.body();
        match self.head() {
            // A body that was cut off is shown as far as it came.
            None => exchange.failure.and_then(|_| exchange.head()).map(|_| body),
            Some(head) => match head.status() {
                100..=199 | 204 | 304 => None,
                _ => Some(body),
            },
        }
    }

    fn response_type(&self) -> ResponseType {
        self.finished.as_ref().map_or(ResponseType::Text, |finished| finished.response_type)
    }

    fn body<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Own<'js>> {
        if self.finished.is_none() {
            // k6's way: neither null nor text.
            return Ok(Own::Keep(ctx.array()?));
        }
        let bytes = match self.response_type() {
            ResponseType::None | ResponseType::Stream => None,
            ResponseType::Text | ResponseType::Binary => self.body_bytes(),
        };
        let Some(bytes) = bytes else { return Ok(Own::Once(ctx.null())) };
        let covered = self.shown.borrow_mut().cover(bytes.len() as u64);
        covered.map_err(|exhausted| throw(ctx, &exhausted.to_string()))?;
        if self.response_type() == ResponseType::Binary {
            return Ok(Own::Keep(ctx.copied_buffer(bytes)?));
        }
        let text = ctx.string_from_utf8(bytes)?;
        Ok(if bytes.len() > KEEP_BODY { Own::Keep(text) } else { Own::Once(text) })
    }

    fn headers<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let object = ctx.object()?;
        let Some(head) = self.head() else { return Ok(object) };
        // HTTP/2 frames bodies by itself: there, these names mean nothing, and Go lets them pass.
        let is_http1 = head.version() != "HTTP/2.0";
        let is_chunked = is_http1 && head.header("Transfer-Encoding").is_some();
        let mut joined: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, value) in head.headers() {
            let name = canonical_name(name);
            // Headers that frame the body belong to the connection: Go keeps them back.
            let is_hidden = match name.as_str() {
                "Trailer" => true,
                "Transfer-Encoding" => is_http1,
                "Content-Length" => is_chunked,
                "Connection" => is_http1 && has_token(value, "close"),
                _ => false,
            };
            if is_hidden {
                continue;
            }
            match joined.iter_mut().find(|(known, _)| *known == name) {
                Some(_) if name == "Content-Length" => {}
                Some((_, all)) => {
                    all.extend_from_slice(b", ");
                    all.extend_from_slice(value);
                }
                None => joined.push((name, value.to_vec())),
            }
        }
        for (name, value) in joined {
            object.define(&name, ctx.string_from_utf8(&value)?)?;
        }
        if head.has_cookies() {
            // Joined, they can't be told apart. As with `Headers`; unseen, so that who lists headers finds headers only.
            let apart = ctx.array()?;
            let values = head.headers().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
            for (index, (_, value)) in values.enumerate() {
                apart.set_index(index as u32, ctx.string_from_utf8(value)?)?;
            }
            object.define_hidden(&SET_COOKIES, apart)?;
            let apart = ctx.function(c"getSetCookie", 0, |call| call.this().get(&SET_COOKIES))?;
            object.define_hidden(&GET_SET_COOKIE, apart)?;
        }
        Ok(object)
    }

    fn cookies<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let object = ctx.object()?;
        let Some(head) = self.head().filter(Head::has_cookies) else { return Ok(object) };
        let values = head.headers().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        for cookie in values.filter_map(|(_, value)| SetCookie::parse(value)) {
            let shown = ctx.object_from([
                (&NAME, ctx.string(&cookie.name)?),
                (&VALUE, ctx.string(&cookie.value)?),
                (&DOMAIN, ctx.string(&cookie.domain)?),
                (&PATH, ctx.string(&cookie.path)?),
                (&HTTP_ONLY, ctx.bool(cookie.http_only)),
                (&SECURE, ctx.bool(cookie.secure)),
                (&MAX_AGE, ctx.number(cookie.max_age as f64)),
                (&EXPIRES, ctx.number(cookie.expires_ms.unwrap_or(NO_DATE_MS) as f64)),
            ])?;
            let known = object.get(&cookie.name)?;
            if known.is_array() {
                known.set_index(known.length()?, shown)?;
            } else {
                object.define(&cookie.name, ctx.array_from([shown])?)?;
            }
        }
        Ok(object)
    }

    fn timings<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let exchange = self.latest().and_then(|finished| finished.exchange.as_deref());
        let timings = exchange.map(|exchange| exchange.timings).unwrap_or_default();
        let ms = |ns: u64| ctx.number(ns as f64 / 1e6);
        ctx.object_from([
            (&DURATION, ms(timings.duration())),
            (&BLOCKED, ms(timings.blocked)),
            // Part of `blocked`; k6 keeps the name and never fills it.
            (&LOOKING_UP, ctx.int(0)),
            (&CONNECTING, ms(timings.connecting)),
            (&TLS_HANDSHAKING, ms(timings.tls_handshaking)),
            (&SENDING, ms(timings.sending)),
            (&WAITING, ms(timings.waiting)),
            (&RECEIVING, ms(timings.receiving)),
        ])
    }

    fn ocsp<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let tls = self.exchange().and_then(|exchange| exchange.tls);
        let status = match tls.filter(|_| self.head().is_some()) {
            Some(tls) => tls.ocsp_status(),
            None => "",
        };
        let staple = tls.and_then(|tls| tls.staple);
        let moment = |seconds: Option<i64>| ctx.number(seconds.unwrap_or(0) as f64);
        ctx.object_from([
            (&PRODUCED_AT, moment(staple.map(|staple| staple.produced_at))),
            (&THIS_UPDATE, moment(staple.map(|staple| staple.this_update))),
            (&NEXT_UPDATE, moment(staple.map(|staple| staple.next_update))),
            (&REVOKED_AT, moment(staple.map(|staple| staple.revoked_at))),
            (&REVOCATION_REASON, ctx.string(staple.map_or("", |staple| staple.reason))?),
            (&STATUS, ctx.string(status)?),
        ])
    }

    fn request<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let Some(finished) = &self.finished else { return Ok(ctx.null()) };
        let first = &finished.first;
        let headers = ctx.object()?;
        for (name, value) in first.headers.iter() {
            headers.define(name, ctx.array_from([ctx.string(value)?])?)?;
        }
        if let Some(host) = &first.host {
            headers.define("Host", ctx.array_from([ctx.string(host)?])?)?;
        }
        let cookies = ctx.object()?;
        let line = first.cookies.as_deref().or_else(|| first.headers.get("Cookie"));
        if let Some(line) = line {
            headers.define("Cookie", ctx.array_from([ctx.string(line)?])?)?;
            for (name, value) in cookie_pairs(line) {
                let shown = ctx.object_from([
                    (&NAME, ctx.string(name)?),
                    (&VALUE, ctx.string(value)?),
                    // Lost on its way through the header, in k6 too.
                    (&REPLACE, ctx.bool(false)),
                ])?;
                let known = cookies.get(name)?;
                if known.is_array() {
                    known.set_index(known.length()?, shown)?;
                } else {
                    cookies.define(name, ctx.array_from([shown])?)?;
                }
            }
        }
        // A body that lies in files or came from a stream is not shown.
        let body = first.body.as_ref().and_then(Payload::in_memory).unwrap_or_default();
        ctx.object_from([
            (&METHOD, ctx.string(&first.method)?),
            (&URL, ctx.string(first.url.as_deref().unwrap_or(&finished.url))?),
            (&HEADERS, headers),
            (&BODY, ctx.string_from_utf8(&body)?),
            (&COOKIES, cookies),
        ])
    }
}

impl Class for Response {
    const NAME: &'static std::ffi::CStr = c"Response";
    const EXOTIC: bool = true;

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"clickLink", 1, click_link)
                .function(c"html", 1, html)
                .function(c"json", 1, json)
                .function(c"submitForm", 1, submit_form)
        });
        &MEMBERS
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        // The most read ones first.
        if key.is(&STATUS) {
            let status = self.head().map_or(0, |head| head.status());
            return Ok(Own::Once(ctx.int(i32::from(status))));
        }
        if key.is(&BODY) {
            return self.body(ctx);
        }
        if key.is(&JSON) || key.is(&HTML) || key.is(&SUBMIT_FORM) || key.is(&CLICK_LINK) {
            // Own properties in k6, seen by `Object.keys`; one function for all responses.
            let method = ctx.class_prototype::<Self>()?.get(key)?;
            let is_taken = Host::of(ctx).program().takes_methods();
            return Ok(if is_taken { Own::Bound(method) } else { Own::Once(method) });
        }
        if key.is(&TIMINGS) {
            let timings = self.timings(ctx)?;
            // The timings of a stream grow until it ends.
            let is_final = self.reader.as_ref().is_none_or(|reader| reader.finished().is_some());
            return Ok(if is_final { Own::Keep(timings) } else { Own::Once(timings) });
        }
        if key.is(&HEADERS) {
            return Ok(Own::Keep(self.headers(ctx)?));
        }
        if key.is(&COOKIES) {
            return Ok(Own::Keep(self.cookies(ctx)?));
        }
        if key.is(&REQUEST) {
            return Ok(Own::Keep(self.request(ctx)?));
        }
        if key.is(&OCSP) {
            return Ok(Own::Keep(self.ocsp(ctx)?));
        }
        let finished = self.finished.as_deref();
        let exchange = self.exchange();
        // The agreed version counts once there is a response.
        let tls = exchange.and_then(|exchange| exchange.tls).filter(|_| self.head().is_some());
        let value = if key.is(&ERROR) {
            ctx.string(self.latest().map_or(self.error.as_str(), |finished| &finished.error))?
        } else if key.is(&ERROR_CODE) {
            let code = self.latest().map_or(self.error_code, |finished| finished.error_code);
            ctx.int(i32::from(code))
        } else if key.is(&URL) {
            ctx.string(finished.map_or("", |finished| &finished.url))?
        } else if key.is(&STATUS_TEXT) {
            // Of a line without a reason, the blank before it is left, as in k6.
            let text = self.head().map(|head| format!("{} {}", head.status(), head.reason()));
            ctx.string(&text.unwrap_or_default())?
        } else if key.is(&PROTO) {
            ctx.string(self.head().map_or("", |head| head.version()))?
        } else if key.is(&REMOTE_IP) {
            let ip =
                exchange.and_then(|exchange| exchange.remote).map(|remote| remote.ip().to_string());
            ctx.string(&ip.unwrap_or_default())?
        } else if key.is(&REMOTE_PORT) {
            let port =
                exchange.and_then(|exchange| exchange.remote).map_or(0, |remote| remote.port());
            ctx.int(i32::from(port))
        } else if key.is(&TLS_VERSION) {
            ctx.string(tls.map_or("", |tls| tls.version))?
        } else if key.is(&TLS_CIPHER_SUITE) {
            ctx.string(tls.map_or("", |tls| tls.cipher_suite))?
        } else {
            return Ok(Own::None);
        };
        Ok(Own::Once(value))
    }

    fn own_names(&self) -> &'static [&'static Name] {
        NAMES
    }
}

/// Whether a list of tokens has this one.
fn has_token(list: &[u8], token: &str) -> bool {
    list.split(|&byte| byte == b',')
        .any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// Names and values of a `Cookie` line.
fn cookie_pairs(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split(';').filter_map(|part| {
        let (name, value) = part.trim().split_once('=')?;
        let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        Some((name, inner.unwrap_or(value)))
    })
}

/// The document that a response's body is.
///
/// # Errors
/// If there is no body that could be one.
fn page<'js>(call: &Call<'js>) -> JsResult<'js, Rc<Page>> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(response) = this.instance::<Response>() else {
        return Err(throw_type(ctx, "this method belongs to a Response"));
    };
    let bytes = match response.response_type() {
        ResponseType::None | ResponseType::Stream => None,
        ResponseType::Text | ResponseType::Binary => response.body_bytes(),
    };
    let url = response.finished.as_deref().map_or("", |finished| &finished.url);
    // A request that was never sent has an empty document in k6, one that failed has none.
    let bytes = if response.finished.is_none() { Some([].as_slice()) } else { bytes };
    if !this.is_assigned::<Response>(&BODY) && !this.is_assigned::<Response>(&URL) {
        return page_of(ctx, bytes, url);
    }
    let body = body(&this)?;
    let url = this.get(&URL)?.to_string_lossy()?;
    page_of(ctx, body.bytes(bytes), &url)
}

/// A response's body, as it is now.
enum Body {
    /// The one that came.
    Own,
    /// The value that a script has put in its place; `None` for a null.
    Given(Option<Vec<u8>>),
}

impl Body {
    /// The bytes, where `own` are those that came.
    fn bytes<'a>(&'a self, own: Option<&'a [u8]>) -> Option<&'a [u8]> {
        match self {
            Self::Own => own,
            Self::Given(bytes) => bytes.as_deref(),
        }
    }
}

/// The body of a response.
///
/// # Errors
/// If a script has put there what is neither text nor bytes.
fn body<'js>(this: &Value<'js>) -> JsResult<'js, Body> {
    if !this.is_assigned::<Response>(&BODY) {
        return Ok(Body::Own);
    }
    let (ctx, given) = (this.ctx(), this.get(&BODY)?);
    if given.is_nullish() {
        return Ok(Body::Given(None));
    }
    if given.is_string() || given.bytes().is_some() {
        return Ok(Body::Given(Some(ctx.to_bytes(&given, "a body")?)));
    }
    let kind = go_type(&given);
    Err(throw(ctx, &format!("invalid type {kind}, expected string, []byte or ArrayBuffer")))
}

/// `res.html(selector?)`.
fn html(call: Call<'_>) -> JsResult<'_> {
    let page = page(&call)?;
    html_of(&call, &page)
}

/// `res.clickLink(arguments?)`.
fn click_link(call: Call<'_>) -> JsResult<'_> {
    let arguments = (!call.is_empty()).then(|| call.argument(0));
    let link = links::clicked(call.ctx(), &page(&call)?, arguments.as_ref())?;
    follow(call.ctx(), link)
}

/// `res.submitForm(arguments?)`.
fn submit_form(call: Call<'_>) -> JsResult<'_> {
    let arguments = (!call.is_empty()).then(|| call.argument(0));
    let link = links::submission(call.ctx(), &page(&call)?, arguments.as_ref())?;
    follow(call.ctx(), link)
}

fn follow<'js>(ctx: Ctx<'js>, link: Link<'js>) -> JsResult<'js> {
    let asked = Asked {
        method: Cow::Owned(link.method),
        url: ctx.string(&link.url)?,
        body: link.body,
        params: link.params,
    };
    send(ctx, asked)
}

/// `res.json(selector?)`.
fn json(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(response) = this.instance::<Response>() else {
        return Err(throw_type(ctx, "json() belongs to a Response"));
    };
    let bytes = match response.response_type() {
        ResponseType::None | ResponseType::Stream => None,
        ResponseType::Text | ResponseType::Binary => response.body_bytes(),
    };
    let body = body(&this)?;
    let bytes = body.bytes(bytes);
    if bytes.is_none() && (response.finished.is_some() || matches!(body, Body::Given(_))) {
        return Err(no_body(ctx));
    }
    json_of(&call, bytes.unwrap_or_default())
}

/// The object that scripts get.
pub(super) fn new(ctx: Ctx<'_>, response: Response) -> JsResult<'_, Value<'_>> {
    let value = ctx.instance(response)?;
    // A script that pauses now drops it afterwards, when it is gone from the cache.
    if let Some(response) = value.instance::<Response>() {
        brunt_fiber::holds(response.places());
    }
    Ok(value)
}

/// The body of a response, its content codings taken off. `None` if it has none, or none was kept.
pub(crate) fn body_of<'a>(value: &'a Value<'_>) -> Option<&'a [u8]> {
    value.instance::<Response>()?.kept_body()
}

/// The lines of a response's head as they came; bytes beyond ASCII are read as Latin-1.
pub(crate) fn header_lines(value: &Value<'_>) -> Vec<(String, String)> {
    let head = value.instance::<Response>().and_then(Response::head);
    let line = |(name, value): (&str, &[u8])| {
        (name.to_owned(), value.iter().map(|&byte| char::from(byte)).collect())
    };
    head.map_or_else(Vec::new, |head| head.headers().map(line).collect())
}

/// Whether redirects led to this response.
pub(crate) fn is_redirected(value: &Value<'_>) -> bool {
    value.instance::<Response>().is_some_and(Response::is_redirected)
}
