//! `Request`: made once, read at its first use, sent as often as you like.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_js::Host;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use super::super::body::form_text;
use super::super::prepared::ResponseType;
use super::super::state::HttpState;
use super::ready::{Ready, SharedReady};
use crate::globals::text::needs_new;
use crate::html::links::Link;
use crate::reading::keys_of;
use crate::throwing::throw;

static THROW: Name = Name::new("throw");
static DISABLE_KEEP_ALIVE: Name = Name::new("disable_keep_alive");
static URL: Name = Name::new("url");
static HOST: Name = Name::new("host");
static HEADERS: Name = Name::new("headers");
static BODY: Name = Name::new("body");
static RESPONSE_TYPE: Name = Name::new("response_type");

/// A request of a script. Its contents are properties of the object, which scripts may change until it is first
/// sent.
#[derive(Default)]
pub(super) struct Request {
    ready: RefCell<Option<Rc<Ready>>>,
}

/// The properties of a request's object.
pub(super) struct Asked<'js> {
    pub(super) url: String,
    pub(super) throw: bool,
    pub(super) disable_keep_alive: bool,
    pub(super) host: String,
    pub(super) headers: Value<'js>,
    pub(super) body: Value<'js>,
    pub(super) response_type: ResponseType,
}

impl Class for Request {
    const NAME: &'static std::ffi::CStr = c"Request";

    fn members() -> &'static Members {
        static NONE: LazyLock<Members> = LazyLock::new(Members::new);
        &NONE
    }
}

pub(super) fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    needs_new(&call, "Request")?;
    if !(1..=2).contains(&call.len()) {
        return Err(throw(ctx, "req constructor expects 1 or 2 args"));
    }
    made(ctx, &call.argument(0), call.argument(1))
}

/// The request of a form or a link.
///
/// # Errors
/// If one of its parameters cannot be what it has to be.
pub(super) fn of_link<'js>(ctx: Ctx<'js>, link: Link<'js>) -> JsResult<'js> {
    let params = if link.params.is_object() { link.params } else { ctx.object()? };
    let options = ctx.object()?;
    for name in [&HEADERS, &HOST, &THROW, &RESPONSE_TYPE, &DISABLE_KEEP_ALIVE] {
        options.define(name, params.get(name)?)?;
    }
    if link.body.is_object() {
        options.define(&BODY, ctx.string(&form_text(&link.body)?)?)?;
        let headers = ctx.object()?;
        headers.define("Content-Type", ctx.string("application/x-www-form-urlencoded")?)?;
        let own = options.get(&HEADERS)?;
        if own.is_object() {
            for key in keys_of(&own)? {
                let name = key.text().unwrap_or_default();
                let is_type = name.eq_ignore_ascii_case("Content-Type");
                headers.define(if is_type { "Content-Type" } else { &name }, own.get(&key)?)?;
            }
        }
        options.define(&HEADERS, headers)?;
    } else {
        options.define(&BODY, link.body)?;
    }
    made(ctx, &ctx.string(&link.url)?, options)
}

fn made<'js>(ctx: Ctx<'js>, url: &Value<'js>, options: Value<'js>) -> JsResult<'js> {
    let object = ctx.instance(Request::default())?;
    let options = if options.is_object() { options } else { ctx.object()? };
    let or = |name: &Name, default: Value<'js>| -> JsResult<'js> {
        let value = options.get(name)?;
        Ok(if value.is_nullish() { default } else { value })
    };
    response_type(ctx, &options.get(&RESPONSE_TYPE)?)?;
    object.define(&THROW, or(&THROW, ctx.bool(false))?)?;
    object.define(&DISABLE_KEEP_ALIVE, or(&DISABLE_KEEP_ALIVE, ctx.bool(false))?)?;
    object.define(&URL, ctx.string(&url.to_string_lossy()?)?)?;
    object.define(&HOST, or(&HOST, ctx.string("")?)?)?;
    object.define(&HEADERS, or(&HEADERS, ctx.object()?)?)?;
    object.define(&BODY, or(&BODY, ctx.null())?)?;
    object.define(&RESPONSE_TYPE, or(&RESPONSE_TYPE, ctx.string("text")?)?)?;
    Ok(object)
}

impl Request {
    /// The request as it is sent by clients with this user agent (`None`: that of the options). `object` is its own.
    ///
    /// # Errors
    /// If a property cannot be what it has to be.
    pub(super) fn ready<'js>(
        &self,
        ctx: Ctx<'js>,
        object: &Value<'js>,
        http: &HttpState,
        agent: Option<&Rc<str>>,
    ) -> JsResult<'js, Rc<Ready>> {
        if let Some(ready) = &*self.ready.borrow()
            && ready.is_of(agent)
        {
            return Ok(Rc::clone(ready));
        }
        let asked = Asked {
            url: object.get(&URL)?.to_string_lossy()?,
            throw: object.get(&THROW)?.truthy(),
            disable_keep_alive: object.get(&DISABLE_KEEP_ALIVE)?.truthy(),
            host: object.get(&HOST)?.to_string_lossy()?,
            headers: object.get(&HEADERS)?,
            body: object.get(&BODY)?,
            response_type: response_type(ctx, &object.get(&RESPONSE_TYPE)?)?,
        };
        let shared = Host::of(ctx).core_slot::<SharedReady>();
        let ready = shared.share(Ready::new(ctx, http, agent, asked)?);
        *self.ready.borrow_mut() = Some(Rc::clone(&ready));
        Ok(ready)
    }
}

fn response_type<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> JsResult<'js, ResponseType> {
    if value.is_nullish() {
        return Ok(ResponseType::Text);
    }
    match value.to_string_lossy()?.as_str() {
        "text" | "" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => Err(throw(
            ctx,
            &format!("Invalid response type {other:?}: it is \"text\", \"binary\" or \"none\""),
        )),
    }
}
