//! The k6 API as the host of scripts sees it.

use std::any::Any;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, Once};
use std::task::Poll;

use brunt_engine::{Ended, Iteration, ScenarioHere};
use brunt_js::api::{Api, SetExport};
use brunt_js::{Host, Phase, Remains};
use brunt_metrics::{Metadata, Recorder, TagsId, WARMUP_TAG};
use brunt_quickjs::{Ctx, JsResult, Thrown, Value, touched};

use crate::api::{MODULES, OLD_WEBSOCKETS, importable, module};
use crate::config::{Config, World};
use crate::connections::Connections;
use crate::shared::Shared;
use crate::state::{VuState, no_group};
use crate::throwing::throw;
use crate::{console, data_json, globals, timers};

/// Parts of a VU's life that have random numbers of their own; its iterations are counted from 0.
const INIT: u64 = u64::MAX;
const SETUP: u64 = u64::MAX - 1;
const TEARDOWN: u64 = u64::MAX - 2;

/// The modules and globals of k6.
pub struct K6 {
    shared: Arc<Shared>,
}

impl K6 {
    /// The API, before the options are known.
    pub fn new(world: World) -> Self {
        Self { shared: Arc::new(Shared::new(world)) }
    }

    /// The names of all modules that scripts can import.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        importable()
    }

    /// Tells the options, once, after the first init run.
    ///
    /// # Panics
    /// If they were told before.
    pub fn configure(&self, config: Config) {
        self.shared.configure(config);
    }
}

impl Api for K6 {
    fn exports(&self, specifier: &str) -> Result<Vec<String>, String> {
        let mut names = module(specifier)?.names();
        names.push("default".to_owned());
        Ok(names)
    }

    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        specifier: &str,
        exports: &dyn SetExport<'js>,
    ) -> JsResult<'js, ()> {
        let module = module(specifier).map_err(|message| throw(ctx, &message))?;
        if specifier == OLD_WEBSOCKETS {
            static TOLD: Once = Once::new();
            TOLD.call_once(|| {
                log::warn!(
                    "{OLD_WEBSOCKETS} is the old name of k6/websockets: import that instead"
                );
            });
        }
        // One object in each VM, whoever imports or requires it. Its properties are live: libraries replace
        // `http.get`, so the object is the authority; named imports get what it holds now.
        let state = VuState::of(ctx);
        let object = if let Some(object) = state.module(ctx, module.specifier()) {
            object
        } else {
            let object = module.object(ctx)?;
            module.fill(ctx, &object)?;
            state.keep_module(ctx, module.specifier(), &object);
            state.wake(module);
            object
        };
        for name in module.names().iter().filter(|name| exports.wants(name)) {
            module.export(ctx, name, &object, exports)?;
        }
        exports.set("default", object)
    }

    fn install<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        VuState::of(ctx).seed(Host::of(ctx), ctx, INIT);
        for module in MODULES.iter().filter(|module| module.is_always_awake()) {
            VuState::of(ctx).wake(*module);
        }
        globals::install(ctx)?;
        console::install(ctx)?;
        timers::install(ctx)
    }

    fn throw(&self, ctx: Ctx<'_>, message: &str) -> Thrown {
        throw(ctx, message)
    }

    fn shared(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.shared) as _
    }

    fn activate(&self, host: &Host, ctx: Ctx<'_>, scenario: &Rc<ScenarioHere>) {
        let state = host.slot::<VuState>();
        *state.group.borrow_mut() = no_group();
        let tags = scenario.tags().clone();
        let tags =
            if self.shared.config().system_tags.group { tags.with("group", "") } else { tags };
        let warm_until = scenario.state().warm_until();
        let is_warm = brunt_fiber::clock::now_ns() < warm_until;
        let tags = if is_warm { tags.with(WARMUP_TAG, "true") } else { tags };
        state.begin_warmup(if is_warm { warm_until } else { 0 });
        state.set_common_tags(host, tags);
        state.set_metadata(Metadata::default());
        if globals::install_env(ctx).is_err() {
            drop(ctx.take_exception());
        }
    }

    fn begin(&self, host: &Host, ctx: Ctx<'_>, iteration: Option<&Iteration>) {
        let state = host.slot::<VuState>();
        let config = self.shared.config();
        let part = match (iteration, host.phase()) {
            (Some(iteration), _) => iteration.vu_in_instance,
            (None, Phase::Setup) => SETUP,
            (None, _) => TEARDOWN,
        };
        state.seed(host, ctx, part);
        if let Some(path) = match host.phase() {
            Phase::Setup => Some("::setup"),
            Phase::Teardown => Some("::teardown"),
            _ => None,
        } {
            *state.group.borrow_mut() = Arc::from(path);
            state.begin_warmup(0);
            let tags = config.tags.clone();
            state.set_tags(if config.system_tags.group { tags.with("group", path) } else { tags });
            if config.system_tags.iter {
                // k6 counts them as iterations of a VU without a number.
                state.set_metadata(Metadata::default().with("iter", "0"));
            }
        }
        if let Some(iteration) = iteration {
            if touched::is_watched() {
                touched::note(state);
                if let Some(connections) = host.slot_if_made::<Connections>() {
                    connections.note();
                }
            }
            if !state.iterates.replace(true) && globals::install_iteration(ctx).is_err() {
                drop(ctx.take_exception());
            }
            if config.system_tags.vu || config.system_tags.iter {
                let mut metadata = state.metadata().unwrap_or_default();
                if config.system_tags.vu {
                    metadata = metadata.with("vu", &host.ids().global.to_string());
                }
                if config.system_tags.iter {
                    metadata = metadata.with("iter", &iteration.vu_in_instance.to_string());
                }
                state.set_metadata(metadata);
            }
        }
        for module in state.awake() {
            module.begin(host, ctx, iteration);
        }
    }

    fn remains(&self, host: &Host) -> Option<Remains> {
        together(host.slot::<VuState>().awake().filter_map(|module| module.remains(host)))
    }

    fn thrown(&self, host: &Host, ctx: Ctx<'_>) {
        for module in host.slot::<VuState>().awake() {
            module.thrown(host, ctx);
        }
    }

    fn stopped(&self, host: &Host, ctx: Ctx<'_>, until: u64) {
        for module in host.slot::<VuState>().awake() {
            module.stopped(host, ctx, until);
        }
    }

    fn end(&self, host: &Host, ended: Ended) {
        let state = host.slot::<VuState>();
        for module in state.awake() {
            module.end(host, ended);
        }
        state.end_scopes();
        let connections = host.slot_if_made::<Connections>();
        let bytes = connections.map_or((0, 0), Connections::take_wire_bytes);
        state.add_wire_bytes(host, bytes);
        if self.shared.config().no_vu_connection_reuse
            && let Some(connections) = connections
        {
            connections.close_idle();
        }
    }

    fn tags(&self, host: &Host, recorder: &mut Recorder) -> TagsId {
        host.slot::<VuState>().tags_id(recorder)
    }

    fn metadata(&self, host: &Host) -> Option<Metadata> {
        host.slot::<VuState>().metadata()
    }

    fn encode_data<'js>(
        &self,
        ctx: Ctx<'js>,
        value: &Value<'js>,
    ) -> Result<Option<String>, String> {
        data_json::encode_setup_data(ctx, value)
    }

    fn scope(&self, host: &Host, from: i32, to: i32) {
        host.slot::<VuState>().change_scope(from, to);
    }

    fn report(&self, host: &Host, text: &str) {
        let scenario = host.scenario();
        let (name, executor) = scenario.as_ref().map_or(("", ""), |scenario| {
            (scenario.spec().name.as_str(), scenario.spec().executor.kind())
        });
        if let Some(core) = host.core() {
            core.recorder().borrow_mut().exception(text);
        }
        // As k6 does: what a promise was rejected with may have no stack.
        if text.starts_with("Uncaught (in promise)") {
            log::error!(executor, scenario = name; "{text}");
        } else {
            log::error!(
                executor, scenario = name, source = "stacktrace", hint = "script exception";
                "{text}"
            );
        }
    }

    fn consolidated_options(&self) -> Option<String> {
        self.shared.known_config().map(|config| config.exported_json.clone())
    }
}

/// All of it, at the same time; `None` of none.
fn together(mut all: impl Iterator<Item = Remains>) -> Option<Remains> {
    let first = all.next()?;
    let mut open: Vec<Remains> = all.collect();
    if open.is_empty() {
        return Some(first);
    }
    open.push(first);
    Some(Box::pin(poll_fn(move |cx| {
        open.retain_mut(|each| each.as_mut().poll(cx).is_pending());
        if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })))
}

impl std::fmt::Debug for K6 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("K6").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn an_iteration_waits_for_what_remains_to_each_module() {
        let (ends, remains): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| {
                let (end, ended) = oneshot::channel::<()>();
                (end, Box::pin(async move { drop(ended.await) }) as Remains)
            })
            .unzip();
        let mut all = together(remains.into_iter()).unwrap();
        let mut is_over = || all.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        // In whatever order they end, the last one decides.
        for end in ends.into_iter().rev() {
            assert!(!is_over());
            drop(end);
        }
        assert!(is_over());
        assert!(together(std::iter::empty()).is_none());
        let mut one = together(std::iter::once(Box::pin(async {}) as Remains)).unwrap();
        assert!(one.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}
