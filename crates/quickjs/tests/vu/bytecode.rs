//! A script is compiled once; every VM loads the same bytecode.

use std::rc::Rc;

use brunt_quickjs::{Compiled, Ctx, Exports, JsResult, Loaded, ModuleHost, PromiseState};

use crate::support::{Failure, NORMAL, SMALL, Vu, on_a_core, pool};

const LIBRARY: &str = "
    export class Account { #balance = 0; pay(x) { this.#balance += x; return this; } get balance() { return this.#balance; } }
    export const tag = (strings, ...values) => strings.raw.join('|') + values.join();
    export const pattern = /(?<year>\\d{4})-(?<month>\\d\\d)/u;
    export let count = 0;
    export function bump() { count++; }
    export const where = import.meta.url;";

const MAIN: &str = "
    import { Account, tag, pattern, count, bump, where } from './library.js';
    import double, * as host from 'host';
    export const options = { vus: 1, big: 12345678901234567890n, list: [1.5, -0, 'é', '\\u{1F600}'] };
    export default async function (id) {
        bump();
        const account = new Account().pay(id).pay(1);
        await null;
        sleep(id % 3);
        const { groups: { year } } = pattern.exec('on 2024-05-01');
        return [account.balance, tag`a${id}b`, year, count, host.answer, double(2), where, options.big, options.list.join()].join(' ');
    }";

struct Host {
    library: Compiled,
}

impl ModuleHost for Host {
    fn resolve(&self, _: Ctx<'_>, from: &str, specifier: &str) -> Result<String, String> {
        match specifier {
            "./library.js" | "host" => Ok(format!("{specifier} of {from}")),
            "./fails.js" => Ok("./fails.js".to_owned()),
            _ => Err(format!("no module {specifier}")),
        }
    }
    fn load(&self, _: Ctx<'_>, name: &str) -> Result<Loaded, String> {
        if name.starts_with("host") {
            return Ok(Loaded::Native {
                shown: vec!["answer".to_owned()],
                hidden: vec!["default".to_owned()],
            });
        }
        if name == "./fails.js" {
            return Err("on purpose".to_owned());
        }
        Ok(Loaded::Compiled(self.library.clone()))
    }
    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        name: &str,
        exports: &Exports<'js>,
    ) -> JsResult<'js, ()> {
        exports.set("answer", ctx.string(name)?)?;
        let double = ctx.function(c"double", 1, |call| {
            Ok(call.ctx().number(call.argument(0).to_number()? * 2.0))
        })?;
        exports.set("default", double)
    }
    fn import_meta<'js>(
        &self,
        ctx: Ctx<'js>,
        name: &str,
        meta: &brunt_quickjs::Value<'js>,
    ) -> JsResult<'js, ()> {
        meta.define("url", ctx.string(name)?)
    }
}

fn compile() -> (Rc<Host>, Compiled) {
    let vu = Vu::new(&pool(NORMAL));
    let ctx = vu.vm.ctx();
    let library = ctx.compile_module("library.js", LIBRARY).unwrap();
    let host = Rc::new(Host { library });
    vu.vm.set_modules(Rc::clone(&host) as Rc<dyn ModuleHost>);
    let main = ctx.compile_module("main.js", MAIN).unwrap();
    (host, main)
}

fn call_default(ctx: Ctx<'_>, main: &Compiled, id: usize) -> Option<String> {
    let (namespace, promise) = ctx.run_module(main).ok()?;
    while ctx.run_job().ok()? {}
    assert!(matches!(promise.promise_state(), Some(PromiseState::Fulfilled(_))));
    let function = namespace.get("default").ok()?;
    let result = function.call(&ctx.undefined(), &[ctx.int(id as i32)]).ok()?;
    while ctx.run_job().ok()? {}
    match result.promise_state()? {
        PromiseState::Fulfilled(value) => value.to_string_lossy().ok(),
        _ => None,
    }
}

#[test]
fn a_module_compiled_once_runs_in_a_thousand_vms() {
    let (host, main) = compile();
    let pool = pool(SMALL);
    let results = on_a_core(async {
        let mut tasks = Vec::new();
        for id in 0..1000 {
            let mut vu = Vu::new(&pool);
            vu.vm.set_modules(Rc::clone(&host) as Rc<dyn ModuleHost>);
            let main = main.clone();
            vu.start_with(move |ctx| Ok(call_default(ctx, &main, id).unwrap_or_default()));
            tasks.push(tokio::task::spawn_local(async move { vu.finish().await }));
        }
        let mut results = Vec::new();
        for task in tasks {
            results.push(task.await.unwrap());
        }
        results
    });
    for (id, result) in results.into_iter().enumerate() {
        let expected = format!(
            "{} a|b{id} 2024 1 host of main.js 4 library.js 12345678901234567890 1.5,0,é,\u{1F600}",
            id + 1
        );
        assert_eq!(result, Ok(expected));
    }
}

#[test]
fn a_script_runs_again_and_again_in_one_vm() {
    let vu = Vu::new(&pool(NORMAL));
    let ctx = vu.vm.ctx();
    let script = ctx.compile_script("s.js", "globalThis.n = (globalThis.n ?? 0) + 1").unwrap();
    for expected in 1..=100 {
        assert_eq!(ctx.run_script(&script).unwrap().as_number(), Some(f64::from(expected)));
    }
}

#[test]
fn a_module_whose_import_fails_throws_and_leaves_the_vm_sound() {
    let (host, main) = compile();
    // The same graph, but in a VM whose host cannot resolve what `main` wants.
    struct Nothing;
    impl ModuleHost for Nothing {
        fn resolve(&self, _: Ctx<'_>, _: &str, specifier: &str) -> Result<String, String> {
            Ok(specifier.to_owned())
        }
        fn load(&self, _: Ctx<'_>, name: &str) -> Result<Loaded, String> {
            Err(format!("no {name}"))
        }
        fn evaluate<'js>(&self, _: Ctx<'js>, _: &str, _: &Exports<'js>) -> JsResult<'js, ()> {
            unreachable!("nothing is loaded")
        }
    }
    for round in 0..50 {
        let vu = Vu::new(&pool(NORMAL));
        let ctx = vu.vm.ctx();
        vu.vm.set_modules(Rc::new(Nothing));
        for _ in 0..3 {
            assert!(ctx.run_module(&main).is_err());
            let message = ctx.take_exception().unwrap().value.to_string_lossy().unwrap();
            assert_eq!(message, "Error: no ./library.js");
        }
        vu.vm.collect();
        // A second module, loaded after the failure, is not mixed up with the first.
        vu.vm.set_modules(Rc::clone(&host) as Rc<dyn ModuleHost>);
        let other = ctx
            .compile_module(
                &format!("other{round}.js"),
                "import { tag } from './library.js'; export default tag`x`",
            )
            .unwrap();
        let (namespace, _) = ctx.run_module(&other).unwrap();
        assert_eq!(namespace.get("default").unwrap().to_string_lossy().unwrap(), "x");
    }
}

#[test]
fn an_import_that_fails_deep_in_the_graph_throws() {
    let (_, _) = compile();
    let vu = Vu::new(&pool(NORMAL));
    let ctx = vu.vm.ctx();
    let inner = ctx.compile_module("inner.js", "export const x = 1;").unwrap();
    vu.vm.set_modules(Rc::new(Host { library: inner }));
    for source in
        ["import './library.js'; import './fails.js'", "import './library.js'; import 'unknown'"]
    {
        assert!(ctx.compile_module("broken.js", source).is_err());
        assert!(ctx.take_exception().is_some());
        vu.vm.collect();
    }
    assert_eq!(ctx.eval("t.js", "1 + 1").unwrap().as_number(), Some(2.0));
}

#[test]
fn a_dynamic_import_is_resolved_by_the_host_or_rejected() {
    let (host, _) = compile();
    let mut vu = Vu::new(&pool(NORMAL));
    vu.vm.set_modules(host);
    let ended = on_a_core(vu.run(
        "import('./library.js').then(m => log(m.count)); import('nowhere').catch(e => log(e.message)); 'ok'",
    ));
    assert_eq!(ended, Ok("ok".to_owned()));
    let mut log = vu.log();
    log.sort();
    assert_eq!(log, ["0", "no module nowhere"]);
}

#[test]
fn a_module_that_throws_rejects_its_promise() {
    let vu = Vu::new(&pool(NORMAL));
    let ctx = vu.vm.ctx();
    let module = ctx.compile_module("m.js", "throw new RangeError('here')").unwrap();
    let (_, promise) = ctx.run_module(&module).unwrap();
    let Some(PromiseState::Rejected(reason)) = promise.promise_state() else { panic!() };
    assert_eq!(reason.to_string_lossy().unwrap(), "RangeError: here");
    assert_eq!(Failure::Stopped, Failure::Stopped);
}
