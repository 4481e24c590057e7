//! HTTP/2 from a script to the demo target, and how k6's users turn it off.

use serde_json::Value;

use crate::support::{DemoServer, Told, brunt};

const SCRIPT: &str = r"
import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, vus: 2, iterations: 4 };
export default function () {
  const url = __ENV.URL;
  const one = http.get(`${url}/json`);
  const many = http.batch(Array.from({ length: 12 }, (_, i) => `${url}/delay/50?${i}`));
  const large = http.post(`${url}/anything/x`, 'y'.repeat(300000));
  const cookies = http.get(`${url}/cookies/set?a=1&b=2`);
  console.log(JSON.stringify([
    one.proto, one.status_text, one.headers['Content-Type'], many.every((r) => r.proto === one.proto && r.status === 200),
    large.status, http.get(`${url}/gzip`).status, http.head(`${url}/ping`).body, http.get(`${url}/status/404`).error_code,
    cookies.status, http.cookieJar().cookiesForURL(url).b,
  ]));
}
";

fn run(environment: &[(&str, &str)]) -> (Told, Vec<Value>) {
    let demo = DemoServer::start_with("--tls");
    let mut call = brunt("run --quiet --out json=out.json s.js").file("s.js", SCRIPT);
    call = call.env("URL", &demo.url);
    for (name, value) in environment {
        call = call.env(name, value);
    }
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let lines = call.read("out.json");
    let points = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (told, points.filter(|line: &Value| line["type"] == "Point").collect())
}

fn of<'p>(points: &'p [Value], metric: &'p str) -> impl Iterator<Item = &'p Value> {
    points.iter().filter(move |point| point["metric"] == metric).map(|point| &point["data"])
}

#[test]
fn a_vu_has_one_connection_for_all_its_requests() {
    let (told, points) = run(&[]);
    let line =
        r#"[\"HTTP/2.0\",\"200 OK\",\"application/json\",true,200,200,\"\",1404,200,[\"2\"]]"#;
    assert_eq!(told.stderr.matches(line).count(), 4, "{}", told.stderr);
    let requests: Vec<_> = of(&points, "http_reqs").collect();
    // One, twelve, one, two (a redirect), one, one, one: each of four iterations.
    assert_eq!(requests.len(), 4 * 19);
    assert!(requests.iter().all(|data| data["tags"]["proto"] == "HTTP/2.0"));
    let is_new = |data: &&Value| data["value"].as_f64().is_some_and(|value| value > 0.0);
    assert_eq!(of(&points, "http_req_tls_handshaking").filter(is_new).count(), 2);
    let sent: f64 = of(&points, "data_sent").filter_map(|data| data["value"].as_f64()).sum();
    assert!((1_200_000.0..1_300_000.0).contains(&sent), "{sent}");
}

#[test]
fn godebug_turns_it_off() {
    let (told, points) = run(&[("GODEBUG", "http2client=0")]);
    assert_eq!(told.stderr.matches(r#"[\"HTTP/1.1\",\"200 OK\""#).count(), 4, "{}", told.stderr);
    assert!(of(&points, "http_reqs").all(|data| data["tags"]["proto"] == "HTTP/1.1"));
}

#[test]
fn without_reuse_each_request_has_a_connection_of_its_own() {
    let demo = DemoServer::start_with("--tls");
    let script = "
import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, noConnectionReuse: true };
export default function () {
  for (let i = 0; i < 3; i++) {
    const r = http.get(`${__ENV.URL}/ping`);
    console.log(r.proto, r.status, r.timings.connecting > 0);
  }
}";
    let told = brunt("run --quiet s.js").file("s.js", script).env("URL", &demo.url).told();
    assert_eq!(told.stderr.matches("HTTP/2.0 200 true").count(), 3, "{told:?}");
}
