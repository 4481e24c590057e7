//! Native loops that would run for minutes: the interrupt stops each soon, and neighbours run meanwhile.

use std::rc::Rc;
use std::time::{Duration, Instant};

use brunt_fiber::StackPool;

use crate::support::{Failure, NORMAL, Vu, in_real_time, pool, run};

/// How long each may run before it is told to stop; what it needs first (a long text) may take as long.
const PATIENCE: Duration = Duration::from_millis(150);

const SCRIPTS: &[(&str, &str)] = &[
    ("join", "Array(2**32 - 1).join('')"),
    ("join of what is array-like", "[].join.call({ length: 2**53 - 1 }, '')"),
    ("fill", "[].fill.call({ length: 2**53 - 1, set 5(x) {} }, 1, 2**40)"),
    (
        "fill of a long array",
        "Object.freeze([].fill.call(new Proxy({}, { get: () => 2**50, set: () => true }), 1))",
    ),
    ("index", "Array(2**32 - 1).indexOf(7) + Array(2**32 - 1).includes(7)"),
    ("last index", "Array(2**32 - 1).lastIndexOf(7)"),
    ("reverse", "[].reverse.call({ length: 2**53 - 1 })"),
    ("copyWithin", "[].copyWithin.call({ length: 2**53 - 1 }, 5)"),
    ("shift", "[].shift.call({ length: 2**53 - 1 })"),
    ("unshift", "[].unshift.call({ length: 2**53 - 2 }, 1)"),
    ("splice", "[].splice.call({ length: 2**53 - 1 }, 5, 1)"),
    ("slice", "[].slice.call({ length: 2**32 - 1 })"),
    ("concat", "[].concat({ length: 2**53 - 1, [Symbol.isConcatSpreadable]: true })"),
    ("flat", "[].flat.call({ length: 2**53 - 1 })"),
    ("sort of what is array-like", "[].sort.call({ length: 2**53 - 1 })"),
    ("map", "[].map.call({ length: 2**32 - 1 }, x => x)"),
    ("forEach", "[].forEach.call({ length: 2**53 - 1 }, x => x)"),
    ("reduceRight", "[].reduceRight.call({ length: 2**53 - 1 }, x => x)"),
    ("find", "[].findLast.call({ length: 2**53 - 1 }, x => x)"),
    ("from", "Array.from({ length: 2**32 - 1 })"),
    ("from an iterator", "Array.from((function* () { for (;;) yield 1 })(), x => x)"),
    (
        "spread",
        "[...{ [Symbol.iterator]: () => ({ next: Math.max.bind(null), __proto__: null, next: () => ({}) }) }]",
    ),
    (
        "map of what never ends",
        "new Map({ [Symbol.iterator]: () => ({ next: () => ({ value: [1] }) }) })",
    ),
    (
        "sort",
        "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort()",
    ),
    (
        "sort with a function",
        "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort((x, y) => x - y)",
    ),
    (
        "sort with a function of the language",
        "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort(Math.max)",
    ),
    (
        "typed sort",
        "const a = new Float64Array(2e7).map((_, i) => (i * 7919) % 1000003); for (;;) a.sort()",
    ),
    (
        "typed sort with a function",
        "const a = new Int32Array(2e6).map((_, i) => -i); for (;;) a.sort((x, y) => x - y)",
    ),
    ("typed join", "const a = new Uint8Array(3e7); for (;;) a.join()"),
    ("typed fill", "const a = new Float64Array(1e7); for (;;) a.fill(1)"),
    ("typed from", "Uint8Array.from({ length: 2**28 })"),
    ("a search that finds nearly", "for (;;) 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')"),
    ("a search from behind", "for (;;) 'a'.repeat(2e7).lastIndexOf('b' + 'a'.repeat(1e7))"),
    ("a search that answers yes or no", "for (;;) 'a'.repeat(2e7).includes('a'.repeat(1e7) + 'b')"),
    ("split", "for (;;) 'a'.repeat(2e7).split('a'.repeat(1e7) + 'b')"),
    ("split into letters", "for (;;) 'ab'.repeat(1e7).split('')"),
    ("replaceAll", "for (;;) 'a'.repeat(2e7).replaceAll('a'.repeat(1e7) + 'b', '')"),
    ("replaceAll of all", "for (;;) 'ab'.repeat(3e6).replaceAll('b', 'ccc')"),
    ("repeat", "for (;;) 'ab'.repeat(1e7)"),
    ("padStart", "for (;;) ''.padStart(2e7, 'abc')"),
    ("lower case", "const s = 'AB'.repeat(3e7); for (;;) s.toLowerCase()"),
    ("encodeURI of what needs no escapes", "const s = 'aé'.repeat(1e7); for (;;) encodeURI(s)"),
    ("encodeURI", "const s = 'ä '.repeat(1e7); for (;;) encodeURIComponent(s)"),
    ("decodeURI", "const s = '%41'.repeat(1e7); for (;;) decodeURIComponent(s)"),
    ("escape", "const s = 'é'.repeat(2e7); for (;;) unescape(escape(s))"),
    ("regex replace", "const s = 'ab'.repeat(1e7); for (;;) s.replace(/b/g, '')"),
    ("regex match", "'ab'.repeat(2e7).match(/b/g)"),
    ("regex split", "'ab'.repeat(2e7).split(/b/)"),
    ("regex that tries all", "/(a+)+b/.test('a'.repeat(40))"),
    ("stringify", "const a = Array.from({ length: 3e6 }, () => [1]); for (;;) JSON.stringify(a)"),
    (
        "stringify with indentation",
        "const a = Array.from({ length: 1e6 }, () => [1]); for (;;) JSON.stringify(a, null, 2)",
    ),
    (
        "keys",
        "const o = {}; for (let i = 0; i < 3e5; i++) o['k' + i] = i; for (;;) { Object.entries(o); ({ ...o }); Object.assign({}, o) }",
    ),
    ("powers", "for (;;) (3n ** 50000n) % (7n ** 20000n)"),
    ("long numbers", "const n = 3n ** 300000n; for (;;) BigInt(String(n))"),
    ("division of long numbers", "const [n, d] = [3n ** 60000n, 3n ** 30000n]; for (;;) n / d"),
    ("source text", "new Function('x;'.repeat(2e7))"),
    ("source text of one expression", "eval('1' + '+1'.repeat(2e7))"),
    ("code points", "for (;;) String.raw({ raw: { length: 2**50 } })"),
];

/// Runs a script that never ends, and says to it that it must; what is wrong with its end.
async fn told_to_stop(
    pool: &Rc<StackPool>,
    name: &str,
    script: &str,
    patience: Duration,
) -> Option<String> {
    let mut vu = Vu::new(pool);
    vu.vm.limit_memory(600 << 20);
    let began = Instant::now();
    vu.host.kill_at.set(Some(began + patience));
    let ended = vu.run(&format!("{{ {script} }}")).await;
    let took = began.elapsed();
    let over = vu.vm.ctx().take_over_limit();
    let slices = vu.host.slices.get();
    vu.host.kill_at.set(None);
    let again = vu.run("sleep(1); try { null.x } catch (e) { 'alive ' + e.name }").await;
    assert_eq!(again, Ok("alive TypeError".to_owned()), "{name}");
    // At most one of some turns was long.
    let is_slow = took > patience + Duration::from_secs(6);
    if ended == Err(Failure::Stopped) && over.is_none() && !is_slow && slices > 2 {
        return None;
    }
    let ended: String = format!("{ended:?}").chars().take(80).collect();
    Some(format!("{name}: {ended} {over:?} after {took:?}, {slices} turns"))
}

#[test]
fn native_loops_stop_soon_and_let_neighbours_run() {
    let pool = pool(NORMAL);
    let only = std::env::var("ONLY").ok();
    let mut wrong = Vec::new();
    in_real_time(async {
        for (name, script) in SCRIPTS {
            if only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            // Making ready takes a while on a machine that has other work: then there is more time.
            if told_to_stop(&pool, name, script, PATIENCE).await.is_some() {
                wrong.extend(told_to_stop(&pool, name, script, 10 * PATIENCE).await);
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn a_join_whose_separators_are_too_long_is_refused_at_once() {
    for join in ["Array(2**32 - 1).join()", "String(Array(2**32 - 1))", "Array(9e8).join('ab')"] {
        let script = format!("try {{ {join} }} catch (e) {{ e.name + ': ' + e.message }}");
        let (ended, _) = run(NORMAL, &script);
        assert_eq!(ended, Ok("RangeError: invalid string length".to_owned()), "{join}");
    }
}
