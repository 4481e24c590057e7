//! Thresholds in windows of time, over all agents.

use super::fleet::{Agent, Nats, leader, requests};
use super::{LONG, handled, number, script};
use crate::support::{DemoServer, Told};

fn with(threshold: &str) -> String {
    let text = LONG.replace("'60s'", "'8s'");
    script(&text.replace(
        "gracefulStop: '1s' } }",
        &format!("gracefulStop: '1s' }} }}, thresholds: {{ iterations: [{threshold}] }}"),
    ))
}

#[test]
fn a_steady_rate_of_two_agents_holds_in_each_window() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    // 40 a second: a window that lacked one of the agents, or had a second twice, would break it.
    let text =
        with("{ threshold: 'rate>28', window: '2s' }, { threshold: 'rate<52', window: '3s' }");
    let told = leader(&nats, &demo, 2, &text, "").told();
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert!(agents.iter().all(|agent| agent.code == 0), "{agents:?}");
}

#[test]
fn a_window_that_breaks_stops_all_agents() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let text = with("{ threshold: 'rate<30', window: '2s', abortOnFail: true }");
    let told = leader(&nats, &demo, 2, &text, "").told();
    assert_eq!(told.code, 99, "{told:?}");
    let all = handled(&told);
    // 321 would have come.
    assert!(number(&all["iterations"]) < 280, "{all}");
    agents.into_iter().map(Agent::wait).for_each(drop);
}
