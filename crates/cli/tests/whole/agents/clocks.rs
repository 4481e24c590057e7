//! Agents far away, whose clocks are wrong.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::fleet::{Agent, Nats, leader, requests};
use super::{handled, number, relay, script};
use crate::support::{Brunt, DemoServer, Running, Told, beside_a_yardstick, brunt};

/// The way to NATS in each direction.
const DELAY: Duration = Duration::from_millis(40);

/// How far each agent's clock is ahead of the true time, in seconds.
const SKEWS: [i64; 3] = [10, -10, 0];

/// Each agent tells when its first iteration began, and the number of that iteration.
const STARTS: &str = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 100,\n\
      duration: '4s', preAllocatedVUs: 12, maxVUs: 12 } } };\n\
    export default function () {\n\
      if (exec.scenario.iterationInInstance === 0) console.log(`BEGAN ${Date.now()} AS ${exec.scenario.iterationInTest} IT`);\n\
      hit();\n\
    }\n";

/// Makes the library that gives a process another time of the day.
fn library(folder: &Path) -> String {
    let (source, made) = (folder.join("skew.c"), folder.join("skew.so"));
    std::fs::write(&source, include_str!("skew.c")).expect("a file for the test");
    let mut cc = Command::new("cc");
    let told = cc.args(["-shared", "-fPIC", "-O1", "-o"]).args([&made, &source]).output();
    let told = told.expect("cc is there: tools/need cc gets it");
    assert!(told.status.success(), "{told:?}");
    made.display().to_string()
}

fn agent(nats: &str, skew: i64, library: &str) -> (Running, Brunt) {
    let mut folder = brunt(&format!("agent --nats nats://{nats} --once --workers 1"));
    if skew != 0 {
        folder = folder.env("LD_PRELOAD", library).env("SKEW", &skew.to_string());
    }
    (folder.start(), folder)
}

/// When the scenarios of an agent began, in milliseconds, by a clock that is right.
fn began(agent: &Told, skew: i64) -> f64 {
    let line = agent.stderr.lines().find_map(|line| line.split_once("BEGAN "));
    let (_, rest) = line.unwrap_or_else(|| panic!("no beginning in {agent:?}"));
    let mut words = rest.split(' ');
    let mut number = || words.find_map(|word| word.parse::<f64>().ok()).expect("a number");
    let (at, iteration) = (number(), number());
    at - iteration * 10.0 - skew as f64 * 1000.0
}

#[test]
fn agents_with_wrong_clocks_on_slow_ways_begin_together_and_nothing_is_missing() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let folder = tempfile::tempdir().expect("a folder for the test");
    let library = library(folder.path());
    let far = relay::start(nats.address(), DELAY);
    let ((told, agents), machine) = beside_a_yardstick(|| {
        let agents = SKEWS.map(|skew| {
            let way = if skew == 0 { nats.address() } else { far.clone() };
            agent(&way, skew, &library)
        });
        let told = leader(&nats, &demo, 3, &script(STARTS), "").told();
        (told, agents.map(|(running, _folder)| (running.id(), running.wait())))
    });
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    assert_eq!(number(&all["iterations"]) + number(&all["dropped"]), 401, "{all}");
    let seats = all["agents"]["seats"].as_array().expect("seats");
    for ((id, agent), skew) in agents.iter().zip(SKEWS) {
        assert_eq!(agent.code, 0, "{agent:?}");
        let name = format!("/{id}");
        let is_own = |name: &str, seat: &serde_json::Value| {
            seat["agent"].as_str().is_some_and(|agent| agent.ends_with(name))
        };
        let seat = seats.iter().find(|seat| is_own(&name, seat)).expect("its seat");
        assert_eq!(seat["whole"], true, "{all}");
        let number = |of: &str| seat[of].as_f64().expect("a number");
        let error = (number("offset_ms") + skew as f64 * 1000.0).abs();
        // A tenth of a millisecond for the reading of the clock, once in each process.
        assert!(error <= number("offset_bound_ms") + 0.1, "{error} ms wrong: {seat}");
        let warned = agent.stderr.contains("clock is 10.0 s");
        assert_eq!(warned, skew != 0, "{agent:?}");
    }
    let starts: Vec<f64> =
        agents.iter().zip(SKEWS).map(|((_, agent), skew)| began(agent, skew)).collect();
    let spread = starts.iter().copied().fold(f64::MIN, f64::max)
        - starts.iter().copied().fold(f64::MAX, f64::min);
    let allowed = 25.0 + machine.as_secs_f64() * 1000.0;
    assert!(spread <= allowed, "{spread} ms apart: {starts:?}, and {allowed} ms are allowed");
}

#[test]
fn agents_on_one_machine_begin_within_ten_milliseconds() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let ((told, agents), machine) = beside_a_yardstick(|| {
        let agents = Agent::several(&nats, 4);
        let text = script(&STARTS.replace("'4s'", "'1s'"));
        let told = leader(&nats, &demo, 4, &text, "").told();
        (told, agents.into_iter().map(Agent::wait).collect::<Vec<Told>>())
    });
    assert_eq!(told.code, 0, "{told:?}");
    let starts: Vec<f64> = agents.iter().map(|agent| began(agent, 0)).collect();
    let spread = starts.iter().copied().fold(f64::MIN, f64::max)
        - starts.iter().copied().fold(f64::MAX, f64::min);
    let allowed = 10.0 + machine.as_secs_f64() * 1000.0;
    assert!(spread <= allowed, "{spread} ms apart: {starts:?}, and {allowed} ms are allowed");
    let all = handled(&told);
    for seat in all["agents"]["seats"].as_array().expect("seats") {
        let late = seat["late_ms"].as_f64().expect("a number");
        assert!(late <= allowed, "{late} ms late, and {allowed} ms are allowed: {seat}");
    }
}
