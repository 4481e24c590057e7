//! The effect of a hard stop on sockets and streams, and the notice to servers of gRPC before it. Expected is the
//! behaviour of k6 1.8 with the same scripts.
#![expect(clippy::disallowed_methods, reason = "threads of the test's own, not a core")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crate::support::{DemoServer, Told, brunt};

/// Runs a script; the lines of the script, and how often each metric of the module was measured.
fn stopped(flags: &str, script: &str, prefix: &str) -> (Vec<String>, Vec<(String, usize)>, Told) {
    let line = format!("run --quiet --log-format raw --out json=out.json {flags} script.js");
    let mut call = brunt(&line).file("script.js", script);
    let told = call.told();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for line in call.read("out.json").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let name = line["metric"].as_str().unwrap_or_default();
        if line["type"] != "Point" || !name.starts_with(prefix) {
            continue;
        }
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name.to_owned(), 1)),
        }
    }
    counts.sort();
    let lines = told.stderr.lines().filter_map(|line| line.strip_prefix("> "));
    (lines.map(str::to_owned).collect(), counts, told)
}

fn counted(counts: &[(&str, usize)]) -> Vec<(String, usize)> {
    counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn a_socket_hears_nothing_of_a_hard_stop_and_its_session_is_not_measured() {
    let demo = DemoServer::start();
    let url = demo.url.replacen("http", "ws", 1);
    let script = |body: &str| {
        format!(
            "import ws from 'k6/ws';
            import {{ WebSocket }} from 'k6/websockets';
            import {{ sleep }} from 'k6';
            export const options = {{ scenarios: {{ d: {{
              executor: 'shared-iterations', vus: 1, iterations: 1, maxDuration: '1s', gracefulStop: '500ms' }} }} }};
            const U = '{url}/ws/echo', say = (...a) => console.log('>', ...a);
            export default function () {{ {body} }}"
        )
    };
    let waits = "ws.connect(U, null, (s) => {
        s.on('open', () => s.send('x')); s.on('message', () => say('message')); s.on('close', () => say('closed')); });";
    let (lines, counts, told) = stopped("", &script(waits), "ws_");
    assert_eq!(lines, ["message"], "{told:?}");
    let once = counted(&[
        ("ws_connecting", 1),
        ("ws_msgs_received", 1),
        ("ws_msgs_sent", 1),
        ("ws_sessions", 1),
    ]);
    assert_eq!(counts, once, "{told:?}");
    let sleeps = "ws.connect(U, null, (s) => {
        s.on('open', () => { s.send('x'); sleep(9); }); s.on('close', () => say('closed')); }); say('over');";
    let (lines, counts, told) = stopped("", &script(sleeps), "ws_session");
    assert_eq!((lines, counts), (vec![], counted(&[("ws_sessions", 1)])), "{told:?}");
    let events = "const s = new WebSocket(U);
        s.onopen = () => s.send('x'); s.onmessage = () => say('message');
        s.onerror = () => say('error'); s.onclose = () => say('closed');";
    let (lines, counts, told) = stopped("", &script(events), "ws_");
    assert_eq!((lines, counts), (vec!["message".to_owned()], once), "{told:?}");
    // One whose handler is in the middle of something hears of it.
    let busy = "const s = new WebSocket(U);
        s.onopen = () => { s.send('x'); sleep(9); }; s.onmessage = () => say('message');
        s.onerror = (e) => say(e.error.slice(0, 16)); s.onclose = () => say('closed');";
    let (lines, _, told) = stopped("", &script(busy), "ws_");
    assert_eq!(lines, ["context canceled", "closed"], "{told:?}");
}

#[test]
fn messages_of_grpc_that_came_before_a_hard_stop_count_and_are_told() {
    let script = |body: &str| {
        format!(
            "import {{ Client, Stream }} from 'k6/net/grpc';
            import {{ sleep }} from 'k6';
            const client = new Client(), say = (...a) => console.log('>', ...a);
            export const options = {{ scenarios: {{ d: {{
              executor: 'shared-iterations', vus: 1, iterations: 1, maxDuration: '1s', gracefulStop: '1s' }} }} }};
            export default function () {{
              client.connect(__ENV.DEMO_GRPC, {{ plaintext: true, reflect: true }});
              const s = new Stream(client, 'brunt.demo.Echo/Both');
              s.on('data', () => say('data')); s.on('error', (e) => say(+e.code, e.message)); s.on('end', () => say('end'));
              for (let i = 0; i < 3; i++) s.write({{}});
              {body}
            }}"
        )
    };
    let data = ["data"; 3];
    for (body, ends, durations) in [
        // The server has ended it.
        ("s.end(); sleep(9);", &["end"][..], 1),
        ("sleep(9);", &["4 context deadline exceeded", "end"], 0),
        ("", &["end"], 0),
    ] {
        let (lines, mut counts, told) = stopped("--demo", &script(body), "grpc_");
        assert_eq!(lines, [&data[..], ends].concat(), "{body:?} {told:?}");
        // Reflection that succeeds is not measured.
        let measured = counts.iter().position(|(name, _)| name == "grpc_req_duration");
        let measured = measured.map_or(0, |place| counts.remove(place).1);
        assert_eq!(measured, durations, "{body:?} {told:?}");
        let expected =
            [("grpc_streams", 1), ("grpc_streams_msgs_received", 3), ("grpc_streams_msgs_sent", 3)];
        assert_eq!(counts, counted(&expected), "{body:?} {told:?}");
    }
}

#[test]
fn a_script_that_never_ends_is_stopped_while_it_hears_its_last_words() {
    let script = "import { Client, Stream } from 'k6/net/grpc';
        import { sleep } from 'k6';
        const client = new Client();
        export const options = { scenarios: {
          bad: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '1s', gracefulStop: '500ms' },
          good: { executor: 'per-vu-iterations', vus: 1, iterations: 1, startTime: '2s', exec: 'good' } } };
        const spin = () => { for (;;) { try { for (;;) sleep(1); } catch (e) {} finally { continue; } } };
        export default function () {
          client.connect(__ENV.DEMO_GRPC, { plaintext: true, reflect: true });
          for (let i = 0; i < 20; i++) {
            const s = new Stream(client, 'brunt.demo.Echo/Both');
            for (const event of ['data', 'error', 'end']) s.on(event, i % 2 ? spin : async () => spin());
            s.write({});
          }
          sleep(9);
        }
        export function good() { console.log('> good'); }";
    let (lines, _, told) = stopped("--demo --workers 1", script, "grpc_");
    assert_eq!(lines, ["good"], "{told:?}");
}

/// The seconds of the `grpc-timeout` in what a client sent, if it is there: text behind its length, as the first call of a
/// connection has it.
fn timeout_in(bytes: &[u8]) -> Option<f64> {
    let name = b"grpc-timeout";
    let at = bytes.windows(name.len()).position(|part| part == name)? + name.len();
    let length = usize::from(*bytes.get(at)?);
    let value = bytes.get(at + 1..at + 1 + length)?;
    let mut text = String::from_utf8(value.to_vec()).ok()?;
    let unit = text.pop()?;
    let count: f64 = text.parse().ok()?;
    Some(match unit {
        'n' => count / 1e9,
        'u' => count / 1e6,
        'm' => count / 1e3,
        'S' => count,
        'M' => count * 60.0,
        _ => return None,
    })
}

/// Greets, listens for a while, tells what came, and hangs up.
fn listen(mut stream: TcpStream, told: &Sender<Option<f64>>) -> std::io::Result<()> {
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0])?;
    stream.set_read_timeout(Some(Duration::from_millis(400)))?;
    let mut came = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(size @ 1..) = stream.read(&mut piece) {
        came.extend_from_slice(&piece[..size]);
    }
    let _ = told.send(timeout_in(&came));
    Ok(())
}

#[test]
fn servers_of_grpc_are_told_how_much_time_there_is() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let (sender, receiver) = channel();
    thread::spawn(move || listener.incoming().flatten().try_for_each(|it| listen(it, &sender)));
    let told = brunt("run --quiet script.js")
        .file(
            "a.proto",
            "syntax = \"proto3\"; package a; message M {} service A { rpc Call(M) returns (M); rpc Down(M) returns (stream M); }",
        )
        .file(
            "script.js",
            format!(
                "import {{ Client, Stream }} from 'k6/net/grpc';
                const client = new Client();
                client.load([], 'a.proto');
                export const options = {{ scenarios: {{ d: {{
                  executor: 'shared-iterations', vus: 1, iterations: 1, maxDuration: '40s', gracefulStop: '20s' }} }} }};
                const each = (f, params) => {{
                  try {{ client.connect('{address}', {{ plaintext: true, ...params }}); f(); }} catch (e) {{}}
                  client.close();
                }};
                export default function () {{
                  each(() => 0, {{ reflect: true, timeout: '9s' }});
                  each(() => client.healthCheck());
                  each(() => client.invoke('a.A/Call', {{}}));
                  each(() => client.invoke('a.A/Call', {{}}, {{ timeout: '3s' }}));
                  each(() => {{ const s = new Stream(client, 'a.A/Down'); s.on('error', () => 0); s.write({{}}); }});
                }}"
            ),
        )
        .told();
    let seen: Vec<_> = receiver.try_iter().flatten().collect();
    let [reflection, health, call, short, stream] = seen[..] else { panic!("{seen:?} {told:?}") };
    assert!((0.0..9.0).contains(&reflection), "{reflection} {told:?}");
    // Of a minute in all; the clients before took some of it.
    for left in [health, call, stream] {
        assert!((9.0..60.0).contains(&left), "{seen:?} {told:?}");
    }
    assert!((short - 3.0).abs() < 0.001, "{short} {told:?}");
}

#[test]
fn a_tls_handshake_that_fails_is_tried_again_until_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = sender.send(());
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let told = brunt("run --quiet --log-format raw script.js")
        .file(
            "script.js",
            format!(
                "import grpc from 'k6/net/grpc';
                export default function () {{
                  const at = Date.now();
                  try {{ new grpc.Client().connect('{address}', {{ timeout: '2500ms' }}); }} catch (e) {{
                    console.log(String(e), Date.now() - at >= 2500);
                  }}
                }}"
            ),
        )
        .told();
    assert!(told.stderr.contains("context deadline exceeded: connection error"), "{told:?}");
    assert!(told.stderr.lines().any(|line| line.ends_with(" true")), "{told:?}");
    assert!(receiver.try_iter().count() >= 2, "{told:?}");
}
