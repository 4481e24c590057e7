//! One test on several machines: a leader, agents, NATS and the demo target, which has the truth about requests.

mod clocks;
mod cuts;
mod data;
mod faults;
mod fleet;
mod handed;
mod logins;
mod refused;
mod relay;
mod report;
mod rest;
mod rights;
mod setups;
mod shares;
mod site;
mod strangers;
mod take_over;
mod windows;

use serde_json::Value;

use std::time::Duration;

use self::fleet::{Agent, Nats, last_request, leader, requests, wait_for_requests};
use crate::support::{DemoServer, Told};

/// Each request names its run, and the demo target counts it.
const HEAD: &str = "import http from 'k6/http';\n\
    import exec from 'k6/execution';\n\
    import { check, sleep } from 'k6';\n\
    const params = { headers: { 'Run-Id': __ENV.RUN } };\n\
    const hit = () => http.get(`${__ENV.URL}/ping`, params);\n\
    export function handleSummary(data) {\n\
      const of = (name) => (data.metrics[name] || { values: {} }).values.count || 0;\n\
      const told = { requests: of('http_reqs'), iterations: of('iterations'), dropped: of('dropped_iterations'),\n\
        checks: data.metrics.checks && data.metrics.checks.values, agents: data.agents, setup: data.setup_data,\n\
        vus: data.metrics.vus && data.metrics.vus.values };\n\
      return { stdout: `HANDLED ${JSON.stringify(told)}\\n` };\n\
    }\n";

/// A second of load at a constant rate, with all stages.
const STAGED: &str = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 60,\n\
      duration: '3s', preAllocatedVUs: 12, maxVUs: 12 } }, thresholds: { checks: ['rate==1'] } };\n\
    export function setup() { hit(); console.log('SETUP RAN'); return { token: 7 }; }\n\
    export default function (data) { hit(); check(data, { token: (it) => it.token === 7 }); }\n\
    export function teardown(data) { hit(); console.log(`TEARDOWN RAN ${data.token}`); }\n";

/// Load without an end of its own.
const LONG: &str = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 40,\n\
      duration: '60s', preAllocatedVUs: 8, maxVUs: 8, gracefulStop: '1s' } } };\n\
    export default function () { hit(); }\n";

fn script(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

/// The line of `handleSummary`, which must have run once.
fn handled(told: &Told) -> Value {
    let mut lines = told.stdout.lines().filter_map(|line| line.strip_prefix("HANDLED "));
    let line = lines.next().unwrap_or_else(|| panic!("no summary in {told:?}"));
    assert_eq!(lines.next(), None, "handleSummary ran twice");
    serde_json::from_str(line).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number")) as u64
}

#[test]
fn three_agents_are_one_test() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 3);
    let told = leader(&nats, &demo, 3, &script(STAGED), "").told();
    assert_eq!(told.code, 0, "{told:?}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert!(agents.iter().all(|agent| agent.code == 0), "{agents:?}");
    let all = handled(&told);
    let iterations = number(&all["iterations"]);
    assert_eq!(iterations + number(&all["dropped"]), 181, "{all}");
    assert_eq!(number(&all["requests"]), iterations + 2, "{all}");
    assert_eq!(requests(&demo), iterations + 2, "{all}");
    assert_eq!(number(&all["checks"]["passes"]), iterations, "{all}");
    assert_eq!(all["setup"]["token"], 7, "{all}");
    let seats = all["agents"]["seats"].as_array().expect("seats");
    let by_seat = |of: &str| seats.iter().map(|seat| number(&seat[of])).sum::<u64>();
    assert_eq!((seats.len(), by_seat("iterations")), (3, iterations), "{all}");
    assert_eq!(by_seat("requests"), iterations + 2, "{all}");
    assert!(seats.iter().all(|seat| seat["whole"] == true), "{all}");
    assert!(number(&all["vus"]["max"]) <= 12, "{all}");
    for (word, count) in [("SETUP RAN", 1), ("TEARDOWN RAN 7", 1)] {
        let ran = agents.iter().filter(|agent| agent.stderr.contains(word)).count();
        assert_eq!(ran, count, "{word}: {agents:?}");
    }
}

#[test]
fn a_threshold_is_judged_over_all_agents_and_stops_them() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let text = script(LONG).replace(
        "gracefulStop: '1s' } }",
        "gracefulStop: '1s' } }, thresholds: { http_reqs: [{ threshold: 'count<30', abortOnFail: true }] }",
    );
    let told = leader(&nats, &demo, 2, &text, "").told();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.error().contains("http_reqs"), "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    // It was cut short: 2400 would have come.
    assert!(number(&all["requests"]) < 1000, "{all}");
    assert!(agents.into_iter().map(Agent::wait).all(|agent| agent.code == 0));
}

#[test]
fn an_agent_that_dies_is_named_and_the_others_go_on() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut agents = Agent::several(&nats, 3);
    let text = script(&LONG.replace("'60s'", "'12s'"));
    let mut call = leader(&nats, &demo, 3, &text, "--agent-timeout 3s");
    let running = call.start();
    wait_for_requests(&demo, 60);
    let dead = agents.remove(1);
    let host = format!("/{}", dead.running.id());
    dead.kill();
    let told = running.wait();
    assert_eq!(told.code, 111, "{told:?}");
    let all = handled(&told);
    let seats = all["agents"]["seats"].as_array().expect("seats");
    let lost: Vec<&Value> = seats.iter().filter(|seat| seat["whole"] == false).collect();
    assert_eq!(lost.len(), 1, "{all}");
    assert!(lost[0]["agent"].as_str().is_some_and(|name| name.ends_with(&host)), "{all}");
    assert!(told.stderr.contains(&format!("seat {}", lost[0]["seat"])), "{told:?}");
    // Whatever the server saw and the summary did not is of the last moments of the dead one.
    let (seen, counted) = (requests(&demo), number(&all["requests"]));
    assert!(counted <= seen && seen - counted <= 60, "{seen} seen, {counted} counted");
    assert!(agents.into_iter().map(Agent::wait).all(|agent| agent.code == 0));
}

#[test]
fn an_agent_that_is_told_to_go_leaves_nothing_uncounted() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let mut agents = Agent::several(&nats, 2);
    let text = script(&LONG.replace("'60s'", "'8s'"));
    let mut call = leader(&nats, &demo, 2, &text, "");
    let running = call.start();
    wait_for_requests(&demo, 60);
    let going = agents.remove(0);
    going.running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 111, "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    let gone = going.wait();
    assert!(gone.stderr.contains("stopping in good order"), "{gone:?}");
}

#[test]
fn a_script_that_throws_is_told_once() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    for (text, part) in [
        // Only agents have seats.
        (
            "if (__ENV.BRUNT_SEAT) throw new Error('no init here');\nexport default function () {}\n",
            "no init here",
        ),
        (
            "export function setup() { throw new Error('no setup here'); }\nexport default function () { hit(); }\n",
            "no setup here",
        ),
    ] {
        let agents = Agent::several(&nats, 2);
        let told = leader(&nats, &demo, 2, &script(text), "").told();
        assert_eq!(told.code, 107, "{told:?}");
        assert_eq!(told.stderr.matches(part).count(), 1, "{told:?}");
        agents.into_iter().map(Agent::wait).for_each(drop);
    }
    assert_eq!(requests(&demo), 0);
}

#[test]
fn agents_that_do_not_come_are_counted_and_those_that_came_are_named() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 3);
    let told = leader(&nats, &demo, 4, &script(STAGED), "--agents-wait 3s").told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("3 of 4 agents came"), "{told:?}");
    assert!(!told.stdout.contains("HANDLED"), "{told:?}");
    assert_eq!(requests(&demo), 0);
    agents.into_iter().map(Agent::wait).for_each(drop);
}

#[test]
fn ctrl_c_at_the_leader_stops_all_and_teardown_runs_once() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let text = script(LONG) + "export function teardown() { console.log('TEARDOWN RAN'); }\n";
    let mut call = leader(&nats, &demo, 2, &text, "");
    let mut running = call.start();
    wait_for_requests(&demo, 40);
    running.signal("INT");
    let last = last_request(&demo, &mut running);
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert_idle(last, &told);
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    let ran = agents.iter().filter(|agent| agent.stderr.contains("TEARDOWN RAN")).count();
    assert_eq!(ran, 1, "{agents:?}");
}

#[test]
fn a_script_that_aborts_the_test_ends_it_everywhere() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let text = script(&LONG.replace(
        "hit(); }",
        "hit(); if (exec.scenario.iterationInTest === 50) exec.test.abort('enough'); }",
    )) + "export function teardown() { console.log('TEARDOWN RAN'); }\n";
    let mut call = leader(&nats, &demo, 2, &text, "");
    let mut running = call.start();
    wait_for_requests(&demo, 51);
    let last = last_request(&demo, &mut running);
    let told = running.wait();
    assert_eq!(told.code, 108, "{told:?}");
    assert_idle(last, &told);
    assert!(told.error().contains("enough"), "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    let ran = agents.iter().filter(|agent| agent.stderr.contains("TEARDOWN RAN")).count();
    assert_eq!(ran, 1, "{agents:?}");
}

/// All agents stop within two seconds, and what other programs made the leader wait.
fn assert_idle(last: Duration, told: &Told) {
    assert!(last <= Duration::from_secs(2) + told.waited, "requests for {last:?} more: {told:?}");
}
