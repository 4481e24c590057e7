//! `k6/metrics`: Counter, Gauge, Rate, Trend.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_js::{Host, Phase};
use brunt_metrics::{Contains, Kind, MetricId, SeriesId, TagsId, builtin};
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use crate::k6::tagged_check;
use crate::module::Module;
use crate::reading::{read_tags, text_or_empty};
use crate::state::{VuState, give_way};
use crate::throwing::{throw, throw_type};

static NAME: Name = Name::new("name");
static ADD: Name = Name::new("add");
static PROTOTYPE: Name = Name::new("prototype");

const CLASSES: [(&std::ffi::CStr, Kind); 4] = [
    (c"Counter", Kind::Counter),
    (c"Gauge", Kind::Gauge),
    (c"Rate", Kind::Rate),
    (c"Trend", Kind::Trend),
];

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/metrics"
    }

    fn names(&self) -> Vec<String> {
        CLASSES.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let shared = ctx.class_prototype::<CustomMetric>()?;
        for (name, kind) in CLASSES {
            let prototype = ctx.object_with_prototype(&shared)?;
            let constructor = match kind {
                Kind::Counter => {
                    ctx.constructor(name, 1, |call| construct(call, Kind::Counter), &prototype)?
                }
                Kind::Gauge => {
                    ctx.constructor(name, 1, |call| construct(call, Kind::Gauge), &prototype)?
                }
                Kind::Rate => {
                    ctx.constructor(name, 1, |call| construct(call, Kind::Rate), &prototype)?
                }
                Kind::Trend => {
                    ctx.constructor(name, 1, |call| construct(call, Kind::Trend), &prototype)?
                }
            };
            exports.define(&*name.to_string_lossy(), constructor)?;
        }
        Ok(())
    }
}

/// A metric object of a script. Its `name` is a property; so is `add`, bound to the metric as in k6, but it is made only
/// where it is used: each VU has its own copy of each metric.
struct CustomMetric {
    series: Rc<Series>,
    /// Whether its class is a script's own, which may have an `add` of its own.
    derived: bool,
}

/// Where the samples of a metric go.
struct Series {
    metric: MetricId,
    /// The series of the last sample without tags of its own: (epoch, the VU's tags, series).
    last: Cell<Option<(u32, TagsId, SeriesId)>>,
}

impl Class for CustomMetric {
    const NAME: &'static std::ffi::CStr = c"Metric";
    const EXOTIC: bool = true;

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"add", 2, |call| match call.this().instance::<CustomMetric>() {
                Some(metric) => add(call, &metric.series),
                None => Err(throw_type(call.ctx(), "add() is called on a metric")),
            })
        });
        &MEMBERS
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if self.derived || !key.is(&ADD) {
            return Ok(Own::None);
        }
        let series = Rc::clone(&self.series);
        Ok(Own::Keep(ctx.closure(c"add", 2, move |call| add(call, &series))?))
    }

    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 1] = [&ADD];
        if self.derived { &[] } else { &NAMES }
    }
}

fn construct<'js>(call: Call<'js>, kind: Kind) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        return Err(throw(ctx, "metrics must be declared in the init context"));
    }
    let name = text_or_empty(&call.argument(0))?;
    let contains = if call.argument(1).truthy() { Contains::Time } else { Contains::Default };
    let registry = &VuState::of(ctx).shared.world.registry;
    let outcome = match registry.register_lenient(&name, kind, contains) {
        Ok(outcome) => outcome,
        Err(error) => return Err(throw(ctx, &error.to_string())),
    };
    if let Some(warning) = outcome.warning {
        log::warn!("{warning}");
    }
    // With `new`, `new.target` may be a subclass; without, the function itself is not known here.
    let target = call.this();
    let prototype = if target.is_function() { Some(target.get(&PROTOTYPE)?) } else { None };
    let prototype = prototype.filter(Value::is_object);
    let derived = match &prototype {
        Some(prototype) => {
            !prototype.prototype()?.strict_equals(&ctx.class_prototype::<CustomMetric>()?)
        }
        None => false,
    };
    let series = Rc::new(Series { metric: outcome.id, last: Cell::new(None) });
    let object = ctx.instance(CustomMetric { series, derived })?;
    object.define_read_only(&NAME, ctx.string(&name)?)?;
    if let Some(prototype) = prototype {
        object.set_prototype(&prototype)?;
    }
    Ok(object)
}

fn add<'js>(call: Call<'js>, series: &Series) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        return Err(throw(ctx, "Adding to metrics in the init context is not supported"));
    }
    let state = VuState::of(ctx);
    let given = call.argument(0);
    let Some(value) = sample_value(&given)? else {
        let what = if call.is_empty() {
            "no value was provided".to_owned()
        } else {
            format!("'{}' is an invalid value", given.to_string_lossy()?)
        };
        let message = format!(
            "{what} for metric '{}', a number or a boolean value is expected",
            state.shared.world.registry.get(series.metric).name
        );
        if state.shared.config().throw {
            return Err(throw(ctx, &message));
        }
        log::warn!("{message}");
        return Ok(ctx.bool(false));
    };
    let tags = call.argument(1);
    if !tags.is_nullish() {
        let whose = || {
            let name = state.shared.world.registry.get(series.metric).name;
            format!("cannot add tags for the '{name}' custom metric: ")
        };
        let tags = read_tags(ctx, &tags, whose)?;
        let pairs: Vec<_> =
            tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        state.add(host, series.metric, value, &pairs);
        count_check(host, state, series.metric, value, &pairs);
        give_way(ctx)?;
        return Ok(ctx.bool(true));
    }
    let Some(core) = host.core() else { return Ok(ctx.bool(true)) };
    if host.phase() == Phase::Summary {
        return Ok(ctx.bool(true));
    }
    let at = core.now();
    let mut recorder = core.recorder().borrow_mut();
    let base = state.tags_id(&mut recorder);
    let id = match series.last.get() {
        Some((epoch, tags, id)) if epoch == recorder.epoch() && tags == base => id,
        _ => {
            let id = recorder.series(series.metric, base);
            series.last.set(Some((recorder.epoch(), base, id)));
            id
        }
    };
    state.add_to(&mut recorder, id, value, at);
    drop(recorder);
    count_check(host, state, series.metric, value, &[]);
    Ok(ctx.bool(true))
}

/// A script's own `new Rate('checks')` is the metric of the checks: what has a tag `check` is one, as `check()`'s are.
/// Helper libraries make async checks of it.
fn count_check(host: &Host, state: &VuState, metric: MetricId, value: f64, extra: &[(&str, &str)]) {
    if metric != builtin::CHECKS || host.phase() == Phase::Summary {
        return;
    }
    let Some(core) = host.core() else { return };
    let mut recorder = core.recorder().borrow_mut();
    let base = state.tags_id(&mut recorder);
    let tags = if extra.is_empty() { base } else { recorder.tags_with(base, extra) };
    if let Some(check) = tagged_check(&mut recorder, tags).filter(|_| !state.is_warm()) {
        recorder.add_check(check, value != 0.0);
    }
}

/// The number that a sample's value means to k6: what is truthy but converts to 0 counts as 1, `''` as 0. `None` for what
/// is no number.
///
/// # Errors
/// A `TypeError` for symbols and `BigInt`s, and what a `valueOf` throws.
fn sample_value(value: &Value<'_>) -> JsResult<'static, Option<f64>> {
    if value.is_nullish() {
        return Ok(None);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Some(f64::from(u8::from(flag))));
    }
    let number = value.to_number()?;
    if number.is_nan() {
        return Ok(None);
    }
    Ok(Some(if number == 0.0 && !value.is_number() && value.truthy() { 1.0 } else { number }))
}
