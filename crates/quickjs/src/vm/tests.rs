use super::*;
use crate::class::Own;
use crate::error::ErrorKind;
use crate::{Call, Class, Exports, JsResult, Loaded, Members, Name};
use std::any::Any;
use std::sync::LazyLock;

const STACK: usize = 1024 * 1024;

fn vm() -> Vm {
    Vm::new(Rc::new(()), Hooks::default(), STACK)
}

fn text(ctx: Ctx<'_>, source: &str) -> String {
    if let Ok(value) = ctx.eval("test.js", source) {
        value.to_string_lossy().unwrap()
    } else {
        let exception = ctx.take_exception().unwrap();
        format!("threw {}", exception.value.to_string_lossy().unwrap())
    }
}

#[test]
fn it_computes() {
    let vm = vm();
    assert_eq!(text(vm.ctx(), "[1, 2, 3].map(x => x * 2).join()"), "2,4,6");
    assert_eq!(text(vm.ctx(), "throw new TypeError('no')"), "threw TypeError: no");
    assert_eq!(
        text(vm.ctx(), "`${typeof Proxy} ${typeof BigInt} ${typeof WeakRef}`"),
        "function function function"
    );
}

#[test]
fn a_lone_surrogate_is_one_replacement_character() {
    let vm = vm();
    assert_eq!(text(vm.ctx(), "'a\\ud800b\\udfff'"), "a\u{FFFD}b\u{FFFD}");
    assert_eq!(text(vm.ctx(), "'\\ude00\\ud83d\\ude00\\ud7ff'"), "\u{FFFD}\u{1F600}\u{D7FF}");
}

/// The work of a VU's iteration: small objects that come and go, some of them odd.
const ITERATION: &str = "function iteration(i) {
    class A { #x = i; constructor() { this.y = i } }
    const a = new A(); a.self = a; a['k' + i % 5] = i;
    const l = { a: 1, b: () => i, c: { d: i, e: [i] } };
    delete l.a;
    l.b.extra = l;
    Object.setPrototypeOf(l.c, { p: a });
    Object.defineProperty(l, 'z', { get: () => i });
    const named = { 'is 200': (r) => r.status === 200, n: function () {}, async s() {} };
    Object.freeze(named);
    const big = {};
    for (let n = 0; n < 12; n++) big['p' + n] = n;
    const own = Object.create(null); own.x = own;
    return [l.b.name, named['is 200'].name, named.n.name, named.s.name, l.c.p.y, Object.keys(l).join(''), Object.keys(big).length].join();
}
let last;
for (let i = 0; i < 300; i++) last = iteration(i);
last";

#[test]
fn kept_shapes_change_nothing_and_hold_nothing_back() {
    let plain = vm();
    let vm = vm();
    vm.ctx().keep_shapes();
    assert_eq!(text(vm.ctx(), ITERATION), text(plain.ctx(), ITERATION));
    vm.collect();
    let before = vm.memory().allocated;
    for _ in 0..3 {
        text(vm.ctx(), &format!("{{ {ITERATION} }}"));
    }
    vm.collect();
    let grown = vm.memory().allocated.saturating_sub(before);
    assert!(grown < 4096, "{grown} bytes");
}

#[test]
fn functions_have_their_length_and_name_like_any_others() {
    let vm = vm();
    let shown = "const of = (f) => Object.getOwnPropertyNames(f).map((key) => {
            const d = Object.getOwnPropertyDescriptor(f, key);
            return [key, typeof d.value === 'object' ? '{}' : d.value, d.writable, d.enumerable, d.configurable].join(':');
        }).join(' ');
        const arrow = (a, b) => a;
        const changed = (a) => a; Object.defineProperty(changed, 'name', { value: 7 }); delete changed.length;
        const { late = () => 1 } = {};
        [of(() => 1), of(arrow), of(function named(a) {}), of(changed), of(late)].join('|')";
    assert_eq!(
        text(vm.ctx(), shown),
        "length:0:false:false:true name::false:false:true|\
         length:2:false:false:true name:arrow:false:false:true|\
         length:1:false:false:true name:named:false:false:true prototype:{}:true:false:false|\
         name:7:false:false:true|\
         length:0:false:false:true name:late:false:false:true"
    );
}

/// Bytes that a VM has taken for small blocks and does not use.
fn arena_room(vm: &Vm) -> usize {
    // SAFETY: the runtime is alive.
    unsafe { sys::brunt_arena_room(vm.inner().rt.as_ptr()) }
}

/// Small arenas, names that are shared, and globals that are made on demand: each of them is worth more than the margin.
#[test]
fn an_empty_vm_is_small() {
    let first = vm();
    let second = vm();
    let (used, room) = (allocated(&second), arena_room(&second));
    assert!(used < 60_000, "{used} bytes");
    assert!(room < 15_000, "{room} bytes");
    drop(first);
}

#[test]
fn the_last_arena_of_a_class_stays_while_a_vu_iterates() {
    // Texts of many sizes, so that each class has some.
    let make = "(() => { const a = []; for (let n = 60; n < 480; n += 4) a.push('x'.repeat(n)); return a.length })()";
    let left = |keeps: bool| {
        let vm = vm();
        if keeps {
            vm.ctx().keep_shapes();
        }
        let before = arena_room(&vm);
        assert_eq!(text(vm.ctx(), make), "105");
        (before, arena_room(&vm) - before)
    };
    let ((before, kept), (_, freed)) = (left(true), left(false));
    // AddressSanitizer sees each block: there are no arenas with it.
    assert!(before == 0 || kept > freed + 4000, "{kept} and {freed}");
}

#[test]
fn vms_draw_different_random_numbers() {
    let drawn: Vec<_> = (0..8).map(|_| text(vm().ctx(), "Math.random()")).collect();
    for (index, number) in drawn.iter().enumerate() {
        assert!(!drawn[..index].contains(number), "{drawn:?}");
    }
}

#[test]
fn stacks_look_like_those_of_k6() {
    let vm = vm();
    let stack = text(
        vm.ctx(),
        "function inner() { return new Error('boom').stack }\nfunction outer() { return inner() }\nouter()",
    );
    let lines: Vec<_> = stack.lines().collect();
    assert_eq!(lines[0], "Error: boom");
    assert!(lines[1].starts_with("\tat inner (test.js:1:"), "{stack}");
    assert!(lines[1].ends_with(')'), "{stack}");
    assert!(lines[2].starts_with("\tat outer (test.js:2:"), "{stack}");
}

#[test]
fn recursion_is_a_range_error_and_the_vm_goes_on() {
    let vm = vm();
    assert_eq!(
        text(vm.ctx(), "function f() { return f() + 1 } f()"),
        "threw RangeError: Maximum call stack size exceeded"
    );
    assert_eq!(text(vm.ctx(), "1 + 1"), "2");
}

#[test]
fn an_interrupt_stops_a_loop_past_catch_and_finally() {
    let hooks = Hooks {
        interrupt: Some(|host| {
            let polls = host.downcast_ref::<Cell<u32>>().unwrap();
            polls.set(polls.get() + 1);
            polls.get() == 5
        }),
        ..Hooks::default()
    };
    let vm = Vm::new(Rc::new(Cell::new(0u32)), hooks, STACK);
    let ctx = vm.ctx();
    let result = ctx.eval("t.js", "var log = []; for (;;) { try { while (true) {} } catch { log.push(1) } finally { log.push(2) } }");
    assert!(result.is_err());
    assert!(ctx.take_exception().unwrap().uncatchable);
    assert_eq!(text(ctx, "log.length"), "0");
}

#[test]
fn loops_of_native_calls_and_long_sorts_are_interrupted_soon() {
    thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
    // The first one comes at once, the others after ten thousand operations each.
    let interrupt = |host: &dyn Any| {
        let polls = host.downcast_ref::<Cell<u32>>().unwrap();
        polls.set(polls.get() + 1);
        polls.get() > 1
    };
    let hooks = Hooks { interrupt: Some(interrupt), ..Hooks::default() };
    let vm = Vm::new(Rc::new(Cell::new(0u32)), hooks, STACK);
    let ctx = vm.ctx();
    let native = ctx.closure(c"native", 0, |call| {
        CALLS.set(CALLS.get() + 1);
        Ok(call.ctx().undefined())
    });
    ctx.global().define("native", native.unwrap()).unwrap();
    assert!(ctx.eval("t.js", "for (;;) native()").is_err());
    assert!(ctx.take_exception().unwrap().uncatchable);
    assert!((50..=150).contains(&CALLS.get()), "{}", CALLS.get());
    // 2000 comparisons and more, for less than 10 000 operations of its loop.
    let sort = "var a = []; for (var i = 0; i < 2000; i++) a[i] = i * 7919 % 2003; a.sort(); native('sorted')";
    CALLS.set(0);
    assert!(ctx.eval("t.js", sort).is_err());
    assert_eq!(CALLS.get(), 0);
}

fn double(call: Call<'_>) -> JsResult<'_> {
    let number = call.argument(0).to_number()?;
    Ok(call.ctx().number(number * 2.0))
}

#[test]
fn native_functions_take_and_return_values() {
    let vm = vm();
    let ctx = vm.ctx();
    let function = ctx.function(c"double", 1, double).unwrap();
    ctx.global().define("double", function).unwrap();
    assert_eq!(text(ctx, "double(21)"), "42");
    assert_eq!(text(ctx, "try { double(Symbol()) } catch (e) { e.name }"), "TypeError");
    let counter = std::cell::Cell::new(0);
    let closure = ctx
        .closure(c"next", 0, move |call| {
            counter.set(counter.get() + 1);
            Ok(call.ctx().int(counter.get()))
        })
        .unwrap();
    ctx.global().define("next", closure).unwrap();
    assert_eq!(text(ctx, "next(); next(); next()"), "3");
}

#[test]
fn a_panic_in_a_native_function_is_kept_and_cannot_be_caught_by_the_script() {
    let vm = vm();
    let ctx = vm.ctx();
    let function = ctx.function(c"boom", 0, |_| panic!("on purpose")).unwrap();
    ctx.global().define("boom", function).unwrap();
    assert!(ctx.eval("t.js", "try { boom() } catch { 1 }").is_err());
    assert!(ctx.take_exception().unwrap().uncatchable);
    assert_eq!(ctx.take_panic().unwrap().downcast_ref::<&str>(), Some(&"on purpose"));
    assert!(ctx.take_panic().is_none());
}

struct Point {
    x: f64,
}
static X: Name = Name::new("x");
static LAZY: Name = Name::new("lazy");
impl Class for Point {
    const NAME: &'static std::ffi::CStr = c"Point";
    const EXOTIC: bool = true;
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"norm", 0, |call| {
                let this = call.this();
                let Some(point) = this.instance::<Point>() else {
                    return Err(call.ctx().throw_type("not a Point"));
                };
                Ok(call.ctx().number(point.x.abs()))
            })
        });
        &MEMBERS
    }
    fn own<'js>(&self, ctx: Ctx<'js>, key: &crate::name::Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&X) {
            return Ok(Own::Once(ctx.number(self.x)));
        }
        if key.is(&LAZY) {
            return Ok(Own::Keep(ctx.string("computed")?));
        }
        Ok(Own::None)
    }
    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 2] = [&X, &LAZY];
        &NAMES
    }
}

#[test]
fn an_exotic_class_computes_properties_on_demand() {
    let vm = vm();
    let ctx = vm.ctx();
    let point = ctx.instance(Point { x: -2.5 }).unwrap();
    ctx.global().define("p", point).unwrap();
    assert_eq!(
        text(ctx, "JSON.stringify([p, Object.keys(p), p.norm(), p.none === undefined])"),
        r#"[{"x":-2.5,"lazy":"computed"},["x","lazy"],2.5,true]"#
    );
    assert_eq!(
        text(ctx, "p.x = 7; p.extra = 1; JSON.stringify(p)"),
        r#"{"x":7,"extra":1,"lazy":"computed"}"#
    );
    assert_eq!(text(ctx, "try { p.norm.call({}) } catch (e) { e.message }"), "not a Point");
}

struct Host;
impl ModuleHost for Host {
    fn resolve(&self, _: Ctx<'_>, _: &str, specifier: &str) -> Result<String, String> {
        if specifier == "missing" {
            Err("no such module".into())
        } else {
            Ok(format!("full:{specifier}"))
        }
    }
    fn load(&self, _: Ctx<'_>, _: &str) -> Result<Loaded, String> {
        Ok(Loaded::Native {
            shown: vec!["answer".into(), "nothing".into()],
            hidden: vec!["default".into()],
        })
    }
    fn evaluate<'js>(
        &self,
        ctx: Ctx<'js>,
        name: &str,
        exports: &Exports<'js>,
    ) -> JsResult<'js, ()> {
        exports.set("answer", ctx.int(42))?;
        exports.set("default", ctx.string(name)?)
    }
}

#[test]
fn a_module_compiled_in_one_vm_runs_in_another() {
    let code = {
        let vm = vm();
        vm.set_modules(Rc::new(Host));
        let ctx = vm.ctx();
        ctx.compile_module("file:///m.js", "import d, { answer, nothing } from 'k6/x'; export default function () { return `${d} ${answer} ${nothing}` }").unwrap()
    };
    let vm = vm();
    vm.set_modules(Rc::new(Host));
    let ctx = vm.ctx();
    let (namespace, promise) = ctx.run_module(&code).unwrap();
    while ctx.run_job().unwrap() {}
    assert!(matches!(promise.promise_state(), Some(crate::PromiseState::Fulfilled(_))));
    let default = namespace.get("default").unwrap();
    assert_eq!(
        default.call(&ctx.undefined(), &[]).unwrap().to_string_lossy().unwrap(),
        "full:k6/x 42 undefined"
    );
}

#[test]
fn a_module_that_cannot_be_resolved_throws() {
    let vm = vm();
    vm.set_modules(Rc::new(Host));
    let ctx = vm.ctx();
    assert!(ctx.compile_module("file:///m.js", "import 'missing'").is_err());
    assert_eq!(
        ctx.take_exception().unwrap().value.to_string_lossy().unwrap(),
        "Error: no such module"
    );
}

#[test]
fn json_is_what_the_engine_makes_of_it() {
    let vm = vm();
    let ctx = vm.ctx();
    let texts = [
        "1",
        "-0",
        "0.5e3",
        "12345678901",
        "\"a\\u00e9\\ud83d\\ude00\\n\"",
        "[]",
        "{}",
        "[1,[2,[3]],{\"a\":{}}]",
        "{\"b\":1,\"a\":2,\"b\":3,\"10\":1,\"2\":2}",
        " [ true , false , null ] ",
        "\"\\ud800\"",
        "{\"__proto__\":1}",
    ];
    let parse = ctx.eval("t", "(t) => JSON.stringify(JSON.parse(t))").unwrap();
    for text in texts {
        let ours = ctx.parse_json(text.as_bytes()).unwrap();
        let ours = ctx.stringify_json(&ours).unwrap().unwrap();
        let theirs = parse.call(&ctx.undefined(), &[ctx.string(text).unwrap()]).unwrap();
        assert_eq!(ours, theirs.to_string_lossy().unwrap(), "{text}");
    }
    for text in [
        "",
        "[",
        "[1,]",
        "{\"a\"}",
        "{a:1}",
        "01",
        "1.",
        "\"\n\"",
        "\"\\x\"",
        "tru",
        "[1] 2",
        "{\"a\":1,}",
        "-",
    ] {
        assert!(ctx.parse_json(text.as_bytes()).is_err(), "{text}");
    }
    let deep = format!("{}{}", "[".repeat(9_999), "]".repeat(9_999));
    assert!(ctx.parse_json(deep.as_bytes()).is_ok());
    assert!(ctx.parse_json("[".repeat(10_001).as_bytes()).is_err());
}

#[test]
fn bytes_are_lent_and_taken_over() {
    let vm = vm();
    let ctx = vm.ctx();
    let array = ctx.uint8_array(vec![1, 2, 3]).unwrap();
    ctx.global().define("a", array).unwrap();
    assert_eq!(text(ctx, "a[0] = 9; a.join() + a.constructor.name"), "9,2,3Uint8Array");
    let view = ctx.eval("t", "new Uint8Array(a.buffer, 1, 1)").unwrap();
    assert_eq!(view.with_bytes(<[u8]>::to_vec), Some(vec![2]));
    let view = ctx.eval("t", "new DataView(a.buffer, 1)").unwrap();
    assert_eq!(view.bytes().unwrap().as_slice(), [2, 3]);
    assert!(ctx.eval("t", "({})").unwrap().bytes().is_none());
}

#[test]
fn promises_are_settled_from_outside() {
    let vm = vm();
    let ctx = vm.ctx();
    let (promise, deferred) = ctx.promise().unwrap();
    ctx.global().define("p", promise).unwrap();
    ctx.eval("t", "var got; p.then(v => { got = v })").unwrap();
    ctx.settle(deferred, Ok(ctx.int(7))).unwrap();
    while ctx.run_job().unwrap() {}
    assert_eq!(text(ctx, "got"), "7");
    assert_eq!(ctx.root_count(), 0);
    let (_, forgotten) = ctx.promise().unwrap();
    ctx.forget(forgotten);
}

#[test]
fn long_messages_are_kept_whole() {
    let vm = vm();
    let ctx = vm.ctx();
    let message = "x".repeat(1000);
    let error = ctx.error(ErrorKind::Plain, &message);
    assert_eq!(error.get("message").unwrap().to_string_lossy().unwrap(), message);
}

#[test]
#[should_panic(expected = "no JavaScript runs while")]
fn lent_bytes_forbid_javascript() {
    let vm = vm();
    let ctx = vm.ctx();
    let array = ctx.uint8_array(vec![1]).unwrap();
    let _ = array.with_bytes(|_| ctx.eval("t", "1").is_ok());
}

#[test]
fn names_are_told_apart_by_their_characters_not_by_their_bytes() {
    let vm = vm();
    let ctx = vm.ctx();
    // "Ã©" in Latin-1 has the bytes of "é" in UTF-8.
    ctx.eval("t", "var o = { '\\u00c3\\u00a9': 1 }").unwrap();
    let object = ctx.global().get("o").unwrap();
    assert!(object.get("\u{e9}").unwrap().is_undefined());
    assert_eq!(object.get("\u{c3}\u{a9}").unwrap().as_number(), Some(1.0));
    let parsed = ctx.parse_json("{\"\u{e9}\":2}".as_bytes()).unwrap();
    ctx.global().define("p", parsed).unwrap();
    assert_eq!(text(ctx, "p['\\u00e9'] + ' ' + p['\\u00c3\\u00a9']"), "2 undefined");
}

/// Makes allocations of the engine fail once its heap holds `bytes` bytes. Parts of the engine do not survive it (its
/// compiler), so nothing is compiled meanwhile.
fn fail_beyond(vm: &Vm, bytes: usize) {
    // SAFETY: the runtime is alive.
    unsafe { sys::JS_SetMemoryLimit(vm.inner().rt.as_ptr(), bytes) };
}

fn allocated(vm: &Vm) -> usize {
    usize::try_from(vm.memory().allocated).unwrap()
}

#[test]
fn without_memory_every_maker_of_values_throws_and_leaks_nothing() {
    let json = format!("[{}1]", r#"{"a":"some text","b":[1,2,3],"key":null},"#.repeat(300));
    let vm = vm();
    let ctx = vm.ctx();
    ctx.eval("t", "1").unwrap();
    let used = allocated(&vm);
    // Each limit strikes somewhere else in the middle of making objects, strings, names and errors.
    for extra in (0..12_000).step_by(31) {
        fail_beyond(&vm, used + extra);
        drop(ctx.parse_json(json.as_bytes()));
        drop(ctx.take_exception());
        let name = format!("name{extra}");
        let _ = ctx.object().and_then(|object| object.set(name.as_str(), ctx.string(&name)?));
        drop(ctx.take_exception());
        drop(ctx.object_from([(&X, ctx.int(1)), (&LAZY, ctx.null())]));
        drop(ctx.instance(Point { x: 1.0 }));
        drop(ctx.array_from([ctx.int(1), ctx.null()]));
        drop(ctx.uint8_array(vec![0; 100]));
        let _ = ctx.promise().map(|(_, deferred)| ctx.forget(deferred));
        drop(ctx.take_exception());
        drop(ctx.function(c"f", 0, double));
        let _ = ctx.throw_type("because");
        drop(ctx.take_exception());
        fail_beyond(&vm, 0);
        vm.collect();
    }
    assert_eq!(text(ctx, "[1, 2].map(x => x + 1).join()"), "2,3");
}

#[test]
fn a_group_of_globals_that_does_not_fit_throws_and_the_vm_goes_on() {
    let room = allocated(&vm());
    for extra in (0..30_000).step_by(211) {
        let vm = vm();
        let ctx = vm.ctx();
        fail_beyond(&vm, room + extra);
        for group in 0..=sys::GROUP_DOM_EXCEPTION {
            let made = ctx.need(group);
            assert_eq!(made.is_err(), ctx.take_exception().is_some());
        }
        for name in ["Map", "Int8Array", "Date", "Proxy"] {
            drop(ctx.global().get(name));
            drop(ctx.take_exception());
        }
        fail_beyond(&vm, 0);
        vm.collect();
        assert!(text(ctx, "typeof Map + typeof Date + [1, 2].length").ends_with('2'));
    }
}

/// A large document is parsed without the collector; that must not keep it from what a script leaves behind.
#[test]
fn garbage_in_circles_is_collected_though_large_documents_are_parsed() {
    let vm = vm();
    let document =
        format!("[{}0]", "{\"id\":1,\"name\":\"abcdefghijk\",\"x\":[1,2]},".repeat(2000));
    assert!(document.len() > 64 * 1024);
    let ctx = vm.ctx();
    let round = || {
        drop(ctx.parse_json(document.as_bytes()).unwrap());
        let garbage =
            "for (let i = 0; i < 200; i++) { const a = [new Array(20).fill(i)]; a.push(a) } 1";
        assert_eq!(text(ctx, garbage), "1");
    };
    // With the collector before each object, a round takes a second.
    let rounds = if option_env!("BRUNT_GC_STRESS").is_some() { 3 } else { 300 };
    (0..rounds.min(20)).for_each(|_| round());
    let before = vm.memory().allocated;
    (0..rounds).for_each(|_| round());
    let after = vm.memory().allocated;
    assert!(after < before + (8 << 20), "{before} bytes became {after}");
}

mod sorting;
