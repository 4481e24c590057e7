//! The life of a TestRun without a cluster: initializer, runners, probes, starter, ends, in the image and in namespaces.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::case::{Case, Probes, START, STOP, Stage, answer};
use super::testrun::{Place, TestRun};
use crate::support::{Running, Told, brunt};

fn wait_all(runners: Vec<Running>) -> Vec<Told> {
    runners.into_iter().map(Running::wait).collect()
}

/// The object that the script's `handleSummary` prints.
fn summary(told: &Told) -> Value {
    serde_json::from_str(told.stdout.trim()).unwrap_or_else(|error| panic!("{error}: {told:?}"))
}

fn sum(all: &[Told], name: &str) -> u64 {
    all.iter().map(|told| summary(told)[name].as_u64().unwrap_or(0)).sum()
}

fn lines_with(all: &[Told], part: &str) -> usize {
    all.iter().map(|told| told.stderr.matches(part).count()).sum()
}

/// A script with this work, which tells its counts at the end.
fn script(options: &str) -> String {
    format!(
        "import http from 'k6/http';\n\
         import {{ Counter }} from 'k6/metrics';\n\
         const torn = new Counter('torn');\n\
         export const options = {{ {options} }};\n\
         export function setup() {{ console.log('setup ran'); return {{ from: 'setup' }}; }}\n\
         export default function (data) {{\n\
           if (data.from !== 'setup') throw new Error('no data');\n\
           http.get(`${{__ENV.URL}}/ping`);\n\
         }}\n\
         export function teardown(data) {{ console.log('teardown ran'); torn.add(data.from === 'setup'); }}\n\
         export function handleSummary({{ metrics }}) {{\n\
           const count = (name) => (metrics[name] ? metrics[name].values.count : 0);\n\
           const told = {{ iterations: count('iterations'), requests: count('http_reqs'),\n\
             dropped: count('dropped_iterations'), torn: count('torn') }};\n\
           return {{ stdout: `${{JSON.stringify(told)}}\\n` }};\n\
         }}\n"
    )
}

fn test_run(stage: &Stage, name: &'static str, parallelism: u32) -> TestRun {
    TestRun {
        name,
        parallelism,
        script: Place::Volume("test.js"),
        is_args: true,
        flags: &[],
        env: vec![("URL".to_owned(), stage.url.clone())],
        is_zone: false,
    }
}

/// From the initializer to the end; the ends of the runners.
fn whole(mut case: Case<'_>, vus: u64, plan: u64) -> Vec<Told> {
    let name = case.run.name;
    let required = case.requirements();
    assert_eq!(required["maxVUs"], vus, "{name}");
    assert!(required["totalDuration"].is_string(), "{name}");
    let before = case.stage.pings();
    let runners = case.runners();
    let probes = Probes::start(&case);
    case.until("an answer", Value::is_object);
    // The operator may start twice: its own loop goes round.
    case.patch(START);
    case.patch_again();
    let all = wait_all(runners);
    probes.judge();
    for told in &all {
        assert_eq!(told.code, 0, "{name}: {told:?}");
    }
    let count = case.run.parallelism as usize;
    assert_eq!(lines_with(&all, "setup ran"), count, "{name}: {all:?}");
    assert_eq!(lines_with(&all, "teardown ran"), count, "{name}: {all:?}");
    assert_eq!(sum(&all, "iterations") + sum(&all, "dropped"), plan, "{name}: {all:?}");
    let requests = sum(&all, "requests");
    assert_eq!(requests, sum(&all, "iterations"), "{name}: {all:?}");
    assert_eq!(requests, case.stage.pings() - before, "{name}: the server's count");
    all
}

/// As ConfigMap, as archive, as a file of the image, on one, three, four and seven runners.
#[test]
fn a_test_run_goes_through_all_its_stages() {
    let stage = Stage::set();
    let shared =
        script("scenarios: { a: { executor: 'shared-iterations', vus: 14, iterations: 140 } }");

    let one = Case::new(&stage, test_run(&stage, "one", 1), "test.js", &shared);
    whole(one, 14, 140);

    // The archive that its author made; flags in one line.
    let mut call = brunt("archive s.js -O t.tar").file("s.js", &shared);
    assert_eq!(call.told().code, 0);
    let archive = fs::read(call.path("t.tar")).expect("an archive");
    let run = TestRun {
        script: Place::Volume("t.tar"),
        is_args: false,
        flags: &["--out", "json=/tmp/o.json", "--no-usage-report", "--tag", "team=a"],
        ..test_run(&stage, "three", 3)
    };
    whole(Case::new(&stage, run, "t.tar", archive), 14, 140);

    // Its Services have variables that begin with `K6_`; words with blanks, and an empty one.
    let run = TestRun {
        flags: &[
            "--tag",
            "words=two words",
            "-e",
            "EMPTY=",
            "--user-agent",
            "",
            "--no-live",
            "--console-output",
            "",
        ],
        ..test_run(&stage, "k6", 4)
    };
    let rate = "scenarios: { a: { executor: 'constant-arrival-rate', rate: 40, duration: '1s', \
                preAllocatedVUs: 8, maxVUs: 16 } }";
    whole(Case::new(&stage, run, "test.js", script(rate)), 16, 41);

    let run = TestRun { script: Place::Local("/srv/test.js"), ..test_run(&stage, "seven", 7) };
    whole(Case::new(&stage, run, "test.js", &shared), 14, 140);

    absent(&stage, &shared);
    broken(&stage);
    crowded(&stage);
    slow_init_code(&stage);
    only_ipv6(&stage);
    ends(&stage);
    load_zone(&stage, &shared);
}

/// A script that is not in the image ends each runner by itself.
fn absent(stage: &Stage, shared: &str) {
    let run = TestRun { script: Place::Local("/srv/gone.js"), ..test_run(stage, "absent", 1) };
    let mut case = Case::new(stage, run, "test.js", shared);
    let (code, log) = case.initializer();
    assert!(code == 1 && log.contains("gone.js"), "{code} {log}");
    let all = wait_all(case.runners());
    assert_eq!(all[0].code, 1, "{all:?}");
    assert!(all[0].stdout.contains("no script /srv/gone.js"), "{all:?}");
}

/// A script that throws fails its initializer, in both forms, and says why.
fn broken(stage: &Stage) {
    for is_args in [true, false] {
        let run = TestRun { is_args, ..test_run(stage, "broken", 1) };
        let case = Case::new(stage, run, "test.js", "throw new Error('so it is');\n");
        let (code, log) = case.initializer();
        assert!(code == 1 && log.contains("so it is"), "{code} {log}");
    }
}

/// More runners than VUs: the initializer's number says so, and the operator ends there. Runners that are started all the same have
/// their share, be it nothing.
fn crowded(stage: &Stage) {
    let few = script("vus: 2, iterations: 4");
    let mut case = Case::new(stage, test_run(stage, "crowded", 3), "test.js", few);
    let required = case.requirements();
    assert!(required["maxVUs"].as_u64() < Some(3), "{required}");
    let runners = case.runners();
    case.until("an answer", Value::is_object);
    case.patch(START);
    let all = wait_all(runners);
    assert!(all.iter().all(|told| told.code == 0), "{all:?}");
    assert_eq!(sum(&all, "iterations"), 4, "{all:?}");
}

/// Init code of five seconds: probes are answered all the time, and a starter that comes meanwhile is remembered.
fn slow_init_code(stage: &Stage) {
    const LASTS: Duration = Duration::from_secs(5);
    let slow = "import http from 'k6/http';\n\
        for (;;) { try { open('./go'); break; } catch (_) { /* as a parser of much data would */ } }\n\
        export const options = { vus: 2, iterations: 4 };\n\
        export default function () { http.get(`${__ENV.URL}/ping`); }\n";
    let mut case = Case::new(stage, test_run(stage, "slow", 2), "test.js", slow);
    let before = stage.pings();
    let since = Instant::now();
    let runners = case.runners();
    let probes = Probes::start(&case);
    case.until("an answer", Value::is_object);
    case.patch(START);
    while since.elapsed() < LASTS {
        case.until("init code", |state| state["status"] == 0 && state["paused"] == false);
    }
    fs::write(case.files.path().join("go"), "").expect("a file for the script");
    let all = wait_all(runners);
    probes.judge();
    assert!(all.iter().all(|told| told.code == 0), "{all:?}");
    assert_eq!(stage.pings() - before, 4, "{all:?}");
}

/// In a cluster that has no IPv4, `0.0.0.0` is reached by IPv6; on the pod's own loopback, too.
fn only_ipv6(stage: &Stage) {
    let alone =
        "export const options = { vus: 1, iterations: 1 };\nexport default function () {}\n";
    let run = TestRun { env: Vec::new(), ..test_run(stage, "ipv6", 1) };
    let mut case = Case::new(stage, run, "test.js", alone);
    case.only_ipv6 = true;
    assert_eq!(case.requirements()["maxVUs"], 1);
    let runners = case.runners();
    case.until("an answer", Value::is_object);
    for host in ["[::1]", "127.0.0.1"] {
        let mut command = case.pods[0].command();
        command.args(["curl", "-sS", "-g", "-w", "\n%{http_code}"]);
        let (code, answer) = answer(command.arg(format!("http://{host}:6565/v1/status")));
        assert_eq!(code, 200, "{host} {answer}");
    }
    case.patch(START);
    assert_eq!(wait_all(runners)[0].code, 0);
}

/// The stopper, a crossed threshold, the end of a pod.
fn ends(stage: &Stage) {
    let long = script("vus: 2, duration: '10m', thresholds: { iterations: ['count>1000000000'] }");
    let mut case = Case::new(stage, test_run(stage, "stopped", 2), "test.js", &long);
    let runners = case.runners();
    case.until("an answer", Value::is_object);
    case.patch(START);
    case.until("the start", |state| state["status"] == 7);
    case.patch(STOP);
    for told in wait_all(runners) {
        assert_eq!(told.code, 103, "{told:?}");
        assert!(told.stderr.contains("teardown ran"), "{told:?}");
    }
    case.pods.clear();

    let mut case = Case::new(stage, test_run(stage, "deleted", 1), "test.js", &long);
    let runners = case.runners();
    case.until("an answer", Value::is_object);
    case.patch(START);
    case.until("the start", |state| state["status"] == 7);
    let since = Instant::now();
    for runner in &runners {
        runner.signal("TERM");
    }
    let all = wait_all(runners);
    assert!(since.elapsed() < Duration::from_secs(30), "a pod is killed then");
    assert_eq!((all[0].code, lines_with(&all, "teardown ran")), (105, 1), "{all:?}");
    case.pods.clear();

    let crossed = script("vus: 2, iterations: 4, thresholds: { iterations: ['count>100'] }");
    let mut case = Case::new(stage, test_run(stage, "crossed", 2), "test.js", crossed);
    let runners = case.runners();
    case.until("an answer", Value::is_object);
    case.patch(START);
    for told in wait_all(runners) {
        assert_eq!(told.code, 99, "{told:?}");
    }
}

/// A load zone of a cloud: setup at the first runner, its data to all, teardown at the first after the end, then the end of the pods.
fn load_zone(stage: &Stage, shared: &str) {
    let run = TestRun { is_zone: true, ..test_run(stage, "zone", 3) };
    let mut case = Case::new(stage, run, "test.js", shared);
    let before = stage.pings();
    let runners = case.runners();
    let probes = Probes::start(&case);
    case.until("an answer", Value::is_object);
    let first = case.pods[0].ip.clone();
    let (code, answer) = case.call(&first, "POST", "/v1/setup", "");
    assert_eq!(code, 200, "{answer}");
    let data: Value = serde_json::from_str(&answer).expect("JSON");
    let data = data["data"]["attributes"]["data"].to_string();
    assert_eq!(data, "{\"from\":\"setup\"}");
    for pod in &case.pods {
        let (code, answer) = case.call(&pod.ip, "PUT", "/v1/setup", &data);
        assert_eq!(code, 200, "{answer}");
    }
    case.patch(START);
    case.until("the end", |state| state["running"] == false && state["status"] == 9);
    let (code, answer) = case.call(&first, "POST", "/v1/teardown", "");
    assert_eq!(code, 200, "{answer}");
    probes.judge();
    for runner in &runners {
        runner.signal("TERM");
    }
    let all = wait_all(runners);
    assert!(all.iter().all(|told| told.code == 0), "{all:?}");
    assert_eq!(
        (lines_with(&all, "setup ran"), lines_with(&all, "teardown ran")),
        (1, 1),
        "{all:?}"
    );
    assert_eq!((sum(&all, "iterations"), sum(&all, "torn")), (140, 1), "{all:?}");
    assert_eq!(sum(&all, "requests"), stage.pings() - before, "the server's count");
}
