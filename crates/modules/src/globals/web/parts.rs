//! The JavaScript parts: compiled once in the process, run in those VMs that use them.
//!
//! All parts share one object, which scripts cannot reach: the prototype of a class that has no instances. It has the
//! native functions below, those that [`fetch`](super::fetch) gives it, and what the parts add.

use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::{LazyLock, OnceLock};

use brunt_fiber::clock;
use brunt_js::{Host, SlotKey, VuSlot};
use brunt_metrics::builtin;
use brunt_quickjs::{Call, Class, Compiled, Ctx, Hooks, JsResult, Members, Value, Vm};

use super::blob::{self, BlobData, read_payload};
use crate::state::VuState;
use crate::throwing::throw;

/// Parts that are wanted together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Events,
    Abort,
    Streams,
    Fetch,
    Source,
}

struct Asset {
    /// As stack traces call it.
    name: &'static str,
    source: &'static str,
    /// Its addition to the shared object: there if it has run.
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
static ASSETS: [Asset; 7] = [
    asset!("shared.js", "token"),
    asset!("event.js", "EventTarget"),
    asset!("abort.js", "AbortSignal"),
    asset!("readable.js", "ReadableStream"),
    asset!("writable.js", "WritableStream"),
    asset!("fetch.js", "fetch"),
    asset!("sse.js", "EventSource"),
];

impl Set {
    fn assets(self) -> &'static [Asset] {
        match self {
            Self::Events => &ASSETS[..2],
            Self::Abort => &ASSETS[..3],
            Self::Streams => &ASSETS[..5],
            Self::Fetch => &ASSETS[..6],
            Self::Source => &ASSETS,
        }
    }
}

/// The VM has loaded the classes of streams: before, no value is one.
#[derive(Default)]
struct HasStreams(Cell<bool>);

impl VuSlot for HasStreams {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
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
                .method(c"href", 1, href)
                .method(c"json", 1, json)
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
        let state = host.slot::<VuState>();
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
pub(super) fn shared(ctx: Ctx<'_>) -> JsResult<'_> {
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
    if matches!(set, Set::Streams | Set::Fetch | Set::Source)
        && let Some(host) = ctx.host::<Host>()
    {
        host.slot::<HasStreams>().0.set(true);
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

/// The class of streams, whatever the script has put in its place.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn readable_stream(ctx: Ctx<'_>) -> JsResult<'_> {
    export(ctx, Set::Streams, "ReadableStream")
}

/// Whether it is a stream that the parts made.
pub(super) fn is_stream<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> bool {
    if Host::of(ctx).slot_if_made::<HasStreams>().is_none_or(|has| !has.0.get()) {
        return false;
    }
    call(ctx, Set::Streams, "isStream", std::slice::from_ref(value)).is_ok_and(|is| is.truthy())
}

pub(super) fn blob_of<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a BlobData> {
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

/// A URL in its normal form; `undefined` for what is none.
fn href<'js>(call: Call<'js>) -> JsResult<'js> {
    match url::Url::parse(&call.argument(0).to_js_str()?) {
        Ok(url) => call.ctx().string(url.as_str()),
        Err(_) => Ok(call.ctx().undefined()),
    }
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
