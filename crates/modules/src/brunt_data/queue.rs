//! `queue()`: values that VUs hand to each other, first in, first out.
//!
//! Values are kept as JSON. The lock around them is held for a push or a pop; texts are written and parsed outside of it, and no
//! request passes here. A lock, because a value that is put back goes to the front, and the bytes of all are bounded together.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use brunt_leases::{Bounds, End, Queue as SharedQueue};
use brunt_quickjs::{Call, Class, CommonWeight, Ctx, JsResult, Members, Thrown, Value};

use super::names::{Named, read_name, same};
use super::options::Options;
use super::share::{Scope, is_init, waited};
use crate::globals::web::bodies::is_blob;
use crate::shared::Shared;
use crate::state::VuState;
use crate::throwing::{not_in_init, throw, throw_type};

/// Values of a queue for which the script sets no `max`.
const LENGTH: i64 = 10_000;
/// The most that it may set.
const LENGTH_MAX: i64 = 10_000_000;
/// Bytes of one value's JSON; a larger one is an error of the script. Half as many if processes share the queue.
const VALUE_MAX: usize = 1 << 20;
/// Bytes of all values of a queue; it is full with these, too.
const BYTES_MAX: usize = 256 << 20;
/// Bytes that each value counts for beside its text.
const COST: usize = 32;

/// A queue of a process, or its way to that of the test. It has the values that the script asked for at most, and of them at most [`BYTES_MAX`]; what does not fit
/// is refused, counted, and told once in the log.
#[derive(Debug)]
struct Values {
    name: String,
    asked: Asked,
    kept: Mutex<Kept>,
    /// Values that found no room.
    refused: AtomicU64,
    /// Known as soon as the options of the test are; none where the values are this process's own.
    shared: OnceLock<Option<Arc<SharedQueue>>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Asked {
    max: usize,
    scope: Scope,
}

#[derive(Debug, Default)]
struct Kept {
    texts: VecDeque<Box<str>>,
    bytes: usize,
    /// Of the most bytes that there were.
    weight: CommonWeight,
}

impl Values {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self, shared: &Shared) -> Option<&Arc<SharedQueue>> {
        let find = || {
            let leases = shared.config().leases.as_ref();
            let leases = leases.filter(|_| self.asked.scope == Scope::Test);
            let bounds = Bounds { values: self.asked.max as u64, bytes: BYTES_MAX as u64 };
            leases.map(|leases| leases.queue(&self.name, bounds))
        };
        self.shared.get_or_init(find).as_ref()
    }

    fn whose(&self) -> String {
        format!("queue \"{}\"", self.name)
    }

    /// A value found no room: it is counted, and the first one is told.
    fn refuse(&self, full: &str, end: End) {
        if self.refused.fetch_add(1, Relaxed) == 0 {
            log::warn!(
                "{} is full with {full}: {} returned false, and the value is lost unless the script keeps it; take() more, or set a \
                 higher max (`refused` of the queue counts on)",
                self.whose(),
                method(end),
            );
        }
    }

    /// Adds a text; whether there was room.
    fn add<'js>(&self, ctx: Ctx<'js>, text: String, end: End) -> JsResult<'js, bool> {
        if let Some(shared) = self.shared(&VuState::of(ctx).shared) {
            let is_in = waited(ctx, shared.add(text, end), || self.whose())?;
            if !is_in {
                self.refuse(&format!("{} values, or with {BYTES_MAX} bytes", self.asked.max), end);
            }
            return Ok(is_in);
        }
        let cost = text.len() + COST;
        let mut kept = self.lock();
        if kept.texts.len() >= self.asked.max || kept.bytes + cost > BYTES_MAX {
            let full = format!("{} values of {} bytes", kept.texts.len(), kept.bytes);
            drop(kept);
            self.refuse(&full, end);
            return Ok(false);
        }
        let bytes = kept.bytes + cost;
        kept.weight.grow(ctx, bytes)?;
        kept.bytes = bytes;
        match end {
            End::Back => kept.texts.push_back(text.into()),
            End::Front => kept.texts.push_front(text.into()),
        }
        Ok(true)
    }

    fn take<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Option<Box<str>>> {
        if let Some(shared) = self.shared(&VuState::of(ctx).shared) {
            let text = waited(ctx, shared.take(), || self.whose())?;
            return Ok(text.map(String::into_boxed_str));
        }
        Ok(self.take_own())
    }

    fn take_own(&self) -> Option<Box<str>> {
        let mut kept = self.lock();
        let text = kept.texts.pop_front()?;
        kept.bytes -= text.len() + COST;
        Some(text)
    }
}

/// The method that adds a value there.
fn method(end: End) -> &'static str {
    match end {
        End::Back => "put()",
        End::Front => "putBack()",
    }
}

/// The object of a VU.
struct Queue(Arc<Values>);

impl Class for Queue {
    const NAME: &'static CStr = c"Queue";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"put", 1, |call| put(&call, End::Back))
                .method(c"putBack", 1, |call| put(&call, End::Front))
                .method(c"take", 0, take)
                .getter(c"length", length)
                .getter(c"refused", |call| {
                    Ok(call.ctx().number(values(&call)?.refused.load(Relaxed) as f64))
                })
                .getter(c"name", |call| call.ctx().string(&values(&call)?.name))
        });
        &MEMBERS
    }
}

/// `queue(name, { max, share })`.
pub(super) fn queue<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, kind) = (call.ctx(), "queue");
    let name = read_name(ctx, kind, &call.argument(0))?;
    let whose = format!("{kind} \"{name}\"");
    let options = Options::read(ctx, whose, &call.argument(1), &["max", "share"])?;
    let max = options.whole("max", LENGTH, [1, LENGTH_MAX])?;
    let asked = Asked {
        max: usize::try_from(max).unwrap_or(usize::MAX),
        scope: options.word("share", Scope::WORDS)?,
    };
    let shared = &VuState::of(ctx).shared;
    asked.scope.check(shared, kind, &name).map_err(|why| throw(ctx, &why))?;
    let values = shared.slot::<Named<Values>>().find_or_make(ctx, kind, &name, || {
        Ok(Values {
            name: name.clone(),
            asked: Asked { ..asked },
            kept: Mutex::default(),
            refused: AtomicU64::new(0),
            shared: OnceLock::new(),
        })
    })?;
    same(ctx, kind, &name, [&values.asked, &asked])?;
    ctx.instance(Queue(values))
}

fn values<'js>(call: &Call<'js>) -> JsResult<'js, Arc<Values>> {
    match call.this().instance::<Queue>() {
        Some(Queue(values)) => Ok(Arc::clone(values)),
        None => Err(throw_type(call.ctx(), "this is not a queue of brunt/data")),
    }
}

/// `put(value)` and `putBack(value)`: whether there was room.
fn put<'js>(call: &Call<'js>, end: End) -> JsResult<'js> {
    let (ctx, values) = (call.ctx(), values(call)?);
    not_in_init(ctx, &format!("{} of a queue", method(end)))?;
    let is_shared = values.shared(&VuState::of(ctx).shared).is_some();
    let most = if is_shared { brunt_leases::VALUE_MAX } else { VALUE_MAX };
    let text = text_of(ctx, &call.argument(0), &values.name, most)?;
    Ok(ctx.bool(values.add(ctx, text, end)?))
}

/// The JSON of a value.
///
/// # Errors
/// A `TypeError` for what JSON has not, bytes among it; a `GoError` if it is too long.
fn text_of<'js>(
    ctx: Ctx<'js>,
    value: &Value<'js>,
    name: &str,
    most: usize,
) -> JsResult<'js, String> {
    let no_bytes = |value: &Value<'js>| -> Result<Option<u32>, Thrown> {
        let is_binary = value.is_array_buffer()
            || value.is_data_view()
            || value.typed_array_name().is_some()
            || is_blob(value);
        if is_binary {
            let why = format!(
                "queue \"{name}\" keeps JSON, which has no bytes: put them in as text, with encoding.b64encode()"
            );
            return Err(throw_type(ctx, &why));
        }
        Ok(None)
    };
    let Some(text) = ctx.stringify_marked(value, no_bytes)? else {
        let why = format!(
            "queue \"{name}\": undefined and functions can't be put into it: it keeps JSON"
        );
        return Err(throw_type(ctx, &why));
    };
    if text.len() > most {
        let why = format!(
            "queue \"{name}\": the value is too large, {} bytes of JSON: at most {most}",
            text.len()
        );
        return Err(throw(ctx, &why));
    }
    Ok(text)
}

/// `take()`: the value that has waited longest, a fresh copy; `null` if none waits.
fn take<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, values) = (call.ctx(), values(&call)?);
    not_in_init(ctx, "take() of a queue")?;
    match values.take(ctx)? {
        Some(text) => ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error)),
        None => Ok(ctx.null()),
    }
}

/// `length`: how many values wait; in init code of a queue that processes share, 0.
fn length<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, values) = (call.ctx(), values(&call)?);
    if !is_init(ctx)
        && let Some(shared) = values.shared(&VuState::of(ctx).shared)
    {
        let length = waited(ctx, shared.length(), || values.whose())?;
        return Ok(ctx.number(length as f64));
    }
    Ok(ctx.number(values.lock().texts.len() as f64))
}
