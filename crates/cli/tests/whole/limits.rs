//! No act of one VU may harm the others or the process: memory, native loops, long lines, odd arguments.

use std::time::{Duration, Instant};

use crate::support::{DemoServer, Told, brunt};

fn run(flags: &str, script: &str) -> Told {
    brunt(&format!("run -q --log-format raw {flags} s.js")).file("s.js", script).told()
}

#[test]
fn a_vu_over_its_memory_loses_the_iteration_and_not_the_process() {
    let greedy = [
        "const a = []; for (;;) a.push(new ArrayBuffer(1e6))",
        "const a = []; for (;;) { try { for (;;) a.push({ a }) } catch (e) { } finally { a.push(1) } }",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, String(i))",
        "Array.from({ length: 2 ** 32 - 1 })",
        "[...Array(2 ** 31)]",
        "JSON.parse('[' + '[1],'.repeat(2e7) + '1]')",
    ];
    for body in greedy {
        let script = format!(
            "export const options = {{ iterations: 2, vuMemory: '64MiB' }};\n\
             export default function () {{ if (__ITER === 1) return console.log('alive'); {body} }}"
        );
        let told = run("", &script);
        assert_eq!(told.code, 0, "{body}: {told:?}");
        assert!(told.stderr.contains("memory limit of the VU (64 MiB) exceeded"), "{told:?}");
        assert!(told.stderr.contains("alive"), "{body}: {told:?}");
    }
}

#[test]
fn init_code_and_setup_over_their_memory_end_the_run() {
    let told = run("--vu-memory 1", "export default function () {}");
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.stderr.contains("vuMemory is 1 bytes, and a VU needs more"), "{told:?}");
    let grow = "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))";
    for script in [
        format!("{grow}; export default function () {{}}"),
        format!("if (__VU > 0) {{ {grow} }} export default function () {{}}"),
        format!("export function setup() {{ {grow} }} export default function () {{}}"),
    ] {
        let told = run("--vu-memory 48MiB", &script);
        assert_eq!(told.code, 107, "{told:?}");
        assert!(told.stderr.contains("memory limit of the VU (48 MiB) exceeded"), "{told:?}");
    }
    // Few bytes of the heap, and many of JSON.
    let script = "export function setup() { return Array(2e7); } export default function () {}";
    let told = run("--vu-memory 48MiB", script);
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.stderr.contains("setup() data to JSON: it is longer than vuMemory"), "{told:?}");
}

/// A hundred million VUs are the most that options may name.
#[test]
fn more_vus_than_memory_can_hold_are_refused_at_once() {
    let stages = "scenarios: { big: { executor: 'ramping-vus', stages: [{ duration: '1s', target: 1e8 }] } }";
    for options in ["vus: 1e8, duration: '1s'", stages] {
        let script =
            format!("export const options = {{ {options} }}; export default function () {{}}");
        let told = run("", &script);
        assert_eq!(told.code, 104, "{told:?}");
        assert!(told.stderr.contains("wants 100000000 VUs, and the memory here ("), "{told:?}");
    }
}

#[test]
fn who_holds_too_much_between_iterations_is_told_what_to_do() {
    let script = "const all = [];
        export const options = { iterations: 3, vuMemory: '48MiB' };
        export default function () { for (;;) all.push(new Uint8Array(1e5).fill(1)); }";
    let told = run("", script);
    assert_eq!(told.code, 0, "{told:?}");
    let held = "memory limit of the VU (48 MiB) exceeded, and variables outside of functions hold most of it";
    assert!(told.stdout.contains(&format!("3× Error: {held}")), "{told:?}");
    for part in ["SharedArray", "--vu-memory", "\tat "] {
        assert!(told.stderr.contains(part), "{told:?}");
    }
}

/// The text of a body is the VU's own, whatever becomes of its Response.
#[test]
fn bodies_that_a_script_keeps_count_without_their_responses() {
    let demo = DemoServer::start();
    let script = format!(
        "import http from 'k6/http';
         const all = [];
         export const options = {{ vuMemory: '64MiB', iterations: 1 }};
         export default function () {{
           for (let i = 0; i < 100; i++) all.push(http.get('{}/source?bytes=4000000', {{ responseType: __ENV.TYPE }}).body);
         }}",
        demo.url
    );
    for kind in ["text", "binary"] {
        let told = run(&format!("-e TYPE={kind}"), &script);
        assert!(told.stderr.contains("memory limit of the VU (64 MiB) exceeded"), "{told:?}");
    }
}

#[test]
fn a_long_line_of_the_console_is_cut_and_says_so() {
    let script = "export default function () { console.log('x'.repeat(5e7)); console.log(new Uint8Array(1e8).buffer); \
        const many = () => ({ get a() { return many() }, get b() { return many() } }); console.log(many()) }";
    let began = Instant::now();
    let told = run("", script);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20) + told.waited, "{took:?} {:?}", told.waited);
    assert!(told.stderr.contains("x … (cut after 1048576 bytes, 48951424 bytes more)"));
    assert_eq!(told.stderr.matches("… (cut after 1048576 bytes").count(), 3);
    assert!(told.stderr.len() < 4 << 20);
}

#[test]
fn a_vu_that_fails_in_init_code_is_named() {
    let told = brunt("run -q s.js")
        .file("s.js", "if (__VU > 0) throw new Error('no'); export default function () {}")
        .told();
    assert_eq!(told.code, 107);
    let hint = "hint=\"error while initializing VU #1 (script exception)\"";
    assert!(told.stderr.contains(hint), "{told:?}");
}

#[test]
fn only_regular_files_are_imported() {
    for import in ["/dev/zero", "/dev/stdin", "/dev"] {
        let script = format!("import x from '{import}'; export default function () {{}}");
        let told = brunt("run -q s.js").file("s.js", script).told();
        assert_ne!(told.code, 0, "{told:?}");
    }
    let map = "export default function () { console.log('ran') }\n//# sourceMappingURL=/dev/zero\n";
    let told = brunt("run -q s.js").file("s.js", map).told();
    assert!(told.code == 0 && told.stderr.contains("is not a regular file"), "{told:?}");
    // The script itself may come through a pipe that has a name.
    let told = brunt("run -q --log-format raw /dev/stdin")
        .stdin("export default function () { console.log('piped') }")
        .told();
    assert!(told.code == 0 && told.stderr.contains("piped"), "{told:?}");
}

/// They took four thousand million elements one by one: the core for minutes, the memory of the machine to its last byte.
#[test]
fn arrays_of_any_length_are_refused_where_native_code_takes_their_elements() {
    let script = "import http from 'k6/http'; import { Blob as Other } from 'k6/websockets';
        import { FormData as Form } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
        const all = Array(2 ** 32 - 1);
        const refused = (call, n) => { try { call(); } catch (e) { console.log(n, String(e)); } };
        export default function () {
          refused(() => new Blob(all), 1);
          refused(() => new Other(all), 2);
          refused(() => http.url(all), 3);
          refused(() => http.url({ length: 2 ** 32 - 1 }), 4);
          refused(() => http.post('http://127.0.0.1:1/', { all }), 5);
          const form = new Form();
          form.parts = all;
          refused(() => form.body(), 6);
        }";
    let told = run("--throw=false", script);
    assert_eq!(told.code, 0, "{told:?}");
    let why = "an array of 4294967295 elements is too long here: at most 1048576";
    let lines = told.stderr.lines().filter(|line| line.contains(why)).count();
    assert_eq!(lines, 6, "{told:?}");
}

/// A text is an object of its letters where objects are meant. As tags of a socket, each was compared with each, for minutes.
#[test]
fn objects_of_any_size_are_refused_where_native_code_takes_their_members() {
    let script = "import http from 'k6/http'; import ws from 'k6/ws'; import tcp from 'k6/x/tcp'; import exec from 'k6/execution';
        import { check } from 'k6';
        const letters = 'x'.repeat(100000);
        const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ['k' + i, 'x']));
        const refused = (n, call) => { try { call(); } catch (e) { console.log(n, String(e)); } };
        export default function () {
          refused(1, () => new tcp.Socket({ tags: letters }));
          refused(2, () => check(1, { a: true }, many));
          refused(3, () => ws.connect('ws://127.0.0.1:1/', { headers: many }, () => {}));
          refused(4, () => http.get('http://127.0.0.1:1/', { tags: many }));
          refused(5, () => http.get('http://127.0.0.1:1/', { headers: many }));
          refused(6, () => { for (const name in many) exec.vu.tags[name] = 'x'; });
        }";
    let told = run("--throw=false", script);
    assert_eq!(told.code, 0, "{told:?}");
    let lines = told.stderr.matches("members is too large here: at most 4096").count();
    assert_eq!(lines, 6, "{told:?}");
}

/// A text that an array holds a thousand times is one text to the script's memory, and a thousand to native code.
#[test]
fn texts_that_are_too_long_together_are_refused() {
    let script = "import http from 'k6/http'; import { WebSocket } from 'k6/websockets';
        const long = Array(1000).fill('x'.repeat(2 ** 20));
        const refused = (n, call) => { try { call(); } catch (e) { console.log(n, String(e)); } };
        export default function () {
          refused(1, () => http.url(long));
          refused(2, () => new Blob(long));
          refused(3, () => new URLSearchParams(long.map((text) => ['a', text])));
          refused(4, () => http.post('http://127.0.0.1:1/', { long }));
          refused(5, () => new WebSocket('ws://127.0.0.1:1/', long));
          refused(6, () => http.get('http://127.0.0.1:1/', { headers: long }));
        }";
    let told = run("--throw=false", script);
    assert_eq!(told.code, 0, "{told:?}");
    let lines = told.stderr.matches("too long together: at most 256 MiB").count();
    assert_eq!(lines, 6, "{told:?}");
}

/// Native code kept their texts and places without a look at any limit: 4 GB after forty seconds, and more.
#[test]
fn data_that_all_vus_share_has_a_limit() {
    let arrays = [
        "new SharedArray('x', () => Array(2 ** 32 - 1))",
        "new SharedArray('x', () => Array(1000).fill('x'.repeat(2 ** 20)))",
        "new SharedArray('x', () => Array.from({ length: 1000 }, () => { const one = new Uint8Array(2 ** 20); return one.buffer }))",
        "new SharedArray('x', () => new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 32 - 1 : k === 'toJSON' ? undefined : 'abc' }))",
    ];
    for array in arrays {
        let script = format!(
            "import {{ SharedArray }} from 'k6/data'; {array}; export default function () {{}}"
        );
        let told = run("--vu-memory 48MiB", &script);
        assert_eq!(told.code, 107, "{array}: {told:?}");
        assert!(told.stderr.contains("memory limit of the VU (48 MiB) exceeded"), "{told:?}");
    }
}

/// It is larger than a VU's heap may be, and so are its elements as JSON: only an array that a script computes is bounded by that.
#[test]
fn a_shared_array_of_a_file_may_be_larger_than_the_heap_of_a_vu() {
    let rows: Vec<_> = (0..600_000).map(|row| format!("{row},name of {row}\n")).collect();
    let rows = rows.concat();
    let json = format!("[{}0]", "{\"name\":\"of a row\"},".repeat(600_000));
    assert!(rows.len() + 16 * 600_000 > 20 << 20 && json.len() > 11 << 20);
    let script = "import { SharedArray } from 'k6/data'; import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
        const parsed = await csv.parse(await fs.open('rows.csv'), { asObjects: false });
        const data = new SharedArray('data', () => JSON.parse(open('data.json')));
        export default function () { console.log(parsed.length, parsed[599999][1], data.length, data[599999].name) }";
    let told = brunt("run -q --log-format raw --vu-memory 16MiB s.js")
        .file("s.js", script)
        .file("rows.csv", &rows)
        .file("data.json", &json)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("600000 name of 599999 600001 of a row"), "{told:?}");
}

/// They lie in native code, where the engine does not see them.
#[test]
fn what_native_code_keeps_for_a_vu_counts_as_its_memory() {
    let greedy = [
        "for (;;) setTimeout(() => {}, 1e6)",
        "for (const u = new URLSearchParams(), t = 'x'.repeat(2 ** 16); ;) u.append('a', t)",
        "for (const f = new FormData(), t = 'x'.repeat(2 ** 16); ;) f.append('a', t)",
        "for (const all = [], t = 'x'.repeat(2 ** 16); ;) all.push(new Blob([t]))",
        "for (const all = []; ;) all.push(new Blob([new Uint8Array(2 ** 16)]))",
        "for (let b = new Blob(['x']); ;) b = new Blob([b, b])",
        "for (const all = [], t = 'http://a/' + 'x'.repeat(2 ** 16); ;) all.push(new URL(t))",
        "for (const all = [], t = 'x'.repeat(2 ** 16); ;) all.push(http.file(t, 'a'))",
        "for (const all = []; ;) all.push(hashes.createHash('sha512'))",
        "for (const all = [], t = '<p>'.repeat(10000); ;) all.push(parseHTML(t))",
        "for (const all = [], page = parseHTML('<p>'.repeat(2000)); ;) all.push(page.find('p'))",
        "for (;;) crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign'])",
    ];
    for body in greedy {
        let script = format!(
            "import http from 'k6/http'; import hashes from 'k6/crypto'; import {{ parseHTML }} from 'k6/html';
             export const options = {{ iterations: 2, vuMemory: '24MiB' }};
             export default function () {{ if (__ITER === 1) return console.log('alive'); {body} }}"
        );
        let told = run("--log-output none", &script);
        assert_eq!(told.code, 0, "{body}: {told:?}");
        let named = "1× Error: memory limit of the VU (24 MiB) exceeded";
        assert!(told.stdout.contains(named), "{body}: {told:?}");
    }
}

/// Each call took a moment, and a hundred of them went by before anybody looked at whether the script must end.
#[test]
fn a_script_of_long_native_calls_is_stopped_as_soon_as_any_other() {
    let long = [
        "for (;;) hashes.randomBytes(1e8)",
        "for (const t = '<p>x</p>'.repeat(5e5); ;) parseHTML(t)",
        "for (const t = 'x'.repeat(1e8); ;) encoding.b64encode(t)",
        "for (const all = Array(1e5).fill('x'.repeat(2 ** 20)); ;) console.log(...all)",
    ];
    for body in long {
        let script = format!(
            "import hashes from 'k6/crypto'; import encoding from 'k6/encoding'; import {{ parseHTML }} from 'k6/html';
             export const options = {{ scenarios: {{ one: {{ executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' }} }} }};
             export default function () {{ {body} }}"
        );
        let began = Instant::now();
        let told = run("--log-output none", &script);
        let took = began.elapsed();
        assert_eq!(told.code, 0, "{body}: {told:?}");
        // A hundred calls of each would take a minute and more.
        assert!(took < Duration::from_secs(15) + told.waited, "{body}: {took:?}");
    }
}

#[test]
fn options_that_no_test_means_are_refused() {
    let script =
        "export const options = { tags: { a: 'x'.repeat(2e7) } }; export default function () {}";
    let told = run("", script);
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("bytes of JSON: they may have at most 16 MiB"), "{told:?}");
}
