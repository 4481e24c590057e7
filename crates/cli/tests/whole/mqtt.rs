//! `k6/x/mqtt` against a real broker, and against peers that speak something else.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{brunt, free_port};

/// `mosquitto` on a port of its own; it ends with the test.
struct Broker {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Broker {
    fn start(config: &str) -> Self {
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mosquitto.conf");
        let text = format!("listener {port} 127.0.0.1\npersistence false\n{config}\n");
        std::fs::write(&path, text).expect("its configuration");
        let process = Command::new("mosquitto")
            .arg("-c")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("mosquitto, which these tests need (apt-get install mosquitto)");
        let broker = Self { process, port, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "mosquitto does not listen");
            std::thread::yield_now();
        }
        broker
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The exit code of a script whose iteration is this body, and what it says.
fn said(options: &str, port: u16, body: &str) -> (i32, Vec<String>) {
    let script = format!(
        "import {{ Client }} from 'k6/x/mqtt';\n\
         export const options = {{ {options} }};\n\
         const url = 'mqtt://127.0.0.1:{port}';\n\
         const text = (data) => String.fromCharCode.apply(null, new Uint8Array(data));\n\
         const say = (...what) => console.log(what.join(' '));\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let told = brunt("run --quiet --log-format raw s.js").file("s.js", script).told();
    (told.code, told.stderr.lines().map(str::to_owned).collect())
}

#[test]
fn messages_go_to_the_broker_and_back() {
    let broker = Broker::start("allow_anonymous true");
    let (code, lines) = said(
        "thresholds: { mqtt_calls: ['count==6'], 'mqtt_calls{method:publish,own:1}': ['count==3'], \
           mqtt_messages_sent: ['count==3'], mqtt_messages_received: ['count==3'], \
           mqtt_errors: ['count==0'], data_sent: ['count>0'], data_received: ['count>0'] }",
        broker.port,
        "const client = new Client({ client_id: 'brunt-test', tags: { own: '1' } });\n\
         const came = [];\n\
         let steps = 0;\n\
         const step = () => {\n\
           steps += 1;\n\
           if (steps === 4) { say(came.sort().join()); client.end(); say('ended', client.connected); }\n\
         };\n\
         client.on('connect', async () => {\n\
           say('connect', client.connected);\n\
           client.subscribe(['a/+', 'b'], { qos: 2 });\n\
           client.publish('a/0', 'zero');\n\
           client.publish('a/1', new Uint8Array([111, 110, 101]).buffer, { qos: 1 });\n\
           await client.publishAsync('b', 'two', { qos: 2 });\n\
           say('published');\n\
           step();\n\
         });\n\
         client.on('message', (topic, payload) => {\n\
           came.push(`${topic}=${text(payload)}`);\n\
           step();\n\
         });\n\
         client.on('end', () => say('end', client.connected));\n\
         say(client.connected);\n\
         client.connect(url);\n\
         say('after', client.connected);",
    );
    assert_eq!(lines[..3], ["false", "after true", "connect true"], "{lines:?}");
    let mut rest = lines[3..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, ["a/0=zero,a/1=one,b=two", "end false", "ended false", "published"]);
    assert_eq!(code, 0, "{lines:?}");
}

/// Its room for what it is sent is small, so that it is full soon.
#[test]
fn a_broker_that_floods_and_never_reads_is_left() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one");
    let listener = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("less room");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        socket.listen(1).and_then(tokio::net::TcpListener::into_std).expect("it listens")
    });
    listener.set_nonblocking(false).expect("it waits");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let _ = stream.set_write_timeout(Some(Duration::from_secs(20)));
        // Topic `a`, number 7, of quality 1.
        let messages = [0x32, 5, 0, 1, b'a', 0, 7].repeat(1000);
        let _ = stream.read(&mut [0; 1000]);
        let mut said = stream.write_all(&LET_IN);
        while said.is_ok() {
            said = stream.write_all(&messages);
        }
    });
    let (code, lines) = said(
        "thresholds: { mqtt_messages_received: ['count>1000'] }",
        port,
        "const client = new Client();\n\
         client.on('error', (e) => say(e.message));\n\
         client.on('end', () => say('end'));\n\
         client.connect(url, { connect_timeout: 1000 });",
    );
    assert_eq!(lines[..2], ["the broker does not read what it is sent: i/o timeout", "end"]);
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn retained_messages_topics_left_and_a_second_connection() {
    let broker = Broker::start("allow_anonymous true");
    let (code, lines) = said(
        "thresholds: { mqtt_messages_received: ['count==2'] }",
        broker.port,
        "const client = new Client();\n\
         let heard;\n\
         client.on('message', (topic, payload) => { say(topic, text(payload)); heard(); });\n\
         client.on('reconnect', () => say('reconnect'));\n\
         client.connect({ servers: ['mqtt://127.0.0.1:1', url], keepalive: 1 });\n\
         client.publish('kept', 'still here', { retain: true, qos: 1 });\n\
         const first = new Promise((resolve) => { heard = resolve; });\n\
         await client.subscribeAsync('kept');\n\
         await first;\n\
         await client.unsubscribeAsync('kept');\n\
         client.publish('kept', 'unheard', { qos: 1 });\n\
         client.reconnect();\n\
         const second = new Promise((resolve) => { heard = resolve; });\n\
         client.subscribe('kept');\n\
         await second;\n\
         await client.endAsync();\n\
         say(client.connected);",
    );
    let expected = ["kept still here", "reconnect", "kept still here", "false"];
    assert_eq!(lines, expected);
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn who_is_not_let_in_is_told() {
    let broker = Broker::start("allow_anonymous false");
    let (code, lines) = said(
        "thresholds: { 'mqtt_errors{method:connect}': ['count==3'] }",
        broker.port,
        "const show = (run) => { try { run(); } catch (e) { say(e.name, e.method, e.message); } };\n\
         show(() => new Client({ username: 'a', password: 'b' }).connect(url));\n\
         show(() => new Client().connect('mqtt://127.0.0.1:1'));\n\
         show(() => new Client().connect('ws://127.0.0.1:1/mqtt'));\n\
         show(() => new Client().publish('a', 'b'));\n\
         show(() => new Client().subscribe('a/#/b'));\n\
         await new Client().publishAsync('a/+', 'b').catch((e) => say(e.method, e.message));",
    );
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines[0].starts_with("MQTTError connect the broker refused the client: "), "{lines:?}");
    assert!(lines[1].contains("dial tcp 127.0.0.1:1: connect: connection refused"), "{lines:?}");
    let refused = "MQTTError connect dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!(lines[2], refused);
    assert_eq!(lines[3], "MQTTError publish the client is not connected");
    assert!(lines[4].contains("\"a/#/b\" is not a topic to subscribe to"), "{lines:?}");
    assert!(lines[5].starts_with("publish \"a/+\" is not a topic for a message"), "{lines:?}");
    assert_eq!(code, 0, "{lines:?}");
}

/// A peer that does this with each connection after it read the first packet.
fn peer(serve: impl Fn(TcpStream) + Send + Copy + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
            let _ = stream.set_write_timeout(Some(Duration::from_secs(20)));
            std::thread::spawn(move || {
                let mut room = [0; 1000];
                if stream.read(&mut room).is_ok() {
                    serve(stream);
                }
            });
        }
    });
    port
}

const LET_IN: [u8; 4] = [0x20, 2, 0, 0];

#[test]
fn peers_that_are_no_brokers_are_told_from_those() {
    let silent = peer(|stream| {
        std::thread::park_timeout(Duration::from_secs(15));
        drop(stream);
    });
    let garbage = peer(|mut stream| {
        let _ = stream.write_all(&[0xff; 40]);
    });
    let gone = peer(drop);
    let leaves = peer(|mut stream| {
        let _ = stream.write_all(&LET_IN);
    });
    // It announces 256 MB and sends nothing.
    let huge = peer(|mut stream| {
        let _ = stream.write_all(&LET_IN);
        let _ = stream.write_all(&[0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1]);
        std::thread::park_timeout(Duration::from_secs(15));
    });
    let mute = peer(|mut stream| {
        let _ = stream.write_all(&LET_IN);
        std::thread::park_timeout(Duration::from_secs(15));
    });
    // Servers that say something get more time than they need; silence is told at once.
    let (code, lines) = said(
        "",
        silent,
        &format!(
            "const dial = (port, connect_timeout) => new Promise((resolve) => {{\n\
               const client = new Client();\n\
               let isIn = false;\n\
               client.on('error', (e) => {{\n\
                 say('error', e.message);\n\
                 if (e.method === 'publish') client.end(); else if (!isIn) resolve();\n\
               }});\n\
               client.on('connect', () => {{\n\
                 isIn = true;\n\
                 if (port === {mute}) client.publish('a', 'b', {{ qos: 1 }});\n\
               }});\n\
               client.on('end', () => {{ say('end'); resolve(); }});\n\
               client.connect({{ servers: [`mqtt://127.0.0.1:${{port}}`], connect_timeout }});\n\
             }});\n\
             await dial({silent}, 200);\n\
             for (const port of [{garbage}, {gone}, {leaves}, {huge}]) await dial(port, 10000);\n\
             await dial({mute}, 2000);"
        ),
    );
    assert_eq!(lines.len(), 9, "{lines:?}");
    assert!(lines[0].contains("i/o timeout"), "{lines:?}");
    assert!(lines[1].contains("what is no MQTT") || lines[1].contains("CONNACK"), "{lines:?}");
    assert!(lines[2].contains("EOF") || lines[2].contains("reset"), "{lines:?}");
    assert!(lines[3].contains("EOF") || lines[3].contains("reset"), "{lines:?}");
    assert_eq!(lines[4], "end");
    assert!(lines[5].contains("what is no MQTT: payload size limit"), "{lines:?}");
    assert_eq!(lines[6], "end");
    assert!(lines[7].contains("the broker gave no answer: i/o timeout"), "{lines:?}");
    assert_eq!(lines[8], "end");
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn promises_wait_while_the_broker_takes_nothing() {
    let mute = peer(|mut stream| {
        let _ = stream.write_all(&LET_IN);
        std::thread::park_timeout(Duration::from_secs(15));
    });
    let (code, lines) = said(
        "thresholds: { 'mqtt_errors{method:publish}': ['count==40'] }",
        mute,
        "const client = new Client();\n\
         client.connect(url, { connect_timeout: 300 });\n\
         const began = Date.now();\n\
         const large = 'x'.repeat(1 << 20);\n\
         for (let i = 0; i < 40; i++) client.publishAsync('a', large, { qos: 1 }).catch(() => {});\n\
         say(Date.now() - began >= 300);\n\
         client.end();",
    );
    assert_eq!(lines, ["true"]);
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn a_flood_of_messages_hurts_nobody_else() {
    let flood = peer(|mut stream| {
        let _ = stream.write_all(&LET_IN);
        let many = [0x30, 3, 0, 1, b'a'].repeat(4000);
        while stream.write_all(&many).is_ok() {}
    });
    let (code, lines) = said(
        "scenarios: { \
           flood: { executor: 'constant-vus', duration: '2s', gracefulStop: '0s', exec: 'flood' }, \
           good: { executor: 'constant-vus', duration: '2s', exec: 'good' } }, \
         thresholds: { 'iterations{scenario:good}': ['count>5'], mqtt_messages_received: ['count>100'] }",
        flood,
        "}\n\
         import { sleep } from 'k6';\n\
         export function flood() {\n\
           const client = new Client();\n\
           client.on('message', () => {});\n\
           client.connect(url);\n\
         }\n\
         export function good() { sleep(0.02);",
    );
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn tls_is_spoken_by_the_rules_of_the_options() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = (folder.path().join("s.crt"), folder.path().join("s.key"));
    std::fs::write(&cert, made.cert.pem()).expect("a certificate's file");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a key's file");
    // As root it would become somebody who may not read the key.
    let broker = Broker::start(&format!(
        "allow_anonymous true\nuser root\ncertfile {}\nkeyfile {}",
        cert.display(),
        key.display()
    ));
    let body = "const client = new Client();\n\
                client.connect(url.replace('mqtt', 'mqtts'));\n\
                client.publish('a', 'b', { qos: 1 });\n\
                client.end();\n\
                say('done');";
    let (code, lines) = said("insecureSkipTLSVerify: true", broker.port, body);
    assert_eq!((code, lines), (0, vec!["done".to_owned()]));
    let (_, lines) = said("", broker.port, body);
    assert!(
        lines.iter().any(|line| line.contains("x509: certificate signed by unknown authority")),
        "{lines:?}"
    );
}
