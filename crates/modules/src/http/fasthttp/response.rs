//! The result of a client's methods: its properties are made when a script asks for them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::{Exchange, Response as Head};
use brunt_net::budget::Share;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use super::super::prepared::ResponseType;
use super::super::shown::{
    BLOCKED, BODY, CLICK_LINK, CONNECTING, COOKIES, DURATION, ERROR, ERROR_CODE, HEADERS, HTML,
    JSON, LOOKING_UP, NAMES, OCSP, PROTO, RECEIVING, REMOTE_IP, REMOTE_PORT, REQUEST, SENDING,
    STATUS, STATUS_TEXT, SUBMIT_FORM, TIMINGS, TLS_CIPHER_SUITE, TLS_HANDSHAKING, TLS_VERSION, URL,
    WAITING, html_of, json_of, no_body, page_of,
};
use super::client::Client;
use super::ready::{Ready, error_code};
use super::{request, send};
use crate::html::links::{self, Link};
use crate::html::page::Page;
use crate::throwing::{throw, throw_type};

static PRODUCED_AT: Name = Name::new("produced_at");
static THIS_UPDATE: Name = Name::new("this_update");
static NEXT_UPDATE: Name = Name::new("next_update");
static REVOKED_AT: Name = Name::new("revoked_at");
static REVOCATION_REASON: Name = Name::new("revocation_reason");

/// Bodies up to this size are decoded anew each time: keeping them would cost more.
const KEEP_BODY: usize = 256;

/// A whole response. There are no others: what fails is `null`.
pub(super) struct Response {
    pub(super) exchange: Exchange,
    pub(super) ready: Rc<Ready>,
    /// The client that asked: it also follows links.
    pub(super) client: Client,
    /// The part of the bound on all bodies that belongs to the body that the script holds beside ours.
    pub(super) shown: RefCell<Share>,
}

/// The object that scripts get.
pub(super) fn new(ctx: Ctx<'_>, response: Response) -> JsResult<'_> {
    ctx.instance(response)
}

impl Response {
    pub(super) fn status(&self) -> u16 {
        self.exchange.response().map_or(0, |head| head.status())
    }

    fn head(&self) -> Option<Head<'_>> {
        self.exchange.head()
    }

    /// The body; `None` where there is none to speak of.
    fn body_bytes(&self) -> Option<&[u8]> {
        let none = self.ready.response_type == ResponseType::None
            || matches!(self.status(), 100..=199 | 204 | 304);
        (!none).then(|| self.exchange.body())
    }

    fn body<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Own<'js>> {
        let Some(bytes) = self.body_bytes() else { return Ok(Own::Once(ctx.null())) };
        let covered = self.shown.borrow_mut().cover(bytes.len() as u64);
        covered.map_err(|exhausted| throw(ctx, &exhausted.to_string()))?;
        if self.ready.response_type == ResponseType::Binary {
            return Ok(Own::Keep(ctx.uint8_array(bytes.to_vec())?));
        }
        let text = ctx.string_from_utf8(bytes)?;
        Ok(if bytes.len() > KEEP_BODY { Own::Keep(text) } else { Own::Once(text) })
    }

    /// As they came, but for lines of the same name: the last counts.
    fn headers<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let object = ctx.object()?;
        for (name, value) in self.head().iter().flat_map(Head::headers) {
            object.define(name, ctx.string_from_utf8(value)?)?;
        }
        Ok(object)
    }

    fn timings<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let timings = self.exchange.timings;
        let ms = |ns: u64| ctx.number(ns as f64 / 1e6);
        ctx.object_from([
            (&DURATION, ms(timings.duration())),
            (&BLOCKED, ms(timings.blocked)),
            (&LOOKING_UP, ctx.int(0)),
            (&CONNECTING, ms(timings.connecting)),
            (&TLS_HANDSHAKING, ms(timings.tls_handshaking)),
            (&SENDING, ms(timings.sending)),
            (&WAITING, ms(timings.waiting)),
            (&RECEIVING, ms(timings.receiving)),
        ])
    }

    fn ocsp<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js> {
        let staple = self.exchange.tls.and_then(|tls| tls.staple);
        let moment = |seconds: Option<i64>| ctx.number(seconds.unwrap_or(0) as f64);
        ctx.object_from([
            (&PRODUCED_AT, moment(staple.map(|staple| staple.produced_at))),
            (&THIS_UPDATE, moment(staple.map(|staple| staple.this_update))),
            (&NEXT_UPDATE, moment(staple.map(|staple| staple.next_update))),
            (&REVOKED_AT, moment(staple.map(|staple| staple.revoked_at))),
            (&REVOCATION_REASON, ctx.string(staple.map_or("", |staple| staple.reason))?),
            (&STATUS, ctx.string(self.exchange.tls.map_or("", |tls| tls.ocsp_status()))?),
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
        if key.is(&STATUS) {
            return Ok(Own::Once(ctx.int(i32::from(self.status()))));
        }
        if key.is(&BODY) {
            return self.body(ctx);
        }
        if key.is(&JSON) || key.is(&HTML) || key.is(&SUBMIT_FORM) || key.is(&CLICK_LINK) {
            // Own properties in k6; one function for all responses.
            return Ok(Own::Once(ctx.class_prototype::<Self>()?.get(key)?));
        }
        let kept = if key.is(&HEADERS) {
            self.headers(ctx)?
        } else if key.is(&TIMINGS) {
            self.timings(ctx)?
        } else if key.is(&COOKIES) {
            // There is no jar: what the server sets is in the headers.
            ctx.object()?
        } else if key.is(&OCSP) {
            self.ocsp(ctx)?
        } else {
            return self.plain(ctx, key);
        };
        Ok(Own::Keep(kept))
    }

    fn own_names(&self) -> &'static [&'static Name] {
        NAMES
    }
}

impl Response {
    /// The properties that are texts or numbers.
    fn plain<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let tls = self.exchange.tls;
        let value: Value<'js> = if key.is(&URL) {
            ctx.string(&self.ready.url)?
        } else if key.is(&REMOTE_IP) {
            let remote = self.exchange.remote.map(|remote| remote.to_string());
            ctx.string(&remote.unwrap_or_default())?
        } else if key.is(&REMOTE_PORT) {
            // The port is a part of the address.
            ctx.int(0)
        } else if key.is(&STATUS_TEXT) {
            let text = self.head().map(|head| format!("{} {}", head.status(), head.reason()));
            ctx.string(text.unwrap_or_default().trim_end())?
        } else if key.is(&PROTO) {
            ctx.string(self.head().map_or("", |head| head.version()))?
        } else if key.is(&TLS_VERSION) {
            ctx.string(tls.map_or("", |tls| tls.version))?
        } else if key.is(&TLS_CIPHER_SUITE) {
            ctx.string(tls.map_or("", |tls| tls.cipher_suite))?
        } else if key.is(&ERROR) {
            ctx.string("")?
        } else if key.is(&ERROR_CODE) {
            ctx.int(i32::from(error_code(self.status())))
        } else if key.is(&REQUEST) {
            ctx.null()
        } else {
            return Ok(Own::None);
        };
        Ok(Own::Once(value))
    }
}

/// `res.json(selector?)`.
fn json(call: Call<'_>) -> JsResult<'_> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(response) = this.instance::<Response>() else {
        return Err(throw_type(ctx, "json() belongs to a Response"));
    };
    match response.body_bytes() {
        Some(bytes) => json_of(&call, bytes),
        None => Err(no_body(ctx)),
    }
}

/// `res.html(selector?)`.
fn html(call: Call<'_>) -> JsResult<'_> {
    let page = page(&call)?;
    html_of(&call, &page)
}

fn page<'js>(call: &Call<'js>) -> JsResult<'js, Rc<Page>> {
    let this = call.this();
    let response = instance(call, &this)?;
    page_of(call.ctx(), response.body_bytes(), &response.ready.url)
}

fn instance<'a, 'js>(call: &Call<'js>, this: &'a Value<'js>) -> JsResult<'js, &'a Response> {
    this.instance::<Response>()
        .ok_or_else(|| throw_type(call.ctx(), "this method belongs to a Response"))
}

/// `res.clickLink(arguments?)`.
fn click_link(call: Call<'_>) -> JsResult<'_> {
    let arguments = (!call.is_empty()).then(|| call.argument(0));
    let link = links::clicked(call.ctx(), &page(&call)?, arguments.as_ref())?;
    follow(&call, link)
}

/// `res.submitForm(arguments?)`.
fn submit_form(call: Call<'_>) -> JsResult<'_> {
    let arguments = (!call.is_empty()).then(|| call.argument(0));
    let link = links::submission(call.ctx(), &page(&call)?, arguments.as_ref())?;
    follow(&call, link)
}

/// Sends what a form or link asks for, by the same client.
fn follow<'js>(call: &Call<'js>, link: Link<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let response = instance(call, &this)?;
    let Some(method) = send::Method::of(&link.method) else {
        let message = format!("a form of a fasthttp client cannot be sent by {}", link.method);
        return Err(throw(ctx, &message));
    };
    let request = request::of_link(ctx, link)?;
    send::send_by(ctx, &response.client, &request, method)
}
