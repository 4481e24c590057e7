//! The cost of the border between Rust and JavaScript: `cargo bench -p brunt-quickjs`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a bench says by its name what it measures, and may panic"
)]

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, Hooks, JsResult, Members, Name, Own, Vm};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

fn main() {
    divan::main();
}

fn vm() -> Vm {
    Vm::new(Rc::new(()), Hooks::default(), 512 * 1024)
}

#[divan::bench]
fn make_a_vm() -> Vm {
    vm()
}

#[divan::bench]
fn make_and_drop_a_vm() {
    drop(vm());
}

/// From a script, a thousand times.
#[divan::bench]
fn call_a_native_function(bencher: Bencher) {
    fn double(call: Call<'_>) -> JsResult<'_> {
        Ok(call.ctx().number(call.argument(0).to_number()? * 2.0))
    }
    let vm = vm();
    let ctx = vm.ctx();
    ctx.global().define("double", ctx.function(c"double", 1, double).unwrap()).unwrap();
    let run =
        ctx.eval("b", "() => { const f = double; for (let i = 0; i < 1000; i++) f(i); }").unwrap();
    bencher
        .counter(ItemsCount::new(1000u32))
        .bench_local(|| run.call(&ctx.undefined(), &[]).unwrap());
}

/// The same loop without the call, to be subtracted.
#[divan::bench]
fn call_nothing(bencher: Bencher) {
    let vm = vm();
    let ctx = vm.ctx();
    let run = ctx.eval("b", "() => { let f = 0; for (let i = 0; i < 1000; i++) f += i; }").unwrap();
    bencher
        .counter(ItemsCount::new(1000u32))
        .bench_local(|| run.call(&ctx.undefined(), &[]).unwrap());
}

#[divan::bench]
fn call_a_script_function_from_rust(bencher: Bencher) {
    let vm = vm();
    let ctx = vm.ctx();
    let function = ctx.eval("b", "(a, b) => a + b").unwrap();
    let arguments = [ctx.int(1), ctx.int(2)];
    bencher.bench_local(|| function.call(&ctx.undefined(), &arguments).unwrap());
}

static STATUS: Name = Name::new("status");
static TIMINGS: Name = Name::new("timings");

struct Response;

impl Class for Response {
    const NAME: &'static CStr = c"Response";
    const EXOTIC: bool = true;
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(Members::new);
        &MEMBERS
    }
    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&STATUS) {
            return Ok(Own::Once(ctx.int(200)));
        }
        if key.is(&TIMINGS) {
            return Ok(Own::Keep(
                ctx.object_from([(&STATUS, ctx.int(1)), (&TIMINGS, ctx.int(2))])?,
            ));
        }
        Ok(Own::None)
    }
    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 2] = [&STATUS, &TIMINGS];
        &NAMES
    }
}

/// A response object made, two of its computed properties read, and freed: what each request does.
#[divan::bench]
fn make_and_read_an_instance(bencher: Bencher) {
    let vm = vm();
    let ctx = vm.ctx();
    let read = ctx.eval("b", "r => r.status === 200 && r.timings.status").unwrap();
    bencher.bench_local(|| {
        let response = ctx.instance(Response).unwrap();
        read.call(&ctx.undefined(), &[response]).unwrap()
    });
}

/// 100 kB of what an API answers.
fn json() -> String {
    let item = r#"{"id":12345,"name":"Some product","price":19.99,"tags":["a","b","c"],"stock":{"berlin":3,"paris":0},"active":true,"note":"caf\u00e9"}"#;
    format!("[{}]", vec![item; 100_000 / item.len()].join(","))
}

#[divan::bench]
fn parse_json(bencher: Bencher) {
    let vm = vm();
    let (ctx, json) = (vm.ctx(), json());
    let bytes = BytesCount::new(json.len());
    bencher.counter(bytes).bench_local(|| ctx.parse_json(json.as_bytes()).unwrap());
}

/// The peer of `parse_json`: the bytes made a string, and that parsed by the engine.
#[divan::bench]
fn parse_json_by_the_engine(bencher: Bencher) {
    let vm = vm();
    let (ctx, json) = (vm.ctx(), json());
    let parse = ctx.eval("b", "JSON.parse").unwrap();
    bencher.counter(BytesCount::new(json.len())).bench_local(|| {
        let text = ctx.string_from_utf8(json.as_bytes()).unwrap();
        parse.call(&ctx.undefined(), &[text]).unwrap()
    });
}

#[divan::bench]
fn stringify_json(bencher: Bencher) {
    let vm = vm();
    let (ctx, json) = (vm.ctx(), json());
    let value = ctx.parse_json(json.as_bytes()).unwrap();
    bencher
        .counter(BytesCount::new(json.len()))
        .bench_local(|| ctx.stringify_json(&value).unwrap());
}

/// A library of 400 functions, 70 kB of source.
fn library() -> String {
    let function = |index: u32| {
        format!(
            "function helper{index}(first, second) {{\n  const list = [first, second, 'text {index}'];\n  \
             if (list.length > {index}) {{ return list.map(item => item + {index}); }}\n  return {{ list, sum: first + second }};\n}}\n"
        )
    };
    (0..400).map(function).collect()
}

/// The work of each new VU on a bundle that was compiled once.
#[divan::bench]
fn load_bytecode_into_a_fresh_vm(bencher: Bencher) {
    let source = library();
    let code = vm().ctx().compile_script("library.js", &source).unwrap();
    let bytes = BytesCount::new(source.len());
    bencher.counter(bytes).with_inputs(vm).bench_local_values(|vm| {
        vm.ctx().run_script(&code).unwrap();
        vm
    });
}

/// The work without that.
#[divan::bench]
fn compile_into_a_fresh_vm(bencher: Bencher) {
    let source = library();
    let bytes = BytesCount::new(source.len());
    bencher.counter(bytes).with_inputs(vm).bench_local_values(|vm| {
        vm.ctx().eval("library.js", &source).unwrap();
        vm
    });
}
