//! Secrets in tags and metadata: what each output sends of them, and each file that a run leaves.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use crate::support::{Told, brunt};

const SCRIPT: &str = r"
import exec from 'k6/execution';
import secrets from 'k6/secrets';
import http from 'k6/http';
import { Trend } from 'k6/metrics';
const kept = new Trend('kept');
export default async function () {
  const token = await secrets.get('token');
  exec.vu.metrics.metadata.token = token;
  http.get(`${__ENV.DEMO_URL}/ping?token=${token}`, { tags: { token } });
  kept.add(1, { token: `x${token}y` });
}
";

/// Takes whatever comes over TCP, and answers each request with 204. Hands out the bytes as they came.
fn listen() -> (String, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    let (sender, receiver) = sync_channel(1024);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut socket = socket;
                let mut bytes = vec![0; 1 << 16];
                while let Ok(size @ 1..) = socket.read(&mut bytes) {
                    let part = bytes[..size].to_vec();
                    // A body may come apart from its head: too many answers are passed over at the end.
                    if part.starts_with(b"POST ") {
                        let _ = socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
                    }
                    let _ = sender.send(part);
                }
            });
        }
    });
    (address, receiver)
}

fn run(out: &str, variables: &[(&str, &str)]) -> (Told, Vec<u8>) {
    let mut run = brunt(&format!(
        "run --quiet --demo --out {out} --secret-source mock=token=hush-hush --summary-export summary.json s.js"
    ));
    for (name, value) in variables {
        run = run.env(name, value);
    }
    let mut run = run.file("s.js", SCRIPT);
    let told = run.told();
    assert_eq!(told.code, 0, "{out}: {}", told.stderr);
    let file = out.split_once('=').map_or("", |(_, file)| file);
    let mut kept = run.read("summary.json").into_bytes();
    if file.starts_with("o.") {
        kept.extend(run.read(file).into_bytes());
    }
    (told, kept)
}

fn shows(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// Neither the secret nor nothing at all.
fn check(out: &str, told: &Told, sent: &[u8]) {
    assert!(!shows(sent, "hush"), "{out}: {}", String::from_utf8_lossy(sent));
    assert!(shows(sent, "SECRET_REDACTED"), "{out}: {}", String::from_utf8_lossy(sent));
    assert!(!told.stdout.contains("hush") && !told.stderr.contains("hush"), "{out}");
}

#[test]
fn files_of_samples_show_no_secret() {
    for out in ["json=o.json", "csv=o.csv"] {
        let (told, sent) = run(out, &[]);
        check(out, &told, &sent);
    }
    // The metadata is there, too.
    let (_, sent) = run("json=o.json", &[]);
    assert!(shows(&sent, r#""metadata":{"token":"***SECRET_REDACTED***"}"#));
}

#[test]
fn servers_of_outputs_are_sent_no_secret() {
    let cases: [(&str, &[(&str, &str)]); 3] = [
        ("influxdb=http://ADDRESS/k6", &[]),
        (
            "experimental-prometheus-rw",
            &[("K6_PROMETHEUS_RW_SERVER_URL", "http://ADDRESS/api/v1/write")],
        ),
        (
            "opentelemetry",
            &[
                ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
                ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
                ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "ADDRESS"),
            ],
        ),
    ];
    for (out, variables) in cases {
        let (address, received) = listen();
        let variables: Vec<(&str, String)> = variables
            .iter()
            .map(|(name, value)| (*name, value.replace("ADDRESS", &address)))
            .collect();
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (told, _) = run(&out.replace("ADDRESS", &address), &variables);
        let sent: Vec<u8> = received.try_iter().flatten().collect();
        check(out, &told, &sent);
    }
}

#[test]
fn datagrams_of_statsd_show_no_secret() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a limit");
    let address = socket.local_addr().expect("its address").to_string();
    let variables = [("K6_STATSD_ADDR", address.as_str()), ("K6_STATSD_ENABLE_TAGS", "true")];
    let (told, _) = run("statsd", &variables);
    let (mut sent, mut datagram) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(size) = socket.recv(&mut datagram) {
        sent.extend_from_slice(&datagram[..size]);
    }
    check("statsd", &told, &sent);
}

#[test]
fn the_dashboard_and_the_traces_show_no_secret() {
    let mut run = brunt(
        "run --quiet --demo --secret-source mock=token=hush-hush --out web-dashboard=port=0&export=report.html s.js",
    )
    .file("s.js", SCRIPT);
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(!run.read("report.html").contains("hush"));
    let (address, received) = listen();
    let traces = format!("otel=http://{address},proto=http");
    let (told, sent) = self::run("json=o.json", &[("K6_TRACES_OUTPUT", &traces)]);
    check("traces", &told, &sent);
    let traced: Vec<u8> = received.try_iter().flatten().collect();
    assert!(!traced.is_empty() && !shows(&traced, "hush"), "{}", String::from_utf8_lossy(&traced));
}
