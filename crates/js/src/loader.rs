//! How a VM finds modules: from the program, from the API, from CommonJS.

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, Exports, JsResult, Loaded, ModuleHost, Name, Value};
use brunt_script::{Format, Resolved, resolve};

use crate::api::{ObjectExports, SetExport};
use crate::exception::Failure;
use crate::host::{Host, Phase};

static EXPORTS: Name = Name::new("exports");
static DEFAULT: Name = Name::new("default");
static RESOLVE: Name = Name::new("resolve");

/// The modules of a program.
pub(crate) struct Loader;

impl ModuleHost for Loader {
    fn resolve(&self, _: Ctx<'_>, from: &str, specifier: &str) -> Result<String, String> {
        match resolve(specifier, from) {
            Ok(Resolved::Builtin(name) | Resolved::Local(name)) => Ok(name),
            Ok(_) => Err(format!("\"{specifier}\" leads nowhere")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn load(&self, ctx: Ctx<'_>, name: &str) -> Result<Loaded, String> {
        let host = Host::of(ctx);
        let mut names = host.program.asked(name);
        if name == "k6" || name.starts_with("k6/") {
            let offered = host.api.exports(name)?;
            names.retain(|name| !offered.contains(name));
            return Ok(Loaded::Native(offered.into_iter().chain(names).collect()));
        }
        let unit = host
            .program
            .unit(name)
            .ok_or_else(|| format!("the module \"{name}\" could not be found"))?;
        if let (Format::Esm, Some(code)) = (unit.format, &unit.code) {
            return Ok(Loaded::Compiled(code.clone()));
        }
        if !names.iter().any(|name| name == "default") {
            names.push("default".to_owned());
        }
        Ok(Loaded::Native(names))
    }

    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        name: &str,
        exports: &Exports<'js>,
    ) -> JsResult<'js, ()> {
        let host = Host::of(ctx);
        if name == "k6" || name.starts_with("k6/") {
            return host.api.evaluate(ctx, name, exports);
        }
        let asked = host.program.asked(name);
        let is_json = host.program.unit(name).is_some_and(|unit| unit.format == Format::Json);
        if is_json {
            let value = parse_json_unit(host, ctx, name)?;
            for wanted in asked.iter().filter(|wanted| *wanted != "default") {
                exports.set(wanted, value.get(wanted)?)?;
            }
            return exports.set("default", value);
        }
        let module = require_common_js(host, ctx, name)?;
        for wanted in asked.iter().filter(|wanted| *wanted != "default") {
            let value = if module.is_object() { module.get(wanted)? } else { ctx.undefined() };
            exports.set(wanted, value)?;
        }
        let default = if module.is_object() { module.get(&DEFAULT)? } else { ctx.undefined() };
        exports.set("default", if default.is_undefined() { module } else { default })
    }

    fn import_meta<'js>(&self, ctx: Ctx<'js>, name: &str, meta: &Value<'js>) -> JsResult<'js, ()> {
        let url = name.to_owned();
        let resolve = ctx.closure(c"resolve", 1, move |call: Call<'_>| {
            let specifier = call.argument(0).to_string_lossy()?;
            match resolve(&specifier, &url) {
                Ok(Resolved::Builtin(name) | Resolved::Local(name)) => call.ctx().string(&name),
                Ok(_) => Err(call.ctx().throw_type("the specifier leads nowhere")),
                Err(error) => Err(call.ctx().throw_error(ErrorKind::Plain, &error.to_string())),
            }
        })?;
        meta.define(&RESOLVE, resolve)
    }
}

/// The exports of a CommonJS file; runs it at the first call.
pub(crate) fn require_common_js<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let known = host.common_js.borrow().get(url).map(|root| ctx.rooted(root));
    if let Some(module) = known {
        return module.get(&EXPORTS);
    }
    let program = std::sync::Arc::clone(&host.program);
    let code = program
        .unit(url)
        .filter(|unit| unit.format == Format::CommonJs)
        .and_then(|unit| unit.code.as_ref());
    let Some(code) = code else {
        return Err(
            ctx.throw_error(ErrorKind::Plain, &format!("the module \"{url}\" could not be found"))
        );
    };
    let module = ctx.object()?;
    let exports = ctx.object()?;
    module.define(&EXPORTS, exports.clone())?;
    // Known before it runs, so that circles end here with what there is so far.
    host.common_js.borrow_mut().insert(url.to_owned(), ctx.root(module.clone()));
    let wrapper = ctx.run_script(code)?;
    let require = require_function(ctx, url)?;
    let result = wrapper.call(&exports, &[module.clone(), exports.clone(), require]);
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

/// The `require` of the file with this URL.
pub(crate) fn require_function<'js>(ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let url = url.to_owned();
    ctx.closure(c"require", 1, move |call| require(call.ctx(), &url, &call.argument(0)))
}

fn require<'js>(ctx: Ctx<'js>, from: &str, specifier: &Value<'js>) -> JsResult<'js> {
    let host = Host::of(ctx);
    if host.phase() != Phase::Init {
        return Err(ctx.throw_error(
            ErrorKind::Plain,
            "the \"require\" function is only available in the init stage (i.e. the global scope)",
        ));
    }
    let specifier = specifier.to_string_lossy()?;
    if specifier.is_empty() {
        return Err(
            ctx.throw_error(ErrorKind::Plain, "require() can't be used with an empty specifier")
        );
    }
    let name = match resolve(&specifier, from) {
        Ok(Resolved::Builtin(name) | Resolved::Local(name)) => name,
        Ok(_) => {
            return Err(
                ctx.throw_error(ErrorKind::Plain, &format!("\"{specifier}\" leads nowhere"))
            );
        }
        Err(error) => return Err(ctx.throw_error(ErrorKind::Plain, &error.to_string())),
    };
    if name == "k6" || name.starts_with("k6/") {
        return require_builtin(host, ctx, &name);
    }
    match host.program.unit(&name).map(|unit| unit.format) {
        Some(Format::CommonJs) => require_common_js(host, ctx, &name),
        Some(Format::Json) => parse_json_unit(host, ctx, &name),
        Some(Format::Esm) => namespace_of(host, ctx, &name),
        None => Err(
            ctx.throw_error(ErrorKind::Plain, &format!("the module \"{name}\" could not be found"))
        ),
    }
}

/// A built-in module as an object: its named exports, and `default` if it has one.
fn require_builtin<'js>(host: &Host, ctx: Ctx<'js>, name: &str) -> JsResult<'js> {
    let known = host.common_js.borrow().get(name).map(|root| ctx.rooted(root));
    if let Some(module) = known {
        return Ok(module);
    }
    if let Err(message) = host.api.exports(name) {
        return Err(ctx.throw_error(ErrorKind::Plain, &message));
    }
    let module = ctx.object()?;
    let exports = ObjectExports(module.clone());
    host.api.evaluate(ctx, name, &exports)?;
    exports.set("__esModule", ctx.bool(true))?;
    host.common_js.borrow_mut().insert(name.to_owned(), ctx.root(module.clone()));
    Ok(module)
}

/// The namespace of an ES module, for `require()`: imports it and waits for it.
fn namespace_of<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let import = ctx.eval(url, "(url) => import(url)")?;
    let promise = import.call(&ctx.undefined(), &[ctx.string(url)?])?;
    match host.events().run_until_settled(host, ctx, &promise) {
        Ok(namespace) => Ok(namespace),
        Err(Failure::Exception(text)) => Err(ctx.throw_error(ErrorKind::Plain, &text)),
        Err(_) => Err(ctx.throw_uncatchable("the VU was stopped")),
    }
}

fn parse_json_unit<'js>(host: &Host, ctx: Ctx<'js>, url: &str) -> JsResult<'js> {
    let text =
        host.program.unit(url).map(|unit| std::sync::Arc::clone(&unit.text)).unwrap_or_default();
    ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))
}
