//! The REST API of a run, and the commands that speak to it.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use serde_json::Value;

use crate::support::{Brunt, Running, brunt, free_port};

const SCRIPT: &str = "import { group, check, sleep } from 'k6';\n\
    export const options = { iterations: 1, thresholds: { iterations: ['count>0'] } };\n\
    export function setup() { return { x: 1 }; }\n\
    export default function (data) {\n\
      console.log(JSON.stringify(data));\n\
      group('g1', () => check(1, { c: (v) => v === 1 }));\n\
      if (__ENV.LONG) sleep(600);\n\
    }\n\
    export function teardown(data) { console.log('bye', JSON.stringify(data)); }\n";

/// An address that is free.
pub(crate) fn free_address() -> String {
    format!("127.0.0.1:{}", free_port())
}

pub(crate) fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let code = head.split(' ').nth(1)?.parse().ok()?;
    Some((code, serde_json::from_str(body).unwrap_or(Value::from(body))))
}

/// Asks until the answer is as wanted.
pub(crate) fn wait_for(address: &str, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let started = std::time::Instant::now();
    loop {
        if let Some((200, answer)) = ask(address, "GET", path, "")
            && is_wanted(&answer)
        {
            return answer;
        }
        assert!(started.elapsed().as_secs() < 60, "{path} never was as wanted");
        std::thread::yield_now();
    }
}

fn paused(address: &str, flags: &str) -> (Running, Brunt) {
    let line = format!("run --paused --address {address} {flags} s.js");
    let mut call = brunt(&line).file("s.js", SCRIPT);
    let running = call.start();
    wait_for(address, "/v1/status", |status| status["data"]["attributes"]["status"] == 4);
    (running, call)
}

fn data_of(answer: Option<(u16, Value)>) -> Value {
    let (code, answer) = answer.expect("an answer");
    assert_eq!(code, 200, "{answer}");
    answer["data"]["attributes"]["data"].clone()
}

#[test]
fn a_paused_run_is_fed_resumed_and_watched() {
    let address = free_address();
    let (running, _folder) = paused(&address, "-q --linger --no-setup --no-teardown");
    let status = wait_for(&address, "/v1/status", |_| true);
    assert_eq!(
        status.to_string(),
        r#"{"data":{"type":"status","id":"default","attributes":{"status":4,"paused":true,"vus":0,"vus-max":1,"stopped":false,"running":false,"tainted":false}}}"#
    );
    assert_eq!(data_of(ask(&address, "GET", "/v1/setup", "")), Value::Null);
    assert_eq!(data_of(ask(&address, "POST", "/v1/setup", ""))["x"], 1);
    assert_eq!(data_of(ask(&address, "PUT", "/v1/setup", "{\"y\": [1]}"))["y"][0], 1);
    let (code, answer) = ask(&address, "PUT", "/v1/setup", "bad").expect("an answer");
    assert_eq!((code, answer["errors"][0]["status"].as_str()), (400, Some("400")));
    let told = brunt(&format!("resume --address {address}")).told();
    assert_eq!(told.code, 0, "{told:?}");
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 9);

    let told = brunt(&format!("status --yaml -a {address}")).told();
    assert!(told.stdout.starts_with("status: 9\npaused: \"false\"\n"), "{told:?}");
    let told = brunt(&format!("-a {address} status")).told();
    assert!(told.stdout.starts_with("The test is over.\nVUs "), "{told:?}");
    let told = brunt(&format!("status --json --address={address}")).told();
    let status: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(status["data"]["attributes"]["status"], 9);
    let metrics = wait_for(&address, "/v1/metrics/iterations", |_| true);
    let attributes = &metrics["data"]["attributes"];
    assert_eq!((&attributes["type"], &attributes["tainted"]), (&"counter".into(), &false.into()));
    assert_eq!(attributes["sample"]["count"], 1);
    let told = brunt(&format!("stats --yaml -a {address}")).told();
    assert!(told.stdout.contains("- name: iterations\n"), "{told:?}");
    let told = brunt(&format!("stats -a {address}")).told();
    assert!(told.stdout.contains("\niterations ") && told.stdout.contains("count=1"), "{told:?}");
    let groups = wait_for(&address, "/v1/groups", |_| true);
    assert_eq!(groups["data"][0]["id"], "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(groups["data"][1]["attributes"]["checks"][0]["passes"], 1);

    running.signal("INT");
    let told = running.wait();
    // The test was over: a signal ends the waiting alone.
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains(r#"msg="{\"y\":[1]}""#), "{told:?}");
}

#[test]
fn a_run_that_is_stopped_from_outside_ends_with_103() {
    let address = free_address();
    let line = format!("run --address {address} -e LONG=1 s.js");
    let mut call = brunt(&line).file("s.js", SCRIPT);
    let running = call.start();
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 7);
    for (method, path, body, code, title) in [
        ("PATCH", "/v1/status", "nonsense", 400, "Invalid data"),
        ("PATCH", "/v1/status", "[]", 400, "Invalid data"),
        ("PATCH", "/v1/status", "{\"data\":{\"attributes\":{\"paused\":5}}}", 400, "Invalid data"),
        (
            "PATCH",
            "/v1/status",
            "{\"data\":{\"attributes\":{\"paused\":true}}}",
            500,
            "Pause error",
        ),
        (
            "PATCH",
            "/v1/status",
            "{\"data\":{\"attributes\":{\"vus\":3}}}",
            500,
            "Execution config error",
        ),
        ("GET", "/v1/metrics/nope", "", 404, "Not Found"),
        ("GET", "/v1/groups/nope", "", 404, "Not Found"),
    ] {
        let (status, answer) = ask(&address, method, path, body).expect("an answer");
        assert_eq!(status, code, "{path} {body}: {answer}");
        assert_eq!(answer["errors"][0]["title"], title, "{path} {body}");
    }
    assert_eq!(ask(&address, "DELETE", "/v1/status", "").map(|(code, _)| code), Some(405));
    assert_eq!(ask(&address, "GET", "/ping", ""), Some((200, "ok".into())));
    let told = brunt(&format!("pause -a {address}")).told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("Pause error: shared-iterations"), "{told:?}");
    let stop = "{\"data\":{\"attributes\":{\"stopped\":true}}}";
    assert_eq!(ask(&address, "PATCH", "/v1/status", stop).map(|(code, _)| code), Some(200));
    let told = running.wait();
    assert_eq!(told.code, 103, "{told:?}");
    assert!(told.error().contains("stopped from REST API"), "{told:?}");
    assert!(told.stderr.contains("bye"), "teardown() still runs: {told:?}");
}

#[test]
fn garbage_disturbs_neither_the_api_nor_the_run() {
    let address = free_address();
    let mut call =
        brunt(&format!("run -q --address {address} -e LONG=1 s.js")).file("s.js", SCRIPT);
    let running = call.start();
    wait_for(&address, "/v1/status", |status| status["data"]["attributes"]["status"] == 7);
    let deep = "[".repeat(100_000);
    for garbage in [
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PATCH /v1/status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /v1/metrics/%ff%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        &format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a/".repeat(40_000)),
    ] {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket has a timeout");
        // It may hang up before it has read all.
        let _ = stream.write_all(garbage.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let code = answer.get(9..10).map(<[u8]>::to_vec);
        assert!(matches!(code.as_deref(), None | Some(b"4")), "{garbage:.40}: {answer:?}");
    }
    for body in
        [deep.as_str(), "{\"data\":", "{\"data\":{\"attributes\":{\"vus\":\"x\"}}}", "\u{1}"]
    {
        let (code, _) = ask(&address, "PATCH", "/v1/status", body).expect("an answer");
        assert_eq!(code, 400, "{body:.40}");
    }
    // A body that never comes.
    let mut silent = TcpStream::connect(&address).expect("a connection");
    let _ = silent.write_all(b"PATCH /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{");
    let stop = "{\"data\":{\"attributes\":{\"stopped\":true}}}";
    assert_eq!(ask(&address, "PATCH", "/v1/status", stop).map(|(code, _)| code), Some(200));
    assert_eq!(running.wait().code, 103);
}

#[test]
fn threads_tell_what_they_used_if_a_flag_allows_it() {
    let address = free_address();
    let (running, _folder) = paused(&address, "-q --profiling-enabled");
    let (_, told) = ask(&address, "GET", "/debug/pprof/", "").expect("an answer");
    let told = told.as_str().expect("a text");
    assert!(told.starts_with("CPU seconds of each thread") && told.contains("brunt-api"), "{told}");
    running.signal("INT");
    running.wait();
    let told = brunt("run -q --profiling-enabled s.js").file("s.js", SCRIPT).told();
    assert!(told.stderr.contains("--profiling-enabled shows something only where"), "{told:?}");
}

#[test]
fn an_address_that_is_taken_ends_the_run_only_if_a_flag_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let script = "export default function () {}";
    let told = brunt(&format!("run -q -a {address} s.js")).file("s.js", script).told();
    assert_eq!(told.code, 106, "{told:?}");
    assert!(told.error().contains(&address), "{told:?}");
    let told = brunt("run -q s.js").env("K6_ADDRESS", &address).file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("Error from API server"), "{told:?}");
}

#[test]
fn nobody_at_the_other_end_is_told() {
    for command in ["status", "stats", "pause", "resume", "scale -u 1"] {
        let address = free_address();
        let told = brunt(&format!("{command} -a {address}")).told();
        assert_eq!(told.code, 255);
        assert!(told.error().contains(&format!("no run answers at {address}")), "{told:?}");
        let how = format!("brunt run --address {address} script.js");
        assert!(told.error().contains(&how), "{told:?}");
        let help = brunt(&format!("{command} --help")).told();
        assert!(
            help.stdout.contains("Ask the run that serves its REST API at this address"),
            "{help:?}"
        );
        assert!(help.stdout.contains("[default: localhost:6565]"), "{help:?}");
    }
}

#[test]
fn an_externally_controlled_run_is_scaled_and_paused() {
    let address = free_address();
    let script = "import { sleep } from 'k6';\n\
        export const options = { scenarios: { e: {\n\
          executor: 'externally-controlled', vus: 1, maxVUs: 4, duration: 0 } } };\n\
        export default function () { sleep(0.01); }";
    let mut call = brunt(&format!("run -q --address {address} s.js")).file("s.js", script);
    let running = call.start();
    let vus = |count: u64| {
        move |status: &Value| {
            let attributes = &status["data"]["attributes"];
            attributes["status"] == 7 && attributes["vus"] == count && attributes["vus-max"] == 4
        }
    };
    wait_for(&address, "/v1/status", vus(1));
    let told = brunt(&format!("scale -u 3 -a {address}")).told();
    assert_eq!(told.code, 0, "{told:?}");
    wait_for(&address, "/v1/status", vus(3));
    let told = brunt(&format!("pause -a {address}")).told();
    assert!(told.stdout.starts_with("The test is paused."), "{told:?}");
    wait_for(&address, "/v1/status", vus(0));
    let told = brunt(&format!("scale -u 9 -a {address}")).told();
    assert!(told.error().contains("Config update error: "), "{told:?}");
    let told = brunt(&format!("scale -u 2 -a {address}")).told();
    assert_eq!(told.code, 0, "{told:?}");
    let told = brunt(&format!("resume -a {address}")).told();
    assert_eq!(told.code, 0, "{told:?}");
    wait_for(&address, "/v1/status", vus(2));
    let told = brunt(&format!("scale --yaml -u 7 -m 7 -a {address}")).told();
    assert!(told.stdout.contains("vus: \"7\"\nvus-max: \"7\""), "{told:?}");
    // All seven do iterate, not just may.
    let seen = |metrics: &Value| metrics["data"]["attributes"]["sample"]["value"] == 7;
    wait_for(&address, "/v1/metrics/vus", seen);
    let told = brunt(&format!("scale -m 3 -a {address}")).told();
    assert!(told.error().contains("(7) must be less than or equal"), "{told:?}");
    for (patch, code) in [
        (r#"{"data":{"attributes":{"paused":false}}}"#, 500),
        (r#"{"data":{"attributes":{"vus":-1}}}"#, 400),
        (r#"{"data":{"attributes":{"vus":"6"}}}"#, 200),
        (r#"{"data":{}}"#, 200),
        ("{}", 200),
        ("[]", 400),
        ("{", 400),
    ] {
        let told = ask(&address, "PATCH", "/v1/status", patch).map(|(code, _)| code);
        assert_eq!(told, Some(code), "{patch}");
    }
    assert_eq!(ask(&address, "GET", "/v1/nope", "").map(|(code, _)| code), Some(404));
    let stop = "{\"data\":{\"attributes\":{\"stopped\":true}}}";
    assert_eq!(ask(&address, "PATCH", "/v1/status", stop).map(|(code, _)| code), Some(200));
    assert_eq!(running.wait().code, 103);
}
