use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{CommonBytes, HeldBytes, LateBytes};
use crate::ctx::Hooks;
use crate::{Ctx, JsResult, Vm};

/// Bytes of a page and some more: 0, 1, 2, … 250, 0, 1, …
fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

/// The same bytes as memory of the process that is not mapped, and that is.
fn both_kinds() -> [Arc<CommonBytes>; 2] {
    let path = std::env::temp_dir().join(format!(
        "brunt-buffer-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, content(70_000)).unwrap();
    let mapped = CommonBytes::read(&std::fs::File::open(&path).unwrap(), 1 << 20).unwrap();
    std::fs::remove_file(path).unwrap();
    [Arc::new(content(70_000).into()), Arc::new(mapped)]
}

fn vm() -> Vm {
    Vm::new(Rc::new(()), Hooks::default(), 1024 * 1024)
}

fn eval<'js>(ctx: Ctx<'js>, script: &str) -> JsResult<'js, String> {
    ctx.eval("test.js", script)?.to_string_lossy()
}

fn text(ctx: Ctx<'_>, script: &str) -> String {
    eval(ctx, script).unwrap_or_else(|_| {
        let error = ctx.take_exception().expect("an exception waits");
        panic!("{script}: {}", error.value.to_string_lossy().unwrap())
    })
}

/// A VM whose `buffer` shows `common` and whose `u` is all of it, and whose `lend()` makes somebody hold `buffer`.
fn vm_over(common: &Arc<CommonBytes>) -> (Vm, Rc<RefCell<Vec<HeldBytes>>>) {
    let vm = vm();
    let ctx = vm.ctx();
    let held = Rc::new(RefCell::new(Vec::new()));
    let keep = Rc::clone(&held);
    let lend = ctx.closure(c"lend", 0, move |call| {
        let buffer = call.ctx().global().get("buffer")?;
        keep.borrow_mut().push(buffer.shared_bytes().expect("a buffer has bytes"));
        Ok(call.ctx().undefined())
    });
    ctx.global().define("lend", lend.unwrap()).unwrap();
    ctx.global().define("buffer", ctx.common_buffer(common).unwrap()).unwrap();
    text(
        ctx,
        "var u = new Uint8Array(buffer); const evil = v => ({ valueOf() { lend(); return v } })",
    );
    (vm, held)
}

/// All ways by which a script changes the first byte to 77. `evil(x)` is x, but lends the buffer when it is asked for.
const WRITES: [&str; 27] = [
    "u[0] = 77",
    "u[0] = evil(77)",
    "u['0'] = evil(77)",
    "u.fill(77)",
    "u.fill(evil(77), evil(0), evil(5))",
    "u.set([77])",
    "u.set([evil(77)])",
    "u.set(new Uint8Array([77]), evil(0))",
    "u[5] = 77; lend(); u.copyWithin(evil(0), evil(5), evil(6))",
    "u[u.length - 1] = 77; lend(); u.reverse()",
    "u[9] = 77; lend(); u.sort((a, b) => { lend(); return (b === 77) - (a === 77) })",
    "u[0] = 255; u.sort(); lend(); u[0] = 77",
    "new DataView(buffer).setUint8(evil(0), evil(77))",
    "new DataView(buffer).setUint32(0, evil(0x4d000000))",
    "Atomics.store(u, evil(0), evil(77))",
    "Atomics.add(u, 0, evil(77))",
    "Atomics.exchange(u, evil(0), 77)",
    "Atomics.compareExchange(u, 0, evil(0), evil(77))",
    "Atomics.store(new BigInt64Array(buffer, 0, 1), 0, 77n)",
    "u.setFromHex('4d')",
    "u.setFromBase64('TQ==', { get alphabet() { lend(); return 'base64' } })",
    "u.subarray(0, 3)[0] = 77",
    "Object.defineProperty(u, 0, { value: evil(77) })",
    "Reflect.set(u, 0, 77)",
    "Array.prototype.fill.call(u, 77)",
    "new Uint16Array(buffer)[0] = 77",
    "new Float64Array(buffer, 0, 1)[0] = 0; u[0] = 77",
];

#[test]
fn a_write_is_seen_by_nobody_else() {
    for common in both_kinds() {
        for write in WRITES {
            let (vm, held) = vm_over(&common);
            let (other, _) = vm_over(&common);
            text(vm.ctx(), &format!("lend(); {write}; lend()"));
            assert_eq!(text(vm.ctx(), "u[0]"), "77", "{write}");
            assert!(common[..] == content(70_000), "{write} changed what all have");
            assert_eq!(text(other.ctx(), "u[0]"), "0", "{write}");
            let held = held.borrow();
            assert!(held[0][..] == content(70_000), "{write} changed what is held");
            assert_eq!(held.last().unwrap()[0], 77, "{write}");
        }
    }
}

#[test]
fn what_was_held_before_a_write_stays() {
    for write in WRITES {
        // Bytes that the script made: they move out of its heap when they are first held.
        let (vm, held) = vm_over(&Arc::new(vec![1].into()));
        let ctx = vm.ctx();
        text(ctx, "var buffer = new ArrayBuffer(4096); u = new Uint8Array(buffer)");
        text(ctx, &format!("lend(); {write}; lend(); u[1] = 55; u[1] = evil(56)"));
        let held = held.borrow();
        assert!(held[0].iter().all(|byte| *byte == 0), "{write}");
        assert_eq!(text(ctx, "u[0] + ' ' + u[1]"), "77 56", "{write}");
    }
}

#[test]
fn reading_copies_nothing() {
    for common in both_kinds() {
        let (vm, held) = vm_over(&common);
        let reads = "lend(); [...u.subarray(0, 9)]; buffer.slice(3).byteLength; u.slice(1); u.indexOf(250); u.map(x => x); \
             new Uint8Array(u); u.toHex(); Object.keys(u.subarray(0, 3)); Atomics.load(u, 0); u.toSorted(); u.with(0, 5); \
             new DataView(buffer).getInt16(0); buffer.immutable || buffer.resizable; lend()";
        text(vm.ctx(), reads);
        for held in &*held.borrow() {
            assert_eq!(held.as_ptr(), common.as_ptr());
        }
        let view = vm.ctx().eval("t.js", "new Uint16Array(buffer, 10, 1000)").unwrap();
        let part = view.shared_bytes().unwrap();
        assert_eq!((part.as_ptr() as usize - common.as_ptr() as usize, part.len()), (10, 2000));
    }
}

#[test]
fn a_buffer_is_lent_again_and_again_without_a_copy() {
    let vm = vm();
    let buffer = vm.ctx().eval("t.js", "var u = new Uint8Array(5000); u.buffer").unwrap();
    let first = buffer.shared_bytes().unwrap();
    let place = first.as_ptr();
    drop(first);
    for round in 0..3 {
        // It is no longer held: it is written in place.
        text(vm.ctx(), &format!("u[{round}] = 1"));
        let held = buffer.shared_bytes().unwrap();
        assert_eq!((held.as_ptr(), held[round]), (place, 1));
    }
    // A few bytes of a lent buffer are lent, too.
    let small = vm.ctx().eval("t.js", "u.subarray(0, 10)").unwrap().shared_bytes().unwrap();
    assert_eq!(small.as_ptr(), place);
    assert_eq!(small[0], 1);
}

#[test]
fn a_frozen_buffer_refuses_writes_and_can_be_copied() {
    let vm = vm();
    let ctx = vm.ctx();
    let common = Arc::new(CommonBytes::from(content(2000)));
    ctx.global().define("buffer", ctx.frozen_buffer(&common).unwrap()).unwrap();
    let checks = "const u = new Uint8Array(buffer); u[0] = 9; let thrown = 0; \
         for (const f of [() => u.fill(1), () => u.set([1]), () => new DataView(buffer).setInt8(0, 1), () => Atomics.store(u, 0, 1), \
             () => buffer.transfer(), () => u.sort(), () => u.reverse()]) try { f() } catch (e) { thrown += e instanceof TypeError } \
         const copy = new Uint8Array(buffer.slice(0, 4)); copy[0] = 5; [u[0], u[1], thrown, buffer.immutable, copy[0]].join()";
    assert_eq!(text(ctx, checks), "0,1,7,true,5");
    let held = ctx.global().get("buffer").unwrap().shared_bytes().unwrap();
    assert_eq!(held.as_ptr(), common.as_ptr());
}

#[test]
fn common_bytes_are_found_again_until_a_script_writes() {
    for common in both_kinds() {
        let (vm, _) = vm_over(&common);
        let found = |script| vm.ctx().eval("t.js", script).unwrap().common_bytes();
        for whole in ["buffer", "new Uint8Array(buffer)", "new Float64Array(buffer)"] {
            assert!(found(whole).is_some_and(|bytes| Arc::ptr_eq(&bytes, &common)), "{whole}");
        }
        for other in ["new Uint8Array(buffer, 1)", "buffer.slice(0)", "new ArrayBuffer(9)", "7"] {
            assert!(found(other).is_none(), "{other}");
        }
        assert!(found("new Uint8Array(buffer)[3] = 9; buffer").is_none());
    }
}

#[test]
fn a_buffer_can_be_transferred() {
    for common in both_kinds() {
        let (vm, _) = vm_over(&common);
        let script = "const b = buffer.transfer(70002); const v = new Uint8Array(b); v[1] = 9; \
             [buffer.detached, u.length, v.length, v[0], v[1], v[69999], v[70001], new Uint8Array(b.transfer(2)).join('-')].join()";
        assert_eq!(text(vm.ctx(), script), "true,0,70002,0,9,221,0,0-9");
        assert!(common[..] == content(70_000));
    }
    let (vm, _) = vm_over(&both_kinds()[1]);
    assert_eq!(text(vm.ctx(), "lend(); buffer.transfer(0).byteLength"), "0");
    assert!(vm.ctx().eval("t.js", "buffer").unwrap().shared_bytes().is_none());
}

#[test]
fn what_cannot_be_lent_is_copied() {
    let vm = vm();
    for script in [
        "new ArrayBuffer(5000, { maxByteLength: 9000 })",
        "new SharedArrayBuffer(5000)",
        "new Uint8Array(new ArrayBuffer(50000), 7, 5000)",
    ] {
        let value = vm.ctx().eval("t.js", script).unwrap();
        let (one, two) = (value.shared_bytes().unwrap(), value.shared_bytes().unwrap());
        assert_eq!((one.len(), two.len()), (5000, 5000), "{script}");
        assert_ne!(one.as_ptr(), two.as_ptr(), "{script}");
    }
    let empty = vm.ctx().eval("t.js", "new ArrayBuffer(0)").unwrap();
    assert_eq!(empty.shared_bytes().unwrap().len(), 0);
    assert!(vm.ctx().eval("t.js", "({})").unwrap().shared_bytes().is_none());
}

#[test]
fn held_bytes_outlive_their_vm() {
    let held = {
        let (vm, _) = vm_over(&both_kinds()[1]);
        text(vm.ctx(), "u[3] = 99");
        let buffer = vm.ctx().global().get("buffer").unwrap();
        buffer.shared_bytes().unwrap()
    };
    assert_eq!((held[3], held[4], held.len()), (99, 4, 70_000));
}

#[test]
fn common_bytes_do_not_count_as_memory_of_the_vm() {
    let vm = vm();
    text(vm.ctx(), "new ArrayBuffer(1)");
    let before = vm.memory().allocated;
    let common = Arc::new(CommonBytes::from(vec![0; 1 << 20]));
    let buffer = vm.ctx().common_buffer(&common).unwrap();
    assert!(vm.memory().allocated - before < 1000);
    drop(buffer);
}

#[test]
fn byte_work_is_as_the_language_has_it() {
    let vm = vm();
    let cases = [
        ("new Uint8Array([1, 2.9, 300, -1, 256]).join()", "1,2,44,255,0"),
        ("new Int8Array([127, 128, 255]).join()", "127,-128,-1"),
        ("new Uint8ClampedArray([300, -5, 1.5]).join()", "255,0,2"),
        ("new Float32Array([1, 2.5]).join()", "1,2.5"),
        ("new Uint8Array(['7', null, true, [5]]).join()", "7,0,1,5"),
        ("new Uint8Array([1, , 3]).join()", "1,0,3"),
        (
            "const u = new Uint8Array(5); u.set([1, 2, 3], 2); u.set([9.5], 0); u.set([1, { valueOf: () => 8 }], 0); u.join()",
            "1,8,1,2,3",
        ),
        (
            "let threw = ''; try { new Uint8Array(2).set([1, 2, 3]) } catch (e) { threw = e.name } threw",
            "RangeError",
        ),
        (
            "[0, ...new Uint8Array([1, 2]), ...[3, 'x'], ...new Float64Array([0.5]), ...'ab', ...new Set([7])].join()",
            "0,1,2,3,x,0.5,a,b,7",
        ),
        ("const a = [1, 2]; [...a, ...a, ...[], 3].length + [...[, 1]].length", "7"),
        (
            "const body = []; body.push(...new Uint8Array(140000).fill(5)); body.push.apply(body, body); body.length + ' ' + body[279999]",
            "280000 5",
        ),
        (
            "(function () { return arguments.length + [...arguments].length })(...new Array(100000))",
            "200000",
        ),
        ("Math.max(...new Uint8Array(70000).fill(3))", "3"),
        (
            "const plain = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield 9 }; \
          const r = [new Uint8Array([1, 2]).join(), [...[1, 2]].join.call([...[1, 2]])].join(); Array.prototype[Symbol.iterator] = plain; r",
            "9,9",
        ),
        (
            "const it = Object.getPrototypeOf([][Symbol.iterator]()); const was = it.next; it.next = function () { const n = was.call(this); return { done: n.done, value: 4 } }; \
          const q = [new Uint8Array([1, 2]).join(), [...new Uint8Array([1, 2])].join('-')].join(); it.next = was; q",
            "4,4,4-4",
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(text(vm.ctx(), &format!("{{ {script} }}")), expected, "{script}");
    }
}

#[test]
fn a_frozen_array_is_frozen_in_every_way() {
    let vm = vm();
    let ctx = vm.ctx();
    let all = "'use strict'; const f = Object.freeze([3, 1, 2]); const log = []; const t = (g) => { try { g(); log.push('ok') } catch (e) { log.push(e.name) } }; ";
    for write in [
        "f[0] = 9",
        "f[3] = 9",
        "f['1'] = 9",
        "f.length = 0",
        "f.length = 5",
        "f.push(1)",
        "f.pop()",
        "f.shift()",
        "f.unshift(1)",
        "f.reverse()",
        "f.sort()",
        "f.fill(0)",
        "f.copyWithin(0, 1)",
        "f.splice(0, 1)",
        "delete f[0]",
        "Object.defineProperty(f, 0, { value: 9 })",
        "Object.defineProperty(f, 0, { get() { return 9 } })",
        "Object.assign(f, [9])",
        "f.x = 1",
        "[f[0]] = [9]",
        "f[0]++",
    ] {
        let script =
            format!("{all} t(() => {{ {write} }}); return log.join() + ' ' + f.join() + f.length");
        assert_eq!(text(ctx, &format!("(() => {{ {script} }})()")), "TypeError 3,1,23", "{write}");
    }
    let cases = [
        (
            "[Object.isFrozen(f), Object.isSealed(f), Object.isExtensible(f), Array.isArray(f)].join()",
            "true,true,false,true",
        ),
        (
            "JSON.stringify(Object.getOwnPropertyDescriptor(f, 1))",
            r#"{"value":1,"writable":false,"enumerable":true,"configurable":false}"#,
        ),
        (
            "JSON.stringify(Object.getOwnPropertyDescriptor(f, 'length'))",
            r#"{"value":3,"writable":false,"enumerable":false,"configurable":false}"#,
        ),
        (
            "[...f].sort().join() + f.map(x => x * 2) + f.slice(1) + f.concat(4) + f.indexOf(2) + f.toSorted() + f.toReversed() + f.with(0, 5) + Object.keys(f) + JSON.stringify(f)",
            "1,2,36,2,41,23,1,2,421,2,32,1,35,1,20,1,2[3,1,2]",
        ),
        (
            "Object.defineProperty(f, 0, { value: 3 }); Object.freeze(f); Object.isFrozen(f) + ' ' + f",
            "true 3,1,2",
        ),
        (
            "Reflect.set(f, 0, 9) + ' ' + Reflect.deleteProperty(f, 0) + ' ' + Reflect.defineProperty(f, 5, { value: 1 }) + f",
            "false false false3,1,2",
        ),
        (
            "Object.isFrozen(Object.freeze([])) + ' ' + Object.isFrozen(Object.freeze([{ a: 1 }])) + new Uint8Array(f)",
            "true true3,1,2",
        ),
        (
            "const g = [1]; g.x = 5; Object.freeze(g); Object.isFrozen(g) + ' ' + g.x + Object.keys(g)",
            "true 50,x",
        ),
        (
            "const h = Object.preventExtensions([1, 2]); h[0] = 7; h.pop(); h.join() + Object.isFrozen(h)",
            "7false",
        ),
        (
            "(() => { let s = 0; for (const x of f) s += x; for (const i in f) s += i; return s })()",
            "6012",
        ),
    ];
    for (script, expected) in cases {
        let script = format!("{{ const f = Object.freeze([3, 1, 2]); {script} }}");
        assert_eq!(text(ctx, &script), expected, "{script}");
    }
}

/// Made late: 0, 1, 2, … 250, 0, 1, … Counts how often.
struct Late {
    size: usize,
    made: std::cell::Cell<u32>,
    fails: bool,
}

impl LateBytes for Late {
    fn size(&self) -> usize {
        self.size
    }
    fn make(&self) -> Option<Vec<u8>> {
        self.made.set(self.made.get() + 1);
        (!self.fails).then(|| content(self.size))
    }
}

fn late(ctx: Ctx<'_>, size: usize, fails: bool) -> Rc<Late> {
    let late = Rc::new(Late { size, made: std::cell::Cell::new(0), fails });
    let bytes = Rc::<Late>::clone(&late);
    ctx.global().define("buffer", ctx.late_buffer(bytes).unwrap()).unwrap();
    late
}

#[test]
fn late_bytes_are_made_when_somebody_looks_and_once() {
    let vm = vm();
    let ctx = vm.ctx();
    for (look, told) in [
        ("new Uint8Array(buffer)[255]", "4"),
        ("new Uint16Array(buffer, 2, 1)[0]", "770"),
        ("new DataView(buffer).getUint8(7)", "7"),
        ("new Uint8Array(buffer.slice(250, 253)).join()", "250,0,1"),
        ("new Uint8Array(buffer.transfer())[9]", "9"),
        ("new Uint8Array(buffer.transfer(5)).join()", "0,1,2,3,4"),
        ("new Uint8Array(buffer.transferToImmutable())[9]", "9"),
        ("const a = new Uint8Array(buffer); a[0] = 77; new Uint8Array(buffer)[0]", "77"),
        ("class B extends Uint8Array {}; new B(buffer)[3]", "3"),
        (
            "new Uint8Array(Reflect.construct(ArrayBuffer, [0]).constructor === ArrayBuffer ? buffer : 0)[1]",
            "1",
        ),
    ] {
        let late = late(ctx, 5000, false);
        assert_eq!(
            text(
                ctx,
                "`${buffer} ${buffer.byteLength} ${buffer.detached} ${buffer.immutable} ${buffer.resizable} ${buffer.maxByteLength}`"
            ),
            "[object ArrayBuffer] 5000 false false false 5000"
        );
        let buffer = ctx.global().get("buffer").unwrap();
        assert!(buffer.late_bytes().is_some() && late.made.get() == 0);
        assert_eq!(text(ctx, &format!("{{ {look} }}")), told, "{look}");
        assert_eq!(late.made.get(), 1, "{look}");
        assert!(buffer.late_bytes().is_none());
    }
    let from_rust = late(ctx, 5000, false);
    let buffer = ctx.global().get("buffer").unwrap();
    let held = buffer.shared_bytes().unwrap();
    text(ctx, "new Uint8Array(buffer)[1] = 99");
    assert!(*held == content(5000) && from_rust.made.get() == 1);
    assert_eq!(buffer.with_bytes(|bytes| bytes[1]), Some(99));
}

#[test]
fn late_bytes_that_nobody_looks_at_are_never_made() {
    let vm = vm();
    let ctx = vm.ctx();
    for script in
        ["buffer.byteLength", "buffer.transfer(0).byteLength", "ArrayBuffer.isView(buffer)"]
    {
        let late = late(ctx, 5000, false);
        text(ctx, script);
        ctx.global().define("buffer", ctx.null()).unwrap();
        let made = late.made.get();
        assert!(made == 0 || script.contains("transfer"), "{script}");
        assert_eq!(Rc::strong_count(&late), 1);
    }
    // None at all is a buffer like others.
    late(ctx, 0, true);
    assert_eq!(text(ctx, "new Uint8Array(buffer).length"), "0");
}

#[test]
fn late_bytes_that_cannot_be_made_are_an_exception() {
    let vm = vm();
    let ctx = vm.ctx();
    late(ctx, 5000, true);
    for script in [
        "new Uint8Array(buffer)",
        "new DataView(buffer)",
        "buffer.slice(1)",
        "new Uint8Array(buffer, 1, 2)",
    ] {
        let told = text(ctx, &format!("try {{ {script} }} catch (e) {{ `threw ${{e}}` }}"));
        assert!(told.contains("out of memory"), "{script}: {told}");
    }
    assert!(ctx.global().get("buffer").unwrap().with_bytes(<[u8]>::len).is_none());
}

#[test]
fn what_is_frozen_shows_itself_so_and_refuses_writes_aloud() {
    let vm = vm();
    let ctx = vm.ctx();
    let bytes = Arc::new(CommonBytes::from(vec![3, 1, 2, 0]));
    let buffer = ctx.frozen_buffer(&bytes).unwrap();
    ctx.global().set("v", ctx.data_view(&buffer).unwrap()).unwrap();
    ctx.global().set("b", buffer.clone()).unwrap();
    let array = ctx.typed_array("Uint8Array", &buffer).unwrap();
    array.freeze_json().unwrap();
    ctx.global().set("f", array).unwrap();
    for write in [
        "f[0] = 9",
        "f['1'] = 9",
        "f[0]++",
        "delete f[0]",
        "f.x = 1",
        "b.x = 1",
        "f.fill(0)",
        "f.set([1])",
        "f.sort()",
        "f.reverse()",
        "f.copyWithin(0, 1)",
        "v.setInt8(0, 1)",
        "Object.defineProperty(f, 0, { value: 9 })",
        "Object.defineProperty(f, 0, { writable: true })",
        "Object.defineProperty(f, 0, { get() { return 9 } })",
        "Object.assign(f, [9])",
        "new Uint16Array(b)[1] = 7",
        "new Float64Array(new ArrayBuffer(8).sliceToImmutable())[0] = 7",
        "new BigInt64Array(new ArrayBuffer(8).sliceToImmutable())[0] = 7n",
        "Object.freeze(new Uint8Array(3))",
    ] {
        let script = format!(
            "(() => {{ 'use strict'; try {{ {write}; return 'ok' }} catch (e) {{ return e.name + f.join() + f.length }} }})()"
        );
        assert_eq!(text(ctx, &script), "TypeError3,1,2,04", "{write}");
    }
    for (script, expected) in [
        (
            "[Object.isFrozen(f), Object.isSealed(f), Object.isExtensible(f), Object.isFrozen(b)].join()",
            "true,true,false,true",
        ),
        (
            "JSON.stringify(Object.getOwnPropertyDescriptor(f, 1))",
            r#"{"value":1,"writable":false,"enumerable":true,"configurable":false}"#,
        ),
        ("f[0] = 9; f[0]", "3"),
        ("Reflect.set(f, 0, 9) + ' ' + Reflect.defineProperty(f, 0, { value: 9 })", "false false"),
        ("Reflect.defineProperty(f, 0, { value: 3 })", "true"),
        (
            "const g = new Uint16Array(b); [Object.isFrozen(g), Object.isFrozen(Object.freeze(g))].join()",
            "false,true",
        ),
        (
            "const w = new Uint8Array(2); [Object.isFrozen(w), Object.isFrozen(Object.freeze(new Uint8Array()))].join()",
            "false,true",
        ),
        (
            "f.slice()[0] = 4; const own = f.slice(); own[0] = 4; own.join() + v.getInt8(0) + v.byteLength",
            "4,1,2,034",
        ),
    ] {
        assert_eq!(text(ctx, &format!("{{ {script} }}")), expected, "{script}");
    }
}
