//! `--traces-output`: spans reach a collector, and a collector that is not there disturbs nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use crate::support::brunt;

const SCRIPT: &str = "import http from 'k6/http';\n\
    import { group } from 'k6';\n\
    export const options = { iterations: 2 };\n\
    export default function () {\n\
      group('first', () => http.get(`${__ENV.DEMO_URL}/ping`));\n\
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';\n\
      http.get(`${__ENV.DEMO_URL}/nothing-here`, { headers: { traceparent } });\n\
    }\n";

/// A collector that takes everything: heads and bodies.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, received) = sync_channel(100);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.expect("a connection"));
            let mut head = String::new();
            while reader.read_line(&mut head).is_ok_and(|read| read > 0) {
                if !head.ends_with("\r\n\r\n") {
                    continue;
                }
                let lower = head.to_lowercase();
                let length = lower.split("content-length: ").nth(1).expect("a length");
                let length = length.split("\r\n").next().and_then(|text| text.parse().ok());
                let mut body = vec![0; length.expect("a number")];
                reader.read_exact(&mut body).expect("a body");
                let _ = sender.send((std::mem::take(&mut head), body));
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                reader.get_mut().write_all(answer).expect("an answer");
            }
        }
    });
    (address, received)
}

fn count(body: &[u8], part: &[u8]) -> usize {
    body.windows(part.len()).filter(|window| *window == part).count()
}

#[test]
fn iterations_and_requests_arrive_as_spans() {
    let (address, received) = collector();
    let line =
        format!("run -q --demo --traces-output otel=http://{address},proto=http,header.X-Y=z s.js");
    let told = brunt(&line).file("s.js", SCRIPT).told();
    assert_eq!((told.code, told.stderr.contains("lost")), (0, false), "{told:?}");
    let (head, mut all) = received.recv_timeout(Duration::from_mins(1)).expect("spans");
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\nx-y: z\r\n"), "{head}");
    all.extend(received.try_iter().flat_map(|(_, body)| body));
    assert_eq!(count(&all, b"k6.iteration"), 6, "two iterations, four requests");
    assert_eq!(count(&all, b"url.full"), 4);
    assert_eq!(count(&all, b"::first"), 2);
    assert_eq!(count(&all, b"/nothing-here"), 2);
    let told_server = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes();
    assert_eq!(count(&all, &told_server), 2, "the trace that the script named");
}

#[test]
fn without_a_collector_the_test_is_as_ever() {
    let told = brunt("run -q --demo --traces-output otel=http://127.0.0.1:1 s.js")
        .file("s.js", SCRIPT)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("6 spans did not arrive and are lost"), "{told:?}");
}

#[test]
fn a_target_that_makes_no_sense_is_refused() {
    for (output, said) in [
        ("zip", "invalid traces output"),
        ("otel=zz", "couldn't parse the otel URL"),
        ("otel=http://a,proto=x", "invalid protocol"),
        ("otel,foo=1", "unknown otel config key foo"),
    ] {
        let told = brunt("run s.js --traces-output").word(output).file("s.js", SCRIPT).told();
        assert_eq!(told.code, 255, "{told:?}");
        assert!(told.error().contains(said), "{told:?}");
    }
}
