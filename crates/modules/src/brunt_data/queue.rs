//! `queue()`: values that VUs hand to each other, first in, first out.
//!
//! Values are kept as JSON. The lock around them is held for a push or a pop; texts are written and parsed outside of it, and no
//! request passes here. A lock, because a value that is put back goes to the front, and the bytes of all are bounded together.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use brunt_quickjs::{Call, Class, CommonWeight, Ctx, JsResult, Members, Thrown, Value};

use super::names::{Named, read_name, same};
use super::options::Options;
use super::share::Scope;
use crate::globals::web::bodies::is_blob;
use crate::state::VuState;
use crate::throwing::{not_in_init, throw, throw_type};

/// Values of a queue for which the script sets no `max`.
const LENGTH: i64 = 10_000;
/// The most that it may set.
const LENGTH_MAX: i64 = 10_000_000;
/// Bytes of one value's JSON; a larger one is an error of the script.
const VALUE_MAX: usize = 1 << 20;
/// Bytes of all values of a queue; it is full with these, too.
const BYTES_MAX: usize = 256 << 20;
/// Bytes that each value counts for beside its text.
const COST: usize = 32;

/// A queue of a process. It has the values that the script asked for at most, and of them at most [`BYTES_MAX`]; what does not fit
/// is refused, counted, and told once in the log.
#[derive(Debug)]
struct Values {
    name: String,
    asked: Asked,
    kept: Mutex<Kept>,
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
    refused: u64,
    /// Of the most bytes that there were.
    weight: CommonWeight,
}

impl Values {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text; whether there was room.
    fn add<'js>(&self, ctx: Ctx<'js>, text: String, end: End) -> JsResult<'js, bool> {
        let cost = text.len() + COST;
        let mut kept = self.lock();
        if kept.texts.len() >= self.asked.max || kept.bytes + cost > BYTES_MAX {
            kept.refused += 1;
            let is_first = kept.refused == 1;
            let (values, bytes) = (kept.texts.len(), kept.bytes);
            drop(kept);
            if is_first {
                log::warn!(
                    "queue \"{}\" is full with {values} values of {bytes} bytes: {} returned false, and the value is lost unless the \
                     script keeps it; take() more, or set a higher max (`refused` of the queue counts on)",
                    self.name,
                    end.method(),
                );
            }
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

    fn take(&self) -> Option<Box<str>> {
        let mut kept = self.lock();
        let text = kept.texts.pop_front()?;
        kept.bytes -= text.len() + COST;
        Some(text)
    }
}

/// Where a value is added.
#[derive(Clone, Copy)]
enum End {
    Back,
    Front,
}

impl End {
    fn method(self) -> &'static str {
        match self {
            Self::Back => "put()",
            Self::Front => "putBack()",
        }
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
                .getter(c"length", |call| {
                    Ok(call.ctx().number(values(&call)?.lock().texts.len() as f64))
                })
                .getter(c"refused", |call| {
                    Ok(call.ctx().number(values(&call)?.lock().refused as f64))
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
        Ok(Values { name: name.clone(), asked: Asked { ..asked }, kept: Mutex::default() })
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
    not_in_init(ctx, &format!("{} of a queue", end.method()))?;
    let text = text_of(ctx, &call.argument(0), &values.name)?;
    Ok(ctx.bool(values.add(ctx, text, end)?))
}

/// The JSON of a value.
///
/// # Errors
/// A `TypeError` for what JSON has not, bytes among it; a `GoError` if it is too long.
fn text_of<'js>(ctx: Ctx<'js>, value: &Value<'js>, name: &str) -> JsResult<'js, String> {
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
    if text.len() > VALUE_MAX {
        let why = format!(
            "queue \"{name}\": the value is too large, {} bytes of JSON: at most {VALUE_MAX}",
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
    match values.take() {
        Some(text) => ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error)),
        None => Ok(ctx.null()),
    }
}
