//! `brunt demo`

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::support::{DemoServer, brunt};

fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").expect("plain HTTP");
    let mut stream = TcpStream::connect(address).expect("the demo listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the demo reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn it_serves_until_a_signal() {
    for signal in ["INT", "TERM"] {
        let mut call = brunt("demo --listen 127.0.0.1:0");
        let mut running = call.start();
        let line = running.line_with("demo target: ");
        let url = line.trim().strip_prefix("demo target: ").expect("a label").to_owned();
        assert!(get(&url, "/ping").ends_with("ok"), "{url}");
        running.signal(signal);
        let told = running.wait();
        assert_eq!(told.code, 0, "{told:?}");
    }
}

#[test]
fn http2_without_tls_is_for_those_who_begin_so_and_are_let() {
    // The preface and settings of a client; what comes back begins with the head of a frame.
    let begun = |url: &str| {
        let address = url.strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(address).expect("the demo listens");
        stream.write_all(b"PR").expect("the demo reads");
        stream.write_all(b"I * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").expect("it does");
        let mut head = [0; 9];
        stream.read_exact(&mut head).is_ok().then_some(head)
    };
    let with = DemoServer::start_with("--h2c");
    let (head, settings) = (begun(&with.url).expect("a frame"), 4);
    assert_eq!((head[0], head[3]), (0, settings), "{head:?}");
    assert!(get(&with.url, "/ping").ends_with("ok"));
    // A server of HTTP/1.1 hangs up.
    assert_eq!(begun(&DemoServer::start().url), None);
    let mut call = brunt("attack -h2c -duration=1s -rate=5 -output=r.bin")
        .stdin(format!("GET {}/ping\n", with.url));
    assert_eq!(call.told().code, 0);
    let report = brunt("report -type=json").word(call.path("r.bin")).told();
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(report["success"], 1.0, "{report}");
    for (flags, why) in [
        ("--h2c --tls", "with --tls clients choose HTTP/2 by themselves"),
        ("--h3", "unknown flag: --h3"),
    ] {
        let told = brunt(&format!("demo --listen 127.0.0.1:0 {flags}")).told();
        assert!(told.code == 255 && told.error().contains(why), "{told:?}");
    }
}

#[test]
fn its_addresses_can_be_read_by_programs() {
    let server = DemoServer::start();
    assert!(get(&server.url, "/memory/7").contains("\"id\":7"));
    assert!(server.faults.starts_with("http://127.0.0.1:"));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = DemoServer::start();
    let address = server.url.strip_prefix("http://").unwrap();
    let told = brunt(&format!("demo --listen {address}")).told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains(address), "{told:?}");
}

#[test]
fn who_knows_the_password_comes_in_by_digest_and_by_ntlm() {
    let script = r"
        import http from 'k6/http';
        export const options = { thresholds: { http_reqs: ['count==10'] } };
        export default function () {
            const tell = (auth, path, user = 'ada:secret') => {
                const url = __ENV.DEMO_URL.replace('://', `://${user}@`) + path;
                console.log(path, user, http.get(url, { auth }).status);
            };
            tell('digest', '/digest/ada/secret');
            tell('digest', '/digest/ada/secret?algorithm=SHA-256');
            tell('digest', '/digest/ada/secret', 'ada:other');
            tell('ntlm', '/ntlm/ada/secret');
            tell('basic', '/digest/ada/secret');
        }
    ";
    let told = brunt("run -q --demo --log-format raw s.js").file("s.js", script).told();
    let lines: Vec<&str> = told.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "/digest/ada/secret ada:secret 200",
            "/digest/ada/secret?algorithm=SHA-256 ada:secret 200",
            "/digest/ada/secret ada:other 401",
            "/ntlm/ada/secret ada:secret 200",
            "/digest/ada/secret ada:secret 401",
        ],
        "{told:?}"
    );
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn the_script_of_the_forms_sends_one_request_after_the_other() {
    let told = brunt("run --demo s.js").file("s.js", include_str!("demo/partial.js")).told();
    assert_eq!(told.code, 0, "{told:?}");
}
