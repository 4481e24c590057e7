//! The JavaScript parts: compiled once in the process, run in those VMs that use them.
//!
//! All parts share one object, which scripts cannot reach: the prototype of a class that has no instances. It has the
//! native functions below, and what the parts add.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::{LazyLock, OnceLock};

use brunt_fiber::clock;
use brunt_js::Host;
use brunt_metrics::builtin;
use brunt_quickjs::{Call, Class, Compiled, Ctx, Hooks, JsResult, Members, Value, Vm};

use super::blob::{self, BlobData};
use super::form_data::FormData;
use super::{Boundary, form_data, form_with, native_body, read_payload, shared_bytes};
use crate::http;
use crate::state::{VuState, throw};

/// Parts that are wanted together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Abort,
    Streams,
    Fetch,
    Events,
}

struct Asset {
    /// As stack traces call it.
    name: &'static str,
    source: &'static str,
    /// What it adds to the shared object: there if it has run.
    mark: &'static str,
    code: OnceLock<Result<Compiled, String>>,
}

macro_rules! asset {
    ($file:literal, $mark:literal) => {
        Asset {
            name: concat!("brunt:web/", $file),
            source: include_str!($file),
            mark: $mark,
            code: OnceLock::new(),
        }
    };
}

/// In the order in which they need each other.
static ASSETS: [Asset; 6] = [
    asset!("shared.js", "token"),
    asset!("abort.js", "AbortSignal"),
    asset!("readable.js", "ReadableStream"),
    asset!("writable.js", "WritableStream"),
    asset!("fetch.js", "fetch"),
    asset!("sse.js", "EventSource"),
];

impl Set {
    fn assets(self) -> &'static [Asset] {
        match self {
            Self::Abort => &ASSETS[..2],
            Self::Streams => &ASSETS[..4],
            Self::Fetch => &ASSETS[..5],
            Self::Events => &ASSETS,
        }
    }
}

/// Stack for the compiler, and that of its thread: a fiber's own may be nearly used up.
const COMPILE_STACK: usize = 2 * 1024 * 1024;
const THREAD_STACK: usize = 3 * 1024 * 1024;

impl Asset {
    fn code(&'static self) -> Result<&'static Compiled, &'static str> {
        let compile = || {
            let vm = Vm::new(Rc::new(()), Hooks::default(), COMPILE_STACK);
            vm.ctx().compile_script(self.name, self.source).map_err(|_| {
                let exception = vm.ctx().take_exception();
                exception.map_or_else(String::new, |exception| {
                    exception.value.to_string_lossy().unwrap_or_default()
                })
            })
        };
        let on_thread = || {
            let thread = std::thread::Builder::new().stack_size(THREAD_STACK).spawn(compile);
            let joined = thread.map_err(|error| error.to_string())?.join();
            joined.unwrap_or_else(|_| Err("the compiler failed".to_owned()))
        };
        self.code.get_or_init(on_thread).as_ref().map_err(String::as_str)
    }
}

struct Parts;

impl Class for Parts {
    const NAME: &'static CStr = c"Web";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"alarm", 2, alarm)
                .method(c"bytes", 3, bytes)
                .method(c"extract", 2, extract)
                .method(c"hasBody", 1, |call| {
                    Ok(call.ctx().bool(http::response_body(&call.argument(0)).is_some()))
                })
                .method(c"headerList", 1, header_list)
                .method(c"href", 1, href)
                .method(c"isRedirected", 1, |call| {
                    Ok(call.ctx().bool(http::is_redirected(&call.argument(0))))
                })
                .method(c"json", 1, json)
                .method(c"newJar", 0, http::new_jar)
                .method(c"parseForm", 2, parse_form)
                .method(c"received", 1, received)
                .method(c"send", 5, http::fetch_request)
                .method(c"source", 0, |call| call.ctx().instance(http::Fetched::default()))
                .method(c"sseEvent", 2, sse_event)
                .method(c"text", 1, text)
        });
        &MEMBERS
    }
}

/// A server-sent event came: from this URL, and when the one before it came on the same connection. Gives the moment: both
/// in ms.
fn sse_event<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let now = clock::now_ns() as f64 / 1e6;
    if let Some(host) = ctx.host::<Host>() {
        let state = host.state::<VuState>();
        let url = call.argument(0).to_string_lossy()?;
        let tags = [("url", url.as_str())];
        let tags = if state.shared.config().system_tags.url { &tags[..] } else { &[] };
        state.add(host, builtin::SSE_EVENTS, 1.0, tags);
        if let Some(before) = call.argument(1).as_number() {
            state.add(host, builtin::SSE_EVENT_INTERVAL, (now - before).max(0.0), tags);
        }
    }
    Ok(ctx.number(now))
}

/// The object that the parts share.
fn shared(ctx: Ctx<'_>) -> JsResult<'_> {
    ctx.class_prototype::<Parts>()
}

/// A class that is made when it is first asked for, and the same ever after.
pub(super) fn class<'js>(
    ctx: Ctx<'js>,
    name: &str,
    make: impl FnOnce() -> JsResult<'js>,
) -> JsResult<'js> {
    let web = shared(ctx)?;
    let known = web.get(name)?;
    if !known.is_undefined() {
        return Ok(known);
    }
    let class = make()?;
    web.define(name, class.clone())?;
    Ok(class)
}

/// The shared object with these parts in it.
fn load(ctx: Ctx<'_>, set: Set) -> JsResult<'_> {
    let web = shared(ctx)?;
    let last = set.assets().last().expect("no set is empty");
    if web.has(last.mark)? {
        return Ok(web);
    }
    blob::class(ctx)?;
    for asset in set.assets() {
        if !web.has(asset.mark)? {
            let code = asset.code().map_err(|message| {
                throw(ctx, &format!("{} cannot be compiled: {message}", asset.name))
            })?;
            let part = ctx.run_script(code)?;
            part.call(&ctx.undefined(), std::slice::from_ref(&web))?;
        }
    }
    if set != Set::Abort
        && let Some(host) = ctx.host::<Host>()
    {
        host.state::<VuState>().has_streams.set(true);
    }
    Ok(web)
}

/// One thing that a part made.
pub(super) fn export<'js>(ctx: Ctx<'js>, set: Set, name: &str) -> JsResult<'js> {
    load(ctx, set)?.get(name)
}

/// Calls a function of a part.
pub(super) fn call<'js>(
    ctx: Ctx<'js>,
    set: Set,
    name: &str,
    arguments: &[Value<'js>],
) -> JsResult<'js> {
    let web = load(ctx, set)?;
    web.get(name)?.call(&web, arguments)
}

/// Whether it is a stream that the parts made.
pub(super) fn is_stream<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> bool {
    if !VuState::of(ctx).has_streams.get() {
        return false;
    }
    call(ctx, Set::Streams, "isStream", std::slice::from_ref(value)).is_ok_and(|is| is.truthy())
}

fn blob_of<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a BlobData> {
    blob::of(value).ok_or_else(|| ctx.throw_type("this is not a Blob"))
}

/// `alarm(function, milliseconds)`: a timer that the iteration doesn't wait for.
fn alarm<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, delay) = (call.ctx(), call.argument(1).to_number()?);
    let delay_ns = (delay.max(0.0) * 1e6) as u64;
    Host::of(ctx).events().set_idle_timer(ctx, call.argument(0), delay_ns);
    Ok(ctx.undefined())
}

/// `bytes(blob, start?, end?)`: an `ArrayBuffer`.
fn bytes<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let blob = blob_of(ctx, &value)?;
    let bound = |index| Ok(call.argument(index).to_integer()?.max(0) as u64);
    let part = if call.len() > 1 { blob.slice(bound(1)?..bound(2)?, "") } else { blob.clone() };
    let bytes = read_payload(part.payload());
    ctx.array_buffer(bytes.map_err(|message| throw(ctx, &message))?.into_owned())
}

fn text<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    blob::decoded(ctx, blob_of(ctx, &value)?)
}

fn json<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let bytes = read_payload(blob_of(ctx, &value)?.payload());
    let bytes = bytes.map_err(|message| throw(ctx, &message))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    ctx.parse_json(text).map_err(|error| ctx.throw_json(error))
}

/// `extract(body, contentType)`: a body as a `Blob`, whose type is the content type; `null` for what is none of the known
/// classes. The second argument is what the script says by hand.
fn extract<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value, given) = (call.ctx(), call.argument(0), call.argument(1));
    if blob::of(&value).is_some() {
        return Ok(value);
    }
    let given = if given.is_string() { Some(given.to_js_str()?) } else { None };
    let boundary = Boundary::of(given.as_deref()).map_err(|told| ctx.throw_type(&told));
    let data = if value.instance::<FormData>().is_some() {
        let Boundary { text, content_type } = boundary?;
        BlobData::new(form_with(&value, &text).unwrap_or_default(), &content_type)
    } else if let Some(body) = native_body(&value) {
        BlobData::new(body.payload, &body.content_type)
    } else if let Some(file) = http::file_part(&value) {
        BlobData::new(file.payload, &file.content_type)
    } else if let Some(bytes) = shared_bytes(&value) {
        BlobData::new(bytes.into(), "")
    } else {
        return Ok(ctx.null());
    };
    blob::object(ctx, data)
}

/// The body of a response of `k6/http`.
fn received<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let bytes = http::response_body(&value).unwrap_or_default();
    blob::object(ctx, BlobData::new(bytes.to_vec().into(), ""))
}

/// Names and values as they came, each line on its own.
fn header_list<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let pairs: JsResult<'js, Vec<_>> = http::header_lines(&call.argument(0))
        .into_iter()
        .map(|(name, value)| ctx.array_from([ctx.string(&name)?, ctx.string(&value)?]))
        .collect();
    ctx.array_from(pairs?)
}

/// A URL in its normal form; `undefined` for what is none.
fn href<'js>(call: Call<'js>) -> JsResult<'js> {
    match url::Url::parse(&call.argument(0).to_js_str()?) {
        Ok(url) => call.ctx().string(url.as_str()),
        Err(_) => Ok(call.ctx().undefined()),
    }
}

/// `parseForm(blob, contentType)`: a `FormData`.
fn parse_form<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let bytes = read_payload(blob_of(ctx, &value)?.payload());
    let bytes = bytes.map_err(|message| throw(ctx, &message))?.into_owned();
    form_data::parsed(ctx, bytes, &call.argument(1).to_js_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_compiles() {
        for asset in &ASSETS {
            assert!(asset.code().is_ok(), "{}: {:?}", asset.name, asset.code().err());
        }
    }
}
