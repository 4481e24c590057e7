//! The interrupt stops every kind of endless work: no `catch` or `finally` runs, and the VM stays usable.

use std::time::{Duration, Instant};

use crate::support::{Failure, NORMAL, Vu, in_real_time, pool};

const SCRIPTS: [(&str, &str); 18] = [
    ("for", "for (;;);"),
    (
        "catch and finally",
        "try { for (;;) { try { while (true); } catch { log('caught') } finally { log('finally') } } } catch { log('outer') }",
    ),
    (
        "finally returns",
        "(function f() { try { for (;;); } finally { log('finally'); return 1; } })()",
    ),
    ("nested callbacks", "[1].map(() => [2, 1].sort(() => { for (;;); }))"),
    ("generator", "function* g() { try { for (;;); } finally { log('finally') } } [...g()]"),
    (
        "iterator close",
        "for (const x of { [Symbol.iterator]() { return { next() { return { value: 1 } }, return() { log('closed'); return {} } } } }) {}",
    ),
    ("getter", "({ get x() { for (;;); } }).x"),
    ("proxy", "new Proxy({}, { has() { for (;;); } , get() { for (;;); } }).x"),
    (
        "constructor",
        "class A { constructor() { try { for (;;); } catch { log('caught') } } } new A()",
    ),
    ("regex alternation", "/^(a|b|ab)*c$/.test('ab'.repeat(200000))"),
    ("regex nested", "/((((((a*)*)*)*)*)*)b/.test('a'.repeat(28))"),
    (
        "native sort",
        "const a = []; for (let i = 0; i < 1e6; i++) a.push(i * 7919 % 1000003); for (;;) { a.sort((x, y) => x - y); a.reverse(); }",
    ),
    (
        "big stringify",
        "const a = []; for (let i = 0; i < 2e5; i++) a.push({ i }); for (;;) JSON.stringify(a)",
    ),
    ("promise loop", "function f() { return Promise.resolve().then(f); } f(); 0"),
    (
        "async loop",
        "(async () => { try { for (;;) await null; } catch { log('caught') } finally { log('finally') } })(); 0",
    ),
    ("rejection loop", "function f() { return Promise.reject(1).catch(f); } f(); 0"),
    (
        "rope",
        "for (;;) { let s = 'a'; for (let i = 0; i < 20000; i++) s = 'x' + s + 'bcdefghijklmnop'.repeat(40); s.indexOf('zz'); }",
    ),
    (
        "array methods",
        "const a = new Array(1e4).fill(1); for (;;) a.map(x => x + 1).filter(Boolean).reduce((x, y) => x + y)",
    ),
];

/// How long this thread has had a processor: the time that other programs take is none of it. Zero where the kernel does not say.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = told.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}

#[test]
fn endless_work_is_stopped_without_catch_or_finally() {
    let pool = pool(NORMAL);
    in_real_time(async {
        for (name, script) in SCRIPTS {
            let mut vu = Vu::new(&pool);
            vu.host.kill_at.set(Some(Instant::now() + Duration::from_millis(30)));
            let began = worked();
            let ended = vu.run(script).await;
            let took = worked().saturating_sub(began);
            assert_eq!(ended, Err(Failure::Stopped), "{name}");
            assert_eq!(vu.log(), Vec::<String>::new(), "{name}");
            // Half a second of setting up (the array to sort) on a slow machine, and then some.
            assert!(took < Duration::from_secs(5), "{name} worked for {took:?}");
            vu.host.kill_at.set(None);
            let again = vu.run("sleep(1); try { null.x } catch (e) { 'alive ' + e.name }").await;
            assert_eq!(again, Ok("alive TypeError".to_owned()), "{name}");
        }
    });
}
