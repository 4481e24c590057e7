//! Globals made on demand and names shared by the VMs of a thread look like any others.

use crate::support::{NORMAL, SMALL, Vu, on_a_core, pool, run};

/// The globals that are made on demand, group by group.
const GROUPS: [&[&str]; 6] = [
    &["Date"],
    &["Map", "Set", "WeakMap", "WeakSet"],
    &[
        "ArrayBuffer",
        "SharedArrayBuffer",
        "Uint8ClampedArray",
        "Int8Array",
        "Uint8Array",
        "Int16Array",
        "Uint16Array",
        "Int32Array",
        "Uint32Array",
        "BigInt64Array",
        "BigUint64Array",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "DataView",
    ],
    &["Proxy"],
    &["WeakRef", "FinalizationRegistry"],
    &["DOMException"],
];

#[test]
fn a_global_is_there_whichever_way_one_looks_first() {
    let looks = [
        "typeof NAME === 'function'",
        "'NAME' in globalThis && Object.getOwnPropertyNames(globalThis).includes('NAME')",
        "(d => d.writable && d.configurable && !d.enumerable && d.value === NAME)(Object.getOwnPropertyDescriptor(globalThis, 'NAME'))",
        "NAME.name === 'NAME' && ('prototype' in NAME || 'NAME' === 'Proxy') && NAME === globalThis.NAME && NAME === NAME",
        "(f => f() === f() && f() === NAME)(() => NAME)",
        "!Object.keys(globalThis).includes('NAME')",
    ];
    for name in GROUPS.concat() {
        let mut vu = Vu::new(&pool(SMALL));
        for look in looks {
            let ended = on_a_core(vu.run(&look.replace("NAME", name)));
            assert_eq!(ended, Ok("true".to_owned()), "{name}: {look}");
        }
        for look in looks {
            let ended = run(SMALL, &look.replace("NAME", name)).0;
            assert_eq!(ended, Ok("true".to_owned()), "{name}: {look}, first");
        }
    }
}

#[test]
fn a_global_can_be_replaced_and_deleted_before_its_group_is_made() {
    for group in GROUPS {
        for &name in group {
            let others = group.iter().filter(|other| **other != name);
            let others: Vec<_> =
                others.map(|other| format!("&& typeof {other} === 'function'")).collect();
            let others = others.concat();
            for script in [
                format!("globalThis.{name} = 5; {name} === 5 {others}"),
                format!("{name} = 5; {name} === 5 {others}"),
                format!("var {name} = 5; {name} === 5 {others}"),
                format!("let {name} = 5; {name} === 5 {others}"),
                format!("function {name}() {{ return 5 }} {name}() === 5 {others}"),
                format!(
                    "Object.defineProperty(globalThis, '{name}', {{ get() {{ return 5 }} }}); {name} === 5 {others}"
                ),
                format!("delete globalThis.{name}; typeof {name} === 'undefined' {others}"),
                format!("Object.freeze(globalThis); typeof {name} === 'function' {others}"),
            ] {
                assert_eq!(run(SMALL, &script).0, Ok("true".to_owned()), "{script}");
            }
        }
    }
}

#[test]
fn native_code_finds_the_classes_that_a_script_took_away() {
    let vu = Vu::new(&pool(NORMAL));
    let ctx = vu.vm.ctx();
    ctx.eval("t", "delete globalThis.Date; delete globalThis.Proxy; delete globalThis.Uint8Array; delete globalThis.ArrayBuffer").unwrap();
    let date = ctx.date(0.0).unwrap();
    assert!(date.is_date());
    ctx.global().define("date", date).unwrap();
    ctx.global().define("bytes", ctx.uint8_array(vec![1, 2]).unwrap()).unwrap();
    let (target, handler) = (ctx.object().unwrap(), ctx.eval("t", "({ get: () => 7 })").unwrap());
    ctx.global().define("proxy", ctx.proxy(&target, &handler).unwrap()).unwrap();
    let text = ctx
        .eval("t", "[date.toISOString(), bytes.map(x => x * 2).join('+'), bytes.buffer.byteLength, proxy.x, typeof Date, typeof Int8Array].join()")
        .unwrap();
    assert_eq!(
        text.to_string_lossy().unwrap(),
        "1970-01-01T00:00:00.000Z,2+4,2,7,undefined,function"
    );
}

#[test]
fn groups_work_together() {
    let script = "
        const checks = [
            () => new Map([[1, 2]]).get(1) === 2 && new Set([1]).has(1),
            () => [...new Map([[1, 2]]).entries()].join() === '1,2' && [...new Set('ab')].join('') === 'ab',
            () => new Uint8Array([1, 2]) instanceof Object.getPrototypeOf(Uint8Array),
            () => Object.prototype.toString.call(new Float64Array(1)) === '[object Float64Array]',
            () => Uint8Array.fromBase64('AQI=').toHex() === '0102',
            () => new Date(0).getUTCFullYear() === 1970 && Date.UTC(1970) === 0,
            () => JSON.stringify({ d: new Date(0) }) === '{\"d\":\"1970-01-01T00:00:00.000Z\"}',
            () => Map.groupBy([1, 2, 3], x => x % 2).get(1).length === 2,
            () => { try { atob('*'); } catch (e) { return e instanceof DOMException && e instanceof Error && e.name === 'InvalidCharacterError'; } },
            () => atob(btoa('x')) === 'x',
            () => { class M extends Map {} return new M([[1, 1]]).size === 1; },
            () => new WeakRef({}).deref() !== null && new WeakMap([[Symbol.iterator, 1]]).get(Symbol.iterator) === 1,
            () => Reflect.ownKeys(new Proxy({ a: 1 }, {})).join() === 'a',
            () => BigInt.asUintN(8, 257n) === 1n && new BigUint64Array([5n])[0] === 5n,
            () => Atomics.load(new Int32Array([4]), 0) === 4,
            () => [...Iterator.zip([[1], [2]])].join() === '1,2',
        ];
        checks.filter(check => { try { return !check(); } catch (e) { log(check + ': ' + e); return true; } }).map(String).join('; ')";
    assert_eq!(run(NORMAL, script), (Ok(String::new()), vec![]));
    let again = format!(
        "Promise.resolve().then(() => Array.fromAsync([Promise.resolve(1)])).then(a => log(a.join())); {script}"
    );
    assert_eq!(run(NORMAL, &again), (Ok(String::new()), vec!["1".to_owned()]));
}

/// Names by the thousand make the table of names grow; the shared ones must still be found.
const MANY_NAMES: &str = "
    const o = {};
    for (let i = 0; i < 20000; i++) o['name' + i] = i;
    let wrong = 0;
    for (let i = 0; i < 20000; i += 7) if (o['na' + 'me' + i] !== i) wrong++;
    const own = ['map', 'toString', 'length', 'getUTCMilliseconds', 'copyWithin', 'constructor', 'get size', 'prototype'];
    for (const name of own) { const x = {}; x[name.slice(0, 2) + name.slice(2)] = name; if (x[name] !== name || Object.keys(x)[0] !== name) wrong++; }
    for (const key of Object.keys(o)) delete o[key];
    for (let i = 0; i < 100; i++) if (Symbol.for('s' + i) !== Symbol.for('s' + i) || String(Symbol('map')) !== 'Symbol(map)') wrong++;
    if ([1, 2].map(x => x + 1).join() !== '2,3' || ''['char' + 'At'](0) !== '') wrong++;
    wrong";

#[test]
fn names_are_shared_by_the_vms_of_a_thread_and_survive_each_of_them() {
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(std::thread::spawn(|| {
            let pool = pool(NORMAL);
            for round in 0..3 {
                let mut vus: Vec<_> = (0..6).map(|_| Vu::new(&pool)).collect();
                for vu in &mut vus {
                    assert_eq!(on_a_core(vu.run(MANY_NAMES)), Ok("0".to_owned()));
                }
                // Dropped in another order than made, with some left while new ones are made.
                vus.swap_remove(round);
                vus.swap_remove(0);
                vus.push(Vu::new(&pool));
                for vu in &mut vus {
                    assert_eq!(
                        on_a_core(vu.run(&format!("{{ {MANY_NAMES} }}"))),
                        Ok("0".to_owned())
                    );
                }
            }
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_symbol_of_the_engine_as_a_weak_key_is_each_vms_own() {
    let pool = pool(SMALL);
    let mut vus: Vec<_> = (0..4).map(|_| Vu::new(&pool)).collect();
    for (index, vu) in vus.iter_mut().enumerate() {
        let script = format!(
            "globalThis.weak = new WeakMap([[Symbol.iterator, {index}], [Symbol.match, 'm']]); 0"
        );
        assert_eq!(on_a_core(vu.run(&script)), Ok("0".to_owned()));
    }
    vus.remove(1);
    for vu in &mut vus {
        vu.vm.collect();
    }
    let found: Vec<_> =
        vus.iter_mut().map(|vu| on_a_core(vu.run("weak.get(Symbol.iterator)")).unwrap()).collect();
    assert_eq!(found, ["0", "2", "3"]);
}
