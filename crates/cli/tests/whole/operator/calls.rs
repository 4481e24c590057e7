//! The REST API before a run begins, and after its end.

use serde_json::Value;

use crate::remote::{ask, free_address, wait_for};
use crate::support::{Brunt, Running, brunt};

/// Init code that lasts until there is a file `go`.
const SLOW: &str = "for (;;) { try { open('./go'); break; } catch (_) { /* not yet */ } }\n\
    export function setup() { return 'set up'; }\n\
    export default function (data) { console.log(`ran ${data}`); }\n";

/// A run whose init code has not come to its end, and its address.
fn loading(flags: &str) -> (Running, Brunt, String) {
    let address = free_address();
    let mut call = brunt(&format!("run -q --address {address} {flags} s.js")).file("s.js", SLOW);
    let running = call.start();
    let status = wait_for(&address, "/v1/status", |_| true);
    assert_eq!(status["data"]["attributes"]["status"], 0, "{status}");
    (running, call, address)
}

fn let_go(call: &Brunt) {
    std::fs::write(call.path("go"), "").expect("a file for the script");
}

fn patch(address: &str, attributes: &str) -> Value {
    let body = format!("{{\"data\":{{\"attributes\":{{{attributes}}}}}}}");
    let (code, answer) = ask(address, "PATCH", "/v1/status", &body).expect("an answer");
    assert_eq!(code, 200, "{answer}");
    answer["data"]["attributes"].clone()
}

#[test]
fn the_state_is_told_while_init_code_runs_and_a_start_is_remembered() {
    let (running, call, address) = loading("--paused");
    let (_, status) = ask(&address, "GET", "/v1/status", "").expect("an answer");
    assert_eq!(
        status.to_string(),
        r#"{"data":{"type":"status","id":"default","attributes":{"status":0,"paused":true,"vus":0,"vus-max":0,"stopped":false,"running":false,"tainted":false}}}"#
    );
    assert_eq!(ask(&address, "GET", "/v1/setup", "").expect("an answer").0, 200);
    let (_, metrics) = ask(&address, "GET", "/v1/metrics", "").expect("an answer");
    assert_eq!(metrics["data"], Value::Array(Vec::new()));
    assert_eq!(ask(&address, "GET", "/metrics", "").expect("an answer").0, 200);
    // The starter's, twice.
    for _ in 0..2 {
        assert_eq!(patch(&address, "\"paused\":false,\"stopped\":false")["paused"], false);
    }
    let_go(&call);
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("ran set up"), "{told:?}");
}

#[test]
fn a_run_can_be_paused_or_stopped_before_it_begins() {
    let (running, call, address) = loading("");
    assert_eq!(patch(&address, "\"paused\":true")["paused"], true);
    let_go(&call);
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 4);
    patch(&address, "\"paused\":false");
    assert_eq!(running.wait().code, 0);

    let (running, call, address) = loading("--paused");
    assert_eq!(patch(&address, "\"stopped\":true")["stopped"], true);
    let_go(&call);
    let told = running.wait();
    assert_eq!(told.code, 103, "{told:?}");
    assert!(!told.stderr.contains("ran "), "{told:?}");
}

#[test]
fn a_setup_that_is_asked_for_early_waits_for_the_run() {
    let (running, call, address) = loading("--paused --no-setup");
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&address, "POST", "/v1/setup", ""));
        let_go(&call);
        asked.join().expect("it asks and no more")
    });
    let (code, answer) = asked.expect("an answer");
    assert_eq!((code, &answer["data"]["attributes"]["data"]), (200, &Value::from("set up")));
    patch(&address, "\"paused\":false");
    assert!(running.wait().stderr.contains("ran set up"));
}

#[test]
fn a_script_that_throws_leaves_no_call_waiting() {
    let script = format!("{SLOW}throw new Error('broken');\n");
    let address = free_address();
    let mut call = brunt(&format!("run -q --address {address} s.js")).file("s.js", script);
    let running = call.start();
    wait_for(&address, "/v1/status", |_| true);
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&address, "POST", "/v1/setup", ""));
        let_go(&call);
        asked.join().expect("it asks and no more")
    });
    // The answer, or the end of the connection: whichever comes first.
    assert!(asked.is_none_or(|(code, _)| code == 500));
    assert_eq!(running.wait().code, 107);
}

/// k6 2.2: the summary follows the lingering, and has what `teardown()` by request measured.
#[test]
fn teardown_by_request_after_the_end_is_in_the_summary() {
    let script = "import { Counter } from 'k6/metrics';\n\
        const late = new Counter('late');\n\
        export function setup() { return { n: 2 }; }\n\
        export default function () {}\n\
        export function teardown(data) { if (!data) throw new Error('no data'); late.add(data.n); }\n\
        export function handleSummary(data) {\n\
          return { stdout: `late ${data.metrics.late.values.count}\\n` };\n\
        }\n";
    let address = free_address();
    let line = format!(
        "run --quiet --no-setup --no-teardown --linger --paused --address {address} --out json=o.json s.js"
    );
    let mut call = brunt(&line).file("s.js", script);
    let running = call.start();
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 4);
    assert_eq!(ask(&address, "POST", "/v1/setup", "").expect("an answer").0, 200);
    patch(&address, "\"paused\":false");
    let status =
        wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 9);
    assert_eq!(status["data"]["attributes"]["running"], false);
    assert_eq!(ask(&address, "POST", "/v1/teardown", "").expect("an answer").0, 200);
    assert_eq!(ask(&address, "PUT", "/v1/setup", "{\"n\":5}").expect("an answer").0, 200);
    assert_eq!(ask(&address, "POST", "/v1/teardown", "").expect("an answer").0, 200);
    assert_eq!(ask(&address, "PUT", "/v1/setup", "").expect("an answer").0, 200);
    let (code, answer) = ask(&address, "POST", "/v1/teardown", "").expect("an answer");
    assert_eq!((code, &answer["errors"][0]["title"]), (500, &"Error executing teardown".into()));
    // It is over: nothing is left to stop.
    patch(&address, "\"stopped\":true");
    running.signal("TERM");
    let told = running.wait();
    assert_eq!((told.code, told.stdout.as_str()), (0, "late 7\n"), "{told:?}");
    let points = call.read("o.json");
    let late = points.lines().filter(|line| line.contains("\"late\"") && line.contains("Point"));
    assert_eq!(
        late.filter(|line| line.contains("\"group\":\"::teardown\"")).count(),
        2,
        "{points}"
    );
}

#[test]
fn thresholds_are_judged_after_the_lingering() {
    let script = "import { Counter } from 'k6/metrics';\n\
        const late = new Counter('late');\n\
        export const options = { thresholds: { late: [{ threshold: 'count<1', abortOnFail: true }] } };\n\
        export default function () {}\n\
        export function teardown() { late.add(1); }\n";
    let address = free_address();
    let line = format!("run --quiet --no-teardown --linger --address {address} s.js");
    let mut call = brunt(&line).file("s.js", script);
    let running = call.start();
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 9);
    assert_eq!(ask(&address, "POST", "/v1/teardown", "").expect("an answer").0, 200);
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.stdout.contains("'count<1' count=1"), "{told:?}");
}

#[test]
fn a_second_signal_ends_a_teardown_that_lasts() {
    let script = "import { sleep } from 'k6';\n\
        export default function () {}\n\
        export function teardown() { console.log('tearing down'); sleep(600); }\n";
    let address = free_address();
    let line =
        format!("run --quiet --no-teardown --linger --log-output=stdout --address {address} s.js");
    let mut call = brunt(&line).file("s.js", script);
    let mut running = call.start();
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 9);
    std::thread::scope(|scope| {
        scope.spawn(|| ask(&address, "POST", "/v1/teardown", ""));
        running.line_with("tearing down");
        running.signal("INT");
        // A signal so soon after another is its echo: until the second one counts, it is sent again.
        while !running.is_over() {
            running.signal("INT");
            std::thread::yield_now();
        }
    });
    assert_eq!(running.wait().code, 105);
}
