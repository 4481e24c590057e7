//! Scripts that aim at the native stack, each in a process of its own: whatever they do, the process does not crash.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Failure, NORMAL, SMALL, Vu, in_real_time, pool};

/// Tells the child process which script to run, on how big a stack.
const VARIABLE: &str = "BRUNT_HOSTILE_SCRIPT";
/// A script that runs this long is stopped by the interrupt, like one that overruns its iteration.
const PATIENCE: Duration = Duration::from_millis(700);
/// A child that is not back after this hangs where no interrupt reaches.
const LIMIT: Duration = Duration::from_secs(40);

const SCRIPTS: [(&str, &str); 51] = [
    ("json parse", "JSON.parse('['.repeat(200000) + ']'.repeat(200000))"),
    ("json stringify", "let a = []; for (let i = 0; i < 200000; i++) a = [a]; JSON.stringify(a)"),
    ("array to string", "let a = []; for (let i = 0; i < 200000; i++) a = [a]; String(a)"),
    ("flat", "let a = []; for (let i = 0; i < 200000; i++) a = [a]; a.flat(Infinity).length"),
    ("parens", "eval('('.repeat(100000) + '1' + ')'.repeat(100000))"),
    ("array literals", "eval('['.repeat(100000) + ']'.repeat(100000))"),
    ("object literals", "eval('({a:'.repeat(50000) + '1' + '})'.repeat(50000))"),
    ("blocks", "eval('{'.repeat(100000) + '}'.repeat(100000))"),
    ("arrows", "eval('()=>'.repeat(50000) + '1')"),
    ("ternaries", "eval('1?'.repeat(50000) + '1' + ':1'.repeat(50000))"),
    ("unaries", "eval('!'.repeat(100000) + '1')"),
    ("templates", "eval('`${'.repeat(20000) + '1' + '}`'.repeat(20000))"),
    ("nested functions", "eval('function f(){'.repeat(5000) + '}'.repeat(5000))"),
    ("nested classes", "eval('class A extends '.repeat(5000) + 'Object' + '{}'.repeat(5000))"),
    ("destructuring", "eval('var ' + '['.repeat(50000) + 'a' + ']'.repeat(50000) + '=1')"),
    ("regex groups", "new RegExp('('.repeat(100000) + ')'.repeat(100000))"),
    ("regex lookahead", "new RegExp('(?='.repeat(50000) + ')'.repeat(50000))"),
    ("regex classes", "new RegExp('['.repeat(50000) + ']'.repeat(50000), 'v')"),
    ("regex backtracking", "/^(a|b|ab)*c$/.test('ab'.repeat(200000))"),
    ("regex lookahead run", "new RegExp('(?='.repeat(200) + 'a' + ')'.repeat(200)).test('a')"),
    ("regex quantifiers", "/((((((a*)*)*)*)*)*)b/.test('a'.repeat(28))"),
    ("bind chain", "let f = () => 1; for (let i = 0; i < 100000; i++) f = f.bind(null); f()"),
    ("proxy chain", "let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x"),
    (
        "proxy call chain",
        "let p = () => 1; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p()",
    ),
    (
        "proxy array chain",
        "let p = []; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); Array.isArray(p)",
    ),
    (
        "proxy prototype",
        "let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); Object.getPrototypeOf(p)",
    ),
    ("prototype chain", "let o = {}; for (let i = 0; i < 300000; i++) o = Object.create(o); o.zz"),
    ("getter", "let o = { get a() { return this.a } }; o.a"),
    ("toString", "let o = { toString() { return '' + this } }; '' + o"),
    ("sort", "function f() { [3, 1, 2].sort((a, b) => { f(); return 0 }) } f()"),
    ("replace", "function f() { 'a'.replace(/a/, () => f()) } f()"),
    ("reviver", "function f() { JSON.parse('[1]', () => f()) } f()"),
    ("apply native", "Math.max.apply(null, new Array(60000).fill(1))"),
    ("spread native", "Math.max(...new Array(60000).fill(1))"),
    (
        "apply script",
        "(function () { return arguments.length }).apply(null, new Array(60000).fill(1))",
    ),
    ("constructor", "class A { constructor() { new A() } } new A()"),
    ("generator", "function* g() { yield* g() } [...g()]"),
    ("async", "async function f() { await f() } f(); 0"),
    (
        "promise chain",
        "let p = Promise.resolve(1); for (let i = 0; i < 100000; i++) p = p.then(x => x); p.then(x => log('r' + x)); 0",
    ),
    ("free a list", "let a = null; for (let i = 0; i < 1000000; i++) a = { n: a }; a = null; 1"),
    (
        "free closures",
        "let a = null; for (let i = 0; i < 300000; i++) { let b = a; a = () => b; } a = null; 1",
    ),
    ("free arrays", "let a = null; for (let i = 0; i < 300000; i++) a = [a]; a = null; 1"),
    (
        "free maps",
        "let a = null; for (let i = 0; i < 100000; i++) a = new Map([[1, a]]); a = null; 1",
    ),
    (
        "rope",
        "let s = ''; for (let i = 0; i < 500000; i++) s = 'x' + s + 'y'; s.length + s.charCodeAt(7)",
    ),
    (
        "long rope",
        "let s = 'a'; for (let i = 0; i < 20000; i++) s = s + 'bcdefghijklmnop'.repeat(40); s.indexOf('zz')",
    ),
    (
        "class chain",
        "let C = class {}; for (let i = 0; i < 20000; i++) C = class extends C {}; new C()",
    ),
    ("bigint", "String(2n ** 200000n).length"),
    (
        "instanceof chain",
        "let f = function () {}; for (let i = 0; i < 100000; i++) f = f.bind(); ({}) instanceof f",
    ),
    ("cycles", "for (let i = 0; i < 200000; i++) { let a = {}, b = { a }; a.b = b } 1"),
    (
        "error causes",
        "let e = new Error('x'); for (let i = 0; i < 100000; i++) e = new Error('y', { cause: e }); e.message",
    ),
    ("normalize", "'\\u0041\\u030a'.repeat(100000).normalize('NFC').length"),
];

#[test]
fn no_hostile_script_crashes_the_process() {
    let jobs: Vec<_> = [SMALL, NORMAL]
        .into_iter()
        .flat_map(|stack| (0..SCRIPTS.len()).map(move |index| (index, stack)))
        .collect();
    let (even, odd): (Vec<_>, Vec<_>) = jobs.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = [even, odd].map(|half| {
            scope.spawn(move || {
                half.into_iter()
                    .filter_map(|(_, &(index, stack))| wrong_end(index, stack))
                    .collect::<Vec<_>>()
            })
        });
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs one script in a child process; what went wrong, if anything did.
fn wrong_end(index: usize, stack: usize) -> Option<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::child", "--nocapture"])
        .env(VARIABLE, format!("{index} {stack}"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && told.contains("the VU ended: ") {
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Some(format!("{} on {stack} bytes: {}\n{errors}", SCRIPTS[index].0, output.status))
}

/// The child process; in the parent it does nothing.
#[test]
fn child() {
    let Ok(job) = std::env::var(VARIABLE) else { return };
    let (index, stack) = job.split_once(' ').unwrap();
    std::thread::spawn(|| {
        std::thread::park_timeout(LIMIT);
        std::process::exit(124);
    });
    let (_, script) = SCRIPTS[index.parse::<usize>().unwrap()];
    let ended = in_real_time(async {
        let mut vu = Vu::new(&pool(stack.parse().unwrap()));
        vu.host.kill_at.set(Some(Instant::now() + PATIENCE));
        let ended = vu.run(script).await;
        vu.host.kill_at.set(None);
        assert_eq!(vu.run("sleep(1) + 1").await, Ok("2".to_owned()));
        ended
    });
    let kind = match &ended {
        Ok(_) => "with a value",
        Err(Failure::Threw(text)) => text.split(':').next().unwrap_or_default(),
        Err(Failure::Stopped) => "stopped",
        Err(Failure::Panicked(text)) => panic!("{text}"),
    };
    println!("the VU ended: {kind}");
}
