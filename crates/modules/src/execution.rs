//! `k6/execution`: what runs, and the handle to stop it.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use brunt_engine::{AbortReason, Control};
use brunt_js::api::SetExport;
use brunt_js::{Host, Phase};
use brunt_metrics::{Metadata, TagSet};
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name, Thrown, Value};

use crate::module::Module;
use crate::named::{ByName, Named};
use crate::reading::{MEMBERS_MAX, tag_text, too_many};
use crate::state::{VuState, no_group};
use crate::throwing::{not_in_init, throw, throw_stopped, throw_type};

static INSTANCE: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .getter(c"iterationsInterrupted", |call| count(call, Control::iterations_interrupted))
        .getter(c"iterationsCompleted", |call| count(call, Control::iterations_complete))
        .getter(c"vusActive", |call| count(call, Control::vus_active))
        .getter(c"vusInitialized", |call| count(call, Control::vus_initialized))
        .getter(c"currentTestRunDuration", |call| {
            let ctx = call.ctx();
            not_in_init(ctx, "getting instance information")?;
            let core = Host::of(ctx).core();
            let ms = core.map_or(0.0, |core| core.control().run_duration().as_secs_f64() * 1e3);
            Ok(ctx.number(ms))
        })
});

static SCENARIO: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .getter(c"name", |call| {
            let scenario = scenario(call.ctx(), "name")?;
            call.ctx().string(&scenario.spec().name)
        })
        .getter(c"executor", |call| {
            let scenario = scenario(call.ctx(), "executor")?;
            call.ctx().string(scenario.spec().executor.kind())
        })
        .getter(c"startTime", |call| {
            let started = scenario(call.ctx(), "startTime")?.state().started_at().unwrap_or(0);
            Ok(call.ctx().number((started / 1_000_000) as f64))
        })
        .getter(c"progress", |call| {
            Ok(call.ctx().number(scenario(call.ctx(), "progress")?.state().progress()))
        })
        .getter(c"iterationInInstance", |call| {
            iteration(call, "iterationInInstance", |iteration| iteration.in_scenario_instance)
        })
        .getter(c"iterationInTest", |call| {
            iteration(call, "iterationInTest", |iteration| iteration.in_test)
        })
});

static TEST: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"abort", 1, abort)
        .function(c"fail", 1, fail)
        .getter(c"options", options)
});

static VU: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .getter(c"idInInstance", |call| of_vu(call, |host| host.ids().local))
        .getter(c"idInTest", |call| of_vu(call, |host| host.ids().global))
        // In setup() and teardown() both are 0, as in k6.
        .getter(c"iterationInInstance", |call| {
            of_vu(call, |host| host.iteration().map_or(0, |iteration| iteration.vu_in_instance))
        })
        .getter(c"iterationInScenario", |call| {
            of_vu(call, |host| host.iteration().map_or(0, |iteration| iteration.vu_in_scenario))
        })
        // k6 passes over it here, but not in `metrics`.
        .accessor(c"tags", |call| live(call, What::Tags), |call| Ok(call.ctx().undefined()))
});

static VU_METRICS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .accessor(c"tags", |call| live(call, What::Tags), |call| not_assignable(&call, "tags"))
        .accessor(
            c"metadata",
            |call| live(call, What::Metadata),
            |call| not_assignable(&call, "metadata"),
        )
});

static METRICS_NAME: Name = Name::new("metrics");

/// The default export. Its available parts depend on the phase: in init code there is no VU and no scenario,
/// and reading them throws. Looking which there are calls none of them, as in k6.
static EXECUTION: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .fixed_getter(c"instance", |call| {
            not_in_init(call.ctx(), "getting instance information")?;
            part(call.ctx(), "instance")
        })
        .fixed_getter(c"scenario", |call| {
            scenario(call.ctx(), "information")?;
            part(call.ctx(), "scenario")
        })
        .fixed_getter(c"test", |call| part(call.ctx(), "test"))
        .fixed_getter(c"vu", |call| {
            not_in_init(call.ctx(), "getting VU information")?;
            part(call.ctx(), "vu")
        })
});

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/execution"
    }

    fn names(&self) -> Vec<String> {
        ["instance", "scenario", "test", "vu"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, _: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define_members(&EXECUTION)
    }

    /// They may be imported in init code, and each reading of one asks the accessor, so that it throws there: a look at the
    /// namespace reads them, as in k6, and a look at the default export does not.
    fn export<'js>(
        &self,
        _: Ctx<'js>,
        name: &str,
        object: &Value<'js>,
        exports: &dyn SetExport<'js>,
    ) -> JsResult<'js, ()> {
        exports.live(name, object)
    }
}

/// One of the four parts, the same in each VM whoever asks. It can be had in any phase; its properties cannot.
fn part<'js>(ctx: Ctx<'js>, name: &str) -> JsResult<'js> {
    let (members, key) = match name {
        "instance" => (&INSTANCE, "k6/execution/instance"),
        "scenario" => (&SCENARIO, "k6/execution/scenario"),
        "test" => (&TEST, "k6/execution/test"),
        _ => (&VU, "k6/execution/vu"),
    };
    let state = VuState::of(ctx);
    if let Some(known) = state.module(ctx, key) {
        return Ok(known);
    }
    let object = ctx.object()?;
    object.define_members(members)?;
    if name == "vu" {
        let metrics = ctx.object()?;
        metrics.define_members(&VU_METRICS)?;
        object.define(&METRICS_NAME, metrics)?;
    }
    state.keep_module(ctx, key, &object);
    Ok(object)
}

fn count<'js>(call: Call<'js>, read: impl Fn(&Control) -> u64) -> JsResult<'js> {
    let ctx = call.ctx();
    not_in_init(ctx, "getting instance information")?;
    let core = Host::of(ctx).core();
    Ok(ctx.number(core.map_or(0.0, |core| read(core.control()) as f64)))
}

fn of_vu<'js>(call: Call<'js>, read: impl Fn(&Host) -> u64) -> JsResult<'js> {
    let ctx = call.ctx();
    not_in_init(ctx, "getting VU information")?;
    Ok(ctx.number(read(Host::of(ctx)) as f64))
}

fn live<'js>(call: Call<'js>, what: What) -> JsResult<'js> {
    let ctx = call.ctx();
    not_in_init(ctx, "getting VU information")?;
    ctx.instance(ByName(Live { what }))
}

fn scenario(
    ctx: Ctx<'_>,
    what: &str,
) -> JsResult<'static, std::rc::Rc<brunt_engine::ScenarioHere>> {
    let host = Host::of(ctx);
    match host.scenario() {
        Some(scenario) if host.phase() == Phase::Iteration => Ok(scenario),
        _ => Err(throw(
            ctx,
            &format!("getting scenario {what} outside of the VU context is not supported"),
        )),
    }
}

fn iteration<'js>(
    call: Call<'js>,
    what: &str,
    read: impl Fn(&brunt_engine::Iteration) -> u64,
) -> JsResult<'js> {
    let ctx = call.ctx();
    match Host::of(ctx).iteration() {
        Some(iteration) => Ok(ctx.number(read(&iteration) as f64)),
        None => {
            Err(throw(ctx, &format!("getting {what} outside of an iteration is not supported")))
        }
    }
}

fn message(call: &Call<'_>) -> JsResult<'static, String> {
    if call.is_empty() { Ok(String::new()) } else { call.argument(0).to_string_lossy() }
}

fn abort<'js>(call: Call<'js>) -> JsResult<'js> {
    let message = message(&call)?;
    Err(abort_test(call.ctx(), &message))
}

/// Ends the test as `exec.test.abort(message)` does: the place of the script is added to the message.
pub(crate) fn abort_test(ctx: Ctx<'_>, message: &str) -> Thrown {
    let host = Host::of(ctx);
    let text = if message.is_empty() {
        "test aborted".to_owned()
    } else {
        format!("test aborted: {message}")
    };
    let place = ctx.error(brunt_quickjs::error::ErrorKind::Plain, "").get("stack").ok();
    let stack =
        place.and_then(|stack| stack.as_str().map(|stack| stack.to_string())).unwrap_or_default();
    let frame = stack.lines().find(|line| line.starts_with("\tat ") && !line.contains("(native)"));
    let text = match frame {
        // As in k6, which tells of setup() and teardown() without the place.
        _ if matches!(host.phase(), Phase::Setup | Phase::Teardown) => text,
        Some(frame) => format!("{text} {}", frame.trim_start()),
        None => text,
    };
    if let Some(core) = host.core() {
        core.control().abort(AbortReason::Test { message: text.clone() });
    }
    host.abort_by_script(text);
    throw_stopped(ctx)
}

fn fail<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        return Err(throw(ctx, "execution.test.fail() called outside of VU context"));
    }
    let message = message(&call)?;
    if call.argument(0).is_nullish() {
        log::error!("test marked as failed");
    } else {
        log::error!("test marked as failed: {message}");
    }
    if let Some(core) = host.core() {
        core.control().mark_failed();
    }
    Ok(ctx.undefined())
}

fn options<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    if Host::of(ctx).phase() == Phase::Init {
        return Err(throw(ctx, "getting test options in the init context is not supported"));
    }
    let json = &VuState::of(ctx).shared.config().options_json;
    let value = ctx.parse_json(json.as_bytes()).map_err(|error| ctx.throw_json(error))?;
    deep_freeze(&value)?;
    Ok(value)
}

fn deep_freeze(value: &Value<'_>) -> JsResult<'static, ()> {
    if !value.is_object() {
        return Ok(());
    }
    for key in value.keys()? {
        deep_freeze(&value.get(&key)?)?;
    }
    value.freeze()
}

fn not_assignable<'js>(call: &Call<'js>, name: &str) -> JsResult<'js> {
    Err(throw_type(call.ctx(), &format!("Cannot assign to read only property '{name}'")))
}

/// `exec.vu.tags` and `exec.vu.metrics.metadata`: an object whose properties are the VU's.
struct Live {
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Tags,
    Metadata,
}

impl What {
    /// The names of one entry in errors, and of its value.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Tags => ("metric tag", "metric tag values"),
            Self::Metadata => ("metric metadata", "metric metadata value"),
        }
    }
}

impl Live {
    /// The values that it shows.
    fn held(&self, ctx: Ctx<'_>) -> TagSet {
        let state = VuState::of(ctx);
        match self.what {
            What::Tags => state.tag_set(),
            What::Metadata => state.metadata().unwrap_or_default(),
        }
    }

    /// Groups that begin from now on are within the one that the script says it is in.
    fn note_group(&self, ctx: Ctx<'_>, name: &str, group: impl FnOnce() -> Arc<str>) {
        if self.what == What::Tags && name == "group" {
            *VuState::of(ctx).group.borrow_mut() = group();
        }
    }

    fn store(&self, ctx: Ctx<'_>, set: TagSet) {
        let state = VuState::of(ctx);
        match self.what {
            What::Tags => state.set_tags(set),
            What::Metadata => state.set_metadata(Metadata::clone(&set)),
        }
    }
}

impl Named for Live {
    const NAME: &'static CStr = c"Tags";

    fn get<'js>(&self, ctx: Ctx<'js>, name: &str) -> JsResult<'js, Option<Value<'js>>> {
        self.held(ctx).get(name).map(|value| ctx.string(value)).transpose()
    }

    fn names(&self, ctx: Ctx<'_>) -> Vec<String> {
        self.held(ctx).iter().map(|(key, _)| key.to_owned()).collect()
    }

    fn set<'js>(&self, ctx: Ctx<'js>, name: String, value: &Value<'js>) -> JsResult<'js, ()> {
        let Some(text) = tag_text(value) else {
            let (entry, values) = self.what.words();
            return Err(throw_type(
                ctx,
                &format!(
                    "invalid value for {entry} '{name}': only String, Boolean and Number types are accepted as a \
                     {values}"
                ),
            ));
        };
        let held = self.held(ctx);
        if held.len() >= MEMBERS_MAX && held.get(&name).is_none() {
            return Err(throw(ctx, &too_many(held.len() + 1)));
        }
        let set = held.with(&name, &text);
        self.store(ctx, set);
        self.note_group(ctx, &name, || Arc::from(text));
        Ok(())
    }

    fn remove<'js>(&self, ctx: Ctx<'js>, name: String) -> JsResult<'js, ()> {
        let set = self.held(ctx).without(&name);
        self.store(ctx, set);
        self.note_group(ctx, &name, no_group);
        Ok(())
    }
}
