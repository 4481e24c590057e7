//! Servers that answer wrongly, or not at all: a failed request is a measurement with k6's numbers, never a
//! crash. Status and error code are what k6 1.8.1 gave against the same demo target.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener};

use crate::support::{DemoServer, brunt};

const SCRIPT: &str = r"
import http from 'k6/http';
const get = (url) => {
  // An endless head is read up to its limit, however slow the machine is.
  const r = http.get(url, { timeout: url.includes('/endless') ? '30s' : '1s' });
  return [r.status, r.error_code, r.body === null ? -1 : r.body.length];
};
export function setup() {
  const out = {};
  for (const path of __ENV.PATHS.split(',')) out[path] = get(__ENV.FAULTS + path);
  out.refused = get('http://127.0.0.1:1/');
  out.name = get('http://nope.invalid/');
  out.scheme = get('nope://x/');
  out.url = get('http://[::1');
  out.tls = get(__ENV.PLAIN);
  return out;
}
export default function () {}
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.setup_data) };
}
";

/// Path, status, `error_code`, length of the body (−1: `null`).
const ANSWERS: &[(&str, i64, i64, i64)] = &[
    ("/ok", 200, 0, 2),
    ("/invalid-status-line", 0, 1000, -1),
    ("/not-http", 0, 1000, -1),
    ("/garbage", 0, 1000, -1),
    ("/bad-header", 0, 1000, -1),
    ("/bad-content-length", 0, 1000, -1),
    ("/two-content-lengths", 0, 1000, -1),
    ("/endless-header", 0, 1000, -1),
    ("/endless-header-line", 0, 1000, -1),
    ("/endless-status-line", 0, 1000, -1),
    ("/truncated-chunk", 0, 1000, 12),
    ("/missing-last-chunk", 0, 1000, 5),
    ("/short-body", 0, 1000, 12),
    ("/long-body", 200, 0, 5),
    ("/close", 0, 1000, -1),
    ("/close-mid-head", 0, 1000, -1),
    ("/reset", 0, 1220, -1),
    ("/reset-mid-body", 0, 1220, 12),
    ("/never", 0, 1050, -1),
    ("/never-mid-head", 0, 1050, -1),
    ("/never-mid-body", 0, 1050, 12),
    ("/drip", 0, 1050, -1),
    ("/no-location", 302, 0, 0),
    ("/redirect-loop", 302, 0, 0),
    ("/http10", 200, 0, 13),
    ("/interim", 200, 0, 2),
    ("/bare-lf", 200, 0, 2),
    ("refused", 0, 1212, -1),
    ("name", 0, 1101, -1),
    ("scheme", 0, 1000, -1),
    ("url", 0, 1020, 0),
    ("tls", 0, 1301, -1),
];

/// A server without TLS that hears a client's first words, says so in plain text and hangs up in order: one that
/// closes with unread bytes would reset the connection, now and then before its answer is read.
fn plain_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let heard = stream.read(&mut [0; 4096]).expect("a client's hello");
            assert!(heard > 0);
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("a reader");
            stream.shutdown(Shutdown::Write).expect("an end");
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    });
    format!("https://{address}/")
}

#[test]
fn every_fault_has_k6s_error_code() {
    let server = DemoServer::start();
    let paths: Vec<&str> =
        ANSWERS.iter().map(|answer| answer.0).filter(|path| path.starts_with('/')).collect();
    let told = brunt("run -q s.js")
        .word("-e")
        .word(format!("PATHS={}", paths.join(",")))
        .word("-e")
        .word(format!("FAULTS={}", server.faults))
        .word("-e")
        .word(format!("PLAIN={}", plain_server()))
        .file("s.js", SCRIPT)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    let answers: serde_json::Value = serde_json::from_str(&told.stdout).expect("the answers");
    for &(path, status, code, length) in ANSWERS {
        let expected = serde_json::json!([status, code, length]);
        assert!(answers[path] == expected, "{path}: {} instead of {expected}", answers[path]);
    }
    assert!(told.stderr.contains("level=warning msg=\"Request Failed\" error=\"Get"));
}

#[test]
fn a_run_against_the_demo_target_measures_its_requests() {
    let script = "import http from 'k6/http';\nimport { check } from 'k6';\n\
                  export const options = { vus: 3, iterations: 30, thresholds: {\n\
                    checks: ['rate==1'], http_req_failed: ['rate==0'],\n\
                    'http_req_duration{name:item}': ['max<5000'] } };\n\
                  export default function () {\n\
                    const r = http.get(`${__ENV.DEMO_URL}/memory/1`, { tags: { name: 'item' } });\n\
                    check(r, { ok: (r) => r.status === 200 && r.json('id') === 1 });\n\
                  }\n";
    let told = brunt("run --demo s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    for part in ["✓ 'rate==1' rate=100.00%", "http_reqs", "{ name:item }", "checks_total"] {
        assert!(told.stdout.contains(part), "no {part:?} in {}", told.stdout);
    }
}
