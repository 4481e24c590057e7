//! Agents whose way to NATS is cut, while the target stays within reach.

use std::time::Duration;

use serde_json::Value;

use super::site::Site;
use super::{LONG, handled, number, script};

/// A test of three agents at 40 requests a second, of whom one is cut off for so long.
fn cut(length: Duration, flags: &str) -> Value {
    let site = Site::start();
    let machines: Vec<_> = (0..3).map(|_| site.machine()).collect();
    let agents: Vec<_> = machines.iter().map(|machine| site.agent(machine)).collect();
    let leader = site.leader(3, &script(&LONG.replace("'60s'", "'9s'")), flags);
    site.wait_for_requests(20);
    let before = site.requests();
    site.cut(&machines[1]);
    pause(length);
    // Each of the three makes 13 a second; two alone would make 27.
    let during = site.requests() - before;
    assert!(during as f64 > 33.0 * length.as_secs_f64(), "{during} while one was cut off");
    site.mend(&machines[1]);
    let told = leader.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    assert_eq!(site.requests(), number(&all["requests"]), "{all}");
    assert_eq!(number(&all["iterations"]) + number(&all["dropped"]), 361, "{all}");
    let seats = all["agents"]["seats"].as_array().expect("seats");
    assert!(seats.iter().all(|seat| seat["whole"] == true), "{all}");
    for agent in agents {
        let told = agent.wait();
        assert_eq!(told.code, 0, "{told:?}");
    }
    let holes: Vec<&Value> =
        seats.iter().filter_map(|seat| seat["holes"].as_array()).flatten().collect();
    assert_eq!(holes.len(), 1, "{all}");
    let text = told.stderr + &told.stdout;
    assert!(text.contains("is back; it was out of touch"), "{text}");
    holes[0].clone()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the length of the cut, on a thread of the test's own"
)]
fn pause(length: Duration) {
    std::thread::sleep(length);
}

#[test]
fn an_agent_that_is_cut_off_for_a_while_makes_its_load_and_nothing_is_missing() {
    let hole = cut(Duration::from_secs(4), "");
    assert_eq!(hole["lost"], false, "{hole}");
    assert!(hole["to_s"].as_f64() > hole["from_s"].as_f64(), "{hole}");
}

#[test]
fn an_agent_that_is_cut_off_beyond_its_timeout_is_lost_comes_back_and_is_whole() {
    let hole = cut(Duration::from_secs(5), "--agent-timeout 3s");
    assert_eq!(hole["lost"], true, "{hole}");
}
