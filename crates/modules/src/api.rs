//! The k6 API as the host of scripts sees it.

use std::any::Any;
use std::rc::Rc;
use std::sync::{Arc, Once, OnceLock};

use brunt_engine::{Ended, Iteration, ScenarioHere};
use brunt_js::api::{Api, SetExport};
use brunt_js::{Host, Phase, Remains};
use brunt_metrics::{Metadata, Recorder, TagsId};
use brunt_quickjs::{Ctx, JsResult, Thrown, Value, touched};

use crate::config::{Config, World};
use crate::globals::web::{jslib_form, streams};
use crate::http::limiter::Limiter;
use crate::shared_array::SharedArrays;
use crate::state::VuState;
use crate::{
    console, crypto, csv, data, dns, encoding, execution, faker, fs, globals, grpc, html, http,
    icmp, k6, metrics, mqtt, redis, secrets, tcp, timers, websockets, ws,
};

/// What all VMs of a test share.
pub(crate) struct Shared {
    pub(crate) world: World,
    config: OnceLock<Config>,
    defaults: Config,
    pub(crate) arrays: SharedArrays,
    pub(crate) limiter: OnceLock<Arc<Limiter>>,
    /// What scripts of gRPC loaded.
    pub(crate) schemas: grpc::Schemas,
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
    names: fn() -> Vec<String>,
    /// An object with all exports as properties: the default export.
    object: for<'js> fn(Ctx<'js>) -> JsResult<'js>,
}

const MODULES: &[Module] = &[
    Module { specifier: "k6", names: k6::names, object: k6::object },
    Module { specifier: "k6/http", names: http::names, object: http_object },
    Module {
        specifier: "k6/metrics",
        names: metrics::names,
        object: |ctx| filled(ctx, metrics::fill),
    },
    Module { specifier: "k6/data", names: data::names, object: |ctx| filled(ctx, data::fill) },
    Module {
        specifier: "k6/experimental/streams",
        names: streams::names,
        object: |ctx| filled(ctx, streams::fill),
    },
    Module {
        specifier: jslib_form::FIRST,
        names: jslib_form::names,
        object: |ctx| filled(ctx, jslib_form::fill_first),
    },
    Module {
        specifier: jslib_form::LATEST,
        names: jslib_form::names,
        object: |ctx| filled(ctx, jslib_form::fill),
    },
    Module { specifier: EXECUTION, names: execution::names, object: execution::object },
    Module {
        specifier: "k6/encoding",
        names: encoding::names,
        object: |ctx| filled(ctx, encoding::fill),
    },
    Module {
        specifier: "k6/crypto",
        names: crypto::names,
        object: |ctx| filled(ctx, crypto::fill),
    },
    Module { specifier: "k6/html", names: html::names, object: |ctx| filled(ctx, html::fill) },
    Module {
        specifier: "k6/crypto/x509",
        names: crypto::x509::names,
        object: |ctx| filled(ctx, crypto::x509::fill),
    },
    Module {
        specifier: "k6/secrets",
        names: secrets::names,
        object: |ctx| filled(ctx, secrets::fill),
    },
    Module {
        specifier: "k6/timers",
        names: timers::names,
        object: |ctx| filled(ctx, timers::fill),
    },
    Module {
        specifier: "k6/experimental/fs",
        names: fs::names,
        object: |ctx| filled(ctx, fs::fill),
    },
    Module {
        specifier: "k6/experimental/csv",
        names: csv::names,
        object: |ctx| filled(ctx, csv::fill),
    },
    Module { specifier: "k6/ws", names: ws::names, object: |ctx| filled(ctx, ws::fill) },
    Module {
        specifier: "k6/websockets",
        names: websockets::names,
        object: |ctx| filled(ctx, websockets::fill),
    },
    Module { specifier: "k6/net/grpc", names: grpc::names, object: |ctx| filled(ctx, grpc::fill) },
    Module { specifier: "k6/x/dns", names: dns::names, object: |ctx| filled(ctx, dns::fill) },
    Module { specifier: "k6/x/faker", names: faker::names, object: faker::object },
    Module { specifier: "k6/x/icmp", names: icmp::names, object: |ctx| filled(ctx, icmp::fill) },
    Module { specifier: "k6/x/mqtt", names: mqtt::names, object: |ctx| filled(ctx, mqtt::fill) },
    Module { specifier: "k6/x/tcp", names: tcp::names, object: |ctx| filled(ctx, tcp::fill) },
    Module { specifier: "k6/x/redis", names: redis::names, object: |ctx| filled(ctx, redis::fill) },
    Module {
        specifier: "k6/x/fasthttp",
        names: http::fasthttp::names,
        object: |ctx| filled(ctx, http::fasthttp::fill),
    },
];

const EXECUTION: &str = "k6/execution";

/// Makes the exports of a module one by one.
type Fill = for<'js> fn(
    Ctx<'js>,
    &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()>;

fn filled(ctx: Ctx<'_>, fill: Fill) -> JsResult<'_> {
    let object = ctx.object()?;
    fill(ctx, &mut |name, value| object.define(name, value))?;
    Ok(object)
}

fn http_object(ctx: Ctx<'_>) -> JsResult<'_> {
    let object = ctx.object()?;
    http::define(ctx, &object)?;
    Ok(object)
}

/// The old name of `k6/websockets`; whoever imports it is told once.
const OLD_WEBSOCKETS: &str = "k6/experimental/websockets";
/// Modules of k6 that are not here, or that k6 has removed: what to do instead.
const GONE: &[(&str, &str)] = &[
    ("k6/browser", "is not supported yet: it drives a browser, and there is none in Brunt"),
    (
        "k6/experimental/browser",
        "has been removed from k6, which has it as k6/browser now; that is not supported yet",
    ),
    (
        "k6/experimental/tracing",
        "has been removed from k6: import \
         https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js instead, which has the same functions",
    ),
    (
        "k6/experimental/webcrypto",
        "has been removed from k6: it is the global `crypto` of every script now: take the import away",
    ),
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
                schemas: grpc::Schemas::default(),
            }),
        }
    }

    /// What scripts can import by name.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        // Libraries are imported by their address.
        MODULES.iter().map(|module| module.specifier).filter(|name| !name.starts_with("k6/jslib/"))
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
        // These moved out of `experimental` without a change.
        if specifier == "k6/experimental/timers" {
            return Self::module("k6/timers");
        }
        if specifier == OLD_WEBSOCKETS {
            return Self::module("k6/websockets");
        }
        // It was there before streams came to the other.
        if specifier == "k6/experimental/grpc" {
            return Self::module("k6/net/grpc");
        }
        // As it was called in k6 1.
        if specifier == "k6/experimental/redis" {
            return Self::module("k6/x/redis");
        }
        if let Some((_, instead)) = GONE.iter().find(|(gone, _)| *gone == specifier) {
            return Err(format!("the module \"{specifier}\" {instead}"));
        }
        Err(unknown(specifier))
    }
}

/// What is said of an import that leads to none of [`MODULES`].
fn unknown(specifier: &str) -> String {
    let is_extension = |name: &&str| name.starts_with("k6/x/");
    let all = K6::modules();
    let what = if is_extension(&specifier) {
        format!(
            "the module \"{specifier}\" is an extension of k6 that is not supported yet; extensions written in Go can't be \
             loaded into Brunt"
        )
    } else {
        format!("unknown module: \"{specifier}\"")
    };
    if let Some(meant) = brunt_spelling::question(specifier, K6::modules()) {
        return format!("{what}; {meant}");
    }
    let known: Vec<_> =
        if is_extension(&specifier) { all.filter(is_extension).collect() } else { all.collect() };
    format!("{what}; these are built in: {}", known.join(", "))
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
        let object = if let Some(object) = state.module(ctx, module.specifier) {
            object
        } else {
            let object = (module.object)(ctx)?;
            state.keep_module(ctx, module.specifier, &object);
            object
        };
        for name in (module.names)().iter().filter(|name| exports.wants(name)) {
            // The properties of `exec` cannot be read in init code, where this runs, but may be imported.
            match module.specifier {
                EXECUTION => exports.set(name, execution::part(ctx, name)?)?,
                // In k6 they are properties of the default export whenever they are read.
                "k6/http" | "k6/ws" | "k6/html" => exports.share(name, &object)?,
                _ => exports.set(name, object.get(name)?)?,
            }
        }
        exports.set("default", object)
    }

    fn install<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        globals::install(ctx, &self.shared)?;
        console::install(ctx)?;
        timers::install(ctx)
    }

    fn throw(&self, ctx: Ctx<'_>, message: &str) -> Thrown {
        crate::state::throw(ctx, message)
    }

    fn new_state(&self, _: &Host) -> Box<dyn Any> {
        Box::new(VuState::new(Arc::clone(&self.shared)))
    }

    fn activate(&self, host: &Host, ctx: Ctx<'_>, scenario: &Rc<ScenarioHere>) {
        let state = host.state::<VuState>();
        *state.group.borrow_mut() = crate::state::no_group();
        let tags = scenario.tags().clone();
        let tags =
            if self.shared.config().system_tags.group { tags.with("group", "") } else { tags };
        state.set_common_tags(host, tags);
        state.set_metadata(Metadata::default());
        if globals::install_env(ctx).is_err() {
            drop(ctx.take_exception());
        }
    }

    fn begin(&self, host: &Host, ctx: Ctx<'_>, iteration: Option<&Iteration>) {
        let state = host.state::<VuState>();
        websockets::forget_all(ctx, state);
        let config = self.shared.config();
        if let Some(path) = match host.phase() {
            Phase::Setup => Some("::setup"),
            Phase::Teardown => Some("::teardown"),
            _ => None,
        } {
            *state.group.borrow_mut() = Arc::from(path);
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
                if let Some(http) = state.http_if_used() {
                    http.note();
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
        if (!config.no_cookies_reset || iteration.is_none())
            && let Some(http) = state.http_if_used()
        {
            http.reset_cookies();
        }
    }

    fn remains(&self, host: &Host) -> Option<Remains> {
        host.state::<VuState>().http_if_used()?.unread_downloads()
    }

    fn thrown(&self, host: &Host, ctx: Ctx<'_>) {
        websockets::leave_all(ctx, host.state::<VuState>());
    }

    fn stopped(&self, host: &Host, ctx: Ctx<'_>, until: u64) {
        grpc::tell_last_words(ctx, host.state::<VuState>(), host.events().was_waiting(), until);
    }

    fn end(&self, host: &Host, _: Ended) {
        let state = host.state::<VuState>();
        if let Some(http) = state.http_if_used() {
            http.end_downloads();
        }
        websockets::cut_all(host, state);
        state.streams.borrow_mut().clear();
        state.links.cut();
        state.end_scopes();
        state.add_wire_bytes(host);
        if self.shared.config().no_vu_connection_reuse
            && let Some(http) = state.http_if_used()
        {
            http.close_idle();
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

    fn scope(&self, host: &Host, from: i32, to: i32) {
        host.state::<VuState>().change_scope(from, to);
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
        self.shared.config.get().map(|config| config.exported_json.clone())
    }
}

impl std::fmt::Debug for K6 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("K6").finish_non_exhaustive()
    }
}
