//! Modules, positions, the event loop, and what `k6`, `k6/metrics` and `k6/execution` do, as scripts see them.

use crate::support::{Told, brunt};

/// Runs `s.js` with the files beside it; it must end well. Returns what it logged, one message a line.
fn logged(script: &str, files: &[(&str, &str)]) -> Vec<String> {
    let told = run("s.js", script, files, "");
    assert_eq!(told.code, 0, "{told:?}");
    messages(&told)
}

fn run(name: &str, script: &str, files: &[(&str, &str)], flags: &str) -> Told {
    let mut call = brunt(&format!("run -q --no-summary --log-format raw {name} {flags}"));
    for (file, text) in files {
        call = call.file(file, text);
    }
    call.file(name, script).told()
}

fn messages(told: &Told) -> Vec<String> {
    told.stderr.lines().map(str::to_owned).collect()
}

/// A script whose default function throws an exception, and parts of what is told about it.
fn check_thrown(name: &str, script: &str, files: &[(&str, &str)], parts: &[&str]) {
    let told = run(name, script, files, "");
    assert_eq!(told.code, 0, "{told:?}");
    for part in parts {
        assert!(told.stderr.contains(part), "no {part:?} for {script}\n{}", told.stderr);
    }
}

const CJS: &str = "exports.foo = () => 'foo'; exports.n = 1;";
const ESM: &str = "export const a = 1; export default function () { return 'd'; }";
const LOG: &str = "if (__VU === 0 && !globalThis.told) { globalThis.told = true; ";

#[test]
fn every_form_of_import_finds_every_kind_of_module() {
    let script = "
        import { foo, missing } from './cjs.js';
        import cjs from './cjs.js';
        import * as ns from './cjs.js';
        import fn, { extra } from './fn.js';
        import made, { named } from './made.js';
        import * as esm from './esm.js';
        import data from './d.json';
        import same, { list } from './d.json' with { type: 'json' };
        import http, { get, nope } from 'k6/http';
        import * as all from 'k6/http';
        import k6, { check } from 'k6';
        const lazy = await import('./lib/' + ['late', 'js'].join('.'));
        const late = require('./lib/' + 'c' + 'js.js');
        export const options = { iterations: 1 };
        export default function () {
          console.log(foo(), missing, cjs.n, ns.foo(), ns.n, fn(), extra, made.d, named);
          console.log(esm.a, esm.default(), data.list.length, same === data, list[0]);
          console.log(get === http.get, nope, all.default === http, all.get === get, k6.check === check);
          console.log(lazy.deep, late.here, this === undefined);
        }";
    let files = [
        ("cjs.js", CJS),
        ("fn.js", "module.exports = () => 'fn'; module.exports.extra = 7;"),
        ("made.js", "exports.__esModule = true; exports.default = { d: 1 }; exports.named = 2;"),
        ("esm.js", ESM),
        ("d.json", r#"{ "list": [5, 6] }"#),
        ("lib/late.js", "import { a } from '../esm.js'; export const deep = a + 1;"),
        ("lib/cjs.js", "exports.here = require('./leaf.js');"),
        ("lib/leaf.js", "module.exports = 'leaf';"),
    ];
    let expected = [
        "foo undefined 1 foo 1 fn 7 1 2",
        "1 d 2 true 5",
        "true undefined false true true",
        "2 leaf true",
    ];
    let logged = logged(script, &files);
    // Names that a module of k6 lacks are told of, and the script runs.
    let missing = "\"k6/http\" does not export \"nope\" (file:///";
    assert!(logged[0].starts_with(missing) && logged[0].ends_with("/s.js:10:41)"), "{logged:?}");
    assert_eq!(logged[1..], expected);
}

#[test]
fn commonjs_requires_everything_and_shares_what_it_got() {
    let script = "
        const cjs = require('./cjs.js'), esm = require('./esm.js'), http = require('k6/http');
        const { check } = require('k6');
        const first = require('./one.js');
        const tried = (f) => { try { return f(); } catch (e) { return String(e); } };
        exports.options = { iterations: 1 };
        exports.default = function () {
          console.log(cjs.foo(), esm.a, esm.default(), typeof http.get, typeof check, http === first.http);
          console.log(first.two.saw, first.two.one === first, require === first.require);
          console.log(tried(() => require('k6')));
        };
        const facts = [tried(() => require('./nope.js')), tried(() => require('lodash')), tried(() => require(''))];
        if (__VU === 0) module.exports.setup = () => facts.forEach((fact) => console.log(fact));";
    let files = [
        ("cjs.js", CJS),
        ("esm.js", ESM),
        (
            "one.js",
            "exports.early = 1; exports.http = require('k6/http'); exports.require = require; \
             exports.two = require('./two.js');",
        ),
        (
            "two.js",
            "const one = require('./one.js'); exports.saw = Object.keys(one).join(); exports.one = one;",
        ),
    ];
    let lines = logged(script, &files);
    assert!(lines[0].contains("nope.js") && lines[0].contains("does not exist"), "{lines:?}");
    assert!(lines[1].contains("\"lodash\" is neither a built-in module nor a path"), "{lines:?}");
    assert!(lines[2].contains("empty specifier"), "{lines:?}");
    assert_eq!(lines[3], "foo 1 d function function true");
    assert_eq!(lines[4], "early,http,require true true");
    assert!(lines[5].contains("only available in the init stage"), "{lines:?}");
}

/// The exports lead to themselves. Each read went deeper in native code, until there was no stack and no process.
#[test]
fn a_module_that_exports_itself_ends_the_read_and_not_the_process() {
    let script = "
        import { x } from './itself.js';
        import * as all from './itself.js';
        const told = (read) => { try { return read(); } catch (e) { return e.name; } };
        export default function () {
          console.log([() => x, () => all.x, () => Object.keys(all), () => 'x' in all].map(told).join());
        }";
    let files = [
        ("itself.js", "exports.x = 1; module.exports = require('./back.js').itself;"),
        ("back.js", "import * as itself from './itself.js'; export { itself };"),
    ];
    assert_eq!(logged(script, &files), ["RangeError,RangeError,RangeError,true"]);
    let script =
        "import { x, y } from './heir.js'; export default function () { console.log(x, y); }";
    let files = [
        ("heir.js", "exports.x = 1; Object.setPrototypeOf(exports, require('./back.js').heir);"),
        ("back.js", "import * as heir from './heir.js'; export { heir };"),
    ];
    let told = run("s.js", script, &files, "");
    assert!(told.code >= 0, "a signal ended it: {told:?}");
}

#[test]
fn es_modules_may_form_circles_and_resolve_their_paths() {
    let script = "
        import { both, where } from './lib/a.js';
        export default function () { console.log(both(), where === import.meta.resolve('./lib/x.txt')); }";
    let files = [
        (
            "lib/a.js",
            "import { b } from './b.js'; export const a = 'A'; export const both = () => a + b();\
             export const where = import.meta.resolve('./x.txt');",
        ),
        ("lib/b.js", "import { a } from './a.js'; export function b() { return 'B' + a; }"),
    ];
    assert_eq!(logged(script, &files), ["ABA true"]);
}

#[test]
fn a_namespace_shows_what_commonjs_exports_even_if_that_requires_es_modules() {
    let script = "
        import * as ns from './c.js';
        import { helper } from './e.js';
        import * as umd from './umd.js';
        export default () => console.log(ns.use(), ns.k, helper(), umd.version);";
    let files = [
        ("c.js", "const e = require('./e.js'); exports.use = () => e.helper(); exports.k = 1;"),
        ("e.js", "export function helper() { return 'h'; }"),
        (
            "umd.js",
            "(function (root, make) { if (typeof module === 'object' && module.exports) module.exports = make(); \
             else root.lib = make(); })(this, function () { return { version: 3 }; });",
        ),
    ];
    assert_eq!(logged(script, &files), ["h 1 h 3"]);
}

#[test]
fn an_es_module_that_touches_module_or_exports_is_told_so() {
    let script = "
        const hint = (f) => { try { f(); } catch (e) { return e.message; } };
        const first = hint(() => { module.exports = {}; }), second = hint(() => typeof exports);
        export default function () { console.log(first); console.log(second); }";
    let lines = logged(script, &[]);
    assert!(lines[0].starts_with("\"module\" is used in an ES module"), "{lines:?}");
    assert!(lines[1].starts_with("\"exports\" is used in an ES module"), "{lines:?}");
}

#[test]
fn open_counts_from_the_file_that_is_being_loaded() {
    let script = "
        import { top, load } from './lib/h.js';
        const tried = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };
        const facts = [
          top, tried(() => load('./x.txt')), tried(() => open('x.txt', 'b').byteLength),
          tried(() => open(import.meta.resolve('./lib/x.txt'))), tried(() => typeof open('./x.txt', 'rb')),
          tried(() => open('./nope.txt')), tried(() => open('./lib')), tried(() => open('')),
          __VU > 0 ? tried(() => open('./s.js')) : '',
        ];
        export function setup() {}
        export default function () { facts.forEach((f) => console.log(f)); console.log(tried(() => open('./x.txt'))); }";
    let files = [
        ("x.txt", "root"),
        ("lib/x.txt", "lib"),
        ("lib/h.js", "export const top = open('./x.txt'); export const load = (p) => open(p);"),
    ];
    let lines = logged(script, &files);
    let warnings = lines.iter().filter(|line| line.contains("is relative to")).count();
    assert_eq!(warnings, 1, "{lines:?}");
    let lines: Vec<_> =
        lines.iter().skip_while(|line| *line != "lib").map(String::as_str).collect();
    assert_eq!(lines[..5], ["lib", "root", "4", "lib", "string"]);
    assert!(lines[5].starts_with("GoError: ") && lines[5].contains("nope.txt"), "{lines:?}");
    assert!(lines[6].contains("can't be used with directories"), "{lines:?}");
    assert!(lines[7].contains("empty filename"), "{lines:?}");
    assert!(
        lines[8].contains("weren't previously opened") && lines[8].contains("__VU==0"),
        "{lines:?}"
    );
    assert!(lines[9].contains("only available in the init stage"), "{lines:?}");
}

#[test]
fn places_in_stacks_are_exact_on_every_line_and_in_every_kind_of_file() {
    let script = "import { boom } from './esm.js';\n\
                  export default function () {\n  const inner = () => boom(\n    1);\n  inner();\n}\n";
    let files = [("esm.js", "export function boom(x) { throw new Error(\n'x' + x); }")];
    check_thrown(
        "s.js",
        script,
        &files,
        &[
            "Error: x1\n\tat boom (file://",
            "esm.js:1:33(",
            "\tat inner (file://",
            "s.js:3:27(",
            "s.js:5:8(",
        ],
    );
    check_thrown(
        "s.js",
        "export default function () { null.x; }",
        &[],
        &["TypeError", "s.js:1:35("],
    );
    let cjs =
        "exports.default = function () { inner(); }; function inner() { throw new Error('c'); }";
    check_thrown(
        "s.js",
        cjs,
        &[],
        &["Error: c\n\tat inner (file://", "s.js:1:97(", "\tat file://", "s.js:1:65("],
    );
    let anonymous = "export default () => { [1].map((x) => { throw x; }); }";
    check_thrown(
        "s.js",
        anonymous,
        &[],
        &["1\n\tat file://", "s.js:1:41(", "\tat map (native)", "s.js:1:31("],
    );
}

#[test]
fn places_of_typescript_are_the_authors() {
    let script = "interface A { b: number }\nenum E { X = 1, Y }\nconst a: A = { b: E.Y };\n\
                  export default function (): void {\n  const e = new Error('typed');\n  \
                  console.log((e.stack as string).includes('s.ts:5:12('));\n  throw e;\n}\n";
    check_thrown(
        "s.ts",
        script,
        &[],
        &["true\n", "Error: typed\n\tat default (file://", "s.ts:5:12("],
    );
    let blanked =
        "export default function (): void { const n: number = 1; throw new Error('é' + n); }";
    check_thrown("s.ts", blanked, &[], &["s.ts:1:62("]);
}

#[test]
fn typescript_runs_with_what_needs_code() {
    let script = "
        enum E { X = 1, Y }
        namespace N { export const z = 3; }
        class P { constructor(public q: number, private readonly r = 2) {} sum(): number { return this.q + this.r; } }
        const f = <T extends { b: number }>(a: T): number => (a as { b: number }).b!;
        const v = { b: E.Y } satisfies { b: number };
        export default function (): void { console.log(f(v), E[1], N.z, new P(5).sum()); }";
    let told = run("s.ts", script, &[], "");
    assert_eq!((told.code, told.stderr.as_str()), (0, "2 X 3 7\n"));
}

#[test]
fn decorators_of_both_kinds_decorate() {
    let script = include_str!("language/decorators.ts");
    let told = run("s.ts", script, &[], "");
    let expected = include_str!("language/decorators.txt");
    assert_eq!((told.code, told.stderr.as_str()), (0, expected));
    let script = "const d = (value, { kind, name }) => console.log(kind, name);\n\
        @d export default class A { @d x = 1; @d y() {} }\nexport const options = { scenarios: {} };";
    let told = run("s.js", script, &[], "");
    assert!(told.stderr.starts_with("field x\nmethod y\nclass A\n"), "{told:?}");
}

#[test]
fn unhandled_rejections_and_timers_that_throw_end_the_iteration() {
    let script = "
        export const options = { iterations: 7 };
        const cases = [
          async () => { await null; throw new Error('async'); },
          () => { Promise.reject('text'); },
          () => { setTimeout(function tick() { throw new Error('timer'); }, 1); setTimeout(() => {}, 9000); setInterval(() => {}, 9000); },
          async () => { setTimeout(() => console.log('before'), 1); await new Promise((r) => setTimeout(r, 20)); console.log('awaited'); },
          () => { const p = Promise.reject(new Error('late')); setTimeout(() => p.catch(() => {}), 5); },
          () => { const p = Promise.reject(new Error('same turn')); p.catch((e) => console.log('caught ' + e.message)); },
          () => { setTimeout((a, b) => console.log(a + b), -5, 1, 2); const i = setInterval(() => { clearInterval(i); console.log('once'); }, 1); clearTimeout('x'); clearTimeout(); },
        ];
        export default function () { return cases[__ITER](); }";
    let text = run("s.js", script, &[], "").stderr;
    for part in [
        "Uncaught (in promise) Error: async\n\tat file://",
        "Uncaught (in promise) text\n",
        "Error: timer\n\tat tick (file://",
        "setTimeout 2 was stopped because the VU iteration was interrupted",
        "setInterval 3 was stopped because the VU iteration was interrupted",
        "before\nawaited\n",
        "Uncaught (in promise) Error: late\n",
        "caught same turn\n3\nonce\n",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn checks_and_groups_follow_the_rules_of_k6() {
    let script = "
        import { check, group, sleep, fail } from 'k6';
        import exec from 'k6/execution';
        const tried = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };
        export default function () {
          const order = [], note = (x) => () => order.push(x);
          check(1, { b: note('b'), 2: note('2'), a: note('a'), 1: note('1') });
          console.log(order.join());
          console.log(check(null, { n: (v) => v === null }), check(1, {}), check(1, { a: 0, b: 1 }), check(1, { p: () => Promise.resolve(false) }));
          console.log(tried(() => check(1)), tried(() => check(1, null)).slice(0, 9));
          console.log(tried(() => check(1, { 'a::b': true })), String(check(1, { a: async () => 1 })));
          console.log(tried(() => check(1, { ok: 1, t: () => { throw new RangeError('in'); }, never: note('no') })), order.length);
          console.log(tried(() => check(1, { a: 1 }, { t: {} })).slice(0, 44));
          console.log(group('outer', () => group('in', () => exec.vu.tags.group)), JSON.stringify(exec.vu.tags.group));
          console.log(JSON.stringify([null, undefined].map((name) => group(name, () => exec.vu.tags.group))), tried(() => fail(null)));
          console.log(tried(() => group('g')), tried(() => group('a::b', () => 1)));
          console.log(String(group('g', async () => 1)), tried(() => group('t', () => { throw new Error('body'); })));
          console.log(tried(() => fail('why')), tried(() => fail()), sleep('0.001'), sleep(NaN), sleep(-1));
        }";
    let expected = [
        "1,2,b,a",
        "true true false true",
        "GoError: no checks provided to `check` TypeError",
        "GoError: group and check names may not contain '::' [object Promise]",
        "RangeError: in 4",
        "GoError: invalid value for metric tag 't': o",
        "::outer::in \"\"",
        r#"["",""] GoError: "#,
        "GoError: group() requires a callback as a second argument GoError: group and check names may not contain '::'",
        "[object Promise] Error: body",
        "GoError: why GoError:  undefined undefined undefined",
    ];
    let lines = logged(script, &[]);
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line:?} is not {expected:?}");
    }
    assert_eq!(lines.len(), expected.len());
}

#[test]
fn metrics_take_what_k6_takes() {
    let script = "
        import { Counter, Rate, Trend } from 'k6/metrics';
        const c = new Counter('c_one'), again = new Counter('c_one'), r = new Rate('r_one'), t = new Trend('t_one', true);
        const tried = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };
        const facts = [
          again.name, tried(() => new Trend('c_one')).slice(0, 8), tried(() => new Trend('x')).slice(0, 28), tried(() => new Trend()).slice(0, 27),
          tried(() => new Trend('a-b')).slice(0, 8), tried(() => c.add(1)).slice(0, 17), Counter('c_two').name,
        ];
        export default function () {
          console.log(facts.join('|'));
          console.log([NaN, null, undefined, 'abc', {}].map((v) => c.add(v)).join());
          console.log(['5', [], '', true, false, -1, '0x10', ' 7 ', [3]].map((v) => c.add(v)).join());
          console.log(tried(() => c.add(1, { a: {} })).slice(0, 8), tried(() => c.add(1, { a: null })).slice(0, 8), c.add(1, { a: 1, b: true }));
          console.log(tried(() => c.add(5n)).slice(0, 9), r.add(-1), t.add('5'), tried(() => new Counter('late')).slice(0, 8));
          const { add } = c;
          console.log(add(1), JSON.stringify(c), Object.keys(c).join(), tried(() => { c.name = 'x'; }).slice(0, 9), own.add(2), own.name, own instanceof Counter);
          console.log(c);
        }
        class Own extends Counter { add(n) { return `own ${super.add(n)}`; } }
        const own = new Own('c_own');";
    let lines = logged(script, &[]);
    let (warnings, lines): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line.contains("is an invalid value for metric 'c_one'"));
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    let expected = [
        "c_one|GoError:|GoError: Invalid metric name|GoError: Invalid metric nam|GoError:|GoError: Adding t|c_two",
        "false,false,false,false,false",
        "true,true,true,true,true,true,true,true,true",
        "GoError: GoError: true",
        "TypeError true true GoError:",
        r#"true {"name":"c_one"} name,add TypeError own true c_own true"#,
        r#"{ name: "c_one", add: [object Function] }"#,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_metric_name_with_spaces_works_with_a_warning() {
    let script = "import { Trend } from 'k6/metrics'; const t = new Trend('time of items'); \
                  export default () => t.add(1);";
    let told = run("s.js", script, &[], "");
    assert_eq!(told.code, 0);
    assert!(told.stderr.contains("time of items"), "{}", told.stderr);
}

#[test]
fn execution_tells_of_each_phase_what_there_is() {
    let script = "
        import exec, { vu } from 'k6/execution';
        const tried = (f) => { try { return String(f()); } catch (e) { return 'throws'; } };
        const probe = () => [() => exec.scenario.name, () => exec.vu.idInTest, () => vu.idInInstance, () => exec.instance.vusInitialized,
          () => Object.isFrozen(exec.test.options), () => exec.vu.tags.group, () => __ITER, () => __VU].map(tried).join();
        const inInit = probe();
        export const options = { tags: { run: 'x' }, scenarios: { s: { executor: 'per-vu-iterations', vus: 1, iterations: 2, env: { E: 'e' }, tags: { own: 'y' } } } };
        export function setup() { console.log(inInit); console.log(probe()); }
        export function teardown() { console.log(probe()); }
        export default function () {
          if (__ITER === 1) { console.log(JSON.stringify(exec.vu.tags), __ENV.E); return; }
          console.log(probe(), exec.scenario.executor, exec.scenario.iterationInTest, typeof exec.scenario.startTime);
          exec.vu.tags.kept = 5; exec.vu.metrics.tags.b = true; exec.vu.metrics.metadata.trace = 'id';
          console.log(tried(() => { exec.vu.tags.o = {}; }), tried(() => { exec.vu.metrics.tags = {}; }), delete exec.vu.tags.b, 'b' in exec.vu.tags);
          console.log(Object.keys(exec.vu.tags).sort().join(), JSON.stringify(exec.vu.metrics.metadata), __ENV.E);
        }";
    let expected = [
        "throws,throws,throws,throws,throws,throws,throws,0",
        "throws,0,0,1,true,::setup,throws,0",
        "s,1,1,1,true,,0,1 per-vu-iterations 0 number",
        "throws throws true false",
        r#"group,kept,own,run,scenario {"trace":"id"} e"#,
        r#"{"group":"","kept":"5","own":"y","run":"x","scenario":"s"} e"#,
        "throws,0,0,1,true,::teardown,throws,0",
    ];
    assert_eq!(logged(script, &[]), expected);
}

#[test]
fn an_abort_passes_catch_and_finally_and_names_its_place() {
    let script = "import exec from 'k6/execution';\nfunction dead() {\n  \
                  try { exec.test.abort('why'); } catch (e) { console.log('CAUGHT'); } finally { console.log('FINALLY'); }\n}\n\
                  export default function () { dead(); }\nexport function teardown() { console.log('torn down'); }";
    let told = run("s.js", script, &[], "");
    assert_eq!(told.code, 108, "{told:?}");
    assert!(told.stderr.contains("torn down"), "{}", told.stderr);
    assert!(told.stderr.contains("test aborted: why at dead (file://"), "{}", told.stderr);
    assert!(told.stderr.contains("s.js:3:24("), "{}", told.stderr);
    assert!(!told.stderr.contains("CAUGHT") && !told.stderr.contains("FINALLY"), "{}", told.stderr);
}

#[test]
fn what_a_script_assigns_to_iter_lasts_until_the_next_iteration() {
    let script = "export const options = { vus: 1, iterations: 3 };\n\
                  export default function () { const n = __ITER; __ITER = 'mine'; console.log(n, __ITER); }";
    assert_eq!(logged(script, &[]), ["0 mine", "1 mine", "2 mine"]);
}

#[test]
fn there_is_no_locale_but_unicodes_own_order() {
    let script = "export default function () {
          console.log(['b', 'Z', 'ä', 'a', 'A', 'z'].sort((a, b) => a.localeCompare(b)).join(), 'undefined'.localeCompare());
          console.log(new Date(1970, 0, 1, 13, 10).toLocaleString(), (1234567.5).toLocaleString());
        }";
    let expected = ["a,A,ä,b,z,Z 0", "01/01/1970, 13:10:00 1234567.5"];
    assert_eq!(logged(script, &[]), expected);
}

#[test]
fn each_vu_has_an_environment_of_its_own_to_write_to() {
    let script = format!(
        "export const options = {{ vus: 2, iterations: 4, scenarios: undefined }};\n\
         {LOG} __ENV.SEEN = 'init'; }}\n\
         export default function () {{\n\
           __ENV.COUNT = String(Number(__ENV.COUNT ?? 0) + 1);\n\
           if (__ENV.COUNT !== String(__ITER + 1) || typeof __ENV.GIVEN !== 'string') throw new Error(__ENV.COUNT);\n\
         }}"
    );
    let told = run("s.js", &script, &[], "-e GIVEN=1");
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
}

#[test]
fn what_a_script_may_reach_is_there_even_when_only_eval_names_it() {
    let script = "
        const facts = [typeof WeakRef, typeof structuredClone, typeof atob, typeof DOMException, String(2n ** 64n), btoa('a')];
        export default function () { console.log(facts.join()); }";
    assert_eq!(
        logged(script, &[]),
        ["function,function,function,function,18446744073709551616,YQ=="]
    );
    let script = "
        const made = eval('new Weak' + 'Ref({})'), big = Function('return Big' + 'Int(5)')();
        export default function () { console.log(typeof made, typeof big); }";
    assert_eq!(logged(script, &[]), ["object bigint"]);
    let script = "export default function () { console.log([].concat.constructor('return typeof BigInt')()); }";
    assert_eq!(logged(script, &[]), ["function"]);
}

#[test]
fn imports_that_are_not_offered_show_their_line() {
    for (import, column, part) in [
        ("import b from 'k6/browser';", 15, "the module \"k6/browser\" is not supported yet"),
        ("import x from 'k6/x/kafka';", 15, "extension of k6 that is not supported yet"),
        ("import x from 'k6/nope';", 15, "unknown module: \"k6/nope\""),
    ] {
        let told = run("s.js", &format!("\n{import}\nexport default () => {{}}"), &[], "");
        assert_eq!(told.code, 107, "{told:?}");
        assert!(told.stderr.contains(part), "{}", told.stderr);
        assert!(told.stderr.contains(&format!(" 2 | {import}")), "{}", told.stderr);
        assert!(
            told.stderr.contains(&format!("s.js:2:{column}")) && told.stderr.contains("^^^^"),
            "{}",
            told.stderr
        );
    }
}

#[test]
fn init_code_runs_as_often_as_in_k6() {
    let runs = |script: &str| {
        let script = format!("console.log('init ' + __VU);\n{script}");
        messages(&run("s.js", &script, &[], "--vus 2 --iterations 2")).len()
    };
    assert_eq!(runs("export default () => {};"), 1 + 2);
    assert_eq!(
        runs("export default () => {}; export function setup() {} export function teardown() {}"),
        1 + 2 + 2
    );
}

#[test]
fn a_dynamic_import_that_fails_rejects_with_a_reason() {
    let script = "
        export default async function () {
          for (const s of ['./esm', './nope', './bad', '../no-such-folder/x']) {
            try { console.log((await import(s + '.js')).default()); } catch (e) { console.log(e.message); }
          }
          await import('k6/' + 'nope').catch((e) => console.log(e.message));
        }";
    let lines = logged(script, &[("esm.js", ESM), ("bad.js", "let a = ;")]);
    assert_eq!(lines[0], "d");
    assert!(lines[1].contains("nope.js\" does not exist"), "{lines:?}");
    assert!(lines[2].contains("bad.js:1:9"), "{lines:?}");
    assert!(lines[3].contains("x.js\" does not exist"), "{lines:?}");
    assert!(lines[4].starts_with("unknown module: \"k6/nope\""), "{lines:?}");
}

#[test]
fn places_survive_carriage_returns_marks_and_eval() {
    let crlf =
        "const x = 1;\r\nexport default function () {\r\n\tthrow new Error('crlf');\r\n}\r\n";
    check_thrown("s.js", crlf, &[], &["s.js:3:8("]);
    check_thrown(
        "s.js",
        "\u{feff}export default () => { throw new Error('bom'); }",
        &[],
        &["s.js:1:30("],
    );
    let made = "export default function () {\n  eval('throw new Error(\"e\")');\n}";
    check_thrown("s.js", made, &[], &["\tat <eval>:1:7(", "s.js:2:7("]);
    let chain = "export default function () {\n  const a = {};\n  a\n    .b\n    .c;\n}";
    check_thrown("s.js", chain, &[], &["'c' of undefined", "s.js:5:6("]);
}

#[test]
fn a_bundle_with_a_source_map_points_into_its_sources() {
    // Line 2 of the bundle comes from line 3 column 5 of b.ts.
    let map = r#"{"version":3,"sources":["src/b.ts"],"names":[],"mappings":";AAEI"}"#;
    let bundle = "export default function () {\nthrow new Error('bundled');\n}\n//# sourceMappingURL=s.js.map\n";
    check_thrown(
        "s.js",
        bundle,
        &[("s.js.map", map)],
        &["Error: bundled\n\tat default (file://", "src/b.ts:3:4("],
    );
}

#[test]
fn a_typescript_script_on_standard_input_has_places_too() {
    let script =
        "const a: number = 1;\nexport default function (): void { throw new Error('in' + a); }";
    let told = brunt("run -q --no-summary -").stdin(script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("/-:2:41("), "{}", told.stderr);
}

#[test]
fn compatibility_mode_decides_on_the_name_global() {
    let script = "const seen = typeof global; export default () => console.log(seen);";
    assert_eq!(logged(script, &[]), ["object"]);
    let told = run("s.js", script, &[], "--compatibility-mode base");
    assert_eq!(messages(&told), ["undefined"]);
    let told = run("s.js", script, &[], "--compatibility-mode experimental_enhanced");
    assert!(told.stderr.contains("experimental_enhanced\" is deprecated"), "{told:?}");
    assert!(told.stderr.contains("\nobject\n"), "{told:?}");
}

#[test]
fn the_consolidated_options_are_written_back() {
    let script = "export const options = { vus: 1, iterations: 2, tags: { a: 'b' } };\n\
                  export default () => console.log(options.vus, options.iterations, options.tags.a);";
    let told = run("s.js", script, &[], "--vus 2 --iterations 2 --tag a=c");
    assert_eq!(messages(&told), ["2 2 c", "2 2 c"]);
}
