//! Rust values, kept properties, buffers and roots, with the collector running all the time.

use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_quickjs::name::Key;
use brunt_quickjs::{Class, Ctx, Hooks, JsResult, Members, Name, OverLimit, Own, PromiseState, Vm};

use crate::support::{NORMAL, Vu, on_a_core, pool};

/// A response as `k6/http` has them: some properties computed anew, some kept, one that fails.
struct Response {
    status: i32,
    computed: Rc<Cell<u32>>,
    alive: Rc<Cell<i32>>,
}

static STATUS: Name = Name::new("status");
static HEADERS: Name = Name::new("headers");
static TIMINGS: Name = Name::new("timings");
static BAD: Name = Name::new("bad");

impl Class for Response {
    const NAME: &'static CStr = c"Response";
    const EXOTIC: bool = true;
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"self", 0, |call| Ok(call.this())).getter(c"lazy", |call| {
                let this = call.this();
                let status = this.instance::<Response>().map_or(0, |response| response.status);
                Ok(call.ctx().int(status))
            })
        });
        &MEMBERS
    }
    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&STATUS) {
            return Ok(Own::Once(ctx.int(self.status)));
        }
        if key.is(&HEADERS) || key.is(&TIMINGS) {
            self.computed.set(self.computed.get() + 1);
            let object = ctx.object()?;
            object.set("of", ctx.int(self.status))?;
            return Ok(Own::Keep(object));
        }
        if key.is(&BAD) {
            return Err(ctx.throw_type("no such part"));
        }
        Ok(Own::None)
    }
    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 3] = [&STATUS, &HEADERS, &TIMINGS];
        &NAMES
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
    }
}

/// A VU whose global `make(status)` returns a response, and the counters of responses computed and alive.
fn vu() -> (Vu, Rc<Cell<u32>>, Rc<Cell<i32>>) {
    let vu = Vu::new(&pool(NORMAL));
    let (computed, alive) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let counters = (Rc::clone(&computed), Rc::clone(&alive));
    let ctx = vu.vm.ctx();
    let make = ctx
        .closure(c"make", 1, move |call| {
            counters.1.set(counters.1.get() + 1);
            let status = call.argument(0).to_integer()? as i32;
            let (computed, alive) = (Rc::clone(&counters.0), Rc::clone(&counters.1));
            call.ctx().instance(Response { status, computed, alive })
        })
        .unwrap();
    ctx.global().define("make", make).unwrap();
    let collect = {
        let vm = Rc::downgrade(&vu.vm);
        move |call: brunt_quickjs::Call<'_>| -> u32 {
            let _ = call;
            vm.upgrade().expect("a VM runs").collect();
            0
        }
    };
    let collect = ctx
        .closure(c"collect", 0, move |call| {
            collect(call);
            Ok(call.ctx().undefined())
        })
        .unwrap();
    ctx.global().define("collect", collect).unwrap();
    (vu, computed, alive)
}

fn eval(vu: &Vu, source: &str) -> String {
    let ctx = vu.vm.ctx();
    match ctx.eval("t.js", source) {
        Ok(value) => value.to_string_lossy().unwrap(),
        Err(_) => ctx.take_exception().unwrap().value.to_string_lossy().unwrap(),
    }
}

#[test]
fn kept_properties_are_computed_once_and_survive_collections() {
    let (vu, computed, alive) = vu();
    // The smallest threshold: the collector runs at nearly every new object.
    vu.vm.collect_beyond(1);
    let script = "
        let sum = 0;
        const all = [];
        for (let i = 0; i < 300; i++) {
            const r = make(i);
            r.headers.self = r;            // a cycle through a kept property
            r.timings.list = [r.headers];
            collect();
            if (r.headers !== r.headers || r.headers.of !== i || r.timings.list[0] !== r.headers) throw new Error('lost');
            if (i % 3 === 0) all.push(r);
            sum += r.self().lazy;
        }
        collect();
        for (const r of all) if (r.headers.self !== r || r.headers.of !== r.status) throw new Error('lost later');
        sum + ' ' + all.length";
    assert_eq!(eval(&vu, script), "44850 100");
    assert_eq!(computed.get(), 600);
    vu.vm.collect();
    // `const` at the top level of a script lives as long as the VM.
    assert!((100..=101).contains(&alive.get()), "{}", alive.get());
    drop(vu);
    assert_eq!(alive.get(), 0);
}

#[test]
fn computed_properties_enumerate_assign_and_throw_like_real_ones() {
    let (vu, ..) = vu();
    assert_eq!(
        eval(&vu, "var r = make(7); JSON.stringify(r)"),
        r#"{"status":7,"headers":{"of":7},"timings":{"of":7}}"#
    );
    assert_eq!(
        eval(
            &vu,
            "Object.keys(r).join() + ' ' + ('status' in r) + ('none' in r) + r.hasOwnProperty('headers')"
        ),
        "status,headers,timings truefalsetrue"
    );
    assert_eq!(
        eval(&vu, "r.status = 'new'; Object.keys(r).join() + r.status"),
        "status,headers,timingsnew"
    );
    assert_eq!(eval(&vu, "r.bad"), "TypeError: no such part");
    assert_eq!(
        eval(&vu, "const { status, ...rest } = make(1); Object.keys(rest).join()"),
        "headers,timings"
    );
    assert_eq!(
        eval(&vu, "Object.entries(make(2)).length + ' ' + Object.assign({}, make(3)).status"),
        "3 3"
    );
}

/// Computing its only property runs a script.
struct Growing;

impl Class for Growing {
    const NAME: &'static CStr = c"Growing";
    const EXOTIC: bool = true;
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(Members::new);
        &MEMBERS
    }
    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&STATUS) { Ok(Own::Once(ctx.eval("grow.js", "grow()")?)) } else { Ok(Own::None) }
    }
    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 1] = [&STATUS];
        &NAMES
    }
}

#[test]
fn an_object_that_grows_while_its_keys_are_listed_has_them_all() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    ctx.global().set("it", ctx.instance(Growing).unwrap()).unwrap();
    let grow = "function grow() { for (let i = 0; i < 500; i++) it['added' + i] = i; return 7 } 1";
    assert_eq!(eval(&vu, grow), "1");
    // `Object.keys` asks for the properties after it has listed them; `for in` asks meanwhile.
    let list = "var keys = []; for (const key in it) keys.push(key);
        [keys.length, keys[0], keys[499], keys[500]].join()";
    assert_eq!(eval(&vu, list), "501,added0,added499,status");
}

#[test]
fn assigning_through_an_heir_leaves_the_response_alone() {
    let (vu, ..) = vu();
    assert_eq!(
        eval(
            &vu,
            "var base = make(1), heir = Object.create(base); heir.status = 5; heir.extra = 6; [base.status, base.extra, heir.status, Object.keys(heir)].join()"
        ),
        "1,,5,status,extra"
    );
}

#[test]
fn instances_are_told_apart_from_other_objects() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    for source in
        ["({})", "[]", "1", "'x'", "null", "new Proxy(make(1), {})", "Object.create(make(1))"]
    {
        assert!(ctx.eval("t", source).unwrap().instance::<Response>().is_none(), "{source}");
    }
    assert_eq!(ctx.eval("t", "make(9)").unwrap().instance::<Response>().unwrap().status, 9);
}

#[test]
fn roots_keep_their_values_until_they_are_given_back() {
    let (vu, _, alive) = vu();
    let ctx = vu.vm.ctx();
    let roots: Vec<_> = (0..100).map(|_| ctx.root(ctx.eval("t", "make(4)").unwrap())).collect();
    vu.vm.collect();
    assert_eq!((alive.get(), ctx.root_count()), (100, 100));
    for root in roots {
        assert_eq!(ctx.rooted(&root).instance::<Response>().unwrap().status, 4);
        drop(ctx.unroot(root));
    }
    assert_eq!((alive.get(), ctx.root_count()), (0, 0));
    // One that is dropped goes when the next one is kept.
    drop(ctx.root(ctx.eval("t", "make(6)").unwrap()));
    drop(ctx.root(ctx.eval("t", "make(6)").unwrap()));
    assert_eq!((alive.get(), ctx.root_count()), (1, 1));
    ctx.free_dropped_roots();
    assert_eq!((alive.get(), ctx.root_count()), (0, 0));
    let forgotten = ctx.root(ctx.eval("t", "make(5)").unwrap());
    assert_eq!(alive.get(), 1);
    drop(vu);
    assert_eq!(alive.get(), 0);
    drop(forgotten);
}

#[test]
#[should_panic(expected = "in the VM that it came from")]
fn a_value_of_another_vm_is_refused() {
    let (one, ..) = vu();
    let (two, ..) = vu();
    let value = one.vm.ctx().object().unwrap();
    let _ = two.vm.ctx().global().set("x", value);
}

#[test]
fn buffers_are_lent_copied_and_detached() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    let bytes =
        |source: &str| ctx.eval("t", source).unwrap().bytes().map(brunt_quickjs::Bytes::to_vec);
    assert_eq!(bytes("new Uint8Array([1, 2, 3]).subarray(1)"), Some(vec![2, 3]));
    assert_eq!(bytes("new Uint16Array([0x0201])"), Some(vec![1, 2]));
    assert_eq!(bytes("new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)"), Some(vec![2]));
    assert_eq!(bytes("new ArrayBuffer(0)"), Some(vec![]));
    assert_eq!(bytes("new Float64Array(0)"), Some(vec![]));
    assert_eq!(bytes("'text'"), None);
    let array = ctx.uint8_array(vec![1, 2, 3]).unwrap();
    assert_eq!(array.with_bytes_mut(<[u8]>::reverse), Some(()));
    ctx.global().define("a", array).unwrap();
    assert_eq!(eval(&vu, "a.join()"), "3,2,1");
    assert_eq!(eval(&vu, "var b = a.buffer.transfer(); a.length + ' ' + b.byteLength"), "0 3");
    assert_eq!(ctx.eval("t", "b").unwrap().bytes().unwrap().as_slice(), [3, 2, 1]);
    assert_eq!(
        eval(&vu, "b = b.transfer(100); b.byteLength + ' ' + new Uint8Array(b)[0]"),
        "100 3"
    );
    assert_eq!(eval(&vu, "var c = new Uint8Array(b); b.transfer(0); c.length"), "0");
    assert!(ctx.eval("t", "c").unwrap().bytes().is_none());
    assert_eq!(ctx.eval("t", "b").unwrap().bytes().map(brunt_quickjs::Bytes::to_vec), None);
    let big = ctx.array_buffer(vec![7; 1 << 20]).unwrap();
    assert_eq!(big.with_bytes(<[u8]>::len), Some(1 << 20));
}

#[test]
fn a_data_view_that_lies_about_its_buffer_lends_the_true_one() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    let view = ctx
        .eval(
            "t",
            "const view = new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2);
             Object.defineProperty(view, 'buffer', { get() { return new ArrayBuffer(1000) } });
             Object.defineProperty(view, 'byteOffset', { value: 500 });
             Object.defineProperty(view, 'byteLength', { value: 400 });
             view",
        )
        .unwrap();
    assert_eq!(view.with_bytes(<[u8]>::to_vec), Some(vec![2, 3]));
}

#[test]
fn json_is_parsed_without_running_the_script() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    eval(
        &vu,
        "var ran = 0; Object.defineProperty(Object.prototype, 'a', { set(x) { ran++; throw new Error('setter') } }); Object.defineProperty(Array.prototype, '0', { set(x) { ran++ } })",
    );
    let value = ctx.parse_json(br#"[{"a":{"b":[1]}},{"a":2,"c":3}]"#).unwrap();
    ctx.global().define("value", value).unwrap();
    assert_eq!(eval(&vu, "ran"), "0");
    assert_eq!(eval(&vu, "JSON.stringify(value)"), r#"[{"a":{"b":[1]}},{"a":2,"c":3}]"#);
    eval(&vu, "ran = 0");
    static A: Name = Name::new("a");
    static B: Name = Name::new("b");
    for _ in 0..100 {
        let text = ctx.string("kept").unwrap();
        let made = ctx.object_from([(&B, text.clone()), (&A, text)]).unwrap();
        assert_eq!(made.get("a").unwrap().to_string_lossy().unwrap(), "kept");
    }
    assert_eq!(eval(&vu, "ran"), "0");
}

#[test]
fn broken_json_of_every_kind_frees_what_it_made() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    let whole = r#"{"key":[1,{"inner":"text \u00e9 \ud83d\ude00","key":null},[],{}],"é":-1.5e3,"dup":1,"dup":{"x":[true]},"__proto__":[false]}"#;
    let expected = ctx.eval("t", "t => JSON.stringify(JSON.parse(t))").unwrap();
    let expected = expected.call(&ctx.undefined(), &[ctx.string(whole).unwrap()]).unwrap();
    let value = ctx.parse_json(whole.as_bytes()).unwrap();
    assert_eq!(ctx.stringify_json(&value).unwrap().unwrap(), expected.to_string_lossy().unwrap());
    for end in 0..whole.len() {
        assert!(ctx.parse_json(&whole.as_bytes()[..end]).is_err());
        for byte in [b'"', b'{', b'}', b']', b',', b':', b'\\', 0, 0xFF] {
            let mut broken = whole.as_bytes().to_vec();
            broken[end] = byte;
            drop(ctx.parse_json(&broken));
            broken.insert(end, byte);
            drop(ctx.parse_json(&broken));
        }
    }
}

#[test]
fn a_heap_that_grows_past_its_limit_stops_the_script_and_the_vm_goes_on() {
    let (vu, ..) = vu();
    let ctx = vu.vm.ctx();
    vu.vm.limit_memory(usize::try_from(vu.vm.memory().allocated).unwrap() + 1_000_000);
    for hungry in [
        "(() => { const a = []; for (;;) a.push({ a }); })()",
        "(() => { let s = 'x'; for (;;) { try { s = s + s.slice(0, 1000) + 'y'; } catch { } } })()",
        "(() => { const m = new Map(); for (let i = 0; ; i++) m.set(i, [i]); })()",
    ] {
        assert!(ctx.eval("t", hungry).is_err());
        assert!(ctx.take_exception().unwrap().uncatchable, "{hungry}");
        assert!(matches!(ctx.take_over_limit(), Some(OverLimit::Vm(_))));
        assert_eq!(ctx.take_over_limit(), None);
        vu.vm.collect();
        assert_eq!(eval(&vu, "[1, 2].map(x => x + 1).join()"), "2,3");
    }
}

#[test]
fn promises_are_settled_while_their_vu_is_suspended() {
    let (mut vu, ..) = vu();
    let ctx = vu.vm.ctx();
    let (promise, deferred) = ctx.promise().unwrap();
    ctx.global().define("later", promise).unwrap();
    on_a_core(async {
        vu.start_with(move |ctx| {
            ctx.eval("t", "later.then(v => { sleep(1); log('got ' + v.x); })")?;
            let value = ctx.eval("t", "sleep(1); ({ x: 5 })")?;
            ctx.settle(deferred, Ok(value))?;
            Ok("settled".to_owned())
        });
        assert_eq!(vu.finish().await, Ok("settled".to_owned()));
    });
    assert_eq!(vu.log(), ["got 5"]);
    vu.vm.on_this_stack(NORMAL);
    let promise = vu.vm.ctx().eval("t", "later").unwrap();
    assert!(matches!(promise.promise_state(), Some(PromiseState::Fulfilled(_))));
}

#[test]
#[should_panic(expected = "entered from the stack that was announced")]
fn a_suspended_vm_is_not_entered_from_another_stack() {
    let (mut vu, ..) = vu();
    on_a_core(async {
        vu.start("sleep(1e9)");
        tokio::select! {
            biased;
            _ = vu.finish() => unreachable!("it does not end"),
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
        }
        let _ = vu.vm.ctx().eval("t", "1");
    });
}

#[test]
#[should_panic(expected = "suspended stays on its stack")]
fn a_suspended_vm_is_not_moved_to_another_stack() {
    let (mut vu, ..) = vu();
    on_a_core(async {
        vu.start("sleep(1e9)");
        tokio::select! {
            biased;
            _ = vu.finish() => unreachable!("it does not end"),
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
        }
        vu.vm.on_this_stack(NORMAL);
    });
}

#[test]
fn a_destructor_that_reaches_for_its_vm_is_refused() {
    struct Reaches(std::rc::Weak<brunt_quickjs::Vm>, Rc<Cell<u32>>);
    impl Class for Reaches {
        const NAME: &'static CStr = c"Reaches";
        fn members() -> &'static Members {
            static MEMBERS: Members = Members::new();
            &MEMBERS
        }
    }
    impl Drop for Reaches {
        fn drop(&mut self) {
            if let Some(vm) = self.0.upgrade() {
                self.1.set(self.1.get() + 1);
                let _ = vm.ctx().eval("t", "1 + 1");
                self.1.set(self.1.get() + 100);
            }
        }
    }
    let (vu, ..) = vu();
    let reached = Rc::new(Cell::new(0));
    let ctx = vu.vm.ctx();
    for _ in 0..3 {
        let object = ctx.instance(Reaches(Rc::downgrade(&vu.vm), Rc::clone(&reached))).unwrap();
        drop(object);
    }
    // A cycle, so that the collector runs the destructor.
    let object = ctx.instance(Reaches(Rc::downgrade(&vu.vm), Rc::clone(&reached))).unwrap();
    object.set("me", object.clone()).unwrap();
    drop(object);
    vu.vm.collect();
    assert_eq!(reached.get(), 4);
    assert_eq!(eval(&vu, "1 + 1"), "2");
}

/// Plain data is written in one go, all else by the engine; a replacer of `null` asks for the latter.
#[test]
fn plain_data_is_written_as_the_engine_writes_it() {
    let (vu, ..) = vu();
    let values = [
        "{}",
        "[]",
        "[[], {}, [[1]], { a: { b: [] } }]",
        "[1, -1, 0, -0, 2147483648, -2147483648, 1.5, 1e21, 1e-7, 5e-324, 0.1 + 0.2, NaN, Infinity]",
        "[0.5, -0.25, 99.99, 0.0001, 0.00011, 1e-5, -1234.5678, 999999999.9999, 1e9 + 0.5, 4294967296.5, 0.30000000000000004]",
        "(() => { const list = []; for (let i = 1; i < 999; i++) list.push(i / 7, i * 1.1, -i / 1e3, i * 1e5 + i / 1e4, Math.sqrt(i)); return list })()",
        "[true, false, null, undefined, , 3]",
        "['', 'a', 'é', 'ÿ', '€', '😀', '\\ud800', 'a\"b\\\\c/', '\\b\\t\\n\\f\\r\\0\\x1f\\x7f\\u2028']",
        "{ '': 1, 'a\"': 2, 'é': 3, '€': 4, '\\n': 5, '-1': 6, '1a': 7 }",
        "{ b: 1, 10: 2, a: 3, 2: 4, 4294967295: 5 }",
        "{ a: undefined, b: () => 1, c: Symbol('x'), d: 1, [Symbol('y')]: 2 }",
        "[() => 1, Symbol('x')]",
        "Object.assign(Object.create(null), { a: 1 })",
        "Object.assign(Object.create({ toJSON() { return 7 } }), { a: 1 })",
        "Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })",
        "{ get a() { return [1, { toJSON: () => 8 }] } }",
        "[{ toJSON() { return 9 } }, { toJSON: 5 }]",
        "Object.assign([1, 2], { toJSON() { return 'list' } })",
        "Object.assign([1, 2], { more: 3 })",
        "(() => { const list = [1, 2, 3]; list.length = 5; delete list[1]; return list })()",
        "(() => { const o = { a: 1, b: 2, c: 3 }; delete o.b; o.d = 4; return o })()",
        "(() => { let d = [1]; for (let i = 0; i < 300; i++) d = i % 2 ? [d] : { d }; return d })()",
        "[new Date(0), /x/, new Map([[1, 2]]), new Number(5), new String('s'), new Boolean(false)]",
        "[new Uint8Array([1, 2]), new ArrayBuffer(2), new Error('x'), new Proxy([1], {}), new (class { x = 1 })]",
        "[Object.freeze({ a: [1] }), Object.freeze([1, 2]), 'rope'.repeat(3) + [1].join() + 'x'.repeat(5000)]",
        "(function () { return arguments })(1, 2)",
        "'text'",
        "undefined",
    ];
    for value in values {
        let script = format!(
            "var quick = JSON.stringify({value}), slow = JSON.stringify({value}, null); quick === slow ? 'same' : (quick + ' is not ' + slow).slice(0, 9999)"
        );
        assert_eq!(eval(&vu, &script), "same", "{value}");
    }
    let odd = [
        ("Object.prototype.toJSON = function () { return 'o' }", "\"o\""),
        ("delete Object.prototype.toJSON; Array.prototype.toJSON = () => 'a'", "{\"a\":\"a\"}"),
        ("delete Array.prototype.toJSON", "{\"a\":[1]}"),
    ];
    for (change, expected) in odd {
        assert_eq!(eval(&vu, &format!("{change}; JSON.stringify({{ a: [1] }})")), expected);
    }
    let cycle = "var c = { a: [] }; c.a.push(c); try { JSON.stringify(c) } catch (e) { e.name }";
    assert_eq!(eval(&vu, cycle), "TypeError");
}

/// Numbers from 1 on, as a native iterator.
struct Count(Cell<i32>);

impl Class for Count {
    const NAME: &'static CStr = c"Count";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().next(|call| {
                let this = call.this();
                let Some(Count(left)) = this.instance::<Count>() else {
                    return Err(call.ctx().throw_type("no Count"));
                };
                left.set(left.get() - 1);
                Ok((left.get() >= 0).then(|| call.ctx().int(left.get())))
            })
        });
        &MEMBERS
    }
}

#[test]
fn a_native_iterator_gives_its_values_to_loops_and_objects_to_others() {
    on_a_core(async {
        let mut vu = Vu::new(&pool(NORMAL));
        {
            let ctx = vu.vm.ctx();
            ctx.global().define("count", ctx.instance(Count(Cell::new(5))).unwrap()).unwrap();
        }
        let script = "count[Symbol.iterator] = function () { return this };
            const first = JSON.stringify(count.next()), seen = [];
            for (const n of count) seen.push(n);
            let wrong; try { count.next.call({}) } catch (e) { wrong = e.name }
            let inLoop; try { for (const x of { [Symbol.iterator]: () => ({ next: count.next }) }); } catch (e) { inLoop = e.name }
            [first, seen, JSON.stringify(count.next()), wrong, inLoop].join(' ')";
        let ended = vu.run(script).await;
        assert_eq!(
            ended.unwrap(),
            r#"{"value":4,"done":false} 3,2,1,0 {"done":true} TypeError TypeError"#
        );
    });
}

#[test]
fn objects_by_a_pattern_have_its_properties_in_its_order() {
    let vm = Vm::new(Rc::new(()), Hooks::default(), NORMAL);
    let ctx = vm.ctx();
    let (pattern, places) = ctx.pattern(&["id", "a", "2", "a", "__proto__"]).unwrap();
    assert_eq!(places, [0, 2, 3, 4]);
    let many: Vec<_> = (0..40).map(|n| format!("c{n}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let (wide, _) = ctx.pattern(&many).unwrap();
    for round in 0..3 {
        let mut values: Vec<_> = (0..4).map(|n| ctx.int(n + round)).collect();
        let made = ctx.object_by(&pattern, &mut values).unwrap();
        assert!(values.is_empty());
        let told = ctx.stringify_json(&made).unwrap().unwrap();
        assert_eq!(
            told,
            format!(
                r#"{{"2":{},"id":{round},"a":{},"__proto__":{}}}"#,
                round + 1,
                round + 2,
                round + 3
            )
        );
        let mut values: Vec<_> = (0..40).map(|n| ctx.int(n)).collect();
        let made = ctx.object_by(&wide, &mut values).unwrap();
        assert_eq!(made.get("c39").unwrap().as_number(), Some(39.0));
        // A change of one object leaves the next as it is.
        made.delete("c0").unwrap();
    }
    ctx.eval("t.js", "Object.prototype.x = 1").unwrap();
    let (empty, _) = ctx.pattern(&[]).unwrap();
    let made = ctx.object_by(&empty, &mut Vec::new()).unwrap();
    assert!(empty.is_empty() && made.keys().unwrap().is_empty());
}

#[test]
fn bytes_become_an_array_of_numbers() {
    let vm = Vm::new(Rc::new(()), Hooks::default(), NORMAL);
    let ctx = vm.ctx();
    for count in [0, 1, 256, 257, 100_000] {
        let bytes: Vec<u8> = (0..count).map(|n| (n % 251) as u8).collect();
        ctx.global().define("made", ctx.array_of_bytes(&bytes).unwrap()).unwrap();
        let script = "Array.isArray(made) && made.every((n, i) => n === i % 251) && made.push(5) === made.length";
        assert!(ctx.eval("t.js", script).unwrap().truthy(), "{count}");
        let length = ctx.global().get("made").unwrap().length().unwrap();
        assert_eq!(length, count + 1);
    }
}
