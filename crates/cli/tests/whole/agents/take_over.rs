//! An agent that dies, and another one that makes its load.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fleet::{Agent, Nats, leader, requests, wait_for_requests};
use super::{handled, number, script};
use crate::support::{DemoServer, Told};

/// A rate, iterations that are shared, iterations of each VU, and VUs that iterate.
const ALL: &str = "const of = (executor, more) => ({ executor, gracefulStop: '5s', ...more });\n\
    export const options = { thresholds: { 'iterations{scenario:rate}': ['count>=0'], 'dropped_iterations{scenario:rate}': ['count>=0'] }, scenarios: {\n\
      rate: of('constant-arrival-rate', { rate: 40, duration: '16s', preAllocatedVUs: 8, maxVUs: 8 }),\n\
      shared: of('shared-iterations', { vus: 6, iterations: 120, maxDuration: '60s' }),\n\
      each: of('per-vu-iterations', { vus: 3, iterations: 20, maxDuration: '60s' }),\n\
      steady: of('constant-vus', { vus: 3, duration: '16s' }),\n\
    } };\n\
    export default function () {\n\
      hit();\n\
      if (exec.scenario.name !== 'rate') sleep(0.5);\n\
      console.log(`DID ${exec.scenario.name} ${exec.scenario.iterationInTest} VU ${exec.vu.idInTest} END`);\n\
    }\n";

/// All iterations that came to their end, by scenario: the numbers and VUs.
fn done(agents: &[Told]) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut all: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for line in agents.iter().flat_map(|agent| agent.stderr.lines()) {
        // The line of a process that was killed may be cut off.
        let Some((_, rest)) = line.split_once("DID ").filter(|(_, rest)| rest.contains(" END"))
        else {
            continue;
        };
        let words: Vec<&str> = rest.split(' ').collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        all.entry(words[0].to_owned()).or_default().push((number(words[1]), number(words[3])));
    }
    all
}

fn taken(all: &Value) -> (&Value, &Value) {
    let seats = all["agents"]["seats"].as_array().expect("seats");
    let lost: Vec<&Value> = seats.iter().filter(|seat| !seat["taken_by"].is_null()).collect();
    assert_eq!(lost.len(), 1, "{all}");
    let by = seats.iter().find(|seat| seat["seat"] == lost[0]["taken_by"]).expect("its seat");
    assert_eq!(by["took_over"]["seat"], lost[0]["seat"], "{all}");
    (lost[0], by)
}

#[test]
fn a_killed_agents_load_is_made_by_a_spare_and_no_iteration_of_a_rate_twice() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let flags = "--agents-wait 20s --agent-timeout 3s --on-agent-loss take-over";
    let text = script(ALL).replace(
        "vus: data",
        "rate: data.metrics['iterations{scenario:rate}'].values.count,\
         missed: data.metrics['dropped_iterations{scenario:rate}'].values.count, vus: data",
    );
    let mut agents = Agent::several(&nats, 3);
    let mut call = leader(&nats, &demo, 3, &text, flags);
    let running = call.start();
    wait_for_requests(&demo, 20);
    // It comes late, and finds no seat.
    agents.push(Agent::start(&nats, ""));
    wait_for_requests(&demo, 160);
    let dead = agents.remove(0);
    dead.kill();
    let told = running.wait();
    assert_eq!(told.code, 111, "{told:?}");
    let all = handled(&told);
    let (lost, by) = taken(&all);
    assert!(by["agent"] != lost["agent"] && by["whole"] == true, "{all}");
    let own = format!("load of seat {} ", lost["seat"]);
    assert!(told.stderr.contains(&own) && told.stderr.contains("took it over"), "{told:?}");
    // All that the plan has was done or is counted as missed.
    assert_eq!(number(&all["rate"]) + number(&all["missed"]), 641, "{all}");
    let (seen, counted) = (requests(&demo), number(&all["requests"]));
    assert!(counted <= seen && seen - counted <= 80, "{seen} seen, {counted} counted");
    agents.push(dead);
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert!(agents[..3].iter().all(|agent| agent.code == 0), "{agents:?}");
    let done = done(&agents);
    let numbers =
        |name: &str| done[name].iter().map(|(number, _)| *number).collect::<BTreeSet<_>>();
    for name in ["rate", "steady"] {
        assert_eq!(numbers(name).len(), done[name].len(), "{name}: an iteration twice");
    }
    // Each at least once.
    assert_eq!(numbers("shared"), (0..120).collect(), "{:?}", done["shared"]);
    assert_eq!(numbers("each").len(), 60, "{:?}", done["each"]);
    // The ids of VUs are those of the plan.
    let vus: BTreeSet<u64> = done.values().flatten().map(|(_, vu)| *vu).collect();
    assert!(vus.iter().all(|vu| (1..=20).contains(vu)), "{vus:?}");
}

#[test]
fn without_a_spare_another_agent_makes_the_load_beside_its_own() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let text = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 40,\n\
          duration: '12s', preAllocatedVUs: 8, maxVUs: 8, gracefulStop: '1s' } } };\n\
        export function setup() { return 7; }\n\
        export default function (data) { if (data === 7) hit(); }\n\
        export function teardown() { console.log('TEARDOWN RAN'); }\n";
    let mut agents = Agent::several(&nats, 2);
    let flags = "--agent-timeout 3s --on-agent-loss take-over --allow-lost 1";
    let mut call = leader(&nats, &demo, 2, &script(text), flags);
    let running = call.start();
    wait_for_requests(&demo, 60);
    agents.remove(0).kill();
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    let (_, by) = taken(&all);
    assert_eq!(by["whole"], true, "{all}");
    assert_eq!(number(&all["iterations"]) + number(&all["dropped"]), 481, "{all}");
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert_eq!(agents[0].code, 0, "{agents:?}");
    assert_eq!(agents[0].stderr.matches("TEARDOWN RAN").count(), 1, "{agents:?}");
}
