//! `import … from 'k6'`: check, group, sleep, fail, randomSeed.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use brunt_engine::Iteration;
use brunt_fiber::pause::pause;
use brunt_fiber::{block_on, on_fiber};
use brunt_js::{Host, Phase, SlotKey, VuSlot};
use brunt_metrics::{CheckId, Recorder, SeriesId, TagsId, builtin};
use brunt_quickjs::name::{Key, PinnedKey};
use brunt_quickjs::{Call, Ctx, JsResult, Members, Thrown, Value, touched};

use crate::module::Module;
use crate::reading::{read_tags, text_or_empty, to_object};
use crate::state::{VuState, give_way};
use crate::throwing::{not_in_init, throw, throw_stopped, throw_type};

static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"check", 3, check)
        .function(c"fail", 1, fail)
        .function(c"group", 2, group)
        .function(c"randomSeed", 1, random_seed)
        .function(c"sleep", 1, sleep)
});

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6"
    }

    fn names(&self) -> Vec<String> {
        MEMBERS.names().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn fill<'js>(&self, _: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define_members(&MEMBERS)
    }

    fn begin(&self, host: &Host, _: Ctx<'_>, iteration: Option<&Iteration>) {
        if iteration.is_some()
            && touched::is_watched()
            && let Some(checks) = host.slot_if_made::<Checks>()
        {
            touched::note(checks);
        }
    }
}

/// The series and check of each name, so that a `check()` in a loop looks up nothing but its name.
#[derive(Default)]
struct Checks(RefCell<CheckCache>);

impl VuSlot for Checks {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

#[derive(Default)]
struct CheckCache {
    epoch: u32,
    base: Option<TagsId>,
    group: Arc<str>,
    /// Keys pinned so far.
    pinned: u32,
    known: Vec<(PinnedKey, SeriesId, Option<CheckId>)>,
}

/// Names that are kept: those that come first. A script that makes up names pays for looking them up.
const KNOWN_MAX: usize = 32;

/// Keys that a VM pins for good, in all its groups.
const PINNED_MAX: u32 = 4096;

fn check<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    not_in_init(ctx, "Using check()")?;
    if call.len() < 2 {
        return Err(throw(ctx, "no checks provided to `check`"));
    }
    let (value, sets) = (call.argument(0), call.argument(1));
    if sets.is_nullish() {
        return Err(throw_type(ctx, "Cannot convert undefined or null to object"));
    }
    let sets = to_object(ctx, &sets)?;
    let host = Host::of(ctx);
    let tags = read_tags(ctx, &call.argument(2), String::new)?;
    let at = host.core().map_or(0, |core| core.now());
    let mut all = true;
    let mut waiting = Vec::new();
    for key in sets.keys()? {
        let predicate = sets.get(&key)?;
        let outcome = if predicate.is_function() {
            predicate.call(&ctx.undefined(), std::slice::from_ref(&value))
        } else {
            Ok(predicate.clone())
        };
        if predicate.is_async_function()
            && let Ok(promise) = &outcome
        {
            waiting.push(checked_later(ctx, &key, promise, &tags, at)?);
            continue;
        }
        let passed = outcome.as_ref().is_ok_and(Value::truthy);
        // A stopped VU's check says nothing about the system under test; one that aborts the test itself counts.
        if outcome.is_ok() || !brunt_fiber::is_aborted() || host.was_aborted_by_script() {
            record(host, &key, passed, &tags, at)?;
            show(host, &key, passed);
        }
        all &= passed;
        outcome?;
        give_way(ctx)?;
    }
    if waiting.is_empty() {
        return Ok(ctx.bool(all));
    }
    let count = waiting.len() as u32;
    let every = ctx.closure(c"", 1, move |call| {
        let passed = call.argument(0);
        let mut all = all;
        for index in 0..count {
            all &= passed.get_index(index)?.truthy();
        }
        Ok(call.ctx().bool(all))
    })?;
    let promises = ctx.array_from(waiting)?;
    let class = ctx.global().get("Promise")?;
    let both = class.get("all")?.call(&class, &[promises])?;
    both.get("then")?.call(&both, &[every])
}

/// The promise of an async predicate: its check is recorded when it is settled. More than k6 does, which refuses it.
fn checked_later<'js>(
    ctx: Ctx<'js>,
    key: &Key<'js>,
    promise: &Value<'js>,
    tags: &[(String, String)],
    at: u64,
) -> JsResult<'js> {
    let name = check_name(key)?;
    let group = Arc::clone(&VuState::of(ctx).group.borrow());
    let made = move |failed: bool| {
        let (name, group, tags) = (name.clone(), Arc::clone(&group), tags.to_vec());
        ctx.closure(c"", 1, move |call| {
            let (ctx, value) = (call.ctx(), call.argument(0));
            let passed = !failed && value.truthy();
            VuState::of(ctx).in_group(Arc::clone(&group), || {
                record_named(Host::of(ctx), &name, passed, &tags, at);
            });
            if failed { Err(ctx.throw(value)) } else { Ok(ctx.bool(passed)) }
        })
    };
    promise.get("then")?.call(promise, &[made(false)?, made(true)?])
}

fn record(
    host: &Host,
    key: &Key<'_>,
    passed: bool,
    tags: &[(String, String)],
    at: u64,
) -> Result<(), Thrown> {
    let state = host.slot::<VuState>();
    let Some(core) = host.core().filter(|_| host.phase() != Phase::Summary) else {
        return check_name(key).map(drop);
    };
    let mut recorder = core.recorder().borrow_mut();
    let base = state.tags_id(&mut recorder);
    let mut cache = host.slot::<Checks>().0.borrow_mut();
    let group = state.group.borrow();
    let is_same_group = Arc::ptr_eq(&cache.group, &group) || cache.group == *group;
    if cache.epoch != recorder.epoch() || cache.base != Some(base) || !is_same_group {
        cache.known.clear();
        cache.group = Arc::clone(&group);
        cache.epoch = recorder.epoch();
        cache.base = Some(base);
    }
    touched::note(&cache.known[..]);
    let known = cache.known.iter().find(|(known, ..)| tags.is_empty() && key.is_pinned(*known));
    let (series, check) = if let Some(&(_, series, check)) = known {
        (series, check)
    } else {
        let ids = looked_up(state, &mut recorder, base, &check_name(key)?, tags);
        if tags.is_empty() && cache.known.len() < KNOWN_MAX && cache.pinned < PINNED_MAX {
            cache.pinned += 1;
            cache.known.push((key.pin(), ids.0, ids.1));
        }
        ids
    };
    state.add_to(&mut recorder, series, if passed { 1.0 } else { 0.0 }, at);
    if let Some(check) = check.filter(|_| !state.is_warm()) {
        recorder.add_check(check, passed);
    }
    Ok(())
}

/// The same for a check whose name is no key any more.
fn record_named(host: &Host, name: &str, passed: bool, tags: &[(String, String)], at: u64) {
    let state = host.slot::<VuState>();
    let Some(core) = host.core().filter(|_| host.phase() != Phase::Summary) else { return };
    let mut recorder = core.recorder().borrow_mut();
    let base = state.tags_id(&mut recorder);
    let (series, check) = looked_up(state, &mut recorder, base, name, tags);
    state.add_to(&mut recorder, series, if passed { 1.0 } else { 0.0 }, at);
    if let Some(check) = check.filter(|_| !state.is_warm()) {
        recorder.add_check(check, passed);
    }
}

fn looked_up(
    state: &VuState,
    recorder: &mut Recorder,
    base: TagsId,
    name: &str,
    tags: &[(String, String)],
) -> (SeriesId, Option<CheckId>) {
    let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(tags.len() + 1);
    pairs.extend(tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    // Behind the script's own tags: a check is known by its name.
    if state.shared.config().system_tags.check {
        pairs.push(("check", name));
    }
    let all = recorder.tags_with(base, &pairs);
    (recorder.series(builtin::CHECKS, all), tagged_check(recorder, all))
}

/// The check that a sample of `checks` with these tags belongs to, as its tags tell; none without the tag `check`.
pub(crate) fn tagged_check(recorder: &mut Recorder, tags: TagsId) -> Option<CheckId> {
    let tags = recorder.tag_set(tags);
    let name = tags.get("check")?;
    Some(recorder.check(tags.get("group").unwrap_or_default(), name))
}

/// Shows a check to whoever watches.
fn show(host: &Host, key: &Key<'_>, passed: bool) {
    let state = host.slot::<VuState>();
    if let Some(watched) = state.watched(host) {
        watched.check(&key.text().unwrap_or_default(), passed);
    }
}

/// The name of a check.
fn check_name(key: &Key<'_>) -> Result<String, Thrown> {
    let name = key.text().unwrap_or_default();
    if name.contains("::") {
        return Err(throw(key.ctx(), "group and check names may not contain '::'"));
    }
    Ok(name)
}

fn group<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    not_in_init(ctx, "Using group()")?;
    let name = text_or_empty(&call.argument(0))?;
    let body = call.argument(1);
    if !body.is_function() {
        return Err(throw(ctx, "group() requires a callback as a second argument"));
    }
    if name.contains("::") {
        return Err(throw(ctx, "group and check names may not contain '::'"));
    }
    let host = Host::of(ctx);
    let state = VuState::of(ctx);
    let parent = Arc::clone(&state.group.borrow());
    let path: Arc<str> = if name.is_empty() && parent.is_empty() {
        parent
    } else {
        Arc::from(format!("{parent}::{name}"))
    };
    if let Some(core) = host.core() {
        core.recorder().borrow_mut().group(&path);
    }
    give_way(ctx)?;
    let started = host.core().map_or(0, |core| core.now());
    if body.is_async_function() {
        return async_group(ctx, path, &body, started);
    }
    state.in_group(path, || {
        let result = body.call(&ctx.undefined(), &[]);
        let took = host.core().map_or(0, |core| core.now()).saturating_sub(started);
        if !brunt_fiber::is_aborted() || host.was_aborted_by_script() {
            state.add(host, builtin::GROUP_DURATION, took as f64 / 1e6, &[]);
        }
        result
    })
}

/// A group whose function is async: it lasts until that has ended, and what happens after an `await` inside is in it,
/// too. More than k6 does, which refuses such functions.
fn async_group<'js>(
    ctx: Ctx<'js>,
    path: Arc<str>,
    body: &Value<'js>,
    started: u64,
) -> JsResult<'js> {
    let state = VuState::of(ctx);
    let (scope, before) = (state.new_scope(Arc::clone(&path)), ctx.scope());
    ctx.enter_scope(scope);
    let promise = body.call(&ctx.undefined(), &[]);
    ctx.enter_scope(before);
    let promise = promise?;
    let made = move |failed: bool| {
        let path = Arc::clone(&path);
        ctx.closure(c"", 1, move |call| {
            let (ctx, value) = (call.ctx(), call.argument(0));
            let (host, state) = (Host::of(ctx), VuState::of(ctx));
            state.end_scope(scope);
            let took = host.core().map_or(0, |core| core.now()).saturating_sub(started);
            state.in_group(Arc::clone(&path), || {
                state.add(host, builtin::GROUP_DURATION, took as f64 / 1e6, &[]);
            });
            if failed { Err(ctx.throw(value)) } else { Ok(value) }
        })
    };
    promise.get("then")?.call(&promise, &[made(false)?, made(true)?])
}

fn sleep<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let seconds = call.argument(0).to_number()?;
    if seconds.is_nan() || seconds <= 0.0 {
        return Ok(ctx.undefined());
    }
    // A year and more is for ever.
    let time = Duration::from_secs_f64(seconds.min(1e8));
    if !on_fiber() {
        return Err(throw(ctx, "sleep() cannot be used here"));
    }
    match block_on(pause(time)) {
        Ok(()) => Ok(ctx.undefined()),
        Err(_) => Err(throw_stopped(ctx)),
    }
}

fn fail<'js>(call: Call<'js>) -> JsResult<'js> {
    let message = text_or_empty(&call.argument(0))?;
    Err(throw(call.ctx(), &message))
}

fn random_seed<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let seed = call.argument(0).to_integer()?;
    crate::globals::math_random::seed_random(ctx, seed)?;
    Ok(ctx.undefined())
}
