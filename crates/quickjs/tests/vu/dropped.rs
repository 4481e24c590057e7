//! A VU that is dropped while it is suspended runs no more user code and leaks nothing.

use crate::support::{Failure, NORMAL, Vu, on_a_core, pool};

/// Each waits for good in a frame of another shape, and would log if any of its code ran afterwards.
const SCRIPTS: [(&str, &str); 25] = [
    ("plain", "sleep(1e9)"),
    ("try", "try { sleep(1e9) } catch { log('caught') } finally { log('finally'); sleep(1e9) }"),
    ("callbacks", "[1].map(() => [1].forEach(() => [2, 1].sort(() => sleep(1e9))))"),
    (
        "async after await",
        "(async () => { try { await null; sleep(1e9) } catch { log('caught') } finally { log('finally') } })(); 1",
    ),
    (
        "async",
        "(async () => { try { sleep(1e9) } catch { log('caught') } finally { log('finally') } })().catch(() => log('rejected')).then(() => sleep(5)); 1",
    ),
    (
        "job",
        "Promise.resolve().then(() => sleep(1e9)).catch(() => log('rejected')).finally(() => log('finally'))",
    ),
    ("promise constructor", "new Promise(() => sleep(1e9)).catch(() => log('rejected'))"),
    (
        "promise constructor, then more",
        "new Promise(() => sleep(1e9)).catch(() => log('rejected')); sleep(1); log('went on')",
    ),
    (
        "generator",
        "function* g() { try { yield sleep(1e9) } finally { log('finally') } } for (const x of g()) log('item')",
    ),
    (
        "iterator close",
        "for (const x of { [Symbol.iterator]() { return { next() { return { value: 1, done: false } }, return() { log('closed'); return {} } } } }) sleep(1e9)",
    ),
    ("proxy", "new Proxy({}, { get() { sleep(1e9) } }).x; log('went on')"),
    ("reviver", "JSON.parse('[1, 2, 3]', () => sleep(1e9)); log('went on')"),
    ("toJSON", "JSON.stringify({ a: [{ toJSON() { sleep(1e9) } }] }); log('went on')"),
    ("replace", "'aaa'.replace(/a/g, () => sleep(1e9)); log('went on')"),
    (
        "super",
        "class B { constructor() { sleep(1e9) } } class D extends B { constructor() { try { super() } finally { log('finally') } } } new D()",
    ),
    ("Array.from", "Array.from((function* () { sleep(1e9); yield 1 })()); log('went on')"),
    ("groupBy", "Object.groupBy([1, 2], () => sleep(1e9)); log('went on')"),
    ("toString", "'a' + { toString() { sleep(1e9) } }; log('went on')"),
    ("static field", "class A { static x = sleep(1e9) }; log('went on')"),
    ("eval", "eval('eval(\"sleep(1e9)\")'); log('went on')"),
    ("cycles", "let o = {}; o.o = o; let f = () => { let c = { f, o }; c.c = c; sleep(1e9) }; f()"),
    (
        "for await",
        "(async () => { for await (const x of (async function* () { yield sleep(1e9) })()) log('item') })(); 1",
    ),
    ("loop that catches", "for (;;) { try { sleep(1e9) } catch { log('caught') } }"),
    (
        "finalization registry",
        "const r = new FinalizationRegistry(() => log('finalized')); r.register({}, 1); sleep(1e9)",
    ),
    (
        "thenable",
        "Promise.resolve({ then(resolve) { sleep(1e9); resolve(1) } }).then(() => log('went on')); 0",
    ),
];

#[test]
fn no_user_code_runs_after_a_suspended_vu_is_dropped() {
    let pool = pool(NORMAL);
    for (name, script) in SCRIPTS {
        let mut vu = Vu::new(&pool);
        vu.start(script);
        let host = std::rc::Rc::clone(&vu.host);
        let ended = std::rc::Rc::downgrade(&vu.vm);
        on_a_core(async move {
            let task = tokio::task::spawn_local(async move {
                let _ = vu.finish().await;
                unreachable!("{name} does not end");
            });
            // One turn for the script, jobs included, to get where it waits.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            assert!(!task.is_finished(), "{name} waits");
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled(), "{name}");
        });
        assert!(host.log.take().is_empty(), "{name}");
        // Debug builds of the engine assert that the runtime leaks no object.
        assert!(ended.upgrade().is_none(), "the VM of {name} is gone");
        assert_eq!(pool.in_use(), 0, "{name}");
    }
}

#[test]
fn an_aborted_vu_reports_it_and_can_run_again() {
    let pool = pool(NORMAL);
    for (name, script) in SCRIPTS {
        let mut vu = Vu::new(&pool);
        on_a_core(async {
            vu.start(script);
            tokio::select! {
                biased;
                ended = vu.finish() => panic!("{name} ended: {ended:?}"),
                () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
            }
            assert!(vu.fiber.abort().is_some());
            assert_eq!(vu.ended(), Some(Err(Failure::Stopped)), "{name}");
            assert!(vu.log().is_empty(), "{name}");
            assert!(!vu.vm.ctx().has_jobs(), "{name}");
            assert_eq!(vu.run("sleep(1) + 1").await, Ok("2".to_owned()), "{name}");
            assert!(vu.log().is_empty(), "{name}");
        });
    }
}

#[test]
fn abort_is_sticky_where_a_promise_constructor_swallows_it() {
    let pool = pool(NORMAL);
    let mut vu = Vu::new(&pool);
    on_a_core(async {
        vu.start(
            "let p = new Promise(() => sleep(1e9));
             p.catch(() => log('rejected'));
             for (;;) { new Promise(() => sleep(1e9)).catch(() => log('rejected')); }",
        );
        tokio::select! {
            biased;
            _ = vu.finish() => panic!("it does not end"),
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
        }
        // One resume ends it, although the exception is swallowed again and again.
        assert!(vu.fiber.abort().is_some());
    });
    assert_eq!(vu.ended(), Some(Err(Failure::Stopped)));
    assert!(vu.log().is_empty());
}
