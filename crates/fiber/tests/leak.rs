//! Alone in its process, because it reads the resident set size.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use brunt_fiber::{Aborted, Fiber, StackPool, StackSettings, block_on};

#[test]
fn rounds_of_suspended_and_aborted_fibers_leave_the_resident_set_where_it_was() {
    fn resident_kib() -> usize {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
    }
    let pool = StackPool::new(StackSettings::default());
    let round = || {
        let mut fibers: Vec<_> = (0..500).map(|_| Fiber::new(pool.take().unwrap())).collect();
        for fiber in &mut fibers {
            fiber.start(|| assert_eq!(block_on(std::future::pending::<()>()), Err(Aborted)));
            let pinned = Pin::new(fiber);
            assert!(pinned.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
    };
    round();
    round();
    let before = resident_kib();
    for _ in 0..20 {
        round();
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 1024, "the resident set grew by {grown} KiB over 20 rounds");
}
