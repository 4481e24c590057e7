//! The k6 API as the host of scripts sees it.

use std::any::Any;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use brunt_engine::{Ended, Iteration, ScenarioHere};
use brunt_js::api::{Api, SetExport};
use brunt_js::{Host, Phase};
use brunt_metrics::{Metadata, Recorder, TagsId};
use brunt_quickjs::{Ctx, JsResult, Value};

use crate::config::{Config, World};
use crate::http::limiter::Limiter;
use crate::shared_array::SharedArrays;
use crate::state::VuState;
use crate::{console, crypto, data, encoding, execution, globals, http, k6, metrics, timers};

/// What all VMs of a test share.
pub(crate) struct Shared {
    pub(crate) world: World,
    config: OnceLock<Config>,
    defaults: Config,
    pub(crate) arrays: SharedArrays,
    pub(crate) limiter: OnceLock<Arc<Limiter>>,
}

impl Shared {
    /// The options; k6's defaults before they are known.
    pub(crate) fn config(&self) -> &Config {
        self.config.get().unwrap_or(&self.defaults)
    }

    /// The requests-per-second limit of the process, if there is one.
    pub(crate) fn limiter(&self) -> Option<Arc<Limiter>> {
        let rps = self.config().rps;
        let make = || Arc::new(Limiter::new(rps));
        (rps > 0).then(|| Arc::clone(self.limiter.get_or_init(make)))
    }
}

/// The modules and globals of k6.
pub struct K6 {
    shared: Arc<Shared>,
}

/// A built-in module: its exports, and how to make them.
struct Module {
    specifier: &'static str,
    /// All exports are properties of one object, which is also the default export.
    has_default: bool,
    names: fn() -> Vec<String>,
    fill: for<'js> fn(
        Ctx<'js>,
        &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
    ) -> JsResult<'js, ()>,
}

const MODULES: [Module; 8] = [
    Module { specifier: "k6", has_default: false, names: k6::names, fill: k6::fill },
    Module { specifier: "k6/http", has_default: true, names: http::names, fill: http::fill },
    Module {
        specifier: "k6/metrics",
        has_default: false,
        names: metrics::names,
        fill: metrics::fill,
    },
    Module { specifier: "k6/data", has_default: false, names: data::names, fill: data::fill },
    Module {
        specifier: "k6/execution",
        has_default: true,
        names: execution::names,
        fill: execution::fill,
    },
    Module {
        specifier: "k6/encoding",
        has_default: false,
        names: encoding::names,
        fill: encoding::fill,
    },
    Module { specifier: "k6/crypto", has_default: false, names: crypto::names, fill: crypto::fill },
    Module { specifier: "k6/timers", has_default: false, names: timers::names, fill: timers::fill },
];

/// Modules of k6 that a later version of Brunt brings.
const LATER: [&str; 16] = [
    "k6/browser",
    "k6/crypto/x509",
    "k6/html",
    "k6/net/grpc",
    "k6/secrets",
    "k6/websockets",
    "k6/ws",
    "k6/experimental/browser",
    "k6/experimental/csv",
    "k6/experimental/fs",
    "k6/experimental/grpc",
    "k6/experimental/redis",
    "k6/experimental/streams",
    "k6/experimental/tracing",
    "k6/experimental/webcrypto",
    "k6/experimental/websockets",
];

impl K6 {
    /// The API, before the options are known.
    pub fn new(world: World) -> Self {
        Self {
            shared: Arc::new(Shared {
                world,
                config: OnceLock::new(),
                defaults: Config::default(),
                arrays: SharedArrays::default(),
                limiter: OnceLock::new(),
            }),
        }
    }

    /// Tells the options, once, after the first init run.
    ///
    /// # Panics
    /// If they were told before.
    pub fn configure(&self, config: Config) {
        assert!(self.shared.config.set(config).is_ok(), "options are consolidated once");
    }

    fn module(specifier: &str) -> Result<&'static Module, String> {
        if let Some(module) = MODULES.iter().find(|module| module.specifier == specifier) {
            return Ok(module);
        }
        // The timers moved out of `experimental` without a change.
        if specifier == "k6/experimental/timers" {
            return Self::module("k6/timers");
        }
        if LATER.contains(&specifier) {
            return Err(format!("the module \"{specifier}\" is not supported yet"));
        }
        if specifier.starts_with("k6/x/") {
            return Err(format!(
                "the module \"{specifier}\" is an extension of k6 that is not supported yet; Go extensions cannot \
                 be loaded into Brunt"
            ));
        }
        let known: Vec<_> = MODULES.iter().map(|module| module.specifier).collect();
        Err(format!("unknown module: \"{specifier}\"; these are built in: {}", known.join(", ")))
    }
}

impl Api for K6 {
    fn exports(&self, specifier: &str) -> Result<Vec<String>, String> {
        let module = Self::module(specifier)?;
        let mut names = (module.names)();
        names.push("default".to_owned());
        Ok(names)
    }

    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        specifier: &str,
        exports: &dyn SetExport<'js>,
    ) -> JsResult<'js, ()> {
        let module = match Self::module(specifier) {
            Ok(module) => module,
            Err(message) => return Err(crate::state::throw(ctx, &message)),
        };
        if module.has_default {
            // The names are live on the object: libraries replace `http.get`, so the object is the authority. Named
            // imports get what it holds now.
            let object = http_like_object(module, ctx)?;
            for name in (module.names)() {
                if exports.wants(&name) && specifier != "k6/execution" {
                    exports.set(&name, object.get(&name)?)?;
                }
            }
            if specifier == "k6/execution" {
                for name in (module.names)() {
                    exports.set(&name, object.get(&name)?)?;
                }
            }
            return exports.set("default", object);
        }
        let object = ctx.object()?;
        (module.fill)(ctx, &mut |name, value| {
            object.define(name, value.clone())?;
            exports.set(name, value)
        })?;
        exports.set("default", object)
    }

    fn install<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        globals::install(ctx, &self.shared)?;
        console::install(ctx)?;
        timers::install(ctx)
    }

    fn new_state(&self, _: &Host) -> Box<dyn Any> {
        Box::new(VuState::new(Arc::clone(&self.shared)))
    }

    fn activate(&self, host: &Host, ctx: Ctx<'_>, scenario: &Rc<ScenarioHere>) {
        let state = host.state::<VuState>();
        *state.group.borrow_mut() = Arc::from("");
        let tags = scenario.tags().clone();
        state.set_tags(if self.shared.config().system_tags.group {
            tags.with("group", "")
        } else {
            tags
        });
        state.set_metadata(Metadata::default());
        if globals::install_env(ctx, &self.shared, Some(&scenario.spec().env)).is_err() {
            drop(ctx.take_exception());
        }
    }

    fn begin(&self, host: &Host, ctx: Ctx<'_>, iteration: Option<&Iteration>) {
        let state = host.state::<VuState>();
        let config = self.shared.config();
        if let Some(path) = match host.phase() {
            Phase::Setup => Some("::setup"),
            Phase::Teardown => Some("::teardown"),
            _ => None,
        } {
            *state.group.borrow_mut() = Arc::from(path);
            let tags = config.tags.clone();
            state.set_tags(if config.system_tags.group { tags.with("group", path) } else { tags });
        }
        if let Some(iteration) = iteration {
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
        if let Some(http) = state.http_if_used() {
            if !config.no_cookies_reset || iteration.is_none() {
                http.reset_cookies();
            }
        }
    }

    fn end(&self, host: &Host, _: Ended) {
        let state = host.state::<VuState>();
        state.add_wire_bytes(host);
        if self.shared.config().no_vu_connection_reuse {
            if let Some(http) = state.http_if_used() {
                http.close_idle();
            }
        }
    }

    fn tags(&self, host: &Host, recorder: &mut Recorder) -> TagsId {
        host.state::<VuState>().tags_id(recorder)
    }

    fn metadata(&self, host: &Host) -> Option<Metadata> {
        host.state::<VuState>().metadata()
    }

    fn encode_data<'js>(
        &self,
        ctx: Ctx<'js>,
        value: &Value<'js>,
    ) -> Result<Option<String>, String> {
        crate::data_json::encode_setup_data(ctx, value)
    }

    fn report(&self, host: &Host, text: &str) {
        let scenario = host.scenario();
        let (name, executor) = scenario.as_ref().map_or(("", ""), |scenario| {
            (scenario.spec().name.as_str(), scenario.spec().executor.kind())
        });
        log::error!(
            executor, scenario = name, source = "stacktrace", hint = "script exception";
            "{text}"
        );
    }

    fn consolidated_options(&self) -> Option<String> {
        self.shared.config.get().map(|config| config.exported_json.clone())
    }
}

/// The object of a module with a default export; made once per VM.
fn http_like_object<'js>(module: &Module, ctx: Ctx<'js>) -> JsResult<'js> {
    let object = ctx.object()?;
    if module.specifier == "k6/http" {
        http::define(ctx, &object)?;
    } else {
        (module.fill)(ctx, &mut |name, value| object.define(name, value))?;
    }
    Ok(object)
}

impl std::fmt::Debug for K6 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("K6").finish_non_exhaustive()
    }
}
