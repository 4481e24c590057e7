//! The runner that the engine drives: makes VUs, runs `setup()` and `teardown()`. Also the runs outside of the
//! engine: options first, the summary last.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use brunt_engine::{Core, Ended, ErrorKind, RunError, Runner, StopHandle, VuIds};
use brunt_quickjs::{Ctx, Thrown, Value};

use crate::api::Api;
use crate::core_state::CoreState;
use crate::exception::{Failure, UNHANDLED};
use crate::host::Phase;
use crate::instance::{Instance, run_fiber};
use crate::program::Program;
use crate::vu::ScriptVu;

/// The result of `setup()`, as JSON text, for all VUs.
#[derive(Debug, Default)]
pub struct SetupData(RwLock<Option<Arc<str>>>);

impl SetupData {
    /// The text, if there is any.
    pub fn get(&self) -> Option<Arc<str>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, data: Option<Arc<str>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = data;
    }
}

/// A compiled script as a test.
#[derive(Clone)]
pub struct ScriptRunner {
    program: Arc<Program>,
    api: Arc<dyn Api>,
    setup_data: Arc<SetupData>,
    /// The exports that the first init run found.
    exported: Arc<OnceLock<Exported>>,
}

/// The exports of a script, found in its first init run.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The exported `options` as JSON; `None` if there are none. An error tells what in them can be no JSON.
    pub options: Result<Option<String>, String>,
    /// Names of exported functions.
    pub functions: Vec<String>,
    /// Names of other exports.
    pub others: Vec<String>,
}

/// The texts that `handleSummary()` asks to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryAnswer {
    /// There is no such function, or it returned nothing: print the usual text.
    Default,
    /// Destination and content, in order.
    Write(Vec<(String, Vec<u8>)>),
    /// It failed, with this text: log it and print the usual text.
    Failed(String),
    /// Its promise was rejected, with this text: log it and print nothing.
    Rejected(String),
    /// It returned something that cannot be written, for this reason: log it and print nothing.
    Unusable(String),
}

impl ScriptRunner {
    /// A runner.
    pub fn new(program: Arc<Program>, api: Arc<dyn Api>) -> Self {
        Self { program, api, setup_data: Arc::default(), exported: Arc::default() }
    }

    /// The script.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The result of `setup()`.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.setup_data.get()
    }

    /// Runs the init code once, before the engine, and looks at the exports. Runs on the calling thread.
    ///
    /// # Errors
    /// The exception of the init code.
    pub fn inspect(&self) -> Result<Exported, Failure> {
        let found = Rc::new(RefCell::new(None));
        let out = Rc::clone(&found);
        self.alone(&StopHandle::new(), move |instance| {
            *out.borrow_mut() = Some(exported(instance));
            Ok(())
        })?;
        let found = found.borrow_mut().take();
        let exported = found.unwrap_or(Err(Failure::Interrupted))?;
        Ok(self.exported.get_or_init(|| exported).clone())
    }

    /// Whether the script lacks this function, so that no VM need be made for it. Init code runs as often as in k6.
    fn lacks(&self, function: &str) -> bool {
        let exported = self.exported.get();
        exported.is_some_and(|exported| !exported.functions.iter().any(|known| known == function))
    }

    /// Runs `handleSummary(data)`, if the script has one, with at most `limit` of time. Runs on the calling thread.
    ///
    /// `changed` is asked for by who wants to know what the function made of its data: it becomes their JSON text, or the
    /// reason why there is none. Without such a function nothing is said.
    pub fn handle_summary(
        &self,
        data: String,
        limit: Duration,
        changed: Option<&mut Option<Result<String, String>>>,
    ) -> SummaryAnswer {
        let answer = Rc::new(RefCell::new(SummaryAnswer::Default));
        let out = Rc::clone(&answer);
        let said = Rc::new(RefCell::new(None));
        let (wants, left) = (changed.is_some(), Rc::clone(&said));
        let stop = StopHandle::new();
        stop.set_time_limit(limit);
        let ran = self.alone(&stop, move |instance| {
            let Some((function, argument)) = summary_call(instance, &data)? else { return Ok(()) };
            let answered = match function {
                Some(function) => summary_answer(instance, &function, &argument),
                None => Ok(SummaryAnswer::Unusable(
                    "exported identifier handleSummary must be a function".to_owned(),
                )),
            };
            if wants {
                *left.borrow_mut() = Some(summary_data(instance.ctx(), &argument));
            }
            *out.borrow_mut() = answered?;
            Ok(())
        });
        if let Some(changed) = changed {
            *changed = said.borrow_mut().take();
        }
        match ran {
            Ok(()) => answer.borrow().clone(),
            // A promise that is rejected is an answer to k6, though none that can be used.
            Err(Failure::Exception(text)) if text.starts_with(UNHANDLED) => {
                SummaryAnswer::Rejected(text)
            }
            Err(Failure::Exception(text) | Failure::Panic(text) | Failure::Aborted(text)) => {
                SummaryAnswer::Failed(text)
            }
            Err(Failure::Interrupted) => SummaryAnswer::Failed(format!(
                "handleSummary() execution timed out after {} seconds",
                limit.as_secs_f64()
            )),
        }
    }

    /// A fresh instance outside of the engine, and something done with it on its fiber.
    fn alone(
        &self,
        stop: &StopHandle,
        then: impl FnOnce(&Instance) -> Result<(), Failure> + 'static,
    ) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Panic(format!("no runtime can start: {error}")))?;
        let local = tokio::task::LocalSet::new();
        let core = CoreState::new();
        local.block_on(&runtime, async {
            let watch = stop.clone();
            let limit = tokio::task::spawn_local(async move {
                // The handle's deadline is read by the interrupt handler; a script that waits is woken here.
                while !watch.check() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                watch.stop();
            });
            let then = |instance: &Instance| then(instance).map(|()| true);
            let result = self.in_instance(None, &core, stop, Phase::Summary, then).await;
            limit.abort();
            result
        })
    }

    /// Makes an instance with `ids` 0, then runs `then` on its fiber in `phase`. `then` answers whether
    /// there was anything to run: what did not happen has no data to count.
    async fn in_instance(
        &self,
        core: Option<&Rc<Core>>,
        state: &CoreState,
        stop: &StopHandle,
        phase: Phase,
        then: impl FnOnce(&Instance) -> Result<bool, Failure> + 'static,
    ) -> Result<(), Failure> {
        let mut fiber =
            state.init_fiber().map_err(|error| Failure::Exception(error.to_string()))?;
        let stack = state.init_stack();
        let (program, api) = (Arc::clone(&self.program), Arc::clone(&self.api));
        let ids = VuIds::default();
        let instance =
            Instance::create(program, api, core.cloned(), ids, &mut fiber, stack, stop).await?;
        let result = Rc::new(RefCell::new(Ok(true)));
        let (out, on_fiber) = (Rc::clone(&result), Rc::clone(&instance));
        instance.host().begin(phase, None, stop);
        fiber.start(move || {
            on_fiber.on_this_stack(stack);
            *out.borrow_mut() = then(&on_fiber);
        });
        let ran = run_fiber(&mut fiber, stop).await;
        let host = instance.host();
        let result = ran.and(result.replace(Ok(true))).map_err(|failure| host.explain(failure));
        let ended = match &result {
            Err(Failure::Aborted(_)) => Ended::Aborted,
            Err(Failure::Interrupted) => Ended::Interrupted,
            _ => Ended::Complete,
        };
        let is_counted = matches!(phase, Phase::Setup | Phase::Teardown);
        if is_counted && !matches!(result, Ok(false)) {
            host.api.end(host, ended);
        }
        state.give_back(fiber);
        result.map(drop)
    }

    fn error(failure: Failure) -> RunError {
        match failure {
            // To k6 an unhandled rejection is no exception of the script.
            Failure::Exception(text) if text.starts_with(UNHANDLED) => {
                RunError::new(ErrorKind::Other, text)
            }
            Failure::Exception(text) => RunError::new(ErrorKind::Script, text),
            Failure::Aborted(text) => RunError::new(ErrorKind::Aborted, text),
            Failure::Interrupted => RunError::new(ErrorKind::Interrupted, "stopped"),
            Failure::Panic(text) => RunError::new(ErrorKind::Panic, text),
        }
    }
}

impl Runner for ScriptRunner {
    type Vu = ScriptVu;

    async fn create(&self, core: &Rc<Core>, ids: VuIds) -> Result<ScriptVu, RunError> {
        let state = CoreState::of(core);
        let system = |error: brunt_fiber::stack::StackError| {
            RunError::new(ErrorKind::Other, error.to_string())
        };
        let mut fiber = state.init_fiber().map_err(system)?;
        let stop = core.stop_of_run();
        let made = Instance::create(
            Arc::clone(&self.program),
            Arc::clone(&self.api),
            Some(Rc::clone(core)),
            ids,
            &mut fiber,
            state.init_stack(),
            &stop,
        )
        .await;
        state.give_back(fiber);
        let vu = ids.global;
        let instance = made.map_err(|failure| Self::error(failure).of_vu(vu))?;
        ScriptVu::new(instance, Arc::clone(&self.setup_data), state).map_err(system)
    }

    async fn setup(&self, core: &Rc<Core>, stop: &StopHandle) -> Result<Option<String>, RunError> {
        if self.lacks("setup") {
            return Ok(None);
        }
        let data = Rc::new(RefCell::new(Ok(None)));
        let out = Rc::clone(&data);
        let ran = self
            .in_instance(Some(core), CoreState::of(core), stop, Phase::Setup, move |instance| {
                let Some(function) = instance.export("setup") else { return Ok(false) };
                let (host, ctx) = (instance.host(), instance.ctx());
                host.api.begin(host, ctx, None);
                // k6 hands over the data of setup(): there are none yet.
                let value = instance.call(&function, &[ctx.null()])?;
                *out.borrow_mut() = host.api.encode_data(ctx, &value);
                Ok(true)
            })
            .await;
        ran.map_err(Self::error)?;
        let data = data.replace(Ok(None));
        data.map_err(|text| RunError::new(ErrorKind::Other, text))
    }

    async fn teardown(
        &self,
        core: &Rc<Core>,
        data: Option<&str>,
        stop: &StopHandle,
    ) -> Result<(), RunError> {
        if self.lacks("teardown") {
            return Ok(());
        }
        let data = data.map(str::to_owned);
        let ran = self
            .in_instance(Some(core), CoreState::of(core), stop, Phase::Teardown, move |instance| {
                let Some(function) = instance.export("teardown") else { return Ok(false) };
                let (host, ctx) = (instance.host(), instance.ctx());
                host.api.begin(host, ctx, None);
                let argument = decoded(instance, data.as_deref())?;
                instance.call(&function, &[argument])?;
                Ok(true)
            })
            .await;
        ran.map_err(Self::error)
    }

    fn set_setup_data(&self, data: Option<Arc<str>>) {
        self.setup_data.set(data);
    }
}

impl std::fmt::Debug for ScriptRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptRunner").field("entry", &self.program.entry()).finish_non_exhaustive()
    }
}

fn decoded<'js>(instance: &'js Instance, json: Option<&str>) -> Result<Value<'js>, Failure> {
    let ctx = instance.ctx();
    match json {
        None => Ok(ctx.undefined()),
        Some(json) => ctx.parse_json(json.as_bytes()).map_err(|error| {
            let thrown = ctx.throw_json(error);
            Failure::of_thrown(instance.host(), ctx, thrown)
        }),
    }
}

fn exported(instance: &Instance) -> Result<Exported, Failure> {
    let (host, ctx) = (instance.host(), instance.ctx());
    let mut exported = Exported { options: Ok(None), functions: Vec::new(), others: Vec::new() };
    for name in instance.export_names() {
        let Some(value) = instance.export(&name) else {
            if name != "options" {
                exported.others.push(name);
            }
            continue;
        };
        if name == "options" {
            exported.options = match check_numbers(&value, "options", 0) {
                Ok(()) => {
                    let json = options_json(ctx, &value);
                    within_reason(json.map_err(|thrown| Failure::of_thrown(host, ctx, thrown))?)
                }
                Err(problem) => Err(problem),
            };
        } else if value.is_function() {
            exported.functions.push(name);
        } else {
            exported.others.push(name);
        }
    }
    Ok(exported)
}

/// The options as JSON. Values that JSON leaves out are `null` here, as in k6: an unknown key is reported, whatever
/// its value.
fn options_json(ctx: Ctx<'_>, options: &Value<'_>) -> Result<Option<String>, Thrown> {
    const STRINGIFY: &str = "(stringify => options => stringify(options, (key, value) =>
        value === undefined || typeof value === 'symbol' ? null :
        typeof value === 'bigint' ? Number(value) : value))(JSON.stringify)";
    let stringify = ctx.eval("options", STRINGIFY)?;
    let json = stringify.call(&ctx.undefined(), std::slice::from_ref(options))?;
    Ok(json.as_str().map(|text| text.to_string()))
}

/// Options that are longer than any test means are refused: what is made of them takes a hundred times as much.
fn within_reason(json: Option<String>) -> Result<Option<String>, String> {
    const MOST: usize = 16 << 20;
    let bytes = json.as_ref().map_or(0, String::len);
    if bytes > MOST {
        return Err(format!(
            "the exported options are {bytes} bytes of JSON: they may have at most {} MiB",
            MOST >> 20
        ));
    }
    Ok(json)
}

/// Options are JSON: what JSON would silently turn into `null` or leave out is told instead.
fn check_numbers(value: &Value<'_>, path: &str, depth: u32) -> Result<(), String> {
    if value.is_function() {
        return Err(format!("the exported {path} is a function, not a value that JSON can hold"));
    }
    if let Some(number) = value.as_number().filter(|number| !number.is_finite()) {
        return Err(format!("the exported {path} is {number}, which JSON cannot hold"));
    }
    if !value.is_object() || depth > 20 {
        return Ok(());
    }
    for key in value.keys().unwrap_or_default() {
        let (Ok(member), Some(name)) = (value.get(&key), key.text()) else { continue };
        check_numbers(&member, &format!("{path}.{name}"), depth + 1)?;
    }
    Ok(())
}

/// Whether this object is one of those that are no map from names to values to k6.
fn is_no_map(ctx: Ctx<'_>, answer: &Value<'_>) -> bool {
    ["Map", "Set", "Date", "ArrayBuffer"].into_iter().any(|name| {
        let class = ctx.global().get(name);
        class.is_ok_and(|class| answer.instance_of(&class).unwrap_or(false))
    })
}

/// The kind of a value that can't be written, in the words of k6's message.
fn kind_of(value: &Value<'_>) -> &'static str {
    match value.as_number() {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e18 => "int64",
        Some(_) => "float64",
        None if value.is_nullish() => "<nil>",
        None if value.is_bool() => "bool",
        None if value.is_function() => "func(sobek.FunctionCall) sobek.Value",
        None if value.is_promise() => "*sobek.Promise",
        None if value.is_array() => "[]interface {}",
        None => "map[string]interface {}",
    }
}

/// The export `handleSummary`, if there is one (and it is a function), and its argument.
#[allow(clippy::type_complexity, reason = "a name for the pair would serve one caller")]
fn summary_call<'js>(
    instance: &'js Instance,
    data: &str,
) -> Result<Option<(Option<Value<'js>>, Value<'js>)>, Failure> {
    if !instance.export_names().iter().any(|name| name == "handleSummary") {
        return Ok(None);
    }
    let function = instance.export("handleSummary").filter(Value::is_function);
    let (host, ctx) = (instance.host(), instance.ctx());
    host.api.begin(host, ctx, None);
    let argument = decoded(instance, Some(data))?;
    let thrown = |thrown| Failure::of_thrown(host, ctx, thrown);
    // k6's data have this key even if setup() returned nothing.
    if argument.get("root_group").is_ok_and(|group| group.is_object())
        && argument.get("setup_data").is_ok_and(|data| data.is_undefined())
    {
        argument.set("setup_data", ctx.undefined()).map_err(thrown)?;
    }
    Ok(Some((function, argument)))
}

/// The data of the summary as the function left them, as JSON; or why there is no summary in them.
fn summary_data(ctx: Ctx<'_>, data: &Value<'_>) -> Result<String, String> {
    let text = |thrown: brunt_quickjs::Thrown| format!("{thrown:?}");
    // JSON would leave them out.
    let metrics = data.get("metrics").map_err(text)?;
    if metrics.is_object() {
        for name in metrics.keys().map_err(text)? {
            if metrics.get(&name).map_err(text)?.is_nullish() {
                let name = name.text().unwrap_or_default();
                return Err(format!("data.metrics.{name} is undefined"));
            }
        }
    }
    match ctx.stringify_json(data) {
        Ok(Some(json)) => Ok(json),
        Ok(None) => Err("data is undefined".to_owned()),
        Err(_) => Err("data cannot be written as JSON: does it contain itself?".to_owned()),
    }
}

fn summary_answer<'js>(
    instance: &'js Instance,
    function: &Value<'js>,
    argument: &Value<'js>,
) -> Result<SummaryAnswer, Failure> {
    let (host, ctx) = (instance.host(), instance.ctx());
    let answer = instance.call_in_spite(function, std::slice::from_ref(argument))?;
    if answer.is_nullish() {
        return Ok(SummaryAnswer::Default);
    }
    if !answer.is_object() || answer.is_function() || answer.is_array() || is_no_map(ctx, &answer) {
        return Ok(SummaryAnswer::Unusable(
            "handleSummary() should return a map with string keys".to_owned(),
        ));
    }
    let mut files = Vec::new();
    for key in answer.keys().map_err(|thrown| Failure::of_thrown(host, ctx, thrown))? {
        let Some(name) = key.text() else { continue };
        let value = answer.get(&key).map_err(|thrown| Failure::of_thrown(host, ctx, thrown))?;
        let content = match value.as_str() {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => value.bytes().map(brunt_quickjs::Bytes::to_vec),
        };
        match content {
            Some(content) => files.push((name, content)),
            None => {
                return Ok(SummaryAnswer::Unusable(format!(
                    "error handling summary object {name}: invalid type {}, it needs to be a string or ArrayBuffer",
                    kind_of(&value)
                )));
            }
        }
    }
    Ok(SummaryAnswer::Write(files))
}
