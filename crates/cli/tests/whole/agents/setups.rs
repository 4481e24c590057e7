//! A `setup()` that is slow, or dies with its agent: no iteration begins anywhere.

use super::fleet::{Agent, Nats, leader, requests, wait_for_requests};
use super::script;
use crate::support::DemoServer;

/// Iterations make two requests, `setup()` one.
const SLOW: &str = "export const options = { setupTimeout: '1s', vus: 2, iterations: 4 };\n\
    export function setup() { hit(); sleep(60); }\n\
    export default function () { hit(); hit(); }\n";

#[test]
fn a_setup_that_takes_too_long_ends_the_test() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let told = leader(&nats, &demo, 2, &script(SLOW), "").told();
    assert_eq!(told.code, 100, "{told:?}");
    assert!(told.error().contains("setup"), "{told:?}");
    assert_eq!(requests(&demo), 1);
    agents.into_iter().map(Agent::wait).for_each(drop);
}

#[test]
fn a_setup_that_dies_with_its_agent_ends_the_test() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents: Vec<Agent> =
        ["--index 1", "--index 2"].map(|flags| Agent::start(&nats, flags)).into();
    let text = script(&SLOW.replace("'1s'", "'60s'"));
    let mut call = leader(&nats, &demo, 2, &text, "--agent-timeout 3s");
    let running = call.start();
    wait_for_requests(&demo, 1);
    // The lowest seat runs it.
    agents[0].kill();
    let told = running.wait();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("the test had not begun"), "{told:?}");
    assert!(told.error().contains("seat 1"), "{told:?}");
    assert_eq!(requests(&demo), 1);
    agents.into_iter().map(Agent::wait).for_each(drop);
}
