//! Thresholds in time, warm-ups, seeds and arrivals: what k6 doesn't have.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{Told, brunt};

/// A measurement that is bad from 1 s to 2.5 s of a test of 4 s.
const BAD_FOR_A_WHILE: &str = "import { sleep } from 'k6';\n\
    import { Trend } from 'k6/metrics';\n\
    const own = new Trend('own', true);\n\
    const begun = Date.now();\n\
    export const options = { vus: 1, duration: '4s', thresholds: { own: ['avg<1000', THRESHOLD] } };\n\
    export default function () {\n\
      const at = Date.now() - begun;\n\
      own.add(at > 1000 && at < 2500 ? 400 : 5);\n\
      sleep(0.02);\n\
    }\n";

fn ran(threshold: &str, flags: &str) -> (crate::support::Brunt, Told) {
    let script = BAD_FOR_A_WHILE.replace("THRESHOLD", threshold);
    let mut run = brunt("run -q --no-color s.js").words(flags).file("s.js", script);
    let told = run.told();
    (run, told)
}

#[test]
fn a_window_finds_what_the_whole_test_forgets_and_tells_when() {
    let threshold = "{ threshold: 'med<100', window: '1s', exitCode: 42, name: 'steady' }";
    let (run, told) = ran(threshold, "--out run=a.brunt --threshold own:med<100");
    assert_eq!(told.code, 42, "{told:?}");
    let lines: Vec<&str> = told.stdout.lines().filter(|line| line.contains('\'')).collect();
    // k6's lines are k6's.
    assert!(lines[0].starts_with("    ✓ 'avg<1000' avg="), "{lines:?}");
    assert!(!lines[0].contains("broken") && !lines[2].contains("broken"), "{lines:?}");
    assert!(lines[2].starts_with("    ✓ 'med<100' med=5ms"), "{lines:?}");
    let (before, after) = lines[1].split_once(" first broken at ").expect("it tells when");
    assert_eq!(before, "    ✗ 'med<100 window=1s exitCode=42 name=steady' med=400ms");
    assert!(after.contains("s, for "), "{after}");
    let report = brunt("report").word(run.path("a.brunt")).told();
    assert_eq!(report.stdout, told.stdout);
    let junit = brunt("report --format junit").word(run.path("a.brunt")).told().stdout;
    assert!(junit.contains("first broken at "), "{junit}");
}

#[test]
fn a_breach_must_last_and_a_threshold_may_begin_late() {
    for (threshold, code) in [
        ("{ threshold: 'med<100', window: '1s', for: '1s', after: '3s' }", 0),
        ("{ threshold: 'max<100', window: '3s', for: '3s' }", 0),
        ("{ threshold: 'max<100', window: '2s', for: '1s' }", 99),
        ("{ threshold: 'med<100', window: '1s', abortOnFail: true, exitCode: 7 }", 7),
    ] {
        let (_, told) = ran(threshold, "");
        assert_eq!(told.code, code, "{threshold}: {told:?}");
    }
}

#[test]
fn what_makes_no_sense_is_told_in_one_go() {
    let script = "export const options = { duration: '10s', thresholds: { iterations: [\n\
        { threshold: 'rate>1', window: '1m' },\n\
        { threshold: 'rate>1', window: '5s', for: '6s' },\n\
        { threshold: 'rate>1', after: '20s' },\n\
        { threshold: 'rate>1', exitCode: 126 },\n\
        { threshold: 'rate>1', name: 'a' }, { threshold: 'rate>2', name: 'a' },\n\
        { threshold: 'rate>1', window: '5ms' },\n\
        { threshold: 'rate>1', window: '5s', fro: '1s' },\n\
        { threshold: 'rate>1', window: 'x' },\n\
      ] } };\nexport default function () {}\n";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert_eq!(told.code, 104, "{told:?}");
    for part in [
        "window is 1m0s, but the test ends after 10s",
        "for is 6s, but its window is 5s",
        "after is 20s, but the test ends after 10s",
        "exitCode expected an exit code from 1 to 125, got 126",
        "name \"a\" is there twice",
        "window must be at least 1s, got 5ms",
        "unknown field: did you mean \"for\"?",
    ] {
        assert!(told.stderr.contains(part), "{part}: {}", told.stderr);
    }
    let flag = |text: &str| {
        let script = "export default function () {}\n";
        let told = brunt("run -q s.js --threshold").word(text).file("s.js", script).told();
        assert_ne!(told.code, 0, "{told:?}");
        told.stderr
    };
    assert!(flag("http_reqs").contains("expected metric: expression"));
    assert!(flag("http_reqs: count>0 windo=3s").contains("did you mean \\\"window\\\"?"));
}

#[test]
fn a_warm_up_is_measured_and_left_out() {
    let script = "import { sleep, check } from 'k6';\nimport { Counter } from 'k6/metrics';\n\
        const mine = new Counter('mine');\n\
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '3s', warmup: '1s' } },\n\
          thresholds: { mine: ['count>0'] } };\n\
        export default function () { mine.add(1); check(1, { fine: (x) => x }); sleep(0.05); }\n\
        export function handleSummary(data) {\n\
          const c = data.root_group.checks[0];\n\
          return { stdout: JSON.stringify([data.metrics.mine.values.count, c.passes, data.metrics.iterations.values.count, data.warmup]) };\n\
        }\n";
    let mut run = brunt("run -q s.js --out json=all.json").file("s.js", script);
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    let points = run.read("all.json");
    let of = |metric: &str, is_warm: bool| {
        let start = format!("{{\"metric\":\"{metric}\",\"type\":\"Point\"");
        let points = points.lines().filter(|line| line.starts_with(&start));
        points.filter(|line| line.contains("\"warmup\":\"true\"") == is_warm).count() as u64
    };
    assert!(of("mine", true) > 10 && of("mine", false) > 20, "{told}");
    assert_eq!(told[0], of("mine", false));
    assert_eq!(told[1], of("checks", false));
    assert_eq!(told[2], of("iterations", false));
    assert_eq!(told[3]["iterations"], of("iterations", true));
    assert_eq!(told[3]["checks"], of("checks", true));
    let too_long = script.replace("warmup: '1s'", "warmup: '3s'");
    let told = brunt("run -q s.js").file("s.js", too_long).told();
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.stderr.contains("warmup: is 3s, but the scenario ends after 3s"), "{told:?}");
}

/// The bytes of requests by their `X-Vu`.
type Kept = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A server that keeps all requests, each with those of the same `X-Vu` before it.
fn keeping() -> (SocketAddr, Kept) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let kept = Arc::new(Mutex::new(BTreeMap::new()));
    let all = Arc::clone(&kept);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let all = Arc::clone(&all);
            std::thread::spawn(move || keep(&stream, &all));
        }
    });
    (address, kept)
}

fn keep(stream: &TcpStream, all: &Mutex<BTreeMap<String, Vec<u8>>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut request, mut length, mut vu) = (Vec::new(), 0, String::new());
        loop {
            let start = request.len();
            reader.read_until(b'\n', &mut request).ok().filter(|read| *read > 0)?;
            let line = String::from_utf8_lossy(&request[start..]).trim().to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().ok()?,
                Some(("x-vu", value)) => value.clone_into(&mut vu),
                _ if line.is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        request.extend(body);
        all.lock().expect("no panic").entry(vu).or_default().extend(request);
        (&mut &*stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
    }
}

#[test]
fn two_runs_with_one_seed_send_the_same_bytes() {
    const SCRIPT: &str = "import http from 'k6/http';\n\
        import { SharedArray } from 'k6/data';\n\
        const rows = new SharedArray('rows', () => [...Array(50).keys()].sort(() => Math.random() - 0.5));\n\
        const mine = Math.random();\n\
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 10 } } };\n\
        export default function () {\n\
          const headers = { 'X-Vu': `${__VU}` };\n\
          const row = rows[Math.floor(Math.random() * rows.length)];\n\
          http.get(`${__ENV.URL}/${row}/${mine}/${Math.random()}`, { headers });\n\
          http.post(__ENV.URL, { a: http.file('content', 'f.txt'), b: `${Math.random()}` }, { headers });\n\
        }\n";
    let sent = |flags: &str, script: &str| {
        let (address, kept) = keeping();
        let run = format!("run -q s.js -e URL=http://HOST {flags}");
        let told = brunt(&run.replace("HOST", &address.to_string())).file("s.js", script).told();
        assert_eq!(told.code, 0, "{told:?}");
        let kept = std::mem::take(&mut *kept.lock().expect("no panic"));
        // Each run has a port of its own.
        let plain =
            |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace(&address.to_string(), "HOST");
        kept.into_iter().map(|(vu, bytes)| (vu, plain(bytes))).collect::<BTreeMap<_, _>>()
    };
    let one = sent("--seed 5 --workers 1", SCRIPT);
    assert_eq!(one.len(), 3);
    assert!(one["1"] != one["2"].replace("X-Vu: 2", "X-Vu: 1"));
    assert_eq!(one, sent("--seed 5 --workers 3", SCRIPT));
    let by_option = SCRIPT.replace("options = {", "options = { seed: 5,");
    assert_eq!(one, sent("", &by_option));
    assert_ne!(one, sent("--seed 6", SCRIPT));
}

#[test]
fn the_seed_is_shown_and_gaps_may_be_random() {
    let script = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '2s',\n\
        preAllocatedVUs: 5, maxVUs: 20, arrivals: 'poisson', sine: { amplitude: 50, period: '1s', start: 'peak' } } } };\n\
        export default function () {}\n";
    let told = brunt("run --no-color --seed 77 s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("          seed: 77\n"), "{}", told.stdout);
    assert!(told.stdout.contains("arrivals: poisson, sine: 50 each 1s"), "{}", told.stdout);
    let shown = brunt("inspect s.js").file("s.js", script).told().stdout;
    assert!(shown.contains("\"arrivals\": \"poisson\""), "{shown}");
    let wrong = script.replace("amplitude: 50", "amplitude: 100");
    let told = brunt("run -q s.js").file("s.js", wrong).told();
    assert_eq!(told.code, 104, "{told:?}");
    assert!(
        told.stderr.contains("sine.amplitude: must be less than the rate (100), got 100"),
        "{told:?}"
    );
    let told = brunt("run -q --execution-segment 1/2 s.js").file("s.js", script).told();
    assert!(told.stderr.contains("needs the same option seed on all of them"), "{told:?}");
}
