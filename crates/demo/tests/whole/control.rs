//! The common rules: Server-Timing, stats, reset, faults, clock, rtt, TLS, start and stop.

use std::time::{Duration, Instant};

use brunt_demo::{Demo, DemoConfig, DemoError};
use serde_json::json;

use crate::client::{Client, get};

#[test]
fn every_answer_carries_server_timing() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    for path in
        ["/", "/nocache/1", "/status/404", "/nothing", "/_demo/time", "/redirect/1", "/sse?n=1"]
    {
        let answer = client.get(path);
        let timing = answer.header("server-timing").unwrap_or_else(|| panic!("none on {path}"));
        assert!(timing.contains("total;dur="), "{timing}");
    }
    let timing = client.get("/nocache/1").header("server-timing").unwrap().to_owned();
    let origin: f64 =
        timing.strip_prefix("origin;dur=").unwrap().split(',').next().unwrap().parse().unwrap();
    assert!(origin >= 20.0, "{timing}");
}

#[test]
fn stats_tell_what_happened_until_they_are_reset() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    client.get("/lazy/1");
    client.get("/lazy/1");
    client.get("/status/503");
    let stats = client.get("/_demo/stats").json();
    assert_eq!(stats["requests"]["by_route"]["/lazy/{id}"], json!({ "200": 2 }));
    assert_eq!(stats["requests"]["by_status"]["503"], 1);
    assert_eq!(stats["cache"]["lazy"]["hit"], 1);
    assert_eq!(stats["cache"]["total"]["miss"], 1);
    assert_eq!(stats["cache"]["lazy"]["items"], 1);
    assert_eq!(stats["origin"]["calls"], 1);
    assert_eq!(stats["in_flight"]["now"], 1);
    assert!(stats["latency_ms"]["max"].as_f64().unwrap() >= 20.0);
    assert!(stats["bytes"]["out"].as_u64().unwrap() > 600);
    client.post("/_demo/reset", "");
    let stats = client.get("/_demo/stats").json();
    assert_eq!(stats["origin"]["calls"], 0);
    assert_eq!(stats["cache"]["lazy"]["items"], 0);
    // The reset itself was answered after it.
    assert_eq!(stats["requests"]["total"], 1);
}

#[test]
fn faults_come_and_go() {
    // A request that waited for this origin would wait for ever.
    let config = DemoConfig { origin_latency: Duration::from_hours(1), ..DemoConfig::fast() };
    let demo = Demo::start(config).unwrap();
    let mut client = Client::new(demo.addr());
    let set = client.post("/_demo/fault", r#"{"error_rate":1,"status":418}"#);
    assert_eq!(set.json()["error_rate"], 1.0);
    for path in ["/json", "/", "/ping"] {
        assert_eq!(client.get(path).status, 418, "{path}");
    }
    assert_eq!(client.get("/_demo/stats").json()["faults"]["status"], 418);
    let refused = client.post("/_demo/fault", r#"{"error_rate":7}"#);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("error_rate 7"), "{}", refused.text());

    client.send("DELETE", "/_demo/fault", &[], b"");
    assert_eq!(client.get("/json").status, 200);

    client.post("/_demo/fault", r#"{"drop_connections":true}"#);
    assert!(Client::new(demo.addr()).try_send("GET", "/", &[], b"").is_err());
    client.post("/_demo/fault", r#"{"drop_connections":false,"origin_ms":0,"jitter_ms":0}"#);
    assert_eq!(client.get("/nocache/1").status, 200);

    client.post("/_demo/fault", r#"{"slow_body_bps":1000}"#);
    let begin = Instant::now();
    let slow = client.get("/memory/1");
    let expected = Duration::from_millis(100 * (slow.body.len() as u64 / 100));
    assert!(begin.elapsed() >= expected, "{:?} for {}", begin.elapsed(), slow.body.len());
}

#[test]
fn a_stall_holds_all_answers() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    // When it ends is tried in `faults.rs`, with a clock that the test holds.
    let begin = Instant::now();
    client.post("/_demo/fault", r#"{"stall_ms":300}"#);
    client.get("/");
    assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn rtt_and_cpu_budget_delay_each_answer() {
    let config = DemoConfig {
        rtt: Duration::from_millis(30),
        cpu_budget: Some(0.005),
        ..DemoConfig::fast()
    };
    let demo = Demo::start(config).unwrap();
    let begin = Instant::now();
    let answer = get(demo.addr(), "/");
    // 50 µs of work at half a percent of a core are 10 ms.
    assert!(begin.elapsed() >= Duration::from_millis(40));
    assert!(answer.header("server-timing").unwrap().contains("queue;dur="));
}

#[test]
fn the_clock_is_told() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let time = get(demo.addr(), "/_demo/time").json();
    assert!(time["now"].as_str().unwrap().ends_with('Z'));
    assert!(time["unix_ms"].as_u64().unwrap() > 1_700_000_000_000);
}

#[test]
fn wrong_methods_and_unknown_routes_are_told() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let mut client = Client::new(demo.addr());
    let answer = client.post("/_demo/stats", "");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")));
    assert_eq!(client.get("/_demo/nothing").status, 404);
    assert_eq!(client.get("/nothing/at/all").status, 404);
    assert_eq!(client.send("PATCH", "/lazy/1", &[], b"").status, 405);
}

#[test]
fn a_taken_port_is_an_error_that_names_it() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let config = DemoConfig { listen: demo.addr(), ..DemoConfig::fast() };
    let error = Demo::start(config).unwrap_err();
    assert!(error.to_string().contains(&demo.addr().to_string()), "{error}");
    let config = DemoConfig { redis: Some("http://x".into()), ..DemoConfig::fast() };
    assert!(matches!(Demo::start(config).unwrap_err(), DemoError::Redis { .. }));
}

#[test]
fn stopping_closes_the_port_and_a_restart_gets_it() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let addr = demo.addr();
    let mut client = Client::new(addr);
    assert_eq!(client.get("/").text(), "ok");
    demo.stop();
    assert!(client.try_send("GET", "/", &[], b"").is_err());
    let again = Demo::start(DemoConfig { listen: addr, ..DemoConfig::fast() }).unwrap();
    assert_eq!(get(again.addr(), "/ping").text(), "ok");
}

#[test]
fn tls_serves_with_its_own_certificate() {
    use std::io::{Read, Write};
    use std::sync::Arc;

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};

    let demo = Demo::start(DemoConfig { tls: true, ..DemoConfig::fast() }).unwrap();
    assert!(demo.url().starts_with("https://127.0.0.1:"));
    let pem = demo.certificate_pem().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = std::net::TcpStream::connect(demo.addr()).unwrap();
    let mut stream = rustls::StreamOwned::new(session, socket);
    stream
        .write_all(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
        )
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert!(answer.contains("content-length: 0"), "{answer}");
}
