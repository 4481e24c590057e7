//! `k6/x/tcp` against servers of the test's own, good and bad.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::support::{brunt, free_port};

/// A server that does this with each connection; it ends with the test binary.
fn server(serve: impl Fn(TcpStream) + Send + Copy + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
            let _ = stream.set_write_timeout(Some(Duration::from_secs(20)));
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

fn echo(mut stream: TcpStream) {
    let mut room = [0; 4096];
    while let Ok(size) = stream.read(&mut room) {
        if size == 0 || stream.write_all(&room[..size]).is_err() {
            return;
        }
    }
}

/// The exit code of a script whose iteration is this body, and what it says.
fn said(options: &str, body: &str) -> (i32, Vec<String>) {
    said_with("", options, body)
}

/// [`said`], with flags.
fn said_with(flags: &str, options: &str, body: &str) -> (i32, Vec<String>) {
    let script = format!(
        "import {{ Socket }} from 'k6/x/tcp';\n\
         import exec from 'k6/execution';\n\
         export const options = {{ {options} }};\n\
         const text = (data) => String.fromCharCode.apply(null, data);\n\
         const say = (...what) => console.log(what.join(' '));\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let told =
        brunt(&format!("run --quiet --log-format raw {flags} s.js")).file("s.js", script).told();
    (told.code, told.stderr.lines().map(str::to_owned).collect())
}

#[test]
fn events_come_in_order_and_are_counted() {
    let port = server(echo);
    let (code, lines) = said(
        "thresholds: { tcp_sockets: ['count==1'], tcp_reads: ['count>=1'], tcp_errors: ['count==0'], \
           'tcp_writes{kind:first,own:1,proto:TCP,host:127.0.0.1}': ['count==1'], \
           'tcp_socket_duration{own:1}': ['max>0'], tcp_socket_connecting: ['max>0'], \
           data_sent: ['count==5'], data_received: ['count==5'] }",
        &format!(
            "const socket = new Socket({{ tags: {{ own: '1' }} }});\n\
             say(socket.ready_state, socket.connected, socket.local_ip);\n\
             const closed = new Promise((resolve) => socket.on('close', resolve));\n\
             const same = socket.on('connect', () => {{\n\
               say('connect', socket.remote_ip, socket.remote_port === {port}, socket.local_ip);\n\
               say(socket.write('hello', {{ tags: {{ kind: 'first' }} }}), socket.bytes_written);\n\
             }});\n\
             say(same === socket);\n\
             let came = '';\n\
             socket.on('data', (data) => {{\n\
               came += text(data);\n\
               if (came.length === 5) {{ say('data', came, data instanceof Uint8Array); socket.destroy(); }}\n\
             }});\n\
             socket.connect('{port}', '127.0.0.1');\n\
             say('connected', socket.connected, socket.ready_state);\n\
             await closed;\n\
             say('closed', socket.ready_state, socket.bytes_read);"
        ),
    );
    assert_eq!(
        lines,
        [
            "disconnected false ",
            "true",
            "connected true open",
            "connect 127.0.0.1 true 127.0.0.1",
            "true 5",
            "data hello true",
            "closed destroyed 5",
        ]
    );
    assert_eq!(code, 0);
}

#[test]
fn promises_encodings_and_mistakes() {
    let port = server(echo);
    let (code, lines) = said(
        "thresholds: { tcp_errors: ['count==6'] }",
        &format!(
            "const socket = new Socket();\n\
             socket.on('error', (e) => say('error', e instanceof Error, e.name, e.message));\n\
             say(socket.write('too early'));\n\
             await socket.connectAsync({{ port: {port}, host: '127.0.0.1' }});\n\
             let came = '';\n\
             const all = new Promise((resolve) => socket.on('data', (data) => {{\n\
               came += text(data);\n\
               if (came.length >= 9) resolve();\n\
             }}));\n\
             await socket.writeAsync('SGVs', {{ encoding: 'base64' }});\n\
             await socket.writeAsync('6c6f', {{ encoding: 'hex' }});\n\
             await socket.writeAsync(new Uint8Array([33, 33]).buffer);\n\
             await socket.writeAsync('ab', {{ encoding: 'ascii' }});\n\
             await all;\n\
             say(came);\n\
             say(socket.write('x', {{ encoding: 'latin1' }}));\n\
             await socket.connectAsync(1, '127.0.0.1').catch((e) => say('again', e.message));\n\
             await new Promise((resolve) => {{ socket.on('close', resolve); socket.destroy(new Error('mine')); }});\n\
             const other = new Socket();\n\
             await other.connectAsync(true).catch((e) => say('wrong', e.message));\n\
             try {{ new Socket().connect(1, '127.0.0.1'); }} catch (e) {{ say(e.name, e.message); }}\n\
             try {{ other.on('nothing', () => {{}}); }} catch (e) {{ say(e.message); }}"
        ),
    );
    assert_eq!(
        lines,
        [
            "false",
            "error true TCPError the socket cannot write: it is disconnected",
            "Hello!!ab",
            "false",
            "again the socket cannot connect: it is open",
            "error true TCPError unknown encoding \"latin1\"; there are utf8, ascii, base64, base64url and hex",
            "error true TCPError the socket cannot connect: it is open",
            "error true Error mine",
            "wrong connect needs a port and a host, or an object of options",
            "TCPError dial tcp 127.0.0.1:1: connect: connection refused",
            "unknown event \"nothing\"; there are connect, data, close, error and timeout",
        ]
    );
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn silence_is_told_and_a_closed_connection_too() {
    let silent = server(|stream| {
        std::thread::park_timeout(Duration::from_secs(5));
        drop(stream);
    });
    let gone = server(drop);
    let (code, lines) = said(
        "thresholds: { tcp_timeouts: ['count==1'] }",
        &format!(
            "const run = (port, ms) => new Promise((resolve) => {{\n\
               const socket = new Socket();\n\
               socket.setTimeout(ms).on('timeout', () => {{ say('timeout', socket.ready_state); socket.destroy(); }});\n\
               socket.on('close', () => {{ say('close', socket.ready_state); resolve(); }});\n\
               socket.connect(port, '127.0.0.1');\n\
             }});\n\
             await run({silent}, 200);\n\
             await run({gone}, 0);"
        ),
    );
    assert_eq!(lines, ["timeout open", "close destroyed", "close destroyed"]);
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn a_flood_and_a_peer_that_never_reads_hurt_nobody_else() {
    let flood = server(|mut stream| {
        let chunk = vec![b'x'; 64 << 10];
        while stream.write_all(&chunk).is_ok() {}
    });
    let deaf = server(|stream| {
        std::thread::park_timeout(Duration::from_secs(8));
        drop(stream);
    });
    let good = server(echo);
    let (code, lines) = said(
        "scenarios: { \
               flood: { executor: 'constant-vus', duration: '2s', gracefulStop: '0s', exec: 'flood' }, \
               deaf: { executor: 'constant-vus', duration: '2s', gracefulStop: '0s', exec: 'deaf' }, \
               good: { executor: 'constant-vus', duration: '2s', exec: 'good' } }, \
             thresholds: { 'iterations{scenario:good}': ['count>5'] }",
        &format!(
            "}}\n\
             export function flood() {{ new Socket().connect({flood}, '127.0.0.1'); }}\n\
             export function deaf() {{\n\
               const socket = new Socket();\n\
               socket.connect({deaf}, '127.0.0.1');\n\
               for (;;) socket.writeAsync('x'.repeat(1 << 20));\n\
             }}\n\
             export async function good() {{\n\
               const socket = new Socket();\n\
               await socket.connectAsync({good}, '127.0.0.1');\n\
               const came = new Promise((resolve) => socket.on('data', resolve));\n\
               socket.write('hello');\n\
               await came;\n\
               socket.destroy();"
        ),
    );
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn the_rules_of_the_options_hold() {
    let port = server(echo);
    let (_, lines) = said_with(
        "--local-ips 127.0.0.5",
        "hosts: { 'echo.test': '127.0.0.1' }, blockHostnames: ['*.blocked.test'], \
         blacklistIPs: ['10.0.0.0/8']",
        &format!(
            "const socket = new Socket();\n\
             socket.connect({port}, 'echo.test');\n\
             say(socket.remote_ip, socket.local_ip);\n\
             socket.destroy();\n\
             for (const host of ['a.blocked.test', '10.0.0.1', 'a@127.0.0.1', '127.0.0.1/']) {{\n\
               try {{ new Socket().connect({port}, host); }} catch (e) {{ say(e.message); }}\n\
             }}"
        ),
    );
    assert_eq!(
        lines,
        [
            "127.0.0.1 127.0.0.5",
            "hostname (a.blocked.test) is in a blocked pattern (*.blocked.test)",
            "IP (10.0.0.1) is in a blacklisted range (10.0.0.0/8)",
            &format!("dial tcp: a@127.0.0.1:{port} is not an address"),
            &format!("dial tcp: 127.0.0.1/:{port} is not an address"),
        ]
    );
}

#[test]
fn tls_is_spoken_by_the_rules_of_the_options() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = (folder.path().join("s.crt"), folder.path().join("s.key"));
    std::fs::write(&cert, made.cert.pem()).expect("a certificate's file");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a key's file");
    let port = free_port();
    // It sends each line back, turned around.
    let mut process = std::process::Command::new("openssl")
        .args(["s_server", "-quiet", "-rev", "-accept", &port.to_string(), "-cert"])
        .arg(&cert)
        .arg("-key")
        .arg(&key)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("openssl, which these tests need (apt-get install openssl)");
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(std::time::Instant::now() < deadline, "openssl does not listen");
        std::thread::yield_now();
    }
    let body = format!(
        "const socket = new Socket();\n\
         const came = new Promise((resolve) => socket.on('data', resolve));\n\
         await socket.connectAsync({{ port: {port}, host: '127.0.0.1', tls: true }});\n\
         socket.write('olleh\\n');\n\
         say(text(await came).trim());\n\
         socket.destroy();"
    );
    let trusting = said("insecureSkipTLSVerify: true", &body);
    let wary = said("", &body);
    let _ = process.kill();
    let _ = process.wait();
    assert_eq!(trusting, (0, vec!["hello".to_owned()]));
    assert!(
        wary.1.iter().any(|line| line.contains("x509: certificate signed by unknown authority")),
        "{wary:?}"
    );
}
