//! `--out` to real servers: what arrives is what the summary says; and servers that don't play along cost
//! the test nothing but the samples.
#![allow(clippy::float_cmp, reason = "small whole numbers are exact")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{brunt, free_port};

/// A server that takes longer to be ready fails the test.
const PATIENCE: Duration = Duration::from_secs(90);

const SCRIPT: &str = "
import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
const plain = new Trend('my_trend');
export const options = { iterations: 20, tags: { run: 'a b' } };
export default () => {
  const res = http.get(`${__ENV.DEMO_URL}/ping`);
  check(res, { 'is 200': (r) => r.status === 200, never: () => false });
  plain.add(__ITER);
};";

/// A server of somebody else, in a folder of its own.
struct Foreign {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Foreign {
    fn influxdb() -> Self {
        let (folder, port) = (tempfile::tempdir().expect("a folder for the server"), free_port());
        let path = |name: &str| folder.path().join(name).display().to_string();
        let config = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:0\"\n[meta]\ndir = \"{}\"\n[data]\n\
             dir = \"{}\"\nwal-dir = \"{}\"\n[http]\nbind-address = \"127.0.0.1:{port}\"\n\
             log-enabled = false\n[monitor]\nstore-enabled = false\n",
            path("meta"),
            path("data"),
            path("wal"),
        );
        std::fs::write(path("influxdb.conf"), config).expect("its configuration");
        let mut command = Command::new("influxd");
        command.args(["run", "-config", &path("influxdb.conf")]);
        Self::start(command, folder, port, "/ping", 204)
    }

    fn prometheus() -> Self {
        let (folder, port) = (tempfile::tempdir().expect("a folder for the server"), free_port());
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("prometheus.yml"), "{}").expect("its configuration");
        let mut command = Command::new("prometheus");
        command.args([
            format!("--config.file={}", path("prometheus.yml")),
            format!("--storage.tsdb.path={}", path("data")),
            format!("--web.listen-address=127.0.0.1:{port}"),
            "--web.enable-remote-write-receiver".into(),
            "--enable-feature=native-histograms".into(),
        ]);
        Self::start(command, folder, port, "/-/ready", 200)
    }

    fn start(
        mut command: Command,
        folder: tempfile::TempDir,
        port: u16,
        path: &str,
        ready: u16,
    ) -> Self {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("tools/need has installed it");
        let server = Self { process, port, _folder: folder };
        let start = Instant::now();
        while get(port, path).is_none_or(|(status, _)| status != ready) {
            assert!(start.elapsed() < PATIENCE, "the server is not ready");
            std::thread::park_timeout(Duration::from_millis(50));
        }
        server
    }

    /// The first number of a query's answer, in InfluxQL.
    fn influx(&self, query: &str) -> Value {
        let query = query.replace(' ', "%20").replace('"', "%22");
        let (_, body) = get(self.port, &format!("/query?db=mine&q={query}")).expect("an answer");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        answer["results"][0]["series"][0].clone()
    }

    /// The one number that a query comes to, in PromQL.
    fn prom(&self, query: &str) -> f64 {
        let encode = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c.to_string(),
            _ => format!("%{:02X}", c as u32),
        };
        let query: String = query.chars().map(encode).collect();
        let (_, body) = get(self.port, &format!("/api/v1/query?query={query}")).expect("an answer");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        let found = &answer["data"]["result"];
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{query}: {answer}");
        found[0]["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a number")
    }
}

/// Status and body, if anybody answers.
fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

#[test]
fn influxdb_has_every_sample() {
    let server = Foreign::influxdb();
    let told = brunt("run --demo s.js --out")
        .word(format!("influxdb=http://127.0.0.1:{}/mine", server.port))
        .file("s.js", SCRIPT)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    let shown = format!("        output: InfluxDBv1 (http://127.0.0.1:{})\n", server.port);
    assert!(told.stdout.contains(&shown), "{told:?}");
    assert!(!told.stderr.contains("level=error"), "{told:?}");
    let number = |query: &str| server.influx(query)["values"][0][1].as_f64();
    let all = "run = 'a b' AND scenario = 'default'";
    assert_eq!(number(&format!("SELECT count(value) FROM http_reqs WHERE {all}")), Some(20.0));
    assert_eq!(number("SELECT sum(value) FROM checks WHERE \"check\" = 'is 200'"), Some(20.0));
    assert_eq!(number("SELECT sum(value) FROM checks WHERE \"check\" = 'never'"), Some(0.0));
    assert_eq!(number("SELECT sum(value) FROM my_trend"), Some(190.0));
    assert!(number("SELECT mean(value) FROM http_req_duration").unwrap() > 0.0);
    // The address is a field, not a tag.
    let fields = server.influx("SHOW FIELD KEYS FROM http_reqs");
    assert_eq!(fields["values"][0][0], "url");
    let tags = server.influx("SHOW TAG KEYS FROM http_reqs").to_string();
    assert!(tags.contains("expected_response") && !tags.contains("url"), "{tags}");
}

#[test]
fn prometheus_has_totals_and_trends() {
    let server = Foreign::prometheus();
    let url = format!("http://127.0.0.1:{}/api/v1/write", server.port);
    let told = brunt("run --demo s.js --out experimental-prometheus-rw")
        .env("K6_PROMETHEUS_RW_SERVER_URL", &url)
        .env("K6_PROMETHEUS_RW_TREND_STATS", "p(95),count,sum,max")
        .file("s.js", SCRIPT)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains(&format!("output: Prometheus remote write ({url})")), "{told:?}");
    assert!(!told.stderr.contains("level=error"), "{told:?}");
    assert_eq!(server.prom("k6_http_reqs_total{status=\"200\",run=\"a b\"}"), 20.0);
    assert_eq!(server.prom("k6_checks_rate{check=\"is 200\"}"), 1.0);
    assert_eq!(server.prom("k6_checks_rate{check=\"never\"}"), 0.0);
    assert_eq!(server.prom("k6_my_trend_sum"), 190.0);
    assert_eq!(server.prom("k6_my_trend_p95"), 18.05);
    assert_eq!(server.prom("k6_http_req_duration_count"), 20.0);
    let seconds = server.prom("k6_http_req_duration_max");
    assert!(seconds > 0.0 && seconds < 5.0, "{seconds}");
}

#[test]
fn prometheus_reads_native_histograms_and_the_end_of_series() {
    let server = Foreign::prometheus();
    let run = |stale: &str| {
        let told = brunt("run --quiet --demo s.js --out experimental-prometheus-rw")
            .env(
                "K6_PROMETHEUS_RW_SERVER_URL",
                &format!("http://127.0.0.1:{}/api/v1/write", server.port),
            )
            .env("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")
            .env("K6_PROMETHEUS_RW_STALE_MARKERS", stale)
            .file("s.js", SCRIPT)
            .told();
        assert_eq!(told.code, 0, "{told:?}");
        assert!(!told.stderr.contains("level=error"), "{told:?}");
    };
    run("false");
    assert_eq!(server.prom("histogram_count(k6_http_req_duration_seconds)"), 20.0);
    assert_eq!(server.prom("histogram_sum(k6_my_trend)"), 190.0);
    let half = server.prom("histogram_quantile(0.5, k6_my_trend)");
    assert!((half - 9.5).abs() < 1.0, "{half}");
    run("true");
    let (_, body) = get(server.port, "/api/v1/query?query=k6_my_trend").unwrap();
    assert!(body.contains("\"result\":[]"), "{body}");
}

/// The demo's address is not needed where nothing is asked of it.
const SMALL: &str = "export const options = { iterations: 3 }; export default () => {};";

#[test]
fn several_at_once_and_servers_that_are_not_there_disturb_nothing() {
    let statsd = UdpSocket::bind("127.0.0.1:0").unwrap();
    statsd.set_read_timeout(Some(PATIENCE)).unwrap();
    let nobody = format!("127.0.0.1:{}", free_port());
    let mut call = brunt(
        "run s.js --out json=o.json --out statsd --out experimental-prometheus-rw --out opentelemetry --out",
    )
    .word(format!("influxdb=http://{nobody}/db"))
    .env("K6_STATSD_ADDR", &statsd.local_addr().unwrap().to_string())
    .env("K6_PROMETHEUS_RW_SERVER_URL", &format!("http://{nobody}/"))
    .env("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &nobody)
    .env("K6_OTEL_GRPC_EXPORTER_INSECURE", "true")
    .file("s.js", SMALL);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        told.stdout.contains(&format!("opentelemetry (grpc (insecure), {nobody})")),
        "{told:?}"
    );
    assert!(told.stdout.contains("iterations"), "{told:?}");
    // Said once while it runs, and counted at the end.
    for (once, output) in [
        ("Couldn't write stats", "InfluxDBv1"),
        ("Failed to send the time series data to the endpoint", "Prometheus remote write"),
        ("failed to upload metrics", "opentelemetry"),
    ] {
        let lines: Vec<_> = told.stderr.lines().filter(|line| line.contains(once)).collect();
        assert_eq!(lines.len(), 1, "{once}: {told:?}");
        assert!(lines[0].contains("could not connect to"), "{lines:?}");
        let at_end =
            |line: &&str| line.contains("did not arrive and are lost") && line.contains(output);
        assert_eq!(told.stderr.lines().filter(at_end).count(), 1, "{output}: {told:?}");
    }
    assert!(call.read("o.json").contains("\"iteration_duration\""));
    let mut buffer = [0; 2000];
    let size = statsd.recv(&mut buffer).unwrap();
    let datagram = String::from_utf8_lossy(&buffer[..size]).into_owned();
    assert!(datagram.contains("k6.iterations:1|c\n"), "{datagram}");
}

#[test]
fn a_server_that_never_answers_holds_the_end_back_for_ten_seconds_at_most() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let start = Instant::now();
    let told = brunt("run --quiet s.js --out")
        .word(format!("influxdb=http://{address}/db"))
        .file("s.js", SMALL)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    assert!(told.stderr.contains("did not take it within 10s"), "{told:?}");
}

#[test]
fn an_exporter_protocol_that_is_none_is_a_wrong_configuration() {
    let told = brunt("run --quiet s.js --out opentelemetry")
        .env("K6_OTEL_EXPORTER_PROTOCOL", "carrier-pigeon")
        .file("s.js", "export default function () {}")
        .told();
    assert_eq!(told.code, 104, "{}", told.stderr);
    let said = r#"error validating OpenTelemetry output config: unsupported exporter protocol \"carrier-pigeon\""#;
    assert!(told.stderr.contains(said), "{}", told.stderr);
}

/// The ways of a server that is no good.
#[derive(Clone, Copy, Debug)]
enum Bad {
    /// It takes what comes and says nothing.
    Silent,
    /// It answers with what is no HTTP.
    Garbage,
    /// It reads a little now and then.
    Slow,
}

#[expect(clippy::disallowed_methods, reason = "a thread of the test's server, not a core")]
fn bad(how: Bad) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut room = [0; 2000];
                while stream.read(&mut room).is_ok_and(|size| size > 0) {
                    match how {
                        Bad::Silent => {}
                        Bad::Garbage => {
                            let _ = stream.write_all(&b"\0\xff garbage\r\n".repeat(1000));
                        }
                        Bad::Slow => std::thread::sleep(Duration::from_millis(100)),
                    }
                }
            });
        }
    });
    port
}

/// How late nearly all iterations were, in milliseconds, with 4000 series and 60 000 samples a second.
fn lateness(flags: &str, variables: &[(&str, String)]) -> f64 {
    let script = "import { Trend, Counter } from 'k6/metrics';
        const took = new Trend('took');
        const count = new Counter('count');
        export const options = {
          thresholds: { iteration_lateness: ['p(95)>=0'] },
          scenarios: { a: { executor: 'constant-arrival-rate', rate: 300, duration: '3s', preAllocatedVUs: 20 } },
        };
        let n = __VU * 7919;
        export default function () {
          for (let i = 0; i < 100; i++) {
            n = (n + 104729) % 2000;
            took.add(i, { k: String(n) });
            count.add(1, { k: String(n) });
          }
        }
        export function handleSummary(data) {
          return { stdout: String(data.metrics.iteration_lateness.values['p(95)']) };
        }";
    let mut call = brunt(&format!("run -q s.js {flags}")).file("s.js", script);
    for (name, value) in variables {
        call = call.env(name, value);
    }
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    told.stdout.trim().parse().unwrap_or_else(|_| panic!("{told:?}"))
}

/// As late as without any, but for what other programs do meanwhile: so each has several tries beside one without an output.
#[test]
fn a_bad_server_makes_no_iteration_late() {
    let influxdb = |how| format!("--out influxdb=http://127.0.0.1:{}/db", bad(how));
    let prometheus = |how| {
        let url = format!("http://127.0.0.1:{}/write", bad(how));
        let name = "K6_PROMETHEUS_RW_SERVER_URL";
        ("--out experimental-prometheus-rw".to_owned(), vec![(name, url)])
    };
    let opentelemetry = |how| {
        let variables = vec![
            ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf".to_owned()),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true".to_owned()),
            ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", format!("127.0.0.1:{}", bad(how))),
            ("K6_OTEL_FLUSH_INTERVAL", "200ms".to_owned()),
        ];
        ("--out opentelemetry".to_owned(), variables)
    };
    let rows =
        [(influxdb(Bad::Silent), Vec::new()), prometheus(Bad::Slow), opentelemetry(Bad::Garbage)];
    for (flags, variables) in rows {
        let mut tries = Vec::new();
        let is_well = (0..5).any(|_| {
            let (without, with) = (lateness("", &[]), lateness(&flags, &variables));
            tries.push((without, with));
            with <= 2.0 * without + 20.0
        });
        assert!(is_well, "{flags}: p95 without an output and with it, in ms: {tries:?}");
    }
}
