//! How a VM finds modules: from the program, from the API, from CommonJS.

use std::collections::BTreeSet;

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Ctx, Exports, JsResult, Loaded, ModuleHost, Name, PromiseState, Value};
use brunt_script::{Format, Resolved, is_builtin, resolve};

use crate::api::SetExport;
use crate::exception::Failure;
use crate::host::{Host, Phase};
use crate::program::Asked;

static EXPORTS: Name = Name::new("exports");
static DEFAULT: Name = Name::new("default");
static REQUIRE: Name = Name::new("require");
static RESOLVE: Name = Name::new("resolve");

/// The modules of a program.
pub(crate) struct Loader;

impl ModuleHost for Loader {
    fn resolve(&self, ctx: Ctx<'_>, from: &str, specifier: &str) -> Result<String, String> {
        // Code of an `eval` imports as the script does.
        let from = if from.starts_with("file:") || from.starts_with("https:") {
            from
        } else {
            Host::of(ctx).program.entry()
        };
        match resolve(specifier, from) {
            Ok(Resolved::Builtin(name) | Resolved::Local(name)) => Ok(name),
            Ok(_) => Err(format!("\"{specifier}\" leads nowhere")),
            Err(error) => Err(format!("{error}: {}", error.help)),
        }
    }

    fn load(&self, ctx: Ctx<'_>, name: &str) -> Result<Loaded, String> {
        let host = Host::of(ctx);
        if is_builtin(name) {
            let offered = host.api.exports(name)?;
            return Ok(announced(host, name, offered, Shown::AllButDefault));
        }
        let unit = host.program.unit_or_load(name, may_find(host))?;
        match (unit.format, &unit.code) {
            (Format::Esm, Some(code)) => Ok(Loaded::Compiled(code.clone())),
            (Format::CommonJs, _) if host.program.asked(name).all => {
                let names = common_js_names(host, ctx, name);
                Ok(announced(host, name, names, Shown::All))
            }
            _ => Ok(announced(host, name, Vec::new(), Shown::AllButDefault)),
        }
    }

    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        name: &str,
        exports: &Exports<'js>,
    ) -> JsResult<'js, ()> {
        let host = Host::of(ctx);
        let asked = host.program.asked(name);
        if is_builtin(name) {
            host.api.evaluate(ctx, name, &Announced { exports, asked: &asked })?;
            return asked.missing.iter().try_for_each(|name| exports.set(name, ctx.null()));
        }
        let is_json = host.program.unit(name).is_some_and(|unit| unit.format == Format::Json);
        let module = if is_json {
            parse_json_unit(host, ctx, name)?
        } else {
            require_common_js(host, ctx, name)?
        };
        let has_parts = module.is_object();
        let keys = if asked.all && !is_json { keys_of(&module) } else { Vec::new() };
        for wanted in asked.names.iter().chain(&keys).filter(|wanted| *wanted != DEFAULT.text()) {
            let is_live = has_parts && !is_json;
            // A module that gained exports since it was linked has more names than were announced.
            if is_live && exports.live(wanted, &module) {
                continue;
            }
            let value = if has_parts { module.get(wanted)? } else { ctx.undefined() };
            if exports.set(wanted, value).is_err() {
                drop(ctx.take_exception());
            }
        }
        // The usual module has no `default`, and is read often: its variable needs no look at the module.
        let has_default = has_parts && !is_json && module.has(&DEFAULT)?;
        if has_default && exports.live(DEFAULT.text(), &module) {
            return Ok(());
        }
        exports.set(DEFAULT.text(), module)
    }

    fn import_meta<'js>(&self, ctx: Ctx<'js>, name: &str, meta: &Value<'js>) -> JsResult<'js, ()> {
        let url = name.to_owned();
        let resolve = ctx.closure(c"resolve", 1, move |call: Call<'_>| {
            let specifier = call.argument(0).to_string_lossy()?;
            match resolve(&specifier, &url) {
                Ok(Resolved::Builtin(name) | Resolved::Local(name)) => call.ctx().string(&name),
                Ok(_) => Err(call.ctx().throw_type("the specifier leads nowhere")),
                Err(error) => {
                    let message = format!("{error}: {}", error.help);
                    Err(call.ctx().throw_error(ErrorKind::Plain, &message))
                }
            }
        })?;
        meta.define(&RESOLVE, resolve)
    }
}

/// Whether new files may be found: in the first run of the init code, of which the others are copies, and later by
/// `import()`.
fn may_find(host: &Host) -> bool {
    host.phase() != Phase::Init || host.ids().local == 0
}

/// Which of the names that a module offers are in its namespace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    AllButDefault,
}

/// The exports that a native module announces: those asked for by name, whether it has them or not, and all that it
/// offers if its namespace is wanted, which has no others then.
fn announced(host: &Host, name: &str, offered: Vec<String>, shown: Shown) -> Loaded {
    let asked = host.program.asked(name);
    let mut hidden = asked.names.clone();
    let offered = if asked.all { offered } else { hidden.iter().cloned().collect() };
    hidden.insert(DEFAULT.text().to_owned());
    let is_shown = |name: &String| shown == Shown::All || name != DEFAULT.text();
    let shown: BTreeSet<String> = offered.into_iter().filter(is_shown).collect();
    hidden.retain(|name| !shown.contains(name));
    Loaded::Native { shown: shown.into_iter().collect(), hidden: hidden.into_iter().collect() }
}

/// Sets those exports of a built-in module that were announced. The others need not be made.
struct Announced<'a, 'js> {
    exports: &'a Exports<'js>,
    asked: &'a Asked,
}

impl<'js> SetExport<'js> for Announced<'_, 'js> {
    fn set(&self, name: &str, value: Value<'js>) -> JsResult<'js, ()> {
        if self.wants(name) { self.exports.set(name, value) } else { Ok(()) }
    }

    fn wants(&self, name: &str) -> bool {
        name == "default" || self.asked.all || self.asked.names.contains(name)
    }

    fn share(&self, name: &str, object: &Value<'js>) -> JsResult<'js, ()> {
        // Without the default export a script can't set its properties.
        let is_settable = self.asked.names.contains(DEFAULT.text());
        if is_settable && self.exports.share(name, object)? {
            return Ok(());
        }
        self.set(name, object.get(name)?)
    }

    fn live(&self, name: &str, object: &Value<'js>) -> JsResult<'js, ()> {
        if !self.wants(name) || self.exports.live(name, object) {
            return Ok(());
        }
        self.set(name, object.get(name)?)
    }
}

/// The names of what a CommonJS file exports, for a namespace, which has to be known before anything runs: so the file
/// runs now. If it cannot run yet, because it requires an ES module that is being linked itself, or throws, its text has
/// to tell: it runs when its turn comes.
fn common_js_names(host: &Host, ctx: Ctx<'_>, url: &str) -> Vec<String> {
    let outer = host.linking.replace(true);
    let module = require_common_js(host, ctx, url);
    host.linking.set(outer);
    if let Ok(module) = module {
        return keys_of(&module);
    }
    drop(ctx.take_exception());
    host.program.unit(url).map(|unit| unit.named.clone()).unwrap_or_default()
}

fn keys_of(module: &Value<'_>) -> Vec<String> {
    let keys = if module.is_object() { module.keys().unwrap_or_default() } else { Vec::new() };
    keys.iter().filter_map(Key::text).filter(|name| !name.contains('\0')).collect()
}

/// The exports of a CommonJS file; runs it at the first call.
pub(crate) fn require_common_js<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let known = host.common_js.borrow().get(url).map(|root| ctx.rooted(root));
    if let Some(module) = known {
        return module.get(&EXPORTS);
    }
    let unit = host
        .program
        .unit_or_load(url, may_find(host))
        .map_err(|message| host.api.throw(ctx, &message))?;
    let Some(code) = unit.code.as_ref().filter(|_| unit.format == Format::CommonJs) else {
        return Err(host.api.throw(ctx, &format!("\"{url}\" is no CommonJS module")));
    };
    let module = ctx.object()?;
    let exports = ctx.object()?;
    module.define(&EXPORTS, exports.clone())?;
    // Known before it runs, so that circles end here with what there is so far.
    host.common_js.borrow_mut().insert(url.to_owned(), ctx.root(module.clone()));
    let wrapper = ctx.run_script(code)?;
    let require = ctx.global().get(&REQUIRE)?;
    host.running.borrow_mut().push(url.to_owned());
    let result = wrapper.call(&exports, &[module.clone(), exports.clone(), require]);
    host.running.borrow_mut().pop();
    if result.is_err() {
        // A file that threw is run again when it is asked for again.
        let root = host.common_js.borrow_mut().remove(url);
        if let Some(root) = root {
            drop(ctx.unroot(root));
        }
        result?;
    }
    module.get(&EXPORTS)
}

/// The global `require`: paths are relative to the file in which the call is written.
pub(crate) fn require_function(ctx: Ctx<'_>) -> JsResult<'_> {
    ctx.function(c"require", 1, |call| require(call.ctx(), &call.argument(0)))
}

fn require<'js>(ctx: Ctx<'js>, specifier: &Value<'js>) -> JsResult<'js> {
    let host = Host::of(ctx);
    let throw = |message: &str| host.api.throw(ctx, message);
    if host.phase() != Phase::Init {
        return Err(throw(
            "the \"require\" function is only available in the init stage (i.e. the global scope), see \
             https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information",
        ));
    }
    let specifier =
        if specifier.is_undefined() { String::new() } else { specifier.to_string_lossy()? };
    if specifier.is_empty() {
        return Err(throw("require() can't be used with an empty specifier"));
    }
    let from = host.calling_module(ctx).unwrap_or_else(|| host.program.entry().to_owned());
    let name = match resolve(&specifier, &from) {
        Ok(Resolved::Builtin(name) | Resolved::Local(name)) => name,
        Ok(_) => return Err(throw(&format!("\"{specifier}\" leads nowhere"))),
        Err(error) => return Err(throw(&format!("{error}: {}", error.help))),
    };
    if is_builtin(&name) {
        return require_builtin(host, ctx, &name);
    }
    let unit =
        host.program.unit_or_load(&name, may_find(host)).map_err(|message| throw(&message))?;
    match unit.format {
        Format::CommonJs => require_common_js(host, ctx, &name),
        Format::Json => required_json(host, ctx, &name),
        Format::Esm => namespace_of(host, ctx, &name),
    }
}

/// A built-in module as an object: its default export, which has all others as properties.
fn require_builtin<'js>(host: &Host, ctx: Ctx<'js>, name: &str) -> JsResult<'js> {
    if let Err(message) = host.api.exports(name) {
        return Err(host.api.throw(ctx, &message));
    }
    let module = ctx.object()?;
    host.api.evaluate(ctx, name, &DefaultExport(module.clone()))?;
    module.get(&DEFAULT)
}

/// Takes the default export only.
struct DefaultExport<'js>(Value<'js>);

impl<'js> SetExport<'js> for DefaultExport<'js> {
    fn set(&self, name: &str, value: Value<'js>) -> JsResult<'js, ()> {
        if self.wants(name) { self.0.define(&DEFAULT, value) } else { Ok(()) }
    }

    fn wants(&self, name: &str) -> bool {
        name == DEFAULT.text()
    }
}

/// The namespace of an ES module, for `require()`: imports it and waits for it.
fn namespace_of<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    if host.linking.get() {
        return Err(host
            .api
            .throw(ctx, &format!("\"{url}\" is being linked and can't be required yet")));
    }
    let import = ctx.eval(url, "(url) => import(url)")?;
    let promise = import.call(&ctx.undefined(), &[ctx.string(url)?])?;
    let settled = host.events().run_until_settled(host, ctx, &promise, Failure::of_value);
    match (settled, promise.promise_state()) {
        (Ok(namespace), _) => Ok(namespace),
        // The error itself, so that the caller can catch it.
        (Err(Failure::Exception(_)), Some(PromiseState::Rejected(reason))) => {
            Err(ctx.throw(reason))
        }
        (Err(Failure::Exception(text)), _) => Err(host.api.throw(ctx, &text)),
        (Err(_), _) => Err(ctx.throw_uncatchable("the VU was stopped")),
    }
}

/// A JSON file by `require()`: the same object each time, as with any module.
fn required_json<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let known = host.common_js.borrow().get(url).map(|root| ctx.rooted(root));
    if let Some(value) = known {
        return Ok(value);
    }
    let value = parse_json_unit(host, ctx, url)?;
    host.common_js.borrow_mut().insert(url.to_owned(), ctx.root(value.clone()));
    Ok(value)
}

fn parse_json_unit<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let unit = host.program.unit(url);
    let text = unit.as_ref().map_or("", |unit| &*unit.text);
    ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))
}
