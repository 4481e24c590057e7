//! Flags that change how a test is run and what is told of it.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use serde_json::Value;

use crate::remote_modules::Server;
use crate::support::{DemoServer, brunt, repository};

const DEFAULT: &str = "export default function () {}";

#[test]
fn http_debug_logs_each_request_and_response() {
    let demo = DemoServer::start();
    let script = "import http from 'k6/http';\n\
        export default function () { http.post(`${__ENV.U}/anything/x`, 'a=b', { headers: { 'X-Y': 'z' } }); }";
    for (flags, has_body) in [("--http-debug", false), ("--http-debug=full", true)] {
        let told =
            brunt(&format!("run -q {flags} -e U={} s.js", demo.url)).file("s.js", script).told();
        assert_eq!(told.code, 0, "{told:?}");
        let lines: Vec<&str> =
            told.stderr.lines().filter(|line| line.contains("source=http-debug")).collect();
        assert_eq!(lines.len(), 2, "{told:?}");
        assert!(lines[0].contains("msg=\"Request:\\nPOST /anything/x HTTP/1.1\\nHost: 127.0.0.1:"));
        assert!(lines[0].contains("\\nContent-Length: 3\\n") && lines[0].contains("\\nX-Y: z\\n"));
        assert_eq!(lines[0].contains("\\na=b\\n"), has_body, "{}", lines[0]);
        assert!(lines[1].contains("msg=\"Response:\\nHTTP/1.1 "), "{}", lines[1]);
        assert!(lines[1].contains("scenario=default") && lines[1].contains("vu=1"));
        let id = |line: &str| line.split("request_id=").nth(1).map(|rest| rest[..36].to_owned());
        assert_eq!(id(lines[0]), id(lines[1]));
    }
}

#[test]
fn http_debug_shows_bodies_without_their_codings_also_discarded_ones() {
    let demo = DemoServer::start();
    for params in ["{}", "{ responseType: 'none' }"] {
        let script = format!(
            "import http from 'k6/http';\n\
             export default function () {{\n\
               for (const path of ['gzip', 'br', 'zstd']) {{\n\
                 const r = http.get(`{}/${{path}}`, {params});\n\
                 console.log('body', r.body === null);\n\
               }}\n\
             }}",
            demo.url
        );
        let told = brunt("run -q --http-debug=full s.js").file("s.js", script).told();
        let shown: Vec<&str> =
            told.stderr.lines().filter(|line| line.contains("msg=\"Response:")).collect();
        assert_eq!(shown.len(), 3, "{told:?}");
        for line in shown {
            let (_, body) = line.split_once("\\n\\n").expect("a body");
            assert!(body.starts_with('{') && !body.contains('\u{fffd}'), "{line}");
        }
        let dropped = told.stderr.matches("body true").count();
        assert_eq!(dropped, if params == "{}" { 0 } else { 3 }, "{told:?}");
    }
}

/// The log of k6 1.8.1, and the bytes on the wire.
#[test]
fn http_debug_shows_what_is_sent_without_a_body_and_on_its_own_connection() {
    let demo = DemoServer::start();
    let script = "import http from 'k6/http';\n\
        export const options = { noConnectionReuse: true };\n\
        export default function () { http.post(`${__ENV.U}/anything/x`); http.get(`${__ENV.U}/ping`); }";
    let told =
        brunt(&format!("run -q --http-debug -e U={} s.js", demo.url)).file("s.js", script).told();
    let lines: Vec<&str> = told.stderr.lines().filter(|line| line.contains("Request:")).collect();
    assert_eq!(lines.len(), 2, "{told:?}");
    assert!(lines[0].contains("\\nContent-Length: 0\\n"), "{}", lines[0]);
    assert!(lines[0].contains("\\nConnection: close\\n"), "{}", lines[0]);
    assert!(!lines[1].contains("Content-Length"), "{}", lines[1]);
}

#[test]
fn once_shows_what_a_script_does() {
    let demo = DemoServer::start();
    let script = "import http from 'k6/http'; import { check, group } from 'k6';\n\
        export const options = { vus: 50, duration: '10m' };\n\
        export default function () { group('buy', () => {\n\
          const r = http.get(`${__ENV.U}/ping`);\n\
          check(r, { 'it is there': (r) => r.status < 500, 'it is not': () => false });\n\
        }); }";
    let told =
        brunt(&format!("run --once --no-color -e U={} s.js", demo.url)).file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    let out = &told.stdout;
    for part in ["\ndefault › buy\nGET http://", "  > GET /ping HTTP/1.1\n", "  < HTTP/1.1 "] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    assert!(out.contains("✓ it is there\n✗ it is not\n"), "{out}");
    assert_eq!(out.matches("GET http://").count(), 1, "{out}");
    assert!(out.contains("iterations"), "the summary follows: {out}");
}

#[test]
fn once_shows_sockets_calls_and_streams_too() {
    let script = "import ws from 'k6/ws'; import grpc from 'k6/net/grpc';\n\
        const client = new grpc.Client(); client.load(null, 'hello.proto');\n\
        export default async function () {\n\
          ws.connect(__ENV.DEMO_URL.replace('http', 'ws') + '/ws/echo', (socket) => {\n\
            socket.on('open', () => socket.send('hi'));\n\
            socket.on('message', () => socket.close());\n\
          });\n\
          client.connect(__ENV.DEMO_GRPC, { plaintext: true });\n\
          client.invoke('hello.HelloService/SayHello', { greeting: 'you' });\n\
          client.close();\n\
          await (await fetch(__ENV.DEMO_URL + '/json')).text();\n\
        }";
    let proto = std::fs::read_to_string(repository("crates/demo/proto/hello.proto"))
        .expect("a description of the demo target");
    let told = brunt("run --once --demo --no-color s.js")
        .file("s.js", script)
        .file("hello.proto", proto)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    let lines: Vec<&str> = told.stdout.lines().collect();
    let after = |start: &str, end: &str| {
        let found = lines.iter().position(|line| line.starts_with(start) && line.contains(end));
        let at = found.unwrap_or_else(|| panic!("no {start}…{end} in {}", told.stdout));
        lines[at + 1]
    };
    assert!(after("WS ws://127.0.0.1:", "/ws/echo  101").starts_with("WS ws://"), "{told:?}");
    assert!(told.stdout.contains("/ws/echo\n  > hi\nWS ws://"), "{}", told.stdout);
    assert!(told.stdout.contains("/ws/echo\n  < hi\nWS ws://"), "{}", told.stdout);
    assert!(told.stdout.contains("/ws/echo  ended after "), "{}", told.stdout);
    let sent = after("gRPC 127.0.0.1:", "/hello.HelloService/SayHello  0  ");
    assert_eq!(sent, "  > {\"greeting\":\"you\"}");
    assert!(after("  > {\"greeting\":", "").starts_with("  < {\"reply\":"), "{}", told.stdout);
    assert!(told.stdout.contains("  < (the script reads the body as it comes)"), "{told:?}");
}

#[test]
fn scenarios_are_picked_and_changed() {
    let script = "export const options = { scenarios: {\n\
          a: { executor: 'per-vu-iterations', vus: 1, iterations: 1, startTime: '1h', exec: 'say' },\n\
          b: { executor: 'constant-vus', vus: 1, duration: '1h' } } };\n\
        export function say() { console.log('a'); }\n\
        export default function () { console.log('b'); }";
    let run = |flags: &str| brunt(&format!("run -q {flags} s.js")).file("s.js", script).told();
    let told = run("--scenario a --set scenarios.a.iterations=3");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(told.stderr.matches("msg=a").count(), 3, "{told:?}");
    let told = run("--scenario c");
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.error().contains("scenarios are: a, b"), "{told:?}");
    let told = run("--set scenarios.a.nope=1");
    assert_eq!(told.code, 104, "{told:?}");
}

#[test]
fn feature_flags_do_what_they_say() {
    let script = "export const options = { tags: { a: '1', b: '1' } };\n\
        export default function () { __ENV.X = 'y'; }";
    let run = |flags: &str| brunt(&format!("run -q {flags} s.js")).file("s.js", script);
    let told = run("--features freeze-env,nope").told();
    assert!(told.stderr.contains("TypeError"), "{told:?}");
    assert!(told.stderr.contains("unknown feature flag \\\"nope\\\""), "{told:?}");
    assert!(told.stderr.contains("active feature flags: freeze-env"), "{told:?}");
    let mut call = run("--tag b=2 --out json=o.json").env("K6_FEATURES", "merge-run-tags");
    assert_eq!(call.told().code, 0);
    let samples = call.read("o.json");
    let point = samples.lines().find(|line| line.contains("\"Point\"")).expect("a sample");
    let point: Value = serde_json::from_str(point).expect("JSON");
    let tags = &point["data"]["tags"];
    assert_eq!((&tags["a"], &tags["b"]), (&"1".into(), &"2".into()), "{tags}");
    assert_eq!(tags["k6_feature_merge_run_tags"], "true");
    let list = brunt("features --json").told();
    let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(3));
}

#[test]
fn deps_lists_imports_without_running_them() {
    let script = "import http from 'k6/http';\nimport './lib.js';\nimport 'k6/x/nope';\n\
        throw new Error('never run');";
    let told = brunt("deps s.js").file("s.js", script).file("lib.js", "export {};").told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.starts_with("Build Dependencies:\n  k6: *\n  k6/x/nope: *\n"), "{told:?}");
    assert!(told.stdout.contains("\n  k6/http\n"), "{told:?}");
    assert!(told.stdout.ends_with("\nCustom Build Required: yes\n"), "{told:?}");
}

#[test]
fn log_lines_go_to_loki() {
    let loki = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = loki.local_addr().expect("an address");
    let pushed = std::thread::spawn(move || {
        let mut bodies = String::new();
        // The process ends when all is pushed; then the test alone connects.
        loop {
            let (mut stream, _) = loki.accept().expect("a connection");
            let mut text = Vec::new();
            let mut piece = [0; 4096];
            loop {
                let size = stream.read(&mut piece).unwrap_or(0);
                text.extend_from_slice(&piece[..size]);
                let said = String::from_utf8_lossy(&text).into_owned();
                if size == 0 || said == "end" {
                    break;
                }
                let Some((head, body)) = said.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                    let _ =
                        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
                    bodies.push_str(body);
                    text.clear();
                }
            }
            if text == b"end" {
                return bodies;
            }
        }
    });
    let told = brunt(&format!(
        "run -q --log-output=loki=http://{address}/push,label.job=t,pushPeriod=50ms s.js"
    ))
    .file("s.js", "export default function () { console.log('to loki'); }")
    .told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    let mut end = std::net::TcpStream::connect(address).expect("a connection");
    end.write_all(b"end").expect("the end is sent");
    drop(end);
    let bodies = pushed.join().expect("the listener ends");
    assert!(bodies.contains("\"to loki\"") && bodies.contains("\"job\":\"t\""), "{bodies}");
    assert!(bodies.contains("\"source\":\"console\""), "{bodies}");
}

#[test]
fn loki_may_be_behind_tls_if_its_certificate_is_trusted() {
    let server = Server::start(&[("/push", 204, "")]);
    let script = "export default function () { console.log('to loki'); }";
    let flag = format!("--log-output=loki={}", server.url("/push"));
    let told = server.run(&flag, script).told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    assert!(server.asked().contains(&"/push".to_owned()));
    let told = server.run(&flag, script).env("SSL_CERT_FILE", "/dev/null").told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("log lines could not be pushed to Loki: x509: "), "{told:?}");
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[test]
fn every_exit_code_can_be_had() {
    let at_end = "export default function () {}\n";
    for (script, flags, code) in [
        (DEFAULT, "", 0),
        ("export const options = { thresholds: { iterations: ['count>5'] } };\nDEFAULT", "", 99),
        (
            "export const options = { setupTimeout: '50ms' };\nexport function setup() { for (;;); }\nDEFAULT",
            "",
            100,
        ),
        (
            "export const options = { teardownTimeout: '50ms' };\nexport function teardown() { for (;;); }\n\
             DEFAULT",
            "",
            101,
        ),
        (DEFAULT, "--config nope.json", 104),
        ("throw new Error('x'); DEFAULT", "", 107),
        ("import x from './nope.js'; DEFAULT", "", 107),
        (
            "import exec from 'k6/execution';\nexport default function () { exec.test.abort(); }",
            "",
            108,
        ),
        (
            "import exec from 'k6/execution';\nexport default function () { exec.test.fail('x'); }",
            "",
            110,
        ),
        (DEFAULT, "--nope", 255),
        (DEFAULT, "--out nope", 255),
        ("export const x = 1;", "", 255),
    ] {
        let script = script.replace("DEFAULT", at_end);
        let told = brunt(&format!("run -q {flags} s.js")).file("s.js", &script).told();
        assert_eq!(told.code, code, "{script}: {told:?}");
    }
}
