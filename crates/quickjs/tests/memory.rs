//! Alone in its process, because it reads the resident set size.
#![allow(clippy::unwrap_used, reason = "a test; the lint's own exception ends at helpers")]

#[path = "vu/support.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
mod support;

use support::{Failure, NORMAL, Vu, on_a_core, pool};

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
}

/// Ten thousand VUs in all, each suspended deep in a script that holds some memory, and torn down there.
#[test]
fn rounds_of_suspended_vus_leave_the_resident_set_where_it_was() {
    let pool = pool(NORMAL);
    let round = || {
        let mut vus: Vec<_> = (0..500).map(|_| Vu::new(&pool)).collect();
        on_a_core(async {
            for vu in &mut vus {
                vu.start(
                    "const kept = [new Array(100).fill({}), new Map([[1, 'x'.repeat(1000)]]), new Uint8Array(1000)];
                     kept.push(kept);
                     [2, 1].sort(() => { try { sleep(1e9) } finally { log('finally') } })",
                );
                tokio::select! {
                    biased;
                    ended = vu.finish() => panic!("it ended: {ended:?}"),
                    () = std::future::ready(()) => {}
                }
            }
            for vu in &mut vus {
                assert!(vu.fiber.abort().is_some());
                assert_eq!(vu.ended(), Some(Err(Failure::Stopped)));
                assert!(vu.log().is_empty());
            }
        });
        drop(vus);
        assert_eq!(pool.in_use(), 0);
    };
    round();
    round();
    let before = resident_kib();
    for _ in 0..20 {
        round();
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 4096, "the resident set grew by {grown} KiB over 20 rounds");
}
