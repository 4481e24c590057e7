//! Fibers with the allocator of the `brunt` program. Under qemu it tells whether both hold on arm64: `.ci/arm64`.

use brunt_fiber::{Fiber, Outcome, StackPool, StackSettings, block_on, timer::CoreTimer};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Memory is taken on one stack and given back on another; floating point and a panic come through the switch.
#[test]
fn fibers_allocate_across_waits_and_threads() {
    let threads: Vec<_> = (0..2_usize)
        .map(|thread| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(async move {
                    let pool = StackPool::new(StackSettings::default());
                    for round in 0..20_usize {
                        let kept = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
                        let inner = std::rc::Rc::clone(&kept);
                        let mut fiber = Fiber::new(pool.take().expect("a stack"));
                        fiber.start(move || {
                            let third = (thread + round) as f64 / 3.0;
                            let bytes = vec![round as u8; 1000 << (round % 10)];
                            let due = brunt_fiber::clock::now_ns() + 200_000;
                            let mut timer = CoreTimer::new().expect("a timer");
                            block_on(timer.sleep_until(due)).expect("not aborted");
                            assert!(brunt_fiber::clock::now_ns() >= due);
                            assert!(((thread + round) as f64 - third * 3.0).abs() < 1e-9);
                            let caught = std::panic::catch_unwind(|| panic!("caught in a fiber"));
                            assert!(caught.is_err());
                            inner.borrow_mut().push(bytes);
                        });
                        let outcome = fiber.await;
                        assert!(matches!(outcome, Outcome::Returned { aborted: false }));
                        let kept = kept.borrow();
                        assert_eq!(kept[0].len(), 1000 << (round % 10));
                        assert!(kept[0].iter().all(|byte| *byte == round as u8));
                    }
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic outside of the fiber");
    }
}
