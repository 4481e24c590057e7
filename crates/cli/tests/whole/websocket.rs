//! `k6/ws` and `k6/websockets` against the demo target.

use crate::support::{DemoServer, Told, brunt};

/// Runs a script whose `B` is the demo target's WebSocket address; gives what it logged with `console.log`.
fn logged(script: &str) -> (Told, Vec<String>) {
    let demo = DemoServer::start();
    let base = demo.url.replacen("http", "ws", 1);
    let text = format!("const B = '{base}/ws';\n{script}");
    let told = brunt("run --quiet --summary-export out.json --log-format raw script.js")
        .file("script.js", text)
        .told();
    let lines = told.stderr.lines().map(str::to_owned).collect();
    (told, lines)
}

#[track_caller]
fn says(script: &str, expected: &[&str]) -> Told {
    let (told, lines) = logged(script);
    assert_eq!(lines, expected, "{told:?}");
    assert_eq!(told.code, 0, "{told:?}");
    told
}

#[test]
fn a_blocking_socket_talks_until_it_is_closed() {
    says(
        "import ws from 'k6/ws';
        export default function () {
            const res = ws.connect(B + '/echo', { headers: { 'X-A': 'b' }, tags: { t: 1 } }, (socket) => {
                socket.on('open', () => { console.log('open'); socket.send('hi'); });
                socket.on('message', (m) => { console.log(m); socket.sendBinary(new Uint8Array([1, 2]).buffer); });
                socket.on('binaryMessage', (b) => { console.log(b.byteLength); socket.ping(); });
                socket.on('pong', () => { socket.setTimeout(() => socket.close(3001), 5); });
                socket.on('error', (e) => console.log('error', e.error()));
                socket.on('close', (code) => console.log('close', code));
            });
            console.log(res.status, res.url === B + '/echo', res.headers.Upgrade, JSON.stringify(res.error));
        }",
        &["open", "hi", "2", "close 3001", "101 true websocket \"\""],
    );
}

#[test]
fn a_blocking_socket_tells_how_it_ended() {
    says(
        "import ws from 'k6/ws';
        const ended = (path) => {
            const res = ws.connect(B + path, (socket) => {
                socket.on('open', () => socket.send('x'));
                socket.on('error', (e) => console.log('error', e.error(), e.code));
                socket.on('close', (code) => console.log('close', code));
            });
            return res;
        };
        export default function () {
            ended('/close?code=1000');
            ended('/close?code=3000&reason=why');
            ended('/raw?hex=8800');
            ended('/drop');
            ended('/raw?hex=880203ed');
            const missing = ended('/nothing');
            console.log(missing.status, missing.url, missing.body.length > 0);
            console.log(ws.connect('http://a.test', () => 0).error);
            try { ws.connect(B, {}); } catch (e) { console.log(String(e)); }
            try { ws.connect(B, () => { throw new Error('boom'); }); } catch (e) { console.log(String(e)); }
        }",
        &[
            "close 1000",
            "error websocket: close 3000: why 3000",
            "close 3000",
            "error websocket: close 1005 (no status) 1005",
            "close 1005",
            "error websocket: close 1006 (abnormal closure): unexpected EOF 1006",
            "close 1006",
            "error websocket: close sent undefined",
            "close 1001",
            "404  true",
            "malformed ws or wss URL",
            "GoError: last argument to ws.connect must be a function",
            "Error: boom",
        ],
    );
}

#[test]
fn an_event_socket_lives_on_the_event_loop() {
    says(
        "import { WebSocket, Blob } from 'k6/websockets';
        export default function () {
            const ws = new WebSocket(B + '/echo', ['one', 'two'], { compression: 'deflate' });
            console.log(ws.readyState, ws.binaryType, WebSocket.OPEN);
            try { ws.send('early'); } catch (e) { console.log(String(e)); }
            const gone = () => console.log('never');
            ws.addEventListener('message', gone);
            ws.removeEventListener('message', gone);
            ws.onopen = () => { console.log('open', ws.protocol, ws.extensions.length); ws.send('a'.repeat(1000)); };
            const got = [];
            ws.onmessage = async (e) => {
                if (typeof e.data === 'string') { got.push(e.data.length); ws.send(new Blob(['abc'])); return; }
                if (e.data.size === 3) { got.push(await e.data.text()); ws.binaryType = 'arraybuffer'; ws.send(new Uint16Array(2)); return; }
                got.push(e.data.byteLength);
                ws.ping();
            };
            ws.onpong = () => { console.log(JSON.stringify(got)); ws.close(3000, 'done'); console.log(ws.readyState); };
            ws.onerror = (e) => console.log('error', e.error);
            ws.onclose = (e) => console.log('close', e.code, e.reason, ws.readyState);
        }",
        &[
            "0 blob undefined",
            "GoError: InvalidStateError",
            "open one 1",
            "[1000,\"abc\",4]",
            "2",
            "error websocket: close 3000: done",
            "close 3000 done 3",
        ],
    );
}

#[test]
fn an_event_socket_tells_how_it_ended() {
    says(
        "import { WebSocket } from 'k6/websockets';
        const ended = (url) => new Promise((done) => {
            const ws = new WebSocket(url);
            ws.onopen = () => ws.send('x');
            ws.onerror = (e) => console.log('error', e.error);
            ws.onclose = (e) => { console.log('close', e.code, e.reason); done(); };
        });
        export default async function () {
            await ended(B + '/close?code=1000');
            await ended(B + '/close?code=4000&reason=why');
            await ended(B + '/drop');
            await ended(B + '/nothing');
            await ended('ws://127.0.0.1:1/');
            for (const wrong of ['foo', 'ws://a/#b', null]) {
                try { new WebSocket(wrong); } catch (e) { console.log(String(e)); }
            }
        }",
        &[
            "close 1000 ",
            "error websocket: close 4000: why",
            "close 4000 why",
            "error websocket: close 1006 (abnormal closure): unexpected EOF",
            "close 1006 unexpected EOF",
            "error websocket: bad handshake",
            "close undefined ",
            "error dial tcp 127.0.0.1:1: connect: connection refused",
            "close undefined ",
            "GoError: WebSocket requires url with scheme ws or wss, but got \"\"",
            "GoError: WebSocket requires no url fragment, but got \"b\"",
            "GoError: WebSocket requires a url",
        ],
    );
}

#[test]
fn sockets_are_counted() {
    let demo = DemoServer::start();
    let base = demo.url.replacen("http", "ws", 1);
    let script = "import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export default function () {
            ws.connect(__ENV.B + '/echo', (s) => { s.on('open', () => s.send('x')); s.on('message', () => s.close()); });
            ws.connect(__ENV.B + '/nothing', () => 0);
            const w = new WebSocket(__ENV.B + '/echo');
            w.onopen = () => { w.send('x'); w.ping(); };
            w.onpong = () => w.close();
        }";
    let mut run = brunt("run --quiet --summary-export out.json script.js")
        .file("script.js", script)
        .env("B", &format!("{base}/ws"));
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    let summary: serde_json::Value = serde_json::from_str(&run.read("out.json")).unwrap();
    let count = |name: &str| summary["metrics"][name]["count"].as_u64();
    assert_eq!(count("ws_sessions"), Some(3));
    // Of the second API, a message, a ping and a close frame.
    assert_eq!(count("ws_msgs_sent"), Some(4));
    assert_eq!(count("ws_msgs_received"), Some(2));
    for trend in ["ws_connecting", "ws_session_duration", "ws_ping"] {
        assert!(summary["metrics"][trend]["avg"].is_number(), "{trend}: {summary}");
    }
}

#[test]
fn a_stop_ends_sockets_that_nobody_closes() {
    let demo = DemoServer::start();
    let base = demo.url.replacen("http", "ws", 1);
    for module in [
        "import ws from 'k6/ws'; export default function () { ws.connect(__ENV.B, () => 0); }",
        "import { WebSocket } from 'k6/websockets'; export default function () { new WebSocket(__ENV.B); }",
    ] {
        let mut run = brunt("run --quiet --summary-export out.json script.js")
            .file("script.js", format!("export const options = {{ scenarios: {{ a: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};\n{module}"))
            .env("B", &format!("{base}/ws"));
        let told = run.told();
        assert_eq!(told.code, 0, "{told:?}");
        let summary: serde_json::Value = serde_json::from_str(&run.read("out.json")).unwrap();
        assert_eq!(summary["metrics"]["ws_sessions"]["count"].as_u64(), Some(2), "{summary}");
    }
}

#[test]
fn server_sent_events_are_told_until_the_script_closes() {
    let demo = DemoServer::start();
    let script = "export default function () {
            const events = new EventSource(__ENV.URL + '/sse?n=3&every=10ms', { tags: { a: 'b' } });
            let count = 0;
            events.onopen = () => console.log('open', events.readyState);
            events.addEventListener('tick', (e) => {
                console.log(e.type, e.lastEventId, e.data, __ENV.URL.startsWith(e.origin), e.origin.length > 9);
                if (++count === 3) { events.close(); console.log(events.readyState); }
            });
            try { new EventSource('no/address'); } catch (e) { console.log(e.name); }
            try { new EventSource(); } catch (e) { console.log(e.name); }
            const wrong = new EventSource(__ENV.URL + '/json');
            wrong.onerror = (e) => console.log(e.status, wrong.readyState);
        }";
    let mut run = brunt("run --quiet --summary-export out.json --log-format raw script.js")
        .file("script.js", script)
        .env("URL", &demo.url);
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    let mut lines: Vec<_> = told.stderr.lines().collect();
    lines.sort_unstable();
    let expected = [
        "2",
        "200 2",
        "SyntaxError",
        "TypeError",
        "open 1",
        "tick 1 {\"n\":1} true true",
        "tick 2 {\"n\":2} true true",
        "tick 3 {\"n\":3} true true",
    ];
    assert_eq!(lines, expected, "{told:?}");
    let summary: serde_json::Value = serde_json::from_str(&run.read("out.json")).unwrap();
    assert_eq!(summary["metrics"]["sse_events"]["count"].as_u64(), Some(3));
    assert!(summary["metrics"]["sse_event_interval"]["avg"].is_number(), "{summary}");
}
