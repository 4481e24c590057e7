//! `SharedArray`: data that a process holds once, however many VUs read it.
//!
//! A VM sees an array that is a proxy: reading an element makes it anew of what is kept, and freezes it, as k6 does, so
//! that nothing of it stays in a VM that does not hold on to it. (`elements.rs` tells what is kept.)

pub(crate) mod elements;

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Thrown, Value};

use elements::Hunt;
pub(crate) use elements::{Elements, SharedArrays, found_in_file};

use crate::go_error::throw_go;

/// Operations that an element counts as, where a loop takes all of them.
const COST_OF_ELEMENT: i32 = 10;

/// The message about a callback whose result is no array.
const NO_ARRAY: &str = "only arrays can be made into SharedArray";

static VALUE: Name = Name::new("value");
static WRITABLE: Name = Name::new("writable");
static ENUMERABLE: Name = Name::new("enumerable");
static CONFIGURABLE: Name = Name::new("configurable");

/// `new SharedArray(name, callback)`. The callback runs for the first VM that asks for the name, which is VU 0's; were two
/// VMs to ask at once, both callbacks would run and the first result stay.
///
/// # Errors
/// A `GoError` outside of init code, for an empty name, for a callback that is no function or is `async`, and for a result that
/// is no array; a `TypeError` for none at all. Exceptions of the callback.
pub(crate) fn construct<'js>(
    ctx: Ctx<'js>,
    store: &SharedArrays,
    in_init: bool,
    name: &Value<'js>,
    callback: &Value<'js>,
) -> JsResult<'js> {
    if !in_init {
        let message = "new SharedArray must be called in the init context";
        return Err(throw_go(ctx, message));
    }
    let name = name.to_string_lossy()?;
    if name.is_empty() {
        return Err(throw_go(ctx, "empty name provided to SharedArray's constructor"));
    }
    if !callback.is_function() {
        let message = "a function is expected as the second argument of SharedArray's constructor";
        return Err(throw_go(ctx, message));
    }
    if callback.is_async_function() {
        return Err(throw_go(
            ctx,
            "SharedArray constructor does not support async functions as second argument",
        ));
    }
    let elements = match store.find(&name) {
        Some(elements) => elements,
        None => store.keep(&name, first_elements(ctx, callback, NO_ARRAY)?),
    };
    array_of(ctx, elements)
}

/// The array that shows these elements.
pub(crate) fn array_of(ctx: Ctx<'_>, elements: Arc<Elements>) -> JsResult<'_> {
    let handler = ctx.instance(Handler { elements })?;
    ctx.proxy(&ctx.array()?, &handler)
}

/// The elements of the array that a function returns. `wrong` is the message about a result that is no array.
///
/// # Errors
/// The exception of the function; a `TypeError` for no result, a `GoError` for one that is no array.
pub(crate) fn first_elements<'js>(
    ctx: Ctx<'js>,
    callback: &Value<'js>,
    wrong: &str,
) -> JsResult<'js, Elements> {
    let hunt = Hunt::begin(ctx);
    let array = callback.call(&ctx.undefined(), &[])?;
    if let Some(elements) = hunt.found() {
        return Ok(elements);
    }
    if array.is_nullish() {
        return Err(ctx.throw_type("Cannot convert undefined or null to object"));
    }
    if !array.is_array_like_proxy() {
        return Err(throw_go(ctx, wrong));
    }
    Elements::encode(ctx, &array)
}

/// The proxy's handler: its prototype has the traps.
struct Handler {
    elements: Arc<Elements>,
}

impl Class for Handler {
    const NAME: &'static CStr = c"SharedArray";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"get", 3, get)
                .method(c"has", 2, has)
                .method(c"ownKeys", 1, own_keys)
                .method(c"getOwnPropertyDescriptor", 2, own_property)
                .method(c"set", 4, immutable)
                .method(c"deleteProperty", 2, immutable)
                .method(c"defineProperty", 3, immutable)
                .method(c"preventExtensions", 1, immutable)
                .method(c"setPrototypeOf", 2, immutable)
        });
        &MEMBERS
    }
}

/// The elements behind the array of a `SharedArray`, or of `csv.parse()`.
pub(crate) fn elements_of(value: &Value<'_>) -> Option<Arc<Elements>> {
    let handler = value.proxy_handler()?;
    handler.instance::<Handler>().map(|handler| Arc::clone(&handler.elements))
}

/// Whether it is the array of a `SharedArray`.
pub(crate) fn is_one(value: &Value<'_>) -> bool {
    value.proxy_handler().is_some_and(|handler| handler.instance::<Handler>().is_some())
}

/// The request to a trap.
enum Asked {
    Length,
    Element(u32),
    /// Something that the target, an empty array, knows: a method, a symbol.
    Other,
}

fn asked<'js>(property: &Value<'js>) -> JsResult<'js, Asked> {
    if !property.is_string() {
        return Ok(Asked::Other);
    }
    let text = property.to_js_str()?;
    if &*text == "length" {
        return Ok(Asked::Length);
    }
    // Only the canonical form of a number is an index: `01` is not.
    let is_index = match text.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let index = if is_index { text.parse().ok() } else { None };
    Ok(index.map_or(Asked::Other, Asked::Element))
}

fn handler<'a>(call: &Call<'_>, this: &'a Value<'_>) -> JsResult<'a, &'a Elements> {
    match this.instance::<Handler>() {
        Some(handler) => Ok(&handler.elements),
        None => Err(call.ctx().throw_type("this is not the handler of a SharedArray")),
    }
}

fn get<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let elements = handler(&call, &this)?;
    match asked(&call.argument(1))? {
        Asked::Element(index) => Ok(elements.read(ctx, index)?.unwrap_or_else(|| ctx.undefined())),
        Asked::Length => Ok(ctx.number(f64::from(elements.len()))),
        Asked::Other => reflect(&call, "get"),
    }
}

fn has<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let elements = handler(&call, &this)?;
    match asked(&call.argument(1))? {
        Asked::Element(index) => Ok(ctx.bool(index < elements.len())),
        Asked::Length => Ok(ctx.bool(true)),
        Asked::Other => reflect(&call, "has"),
    }
}

fn own_keys<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let elements = handler(&call, &this)?;
    let keys = ctx.array()?;
    for index in 0..elements.len() {
        ctx.poll(COST_OF_ELEMENT)?;
        keys.set_index(index, ctx.string(&index.to_string())?)?;
    }
    keys.set_index(elements.len(), ctx.string("length")?)?;
    Ok(keys)
}

fn own_property<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let elements = handler(&call, &this)?;
    let (value, is_element) = match asked(&call.argument(1))? {
        // `Object.keys` comes by here: it must not fail for an element that reads could not parse.
        Asked::Element(index) if elements.is_undefined(index) => (ctx.undefined(), true),
        Asked::Element(index) => match elements.read(ctx, index)? {
            Some(value) => (value, true),
            None => return Ok(ctx.undefined()),
        },
        Asked::Length => (ctx.number(f64::from(elements.len())), false),
        Asked::Other => return Ok(ctx.undefined()),
    };
    ctx.object_from([
        (&VALUE, value),
        (&WRITABLE, ctx.bool(true)),
        (&ENUMERABLE, ctx.bool(is_element)),
        (&CONFIGURABLE, ctx.bool(is_element)),
    ])
}

fn immutable<'js>(call: Call<'js>) -> JsResult<'js> {
    let thrown: Thrown = call.ctx().throw_type("SharedArray is immutable");
    Err(thrown)
}

/// The answer of the target itself: methods and symbols.
fn reflect<'js>(call: &Call<'js>, trap: &str) -> JsResult<'js> {
    let ctx = call.ctx();
    let (target, property) = (call.argument(0), call.argument(1));
    if property.is_string() {
        let name = property.to_js_str()?;
        return if trap == "get" {
            target.get(&*name)
        } else {
            target.has(&*name).map(|has| ctx.bool(has))
        };
    }
    let function = ctx.global().get("Reflect")?.get(trap)?;
    function.call(&ctx.undefined(), &[target, property])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, text, vm};
    use brunt_quickjs::Vm;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A VM with a class `SharedArray` over this store.
    fn vm_over(store: &Arc<SharedArrays>, in_init: &Rc<Cell<bool>>) -> Vm {
        let vm = vm(|ctx| {
            crate::go_error::install(ctx)?;
            let (store, in_init) = (Arc::clone(store), Rc::clone(in_init));
            let make = ctx.closure(c"SharedArray", 2, move |call| {
                construct(call.ctx(), &store, in_init.get(), &call.argument(0), &call.argument(1))
            })?;
            ctx.global().define("make", make)
        });
        vm.ctx()
            .eval("t.js", "'use strict'; function SharedArray(n, f) { return make(n, f) } function name(f) { 'use strict'; try { return f() } catch (e) { return `${e.name}: ${e.message}` } }")
            .unwrap();
        vm
    }

    fn fresh() -> Vm {
        let vm = vm_over(&Arc::default(), &Rc::new(Cell::new(true)));
        vm.ctx()
            .eval("t.js", "var sa = new SharedArray('x', () => [{ a: [1, { b: 2 }] }, 's', undefined, null, 5]); var n = new SharedArray('n', () => [3, 1, 2])")
            .unwrap();
        vm
    }

    #[test]
    fn long_arrays_ask_whether_they_must_stop() {
        // The first question comes at once, the others after ten thousand operations each.
        let interrupt = |host: &dyn std::any::Any| {
            host.downcast_ref::<Cell<bool>>().is_some_and(|asked| asked.replace(true))
        };
        let hooks = brunt_quickjs::Hooks { interrupt: Some(interrupt), ..Default::default() };
        let vm = Vm::new(Rc::new(Cell::new(false)), hooks, 1024 * 1024);
        let ctx = vm.ctx();
        let array = |length: u32| {
            let array = ctx.array().unwrap();
            (0..length).for_each(|index| array.set_index(index, ctx.number(1.0)).unwrap());
            array
        };
        let (short, long) = (array(100), array(10_000));
        assert!(Elements::encode(ctx, &short).is_ok());
        assert!(Elements::encode(ctx, &long).is_err());
        assert!(ctx.take_exception().unwrap().uncatchable);
    }

    #[test]
    fn it_reads_like_an_array() {
        all(
            &fresh(),
            &[
                ("JSON.stringify(sa[0])", r#"{"a":[1,{"b":2}]}"#),
                (
                    "[sa.length, Array.isArray(sa), sa instanceof Array, sa.constructor === Array].join()",
                    "5,true,true,true",
                ),
                ("Object.prototype.toString.call(sa)", "[object Array]"),
                (
                    "[...n].join() + n.map(x => x * 2).join() + n.filter(x => x > 1).join() + n.find(x => x < 2) + n.indexOf(2) + n.slice(1).join() + n.concat([9]).join() + n.join('-')",
                    "3,1,26,2,43,2121,23,1,2,93-1-2",
                ),
                (
                    "let s = ''; for (const x of n) s += x; for (const k in n) s += k; n.forEach((x, i) => s += x + i); s",
                    "312012324",
                ),
                ("JSON.stringify(n) + JSON.stringify({ n })", r#"[3,1,2]{"n":[3,1,2]}"#),
                (
                    "[0 in sa, 9 in sa, 'length' in sa, 'map' in sa, sa.hasOwnProperty(1), n.includes(2), n.at(-1)].join()",
                    "true,false,true,true,true,true,2",
                ),
                (
                    "[sa[9], sa[-1], sa['01'], sa['1.5'], sa.foo, sa[4294967295]].every(x => x === undefined)",
                    "true",
                ),
                ("Object.keys(sa).join() + Object.entries(n).join('|')", "0,1,2,3,40,3|1,1|2,2"),
                (
                    "JSON.stringify(Object.getOwnPropertyDescriptor(sa, 1))",
                    r#"{"value":"s","writable":true,"enumerable":true,"configurable":true}"#,
                ),
                (
                    "JSON.stringify(Object.getOwnPropertyDescriptor(sa, 'length'))",
                    r#"{"value":5,"writable":true,"enumerable":false,"configurable":false}"#,
                ),
                (
                    "[...n].sort().join() + n.toSorted().join() + Math.max(...n) + n.reduce((a, b) => a + b) + [...n.entries()].join('|') + n.flatMap(x => [x, x]).join('')",
                    "1,2,31,2,3360,3|1,1|2,2331122",
                ),
                (
                    "const { 0: first, length } = n; const [a, ...rest] = n; [first, length, a, rest].join()",
                    "3,3,3,1,2",
                ),
                (
                    "sa[2]",
                    "threw SyntaxError: invalid character 'u' looking for beginning of value",
                ),
                ("n[Math.floor(2.5)]", "2"),
            ],
        );
    }

    #[test]
    fn nothing_in_it_can_be_changed() {
        let immutable = "TypeError: SharedArray is immutable";
        let vm = fresh();
        for write in [
            "sa[0] = 1",
            "sa.push(1)",
            "sa.length = 0",
            "delete sa[0]",
            "sa.foo = 1",
            "Object.defineProperty(sa, '0', { value: 1 })",
            "Object.freeze(sa)",
            "Object.setPrototypeOf(sa, null)",
            "n.sort()",
            "n.reverse()",
            "n.pop()",
        ] {
            assert_eq!(text(vm.ctx(), &format!("name(() => {{ {write} }})")), immutable, "{write}");
        }
        all(
            &vm,
            &[
                (
                    "[Object.isFrozen(sa[0]), Object.isFrozen(sa[0].a), Object.isFrozen(sa[0].a[1]), Object.isFrozen(sa), Object.isExtensible(sa)].join()",
                    "true,true,true,false,true",
                ),
                ("name(() => { 'use strict'; sa[0].a[1].b = 1 }).split(':')[0]", "TypeError"),
                ("sa[0].a[1].b = 9; sa[0].a[1].b", "2"),
                ("n.join()", "3,1,2"),
            ],
        );
    }

    #[test]
    fn the_function_runs_once_for_all_vms() {
        let (store, in_init) = (Arc::default(), Rc::new(Cell::new(true)));
        let first = vm_over(&store, &in_init);
        let script = "var calls = 0; var sa = new SharedArray('once', () => { calls++; return [{ x: 'é\\u2028' }] }); sa[0].x.length + ' ' + calls";
        assert_eq!(text(first.ctx(), script), "2 1");
        drop(first);
        let second = vm_over(&store, &in_init);
        assert_eq!(text(second.ctx(), script), "2 0");
        in_init.set(false);
        assert!(
            text(second.ctx(), "new SharedArray('once', () => [])").starts_with("threw GoError")
        );
    }

    #[test]
    fn wrong_arguments_are_go_errors() {
        let vm = fresh();
        for script in [
            "new SharedArray('', () => [])",
            "new SharedArray('q', 5)",
            "new SharedArray('q', () => ({}))",
            "new SharedArray('q', async () => [])",
        ] {
            assert!(text(vm.ctx(), script).starts_with("threw GoError: "), "{script}");
        }
        all(
            &vm,
            &[
                ("new SharedArray('q', () => { throw new Error('inner') })", "threw Error: inner"),
                (
                    "new SharedArray('nested', () => new SharedArray('m', () => [1, 2])).join()",
                    "1,2",
                ),
                ("new SharedArray(5, () => [1])[0]", "1"),
                ("new SharedArray(undefined, () => [2])[0]", "2"),
                (
                    "new SharedArray('none', () => null)",
                    "threw TypeError: Cannot convert undefined or null to object",
                ),
                (
                    "const c = {}; c.c = c; new SharedArray('cycle', () => [c])",
                    "threw TypeError: Converting circular structure to JSON",
                ),
                (
                    "new SharedArray('big', () => [1n])",
                    "threw TypeError: Do not know how to serialize a BigInt",
                ),
            ],
        );
    }

    #[test]
    fn what_is_binary_stays_so_at_any_depth_and_is_kept_once() {
        let vm = fresh();
        let setup = "var one = new Uint8Array([1, 2, 3, 4]).buffer; var changing = new Uint8Array(2); var large = new Uint8Array(5000); \
            var bin = new SharedArray('bin', () => [ \
                { name: 'a', data: one, deep: [{ view: new DataView(one), words: new Uint16Array(one) }] }, \
                [new Float32Array([1.5])], one, { toJSON() { return { x: new Int8Array([-1]) } } }, \
                { get x() { changing[0]++; return changing }, get y() { changing[0]++; return changing } }, \
                { get x() { large[4999]++; return large }, get y() { large[4999]++; return large }, z: large }, \
                { s: JSON.stringify(one), t: '\\u00010\\u0001', m: new Map(), d: new Date(0) }, \
            ]); one = undefined; \
            function kind(x) { return Object.prototype.toString.call(x).slice(8, -1) + x.byteLength }";
        vm.ctx().eval("t.js", setup).unwrap();
        all(
            &vm,
            &[
                (
                    "const { data, deep: [{ view, words }] } = bin[0]; [data, view, words, bin[1][0], bin[2], bin[3].x].map(kind).join()",
                    "ArrayBuffer4,DataView4,Uint16Array4,Float32Array4,ArrayBuffer4,Int8Array1",
                ),
                (
                    "[new Uint8Array(bin[0].data).join(), bin[0].deep[0].view.getInt8(3), bin[0].deep[0].words[1], bin[1][0][0], bin[3].x[0]].join()",
                    "1,2,3,4,4,1027,1.5,-1",
                ),
                ("[bin[4].x[0], bin[4].y[0]].join()", "1,2"),
                ("[bin[5].x[4999], bin[5].y[4999], bin[5].z[4999], large[4999]].join()", "1,2,2,2"),
                (
                    "JSON.stringify(bin[6])",
                    r#"{"s":"{}","t":"\u00010\u0001","m":{},"d":"1970-01-01T00:00:00.000Z"}"#,
                ),
                (
                    "[bin[0], bin[0].data, bin[0].deep[0].words, bin[1][0], bin[2]].map(Object.isFrozen).join()",
                    "true,true,true,true,true",
                ),
                (
                    "name(() => { 'use strict'; bin[0].deep[0].words[0] = 1 }).split(':')[0]",
                    "TypeError",
                ),
                (
                    "name(() => { bin[0].deep[0].view.setInt8(0, 1) })",
                    "TypeError: ArrayBuffer is immutable",
                ),
                (
                    "const own = bin[0].data.slice(); new Uint8Array(own)[0] = 9; new Uint8Array(bin[0].data)[0]",
                    "1",
                ),
            ],
        );
        let kept = "const image = new Uint8Array(1000); make('many', () => Array.from({ length: 1000 }, (_, i) => ({ i, image })))";
        let before = vm.memory().allocated;
        vm.ctx().eval("t.js", &format!("{{ {kept} }}")).unwrap();
        vm.collect();
        assert!(vm.memory().allocated - before < 10_000);
        assert_eq!(
            text(vm.ctx(), "const many = make('many', () => []); many[999].image.length"),
            "1000"
        );
    }
}
