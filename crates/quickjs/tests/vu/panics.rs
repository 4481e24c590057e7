//! A panic in native code ends the VU that it happened in, with its message, and no other.

use brunt_fiber::{Outcome, block_on};

use crate::support::{Failure, SMALL, Vu, on_a_core, pool};

fn vu_with_boom(pool: &std::rc::Rc<brunt_fiber::StackPool>) -> Vu {
    let vu = Vu::new(pool);
    let ctx = vu.vm.ctx();
    let boom = ctx.function(c"boom", 0, |_| panic!("on purpose")).unwrap();
    ctx.global().define("boom", boom).unwrap();
    vu
}

#[test]
fn a_panic_deep_in_callbacks_passes_catch_and_finally_and_is_told() {
    let pool = pool(SMALL);
    on_a_core(async {
        let mut vu = vu_with_boom(&pool);
        let ended = vu
            .run(
                "function deep(n) { if (n) return [1].map(() => deep(n - 1)); sleep(1); boom(); }
                 try { [2, 1].sort(() => deep(10)); } catch { log('catch') } finally { log('finally') }",
            )
            .await;
        assert_eq!(ended, Err(Failure::Panicked("on purpose".to_owned())));
        assert!(vu.log().is_empty());
        assert_eq!(vu.run("sleep(1); 'alive'").await, Ok("alive".to_owned()));
    });
}

#[test]
fn a_panic_in_a_promise_job_is_told() {
    let pool = pool(SMALL);
    on_a_core(async {
        let mut vu = vu_with_boom(&pool);
        let script =
            "Promise.resolve().then(() => { sleep(1); boom(); }).catch(() => log('caught')); 0";
        assert_eq!(vu.run(script).await, Err(Failure::Panicked("on purpose".to_owned())));
        assert!(vu.log().is_empty());
    });
}

#[test]
fn a_panic_of_the_body_itself_is_the_outcome_and_the_vm_is_freed() {
    let pool = pool(SMALL);
    on_a_core(async {
        let mut vu = Vu::new(&pool);
        vu.start_with(|ctx| {
            let object = ctx.object()?;
            block_on(tokio::task::yield_now()).unwrap();
            drop(object);
            panic!("in the body");
        });
        let outcome = (&mut vu.fiber).await;
        let Outcome::Panicked(payload) = outcome else { panic!("{outcome:?}") };
        assert_eq!(payload.downcast_ref(), Some(&"in the body"));
    });
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn neighbours_of_a_panicking_vu_go_on() {
    let pool = pool(SMALL);
    let ended = on_a_core(async {
        let mut bad = vu_with_boom(&pool);
        bad.start("sleep(2); boom()");
        let bad = tokio::task::spawn_local(async move { bad.finish().await });
        let mut good = Vu::new(&pool);
        let ended = good.run("for (let i = 0; i < 10; i++) sleep(1); 'good'").await;
        assert!(bad.await.unwrap().is_err());
        ended
    });
    assert_eq!(ended, Ok("good".to_owned()));
}
