//! `k6/metrics`: Counter, Gauge, Rate, Trend.

use std::cell::Cell;
use std::sync::LazyLock;

use brunt_js::{Host, Phase};
use brunt_metrics::{Contains, Kind, MetricId, SeriesId, TagsId};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use crate::state::{VuState, read_tags, throw, throw_type};

static PROTOTYPE: Name = Name::new("prototype");

const CLASSES: [(&std::ffi::CStr, Kind); 4] = [
    (c"Counter", Kind::Counter),
    (c"Gauge", Kind::Gauge),
    (c"Rate", Kind::Rate),
    (c"Trend", Kind::Trend),
];

pub(crate) fn names() -> Vec<String> {
    CLASSES.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
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
        set(&name.to_string_lossy(), constructor)?;
    }
    Ok(())
}

/// A metric object of a script.
struct CustomMetric {
    metric: MetricId,
    kind: Kind,
    name: Box<str>,
    /// The series of the last sample without tags of its own: (epoch, the VU's tags, series).
    last: Cell<Option<(u32, TagsId, SeriesId)>>,
}

impl Class for CustomMetric {
    const NAME: &'static std::ffi::CStr = c"Metric";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"add", 2, add).accessor(c"name", name, |call| {
                Err(throw_type(call.ctx(), "a metric's name cannot be changed"))
            })
        });
        &MEMBERS
    }
}

fn construct<'js>(call: Call<'js>, kind: Kind) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        return Err(throw(ctx, "metrics must be declared in the init context"));
    }
    let name = if call.argument(0).is_undefined() {
        String::new()
    } else {
        call.argument(0).to_string_lossy()?
    };
    let contains = if call.argument(1).truthy() { Contains::Time } else { Contains::Default };
    let registry = &VuState::of(ctx).shared.world.registry;
    let outcome = match registry.register_lenient(&name, kind, contains) {
        Ok(outcome) => outcome,
        Err(error) => return Err(throw(ctx, &error.to_string())),
    };
    if let Some(warning) = outcome.warning {
        log::warn!("{warning}");
    }
    let object = ctx.instance(CustomMetric {
        metric: outcome.id,
        kind,
        name: name.into_boxed_str(),
        last: Cell::new(None),
    })?;
    // With `new`, `new.target` may be a subclass; without, the function itself is not known here.
    let target = call.this();
    if target.is_function() {
        let prototype = target.get(&PROTOTYPE)?;
        if prototype.is_object() {
            object.set_prototype(&prototype)?;
        }
    }
    Ok(object)
}

fn name<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    match this.instance::<CustomMetric>() {
        Some(metric) => ctx.string(&metric.name),
        None => Ok(ctx.undefined()),
    }
}

fn add<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(metric) = this.instance::<CustomMetric>() else {
        return Err(throw_type(ctx, "add() is called on a metric"));
    };
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        return Err(throw(ctx, "adding to metrics in the init context is not supported"));
    }
    let state = VuState::of(ctx);
    let given = call.argument(0);
    let Some(value) = sample_value(&given)? else {
        let shown = given.to_string_lossy()?;
        let message = format!(
            "'{shown}' is an invalid value for metric '{}': a number or a boolean is expected",
            metric.name
        );
        if state.shared.config().throw {
            return Err(throw(ctx, &message));
        }
        log::warn!("{message}");
        return Ok(ctx.bool(false));
    };
    let value = if metric.kind == Kind::Rate { f64::from(value != 0.0) } else { value };
    let tags = call.argument(1);
    if !tags.is_nullish() {
        let tags = read_tags(ctx, &tags)?;
        let pairs: Vec<_> =
            tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        state.add(host, metric.metric, value, &pairs);
        return Ok(ctx.bool(true));
    }
    let Some(core) = host.core() else { return Ok(ctx.bool(true)) };
    if host.phase() == Phase::Summary {
        return Ok(ctx.bool(true));
    }
    let at = core.now();
    let mut recorder = core.recorder().borrow_mut();
    let base = state.tags_id(&mut recorder);
    let series = match metric.last.get() {
        Some((epoch, tags, series)) if epoch == recorder.epoch() && tags == base => series,
        _ => {
            let series = recorder.series(metric.metric, base);
            metric.last.set(Some((recorder.epoch(), base, series)));
            series
        }
    };
    state.add_to(&mut recorder, series, value, at);
    Ok(ctx.bool(true))
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
