//! The results that a leader tells of its agents: run file, page, report, comparison, the verdict on all generators.

use std::process::Command;

use serde_json::Value;

use super::fleet::{Agent, Nats, leader, requests};
use super::{handled, number, script};
use crate::page::browser::{dom, figure};
use crate::support::{DemoServer, Running, Told, brunt};

/// Four seconds of requests, with a group and a threshold, at a rate of 50/s in all.
const STEADY: &str = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 50,\n\
      duration: '4s', preAllocatedVUs: 10, maxVUs: 10 } }, thresholds: { http_reqs: ['count>10'] } };\n\
    export default function () { hit(); }\n";

fn sql<T: rusqlite::types::FromSql>(file: &std::path::Path, query: &str) -> T {
    let connection = rusqlite::Connection::open(file).expect("a run file is a database");
    connection.query_row(query, [], |row| row.get(0)).expect(query)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn run_file_page_and_report_tell_of_all_agents() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let text = script(STEADY);
    let mut run = leader(
        &nats,
        &demo,
        2,
        &text,
        "--out run=a.brunt --report a.html --summary-export e.json --show-failures 0",
    );
    let agents = Agent::several(&nats, 2);
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    agents.into_iter().map(Agent::wait).for_each(drop);
    let all = handled(&told);
    let count = number(&all["requests"]);
    assert_eq!(count, requests(&demo), "{all}");

    let file = run.path("a.brunt");
    let of_slices = "SELECT sum(s.sum) FROM slice s JOIN series ON series.id = series JOIN metric m ON m.id = metric \
                     WHERE m.name = 'http_reqs'";
    assert_eq!(sql::<f64>(&file, of_slices) as u64, count);
    // As it went: no second has all of it.
    let busiest = format!("{of_slices} GROUP BY s.n ORDER BY 1 DESC LIMIT 1");
    assert!((sql::<f64>(&file, &busiest) as u64) < count * 3 / 4, "{told:?}");
    assert_eq!(sql::<String>(&file, "SELECT state FROM run"), "finished");
    assert_eq!(sql::<i64>(&file, "SELECT sum(iterations) FROM agent") as u64, count);
    assert_eq!(sql::<i64>(&file, "SELECT count(*) FROM agent WHERE whole AND level = 'ok'"), 2);
    let begun: i64 = sql(&file, "SELECT sum(iterations_started) FROM load");
    assert_eq!(begun as u64, count, "{told:?}");
    let planned: i64 = sql(&file, "SELECT sum(iterations_planned) FROM load");
    assert!((150..=201).contains(&planned), "{planned}");
    assert_eq!(sql::<i64>(&file, "SELECT count(*) FROM event WHERE text = 'a began'"), 1);

    let page = dom(&run.path("a.html"));
    assert_eq!(figure(&page, "requests") as u64, count);
    assert_eq!(page.matches("data-seat=").count(), 2);
    let export = json(&run.read("e.json"));
    assert_eq!(export["agents"]["seats"].as_array().map(Vec::len), Some(2), "{export}");

    let report = |flags: &str| {
        let told = brunt(&format!("report {} {flags}", file.display())).told();
        assert_eq!(told.code, 0, "{told:?}");
        told.stdout
    };
    let text = report("");
    assert!(text.contains("█ AGENTS") && text.contains(" 50.0% "), "{text}");
    let again = json(&report("--format json"));
    for seat in 0..2 {
        for key in ["agent", "iterations", "frames", "offset_ms", "verdict", "whole"] {
            assert_eq!(again["agents"]["seats"][seat][key], all["agents"]["seats"][seat][key]);
        }
    }
    assert!(report("--format markdown").contains("#### 2 agents"));
    assert!(report("--format junit").contains("<testcase"));
    assert!(report("--format html").contains("<!doctype html>"));

    let mut other = leader(&nats, &demo, 2, &script(STEADY), "--out run=b.brunt");
    let agents = Agent::several(&nats, 2);
    let told = other.told();
    assert_eq!(told.code, 0, "{told:?}");
    agents.into_iter().map(Agent::wait).for_each(drop);
    let line = format!("compare {} {}", file.display(), other.path("b.brunt").display());
    let told = brunt(&line).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("a.brunt"), "{told:?}");
}

/// An agent that may open few files: its generator is the bottleneck.
fn starved(nats: &Nats, folder: &std::path::Path, seat: u32) -> Running {
    let line = format!(
        "ulimit -n 64; exec \"$0\" agent --nats {} --once --workers 1 --index {seat}",
        nats.url()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_brunt")]).current_dir(folder).env_clear();
    Running::start(&mut command)
}

/// More users than a starved agent has files.
const CROWD: &str = "export const options = { vus: 160, duration: '3s' };\n\
    export default function () { hit(); sleep(0.2); }\n";

#[test]
fn the_agent_whose_generator_was_the_bottleneck_is_named() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let folder = tempfile::tempdir().expect("a folder for the test");
    let run = |text: &str, flags: &str| -> Told {
        let agents = [starved(&nats, folder.path(), 2), Agent::start(&nats, "--index 1").running];
        let told = leader(&nats, &demo, 2, text, flags).told();
        agents.into_iter().map(Running::wait).for_each(drop);
        told
    };
    let text = script(CROWD).replace("vus: data", "verdict: data.verdict, vus: data");
    let told = run(&text, "--strict");
    assert_eq!(told.code, 98, "{told:?}");
    let all = handled(&told);
    let verdict = &all["verdict"];
    assert_eq!(verdict["level"], "invalid", "{verdict}");
    let findings = verdict["findings"].as_array().expect("findings");
    let short = findings.iter().find(|it| it["name"] == "out-of-files").expect("a finding");
    let evidence = short["evidence"].as_str().expect("a text");
    assert!(evidence.starts_with("1 of 2 agents: seat 2 ("), "{evidence}");
    assert_eq!(short["values"]["seat"], 2.0, "{short}");
    let seats = &all["agents"]["seats"];
    assert_eq!(
        (&seats[0]["verdict"]["level"], &seats[1]["verdict"]["level"]),
        (&Value::from("ok"), &Value::from("invalid")),
        "{seats}"
    );
    assert!(told.stderr.contains("finding=out-of-files"), "{told:?}");

    // The same as a threshold; and numbers about the generators, of one agent and of all.
    let judged = text.replace(
        "duration: '3s'",
        "duration: '3s', thresholds: { verdict: ['value<2'], generator_open_files: ['value>5'], \
         'generator_open_files{agent:1}': ['value>64'] }",
    );
    let told = run(&judged, "--strict");
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.error().contains("verdict") && !told.error().contains("generator"), "{told:?}");
}
