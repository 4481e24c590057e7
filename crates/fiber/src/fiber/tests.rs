use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::stack::{StackPool, StackSettings};

fn small() -> Fiber {
    let pool = StackPool::new(StackSettings { usable: 256 * 1024 });
    Fiber::new(pool.take().unwrap())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn a_body_waits_and_goes_on() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut fiber = small();
    let log = Rc::clone(&seen);
    fiber.start(move || {
        log.borrow_mut().push("before");
        block_on(tokio::time::sleep(Duration::from_millis(1))).unwrap();
        log.borrow_mut().push("after");
    });
    let outcome = runtime().block_on(&mut fiber);
    assert!(matches!(outcome, Outcome::Returned { aborted: false }));
    assert_eq!(*seen.borrow(), ["before", "after"]);
    assert!(fiber.is_idle());
}

#[test]
fn a_fiber_runs_one_body_after_another_on_the_same_stack() {
    let mut fiber = small();
    let count = Rc::new(Cell::new(0));
    let rt = runtime();
    for _ in 0..100 {
        let count = Rc::clone(&count);
        fiber.start(move || {
            yield_now().unwrap();
            count.set(count.get() + 1);
        });
        rt.block_on(&mut fiber);
    }
    assert_eq!(count.get(), 100);
}

#[test]
fn an_abort_ends_a_suspended_body_through_its_own_frames() {
    struct Noisy(Rc<Cell<u32>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let mut fiber = small();
    let noisy = Noisy(Rc::clone(&dropped));
    let result = Rc::new(Cell::new(None));
    let out = Rc::clone(&result);
    fiber.start(move || {
        let inner = Noisy(Rc::clone(&noisy.0));
        let first = block_on(std::future::pending::<()>());
        let second = block_on(async {});
        out.set(Some((first, second, is_aborted())));
        drop(inner);
    });
    let waker = std::task::Waker::noop();
    assert!(Pin::new(&mut fiber).poll(&mut Context::from_waker(waker)).is_pending());
    assert!(matches!(fiber.abort(), Some(Outcome::Returned { aborted: true })));
    assert_eq!(result.get(), Some((Err(Aborted), Err(Aborted), true)));
    assert_eq!(dropped.get(), 2);
}

#[test]
fn dropping_a_suspended_fiber_aborts_it() {
    let ended = Rc::new(Cell::new(false));
    let mut fiber = small();
    let flag = Rc::clone(&ended);
    fiber.start(move || {
        assert_eq!(block_on(std::future::pending::<()>()), Err(Aborted));
        flag.set(true);
    });
    assert!(
        Pin::new(&mut fiber).poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending()
    );
    drop(fiber);
    assert!(ended.get());
}

#[test]
fn a_body_that_never_started_is_dropped_without_running() {
    let ran = Rc::new(Cell::new(false));
    let mut fiber = small();
    let flag = Rc::clone(&ran);
    fiber.start(move || flag.set(true));
    assert!(matches!(fiber.abort(), Some(Outcome::Returned { aborted: true })));
    assert!(!ran.get());
    assert_eq!(Rc::strong_count(&ran), 1);
}

#[test]
fn a_panic_is_caught_at_the_root_and_the_fiber_lives_on() {
    let mut fiber = small();
    fiber.start(|| panic!("on purpose"));
    let Outcome::Panicked(payload) = runtime().block_on(&mut fiber) else {
        panic!("expected a panic")
    };
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    fiber.start(|| {});
    assert!(matches!(runtime().block_on(&mut fiber), Outcome::Returned { aborted: false }));
}

#[test]
fn a_future_that_panics_is_the_affair_of_the_fiber_that_waits_for_it() {
    let mut fiber = small();
    let seen = Rc::new(Cell::new(false));
    let flag = Rc::clone(&seen);
    fiber.start(move || {
        let wait = || block_on(async { panic!("on purpose") });
        flag.set(std::panic::catch_unwind(wait).is_err());
        // It may go on, and wait for others.
        yield_now().unwrap();
    });
    assert!(matches!(runtime().block_on(&mut fiber), Outcome::Returned { aborted: false }));
    assert!(seen.get());
    fiber.start(|| block_on(async { panic!("on purpose") }).unwrap());
    assert!(matches!(runtime().block_on(&mut fiber), Outcome::Panicked(_)));
}

#[test]
fn many_fibers_interleave_on_one_thread() {
    let pool = StackPool::new(StackSettings { usable: 64 * 1024 });
    let sum = Rc::new(Cell::new(0u64));
    let local = tokio::task::LocalSet::new();
    for index in 0..1000u64 {
        let mut fiber = Fiber::new(pool.take().unwrap());
        let sum = Rc::clone(&sum);
        fiber.start(move || {
            for _ in 0..10 {
                yield_now().unwrap();
            }
            sum.set(sum.get() + index);
        });
        local.spawn_local(fiber);
    }
    runtime().block_on(local);
    assert_eq!(sum.get(), 499_500);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_fiber_can_drive_another_one() {
    let mut outer = small();
    let seen = Rc::new(Cell::new(0));
    let out = Rc::clone(&seen);
    outer.start(move || {
        let mut inner = small();
        let from_inner = Rc::clone(&out);
        inner.start(move || {
            yield_now().unwrap();
            from_inner.set(1);
        });
        block_on(inner).unwrap();
        assert!(on_fiber());
        out.set(out.get() + 1);
    });
    runtime().block_on(&mut outer);
    assert_eq!(seen.get(), 2);
    assert!(!on_fiber());
}
