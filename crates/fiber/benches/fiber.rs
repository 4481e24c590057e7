//! The cost of a fiber for each iteration: `cargo bench -p brunt-fiber`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a bench says by its name what it measures, and may panic"
)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use brunt_fiber::{Fiber, StackPool, StackSettings, block_on};
use divan::Bencher;

fn main() {
    divan::main();
}

fn poll(fiber: &mut Fiber) -> bool {
    Pin::new(fiber).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn fiber() -> Fiber {
    Fiber::new(StackPool::new(StackSettings::default()).take().unwrap())
}

/// Puts a body onto an idle fiber, enters it and leaves it.
#[divan::bench(sample_size = 1000)]
fn run_a_body(bencher: Bencher) {
    let mut fiber = fiber();
    bencher.bench_local(|| {
        fiber.start(|| ());
        assert!(poll(&mut fiber));
    });
}

/// One operation that is not ready at once: into the fiber, out of it, its future polled.
#[divan::bench]
fn suspend_and_resume(bencher: Bencher) {
    /// Not ready at first, ready the next time.
    struct Once(bool);
    impl Future for Once {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    let mut fiber = fiber();
    fiber.start(|| while block_on(Once(false)).is_ok() {});
    assert!(!poll(&mut fiber));
    bencher.bench_local(|| assert!(!poll(&mut fiber)));
}

/// An operation that is ready at once still leaves the fiber and comes back.
#[divan::bench(sample_size = 1000)]
fn wait_for_what_is_ready(bencher: Bencher) {
    let mut fiber = fiber();
    bencher.bench_local(|| {
        fiber.start(|| block_on(std::future::ready(())).unwrap());
        assert!(poll(&mut fiber));
    });
}

/// A stack from the pool and back: the pages that it touched go back to the system.
#[divan::bench]
fn make_and_drop_a_fiber(bencher: Bencher) {
    let pool = StackPool::new(StackSettings::default());
    bencher.bench_local(|| {
        let mut fiber = Fiber::new(pool.take().unwrap());
        fiber.start(|| ());
        assert!(poll(&mut fiber));
    });
}
