//! A test on several machines, asked and steered at the leader's REST API.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fleet::{Agent, Nats, leader, requests, wait_for_requests};
use super::{LONG, STAGED, handled, number, script};
use crate::remote::{ask, free_address, wait_for};
use crate::support::{DemoServer, Told, brunt};

/// The time in which all agents must have stopped.
const STOPPED: Duration = Duration::from_secs(2);

/// VUs that are decided from outside.
const STEERED: &str = "export const options = { scenarios: { live: { executor: 'externally-controlled', vus: 2, maxVUs: 4,\n\
      duration: '60s' } } };\n\
    export default function () { hit(); sleep(0.02); }\n";

/// Changes the status, and gives back what it is then, or the error's code and title.
fn change(address: &str, attributes: &Value) -> Value {
    let body = json!({ "data": { "type": "status", "id": "default", "attributes": attributes } });
    let (code, answer) = ask(address, "PATCH", "/v1/status", &body.to_string()).expect("an answer");
    if code == 200 {
        answer["data"]["attributes"].clone()
    } else {
        json!([code, answer["errors"][0]["title"], answer["errors"][0]["detail"]])
    }
}

/// Waits until the status has this value.
fn wait_for_status(address: &str, name: &str, value: &Value) -> Value {
    let wanted = |status: &Value| status["data"]["attributes"][name] == *value;
    wait_for(address, "/v1/status", wanted)["data"]["attributes"].clone()
}

/// Waits until the metric `vus`, which is a sum over all agents, has this value.
fn wait_for_vus(address: &str, vus: u64) {
    wait_for(address, "/v1/metrics/vus", |metric| {
        metric["data"]["attributes"]["sample"]["value"] == vus
    });
}

/// The answer of the live page, which wants to be asked by its own name; all of it.
fn of_page(page: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(page).expect("the page is served");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

/// The first part of the run's data that the live page gets.
fn first_part(page: &str) -> String {
    let mut stream = TcpStream::connect(page).expect("the page is served");
    write!(stream, "GET /events HTTP/1.1\r\nHost: {page}\r\n\r\n").expect("it reads");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("text"));
    assert!(lines.any(|line| line == "event: part"), "no part comes");
    lines.next().and_then(|line| line.strip_prefix("data: ").map(str::to_owned)).expect("data")
}

/// Lets time pass.
fn pass(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}

fn all_well(agents: Vec<Agent>) -> Vec<Told> {
    let agents: Vec<Told> = agents.into_iter().map(Agent::wait).collect();
    assert!(agents.iter().all(|agent| agent.code == 0), "{agents:?}");
    agents
}

#[test]
fn a_test_that_is_stopped_at_the_leader_stops_everywhere() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let address = free_address();
    let text = script(LONG) + "export function teardown() { console.log('TEARDOWN RAN'); }\n";
    let mut call = leader(&nats, &demo, 2, &text, &format!("--address {address}"));
    let running = call.start();
    wait_for_requests(&demo, 40);
    let status = wait_for_status(&address, "status", &json!(7));
    assert_eq!((&status["running"], &status["stopped"]), (&json!(true), &json!(false)));
    let refused = change(&address, &json!({ "paused": true }));
    assert_eq!((&refused[0], &refused[1]), (&json!(500), &json!("Pause error")), "{refused}");
    let refused = change(&address, &json!({ "vus": 3 }));
    assert_eq!(refused[1], "Execution config error", "{refused}");
    let status = change(&address, &json!({ "stopped": true }));
    assert_eq!(status["stopped"], true, "{status}");
    pass(STOPPED);
    let at_rest = requests(&demo);
    let told = running.wait();
    assert_eq!(told.code, 103, "{told:?}");
    assert_eq!(told.stderr.matches("test run stopped from REST API").count(), 1, "{told:?}");
    let all = handled(&told);
    assert_eq!((requests(&demo), number(&all["requests"])), (at_rest, at_rest), "{all}");
    let agents = all_well(agents);
    let ran = agents.iter().filter(|agent| agent.stderr.contains("TEARDOWN RAN")).count();
    assert_eq!(ran, 1, "{agents:?}");
}

#[test]
fn a_test_that_waits_is_resumed_and_lingers_after_its_end() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let address = free_address();
    let flags = format!("--paused --linger --address {address}");
    let mut call = leader(&nats, &demo, 2, &script(STAGED), &flags);
    let running = call.start();
    // Before an agent is there.
    let status = wait_for_status(&address, "status", &json!(0));
    assert_eq!((&status["paused"], &status["vus-max"]), (&json!(true), &json!(0)), "{status}");
    let agents = Agent::several(&nats, 2);
    let status = wait_for_status(&address, "status", &json!(4));
    assert_eq!((&status["running"], &status["vus"]), (&json!(false), &json!(0)), "{status}");
    wait_for_status(&address, "vus-max", &json!(12));
    let shown = brunt(&format!("status -a {address}")).told();
    assert!(shown.stdout.contains("paused before its start"), "{shown:?}");
    assert!(shown.stdout.contains("Agents      2 of 2 in touch\n"), "{shown:?}");
    // Longer than a start by mistake would take.
    pass(Duration::from_millis(1500));
    assert_eq!(requests(&demo), 0);
    let (code, answer) = ask(&address, "POST", "/v1/setup", "").expect("an answer");
    assert_eq!((code, answer["errors"][0]["title"].as_str()), (500, Some("Error executing setup")));
    let resumed = brunt(&format!("resume -a {address}")).told();
    assert_eq!(resumed.code, 0, "{resumed:?}");

    let status = wait_for_status(&address, "status", &json!(9));
    assert_eq!(
        (&status["running"], &status["tainted"]),
        (&json!(false), &json!(false)),
        "{status}"
    );
    all_well(agents);
    let (_, answer) = ask(&address, "GET", "/v1/metrics/iterations", "").expect("an answer");
    let iterations = answer["data"]["attributes"]["sample"]["count"].clone();
    let (_, answer) = ask(&address, "GET", "/v1/groups", "").expect("an answer");
    let checks = &answer["data"][0]["attributes"]["checks"];
    assert_eq!((&checks[0]["passes"], &checks[0]["fails"]), (&iterations, &json!(0)), "{answer}");
    let (_, answer) = ask(&address, "GET", "/v1/setup", "").expect("an answer");
    assert_eq!(answer["data"]["attributes"]["data"]["token"], 7, "{answer}");
    let (code, answer) = ask(&address, "POST", "/v1/teardown", "").expect("an answer");
    assert_eq!(code, 500, "{answer}");
    // Nothing is left to stop.
    assert_eq!(change(&address, &json!({ "stopped": true }))["status"], 9);
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let all = handled(&told);
    assert_eq!(all["iterations"], iterations, "{all}");
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    let seats = all["agents"]["seats"].as_array().expect("seats");
    assert!(seats.iter().all(|seat| number(&seat["iterations"]) > 0), "{all}");
    assert!(told.stdout.contains("paused, 2 of 2 agents, 0/12 VUs"), "{told:?}");
}

#[test]
fn vus_that_are_decided_from_outside_are_dealt_out_to_all_agents() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let agents = Agent::several(&nats, 2);
    let address = free_address();
    let page = free_address();
    let flags = format!("--address {address} --ui={page}");
    let mut call = leader(&nats, &demo, 2, &script(STEERED), &flags);
    let running = call.start();
    wait_for_requests(&demo, 20);
    wait_for_vus(&address, 2);
    let html = of_page(&page, "GET", "/", "");
    assert!(html.starts_with("HTTP/1.1 200") && html.contains("<html"), "{html:.300}");
    let part = first_part(&page);
    assert!(part.len() > 100, "{part}");
    let fleet = json!({ "seats": 2, "running": 2, "silent": 0, "lost": 0 });
    wait_for_status(&address, "agents", &fleet);
    let status = of_page(&page, "GET", "/v1/status", "");
    assert!(status.contains("\"agents\":{") && status.contains("\"seats\":2"), "{status}");
    let noted = of_page(&page, "POST", "/note", "{\"text\": \"a deploy\"}");
    assert!(noted.starts_with("HTTP/1.1 200"), "{noted}");
    let status = change(&address, &json!({ "vus": 4 }));
    assert_eq!((&status["vus"], &status["vus-max"]), (&json!(4), &json!(4)), "{status}");
    wait_for_vus(&address, 4);
    let status = change(&address, &json!({ "vus": 7, "vus-max": 7 }));
    assert_eq!(status["vus"], 7, "{status}");
    wait_for_vus(&address, 7);
    wait_for_status(&address, "vus-max", &json!(7));
    let scaled = brunt(&format!("scale --vus 1 -a {address}")).told();
    assert_eq!(scaled.code, 0, "{scaled:?}");
    wait_for_vus(&address, 1);
    let refused = change(&address, &json!({ "vus": 8 }));
    assert_eq!((&refused[0], &refused[1]), (&json!(400), &json!("Config update error")));
    let status = change(&address, &json!({ "paused": true }));
    assert_eq!((&status["paused"], &status["vus"]), (&json!(true), &json!(0)), "{status}");
    let refused = change(&address, &json!({ "paused": true }));
    assert_eq!(refused[2], "test execution was already paused", "{refused}");
    wait_for_vus(&address, 0);
    let at_rest = requests(&demo);
    pass(Duration::from_millis(300));
    assert_eq!(requests(&demo), at_rest);
    let resumed = brunt(&format!("resume -a {address}")).told();
    assert_eq!(resumed.code, 0, "{resumed:?}");
    wait_for_requests(&demo, at_rest + 10);
    change(&address, &json!({ "stopped": true }));
    let told = running.wait();
    assert_eq!(told.code, 103, "{told:?}");
    assert!(told.stdout.contains("paused ("), "{told:?}");
    let all = handled(&told);
    assert_eq!(requests(&demo), number(&all["requests"]), "{all}");
    assert_eq!(number(&all["vus"]["max"]), 7, "{all}");
    all_well(agents);
}
