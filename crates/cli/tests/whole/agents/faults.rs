//! Leaders and brokers that die, and come back.

use serde_json::Value;

use super::fleet::{Agent, Nats, leader, requests, wait_for_requests};
use super::{LONG, handled, number, script};
use crate::support::{DemoServer, Running, Told};

fn seconds(length: u32) -> String {
    script(&LONG.replace("'60s'", &format!("'{length}s'")))
}

fn is_whole(all: &Value) -> bool {
    all["agents"]["seats"]
        .as_array()
        .is_some_and(|seats| seats.iter().all(|seat| seat["whole"] == true))
}

#[test]
fn a_leader_that_is_killed_takes_its_run_up_again() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents: Vec<Agent> = (0..2).map(|_| Agent::start(&nats, "--run-id again")).collect();
    let text = seconds(15);
    let mut first = leader(&nats, &demo, 2, &text, "--run-id again");
    let running = first.start();
    wait_for_requests(&demo, 80);
    running.signal("KILL");
    assert_eq!(running.wait().code, -1);
    // The same script in the same place.
    let told = first.told();
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    assert_eq!(number(&all["iterations"]) + number(&all["dropped"]), 601, "{all}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert!(agents.iter().all(|agent| agent.code == 0), "{agents:?}");
}

#[test]
fn a_broker_that_is_killed_loses_nothing() {
    for is_emptied in [false, true] {
        let (mut nats, demo) = (Nats::start(), DemoServer::start());
        let agents = Agent::several(&nats, 2);
        let mut call = leader(&nats, &demo, 2, &seconds(15), "");
        let running = call.start();
        wait_for_requests(&demo, 80);
        nats.kill();
        // The load goes on without it.
        wait_for_requests(&demo, requests(&demo) + 80);
        nats.again(is_emptied);
        let told = running.wait();
        assert_eq!(told.code, 0, "emptied: {is_emptied}: {told:?}");
        let all = handled(&told);
        assert_eq!(requests(&demo), number(&all["requests"]), "emptied: {is_emptied}: {all}");
        assert!(is_whole(&all), "{all}");
        assert_eq!(number(&all["iterations"]) + number(&all["dropped"]), 601, "{all}");
        let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
        assert!(agents.iter().all(|agent| agent.code == 0), "{agents:?}");
    }
}

#[test]
fn without_a_broker_nothing_begins_and_the_reason_is_told() {
    let (mut nats, demo) = (Nats::start(), DemoServer::start());
    let without = Nats::start_with(&[], "");
    let told = leader(&without, &demo, 2, &seconds(1), "").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("has no JetStream"), "{told:?}");
    let small = Nats::start_with(&["--jetstream"], "max_payload: 1000\n");
    let told = leader(&small, &demo, 2, &seconds(1), "").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("max_payload"), "{told:?}");
    let locked = "authorization { users: [{ user: me, password: secret }] }\n";
    let locked = Nats::start_with(&["--jetstream"], locked);
    let told = leader(&locked, &demo, 2, &seconds(1), "").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("refuses the login"), "{told:?}");
    nats.kill();
    let mut call = leader(&nats, &demo, 2, &seconds(1), "");
    let running = call.start();
    running.signal("TERM");
    drop(running.wait());
}

#[test]
fn a_pool_has_one_leader_and_a_dead_one_leaves_it() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 1);
    let mut call = leader(&nats, &demo, 1, &seconds(60), "");
    let running = call.start();
    wait_for_requests(&demo, 10);
    let told = leader(&nats, &demo, 1, &seconds(1), "").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("is in use by the run"), "{told:?}");
    running.signal("KILL");
    drop(running.wait());
    drop(agents);
    let told = leader(&nats, &demo, 1, &seconds(1), "--agents-wait 1s").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.stderr.contains("taking it over"), "{told:?}");
    assert!(told.error().contains("0 of 1 agents came"), "{told:?}");
}

#[test]
fn of_two_leaders_that_come_at_once_one_leads_and_the_other_is_told_so() {
    for (flags, message) in [("", "is in use by the run"), ("--run-id two", "another leader")] {
        let (nats, demo) = (Nats::start(), DemoServer::start());
        let agent = Agent::start(&nats, flags);
        let text = seconds(3);
        let mut calls: Vec<_> = (0..2).map(|_| leader(&nats, &demo, 1, &text, flags)).collect();
        let running: Vec<_> = calls.iter_mut().map(crate::support::Brunt::start).collect();
        let mut told: Vec<Told> = running.into_iter().map(Running::wait).collect();
        told.sort_by_key(|told| told.code);
        assert_eq!((told[0].code, told[1].code), (0, 112), "{told:?}");
        assert!(told[1].error().contains(message), "{told:?}");
        assert_eq!(requests(&demo), number(&handled(&told[0])["requests"]));
        assert_eq!(agent.wait().code, 0);
    }
}
