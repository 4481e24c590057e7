//! `counter()`: a number that all VUs add to.

use std::ffi::CStr;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};

use brunt_leases::{Counter as SharedCounter, WHOLE_MAX};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use super::names::{Named, read_name, same};
use super::options::{Options, whole};
use super::share::{Scope, is_init, waited};
use crate::shared::Shared;
use crate::state::VuState;
use crate::throwing::{not_in_init, throw, throw_type};

/// A counter of a process, or its way to that of the test.
///
/// One atomic number: cores that add at the same time wait for each other's write to it, some tens of nanoseconds, and for no lock. Of
/// a shared one it is the value that came last.
#[derive(Debug)]
struct Number {
    name: String,
    asked: Asked,
    value: AtomicI64,
    /// Known as soon as the options of the test are; none where the number is this process's own.
    shared: OnceLock<Option<Arc<SharedCounter>>>,
}

impl Number {
    fn shared(&self, shared: &Shared) -> Option<&Arc<SharedCounter>> {
        let find = || {
            let leases = shared.config().leases.as_ref();
            let leases = leases.filter(|_| self.asked.scope == Scope::Test);
            leases.map(|leases| leases.counter(&self.name, self.asked.start))
        };
        self.shared.get_or_init(find).as_ref()
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Asked {
    start: i64,
    scope: Scope,
}

/// The object of a VU.
struct Counter(Arc<Number>);

impl Class for Counter {
    const NAME: &'static CStr = c"Counter";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"add", 1, add).getter(c"value", value).getter(c"name", name)
        });
        &MEMBERS
    }
}

/// `counter(name, { start, share })`.
pub(super) fn counter<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, kind) = (call.ctx(), "counter");
    let name = read_name(ctx, kind, &call.argument(0))?;
    let whose = format!("{kind} \"{name}\"");
    let options = Options::read(ctx, whose, &call.argument(1), &["start", "share"])?;
    let asked = Asked {
        start: options.whole("start", 0, [-WHOLE_MAX, WHOLE_MAX])?,
        scope: options.word("share", Scope::WORDS)?,
    };
    let shared = &VuState::of(ctx).shared;
    asked.scope.check(shared, kind, &name).map_err(|why| throw(ctx, &why))?;
    let number = shared.slot::<Named<Number>>().find_or_make(ctx, kind, &name, || {
        let start = asked.start;
        let asked = Asked { ..asked };
        let (value, shared) = (AtomicI64::new(start), OnceLock::new());
        Ok(Number { name: name.clone(), asked, value, shared })
    })?;
    same(ctx, kind, &name, [&number.asked, &asked])?;
    ctx.instance(Counter(number))
}

fn number<'js>(call: &Call<'js>) -> JsResult<'js, Arc<Number>> {
    match call.this().instance::<Counter>() {
        Some(Counter(number)) => Ok(Arc::clone(number)),
        None => Err(throw_type(call.ctx(), "this is not a counter of brunt/data")),
    }
}

/// `add(n = 1)`: the new value, which no other VU gets.
fn add<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, number) = (call.ctx(), number(&call)?);
    not_in_init(ctx, "add() of a counter")?;
    let given = call.argument(0);
    let more = if given.is_undefined() { Some(1) } else { given.as_number().and_then(whole) };
    let Some(more) = more else {
        let why = format!("counter \"{}\": add() takes a whole number", number.name);
        return Err(throw_type(ctx, &why));
    };
    if let Some(shared) = number.shared(&VuState::of(ctx).shared) {
        let whose = || format!("counter \"{}\"", number.name);
        return Ok(heard(ctx, &number, waited(ctx, shared.add(more), whose)?));
    }
    let sum = |value: i64| value.checked_add(more).filter(|sum| sum.abs() <= WHOLE_MAX);
    match number.value.fetch_update(Relaxed, Relaxed, sum) {
        Ok(before) => Ok(ctx.number((before + more) as f64)),
        Err(value) => {
            let why = format!(
                "counter \"{}\": {value} and {more} are more than a script can count: {WHOLE_MAX}",
                number.name
            );
            Err(throw(ctx, &why))
        }
    }
}

/// `value`: the value now; in init code of a counter that processes share, the one that this process heard last.
fn value<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, number) = (call.ctx(), number(&call)?);
    if !is_init(ctx)
        && let Some(shared) = number.shared(&VuState::of(ctx).shared)
    {
        let whose = || format!("counter \"{}\"", number.name);
        return Ok(heard(ctx, &number, waited(ctx, shared.value(), whose)?));
    }
    Ok(ctx.number(number.value.load(Relaxed) as f64))
}

/// A value of a shared counter.
fn heard<'js>(ctx: Ctx<'js>, number: &Number, value: i64) -> Value<'js> {
    number.value.store(value, Relaxed);
    ctx.number(value as f64)
}

fn name<'js>(call: Call<'js>) -> JsResult<'js> {
    call.ctx().string(&number(&call)?.name)
}
