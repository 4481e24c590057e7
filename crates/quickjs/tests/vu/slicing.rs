//! A VU in a loop without calls lets its neighbours run, because the interrupt hook suspends it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use crate::support::{Failure, SMALL, Vu, in_real_time, pool};

#[test]
fn a_vu_in_an_endless_loop_has_few_slices_while_a_neighbour_sleeps() {
    const SLEEPS: u32 = 20;
    let pool = pool(SMALL);
    let (hog, in_between) = in_real_time(async {
        let mut hog = Vu::new(&pool);
        hog.start(
            "let x = 0;
             function spin() { for (let i = 0; i < 1e5; i++) x = (x * 31 + i) | 0; }
             [1].map(() => { for (;;) { spin(); /^(a|b|ab)*c$/.test('ab'.repeat(12)); } })",
        );
        let host = Rc::clone(&hog.host);
        let slices = move || host.slices.get();
        let hog = tokio::task::spawn_local(async move {
            let host = Rc::clone(&hog.host);
            tokio::select! {
                ended = hog.finish() => panic!("the loop ended: {ended:?}"),
                () = neighbour_done() => {}
            }
            let aborted = hog.fiber.abort();
            (hog.ended(), host.slices.get(), aborted.is_some())
        });
        let mut polite = Vu::new(&pool);
        let mut in_between = Vec::new();
        for _ in 0..SLEEPS {
            let before = slices();
            assert!(polite.run("sleep(2)").await.is_ok());
            in_between.push(slices() - before);
        }
        NEIGHBOUR_DONE.with(|done| done.set(true));
        in_between.sort_unstable();
        (hog.await.unwrap(), in_between)
    });
    assert_eq!(hog.0, Some(Err(Failure::Stopped)));
    assert!(hog.1 >= SLEEPS / 2, "the loop yielded only {} times", hog.1);
    assert!(hog.2);
    // A slice is as long as the sleep: two or three of them, on a machine of any speed. Without slicing it would be forever.
    assert!(in_between[SLEEPS as usize / 2] <= 10, "{in_between:?}");
}

thread_local! {
    static NEIGHBOUR_DONE: Cell<bool> = const { Cell::new(false) };
}

async fn neighbour_done() {
    while !NEIGHBOUR_DONE.with(Cell::get) {
        tokio::task::yield_now().await;
    }
}

#[test]
fn several_loops_share_a_core_fairly() {
    let pool = pool(SMALL);
    let slices = in_real_time(async {
        let mut hosts = Vec::new();
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let mut vu = Vu::new(&pool);
            vu.start("for (;;);");
            hosts.push(Rc::clone(&vu.host));
            tasks.push(tokio::task::spawn_local(async move { vu.finish().await }));
        }
        while hosts.iter().all(|host| host.slices.get() < 20) {
            tokio::task::yield_now().await;
        }
        let slices: Vec<_> = hosts.iter().map(|host| host.slices.get()).collect();
        for host in &hosts {
            host.kill_at.set(Some(Instant::now()));
        }
        for task in tasks {
            assert_eq!(task.await.unwrap(), Err(Failure::Stopped));
        }
        slices
    });
    assert!(slices.iter().all(|&count| count >= 15), "{slices:?}");
}
