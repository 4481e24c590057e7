//! Servers that flood, bomb, starve or ignore a WebSocket, a gRPC call, an EventSource or a Redis client, with a VU beside
//! it on the same core that sends paced requests to a good server: it must not notice, and the test must end in time.
#![expect(clippy::disallowed_methods, reason = "threads of the test's own, not a core")]

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use base64::Engine as _;
use sha1::{Digest as _, Sha1};

use crate::frames::frame;
use crate::support::{Told, brunt, undisturbed};

/// The script: `exec` is what meets the server, `good` the VU beside it, which is due 20 times in its 2 s.
const SCRIPT: &str = "
import http from 'k6/http';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import redis from 'k6/x/redis';
import grpc from 'k6/net/grpc';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const rounds = new Counter('rounds');
const client = new grpc.Client();
client.load([], 'a.proto');
export const options = { scenarios: {
  bad: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: __ENV.EXEC, maxDuration: '1500ms', gracefulStop: '500ms' },
  good: { executor: 'constant-vus', vus: 1, duration: '2s', gracefulStop: '1s', exec: 'good' },
} };
const A = __ENV.ADDRESS, began = () => { const at = Date.now(); return () => Date.now() - at; };
export function good() { http.get(`http://${__ENV.GOOD}/`); sleep(0.1); rounds.add(1); }
const params = { compression: 'deflate' };
function listen(socket) {
  const t = began();
  socket.setTimeout(() => { console.log('timer', t() < 1900); socket.close(); }, 500);
  socket.on('message', () => 0);
  socket.on('error', (e) => console.log('error', e.error()));
}
export function blocking() { ws.connect(`ws://${A}/`, params, listen); console.log('over'); }
export function sender() {
  ws.connect(`ws://${A}/`, null, (socket) => {
    const t = began();
    socket.setTimeout(() => { console.log('timer', t() < 1900); socket.close(); }, 500);
    socket.on('open', () => { const mb = 'x'.repeat(1 << 20); for (let i = 0; i < 100; i++) socket.send(mb); console.log('sent'); });
  });
}
function events(plain) {
  const t = began(), socket = new WebSocket(`ws://${A}/`, null, plain ? {} : params);
  setTimeout(() => { console.log('timer', t() < 1900); socket.close(); }, 500);
  socket.onmessage = () => 0;
  socket.onerror = (e) => console.log('error', e.error);
  socket.onclose = () => console.log('closed');
  return socket;
}
export { events };
export function eventSender() {
  const socket = events(true);
  socket.onopen = () => {
    const mb = 'x'.repeat(1 << 20);
    for (let i = 0; i < 100; i++) socket.send(mb);
    console.log('sent', socket.bufferedAmount > 50e6);
    try { for (let i = 0; i < 300; i++) socket.send(mb); } catch (e) { console.log(String(e).slice(0, 40)); }
  };
}
export function messages() {
  const socket = events(true);
  socket.onmessage = (e) => console.log('message', e.data.length);
}
export function body() {
  const r = http.get(`http://${A}/`, { timeout: '500ms' });
  console.log('body', r.error_code, r.body.length > 1000);
}
export function sse() {
  const t = began(), source = new EventSource(`http://${A}/`);
  source.onerror = (e) => console.log('error', e.error);
  setTimeout(() => { console.log('timer', t() < 1900); source.close(); }, 500);
}
export async function get() {
  const t = began();
  setTimeout(() => console.log('timer', t() < 1900), 500);
  await new redis.Client(`redis://${A}`).get('x').then(() => console.log('value'), (e) => console.log('error', String(e)));
}
export function call() {
  client.connect(A, { plaintext: true });
  const t = began();
  const r = client.invoke('a.A/Call', {}, { timeout: '500ms' });
  console.log('call', t() < 1900, r.status + 0, r.error.message);
}
export function stream() {
  client.connect(A, { plaintext: true });
  const t = began(), s = new grpc.Stream(client, 'a.A/Down');
  s.on('data', () => 0);
  s.on('error', (e) => console.log('error', e.message));
  s.write({});
  setTimeout(() => console.log('timer', t() < 1900), 500);
}
export function connect() {
  const t = began();
  try { client.connect(A, { plaintext: true, timeout: '500ms' }); } catch (e) { console.log(String(e).slice(0, 60), t() < 1900); }
}
";

const PROTO: &str = r#"syntax = "proto3"; package a; message M { string s = 1; }
service A { rpc Call(M) returns (M); rpc Down(M) returns (stream M); }"#;

/// The first words of a server.
#[derive(Clone, Copy)]
enum Greeting {
    /// Agrees to a WebSocket.
    WebSocket,
    /// An answer that is a stream of events.
    Events,
    /// Its settings, and the head of an answer to the first call.
    Grpc,
    /// Nothing, or what is to be repeated.
    None,
}

/// A server: its greeting, then `first`, then `again` without end. Without `again`, it is silent.
#[derive(Clone)]
struct Behaviour {
    greeting: Greeting,
    first: Vec<u8>,
    again: Vec<u8>,
    /// Between two blocks of `again`.
    pause: Duration,
}

fn behaviour(greeting: Greeting, first: &[u8], again: &[u8]) -> Behaviour {
    let count = if again.is_empty() { 0 } else { 65_536 / again.len() + 1 };
    Behaviour { greeting, first: first.to_vec(), again: again.repeat(count), pause: Duration::ZERO }
}

impl Behaviour {
    fn slowly(mut self, one: &[u8]) -> Self {
        self.again = one.to_vec();
        self.pause = Duration::from_millis(300);
        self
    }

    /// Serves one connection until the other side goes.
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        match self.greeting {
            Greeting::None => {}
            Greeting::WebSocket => {
                let head = read_head(&mut stream)?;
                let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
                let key = format!("{}258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key.unwrap_or(""));
                let accept = base64::prelude::BASE64_STANDARD.encode(Sha1::digest(key));
                let extension = if head.contains("permessage") {
                    "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"
                } else {
                    ""
                };
                let answer = format!(
                    "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{extension}Sec-WebSocket-Accept: {accept}\r\n\r\n"
                );
                stream.write_all(answer.as_bytes())?;
            }
            Greeting::Events => {
                read_head(&mut stream)?;
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")?;
            }
            Greeting::Grpc => {
                stream.write_all(&frame(4, 0, 0, b""))?;
                // The call is there as soon as its path is; the rest is not read.
                let mut came = Vec::new();
                while came.len() < 150 {
                    let mut piece = [0; 1024];
                    let size = stream.read(&mut piece)?;
                    if size == 0 {
                        return Ok(());
                    }
                    came.extend_from_slice(&piece[..size]);
                }
                let mut head = vec![0x88, 0x5f, 16];
                head.extend_from_slice(b"application/grpc");
                stream.write_all(&frame(4, 1, 0, b""))?;
                stream.write_all(&frame(1, 4, 1, &head))?;
            }
        }
        stream.write_all(&self.first)?;
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if self.again.is_empty() {
                thread::sleep(Duration::from_millis(100));
            } else {
                stream.write_all(&self.again)?;
                thread::sleep(self.pause);
            }
        }
        Ok(())
    }
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// A server that answers each request.
fn good() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                while read_head(&mut stream).is_ok() {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            });
        }
    });
    address
}

/// Runs the script against a server that behaves so, and looks how the VU beside it did and that it logged the parts.
fn run(exec: &str, behaviour: Behaviour, expected: &[&str]) -> (Told, Result<(), String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let behaviour = behaviour.clone();
            thread::spawn(move || behaviour.serve(stream));
        }
    });
    let line = format!(
        "run --quiet --workers 1 --log-format raw -e EXEC={exec} -e ADDRESS={address} -e GOOD={} --summary-export out.json script.js",
        good()
    );
    let mut call = brunt(&line).file("script.js", SCRIPT).file("a.proto", PROTO);
    let began = Instant::now();
    let told = call.told();
    let took = began.elapsed();
    assert!(took < Duration::from_mins(1), "{exec}: {took:?} {told:?}");
    let summary: serde_json::Value = serde_json::from_str(&call.read("out.json")).expect("JSON");
    let rounds = summary["metrics"]["rounds"]["count"].as_f64().unwrap_or_default();
    if rounds < 8.0 {
        return (told, Err(format!("{rounds} of 20 rounds of the VU beside it")));
    }
    let missing = expected.iter().find(|part| !told.stderr.contains(**part));
    let is_well = missing.map_or(Ok(()), |part| Err(format!("{part:?} was not logged")));
    (told, is_well)
}

/// Each row: what meets the server, what the server does, and what the script must have logged among else.
#[track_caller]
fn meets(rows: &[(&str, &str, Behaviour, &[&str])]) {
    for (name, exec, behaviour, expected) in rows {
        let is_well = undisturbed(|| run(exec, behaviour.clone(), expected));
        assert!(is_well.is_ok(), "{name}, {exec}: {is_well:?}");
    }
}

#[test]
fn a_websocket_that_floods_harms_nobody() {
    use Greeting::WebSocket as W;
    let flood = "a flood of frames";
    let part = [&b"\x00\x7e\xff\xff"[..], &vec![b'x'; 0xffff]].concat();
    meets(&[
        ("empty parts", "blocking", behaviour(W, b"\x01\x00", b"\x00\x00"), &[flood, "over"]),
        ("tiny messages", "blocking", behaviour(W, b"", b"\x81\x01x"), &["timer true", "over"]),
        ("pings", "blocking", behaviour(W, b"", b"\x89\x00"), &[flood, "over"]),
        ("pongs", "blocking", behaviour(W, b"", b"\x8a\x00"), &[flood, "over"]),
        ("long parts", "blocking", behaviour(W, b"\x01\x00", &part), &["timer true"]),
        ("parts of a byte", "blocking", behaviour(W, b"\x01\x00", b"\x00\x01x"), &["timer true"]),
    ]);
}

#[test]
fn an_event_socket_that_floods_harms_nobody() {
    use Greeting::WebSocket as W;
    meets(&[
        (
            "empty parts",
            "events",
            behaviour(W, b"\x01\x00", b"\x00\x00"),
            &["closed", "timer true"],
        ),
        ("tiny messages", "events", behaviour(W, b"", b"\x81\x01x"), &["timer true"]),
        ("pings", "events", behaviour(W, b"", b"\x89\x00"), &["closed", "timer true"]),
    ]);
}

#[test]
fn long_texts_that_are_no_utf8_harm_nobody() {
    let garbage: Vec<u8> =
        (0..1u32 << 24).map(|at| at.wrapping_mul(0x9E37_79B9).to_be_bytes()[0]).collect();
    let message = [&b"\x81\x7f\0\0\0\0\x01\0\0\0"[..], &garbage].concat();
    meets(&[
        ("a message", "messages", behaviour(Greeting::WebSocket, b"", &message), &[]),
        ("a body", "body", behaviour(Greeting::Events, b"", &garbage), &[]),
    ]);
}

#[test]
fn a_websocket_that_never_comes_or_never_reads_keeps_no_timer_waiting() {
    use Greeting::{None as N, WebSocket as W};
    meets(&[
        ("no answer", "events", behaviour(N, b"", b""), &["timer true", "closed"]),
        (
            "a byte now and then",
            "events",
            behaviour(N, b"HTTP/1.1 101", b"").slowly(b"x"),
            &["timer true"],
        ),
        ("no answer", "blocking", behaviour(N, b"", b""), &[]),
        ("never reads", "sender", behaviour(W, b"", b""), &["sent", "timer true"]),
        (
            "never reads",
            "eventSender",
            behaviour(W, b"", b""),
            &["sent true", "GoError: the WebSocket's queue is full", "timer true"],
        ),
    ]);
}

/// A message of `size` zeros, compressed, as a frame.
fn bomb(size: usize) -> Vec<u8> {
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    (0..size >> 20).for_each(|_| packer.write_all(&zeros).expect("memory"));
    packer.flush().expect("memory");
    let mut packed = packer.get_ref().clone();
    packed.truncate(packed.len() - 4);
    let mut frame = vec![0xc2, 0x7f];
    frame.extend_from_slice(&(packed.len() as u64).to_be_bytes());
    frame.extend_from_slice(&packed);
    frame
}

#[test]
fn a_bomb_is_unpacked_in_slices_and_refused() {
    let bomb = behaviour(Greeting::WebSocket, &bomb(1200 << 20), b"");
    meets(&[("bomb", "blocking", bomb, &["timer true", "over"])]);
}

#[test]
fn events_without_end_harm_nobody() {
    use Greeting::Events as E;
    meets(&[
        ("a line", "sse", behaviour(E, b"data: ", b"x"), &["timer true"]),
        ("comments", "sse", behaviour(E, b"", b":\n"), &["timer true"]),
        ("a comment", "sse", behaviour(E, b":", b"x"), &["timer true"]),
        ("an event", "sse", behaviour(E, b"", b"data\n"), &["timer true"]),
    ]);
}

#[test]
fn replies_of_redis_without_end_harm_nobody() {
    use Greeting::None as N;
    let error = "not in its protocol";
    meets(&[
        ("an error", "get", behaviour(N, b"-ERR ", b"x"), &[error]),
        ("deep arrays", "get", behaviour(N, b"", b"*1\r\n"), &[error]),
        ("an array", "get", behaviour(N, b"*500000000\r\n", b":1\r\n"), &[]),
        ("a long text", "get", behaviour(N, b"$2000000000\r\n", b"x"), &[error]),
        ("pushes", "get", behaviour(N, b"", b">1\r\n:1\r\n"), &[error]),
        ("nothing", "get", behaviour(N, b"", b""), &["timer true"]),
    ]);
}

#[test]
fn grpc_that_floods_harms_nobody() {
    use Greeting::{Grpc as G, None as N};
    let settings = frame(4, 0, 0, b"");
    meets(&[
        ("pings", "call", behaviour(G, b"", &frame(6, 0, 0, &[7; 8])), &["call true"]),
        ("windows", "call", behaviour(G, b"", &frame(8, 0, 1, &[0, 0, 0, 1])), &["call true"]),
        ("settings", "call", behaviour(G, b"", &settings), &["call true"]),
        ("unknown", "call", behaviour(G, b"", &frame(77, 0, 1, b"")), &["call true"]),
        ("empty data", "call", behaviour(G, b"", &frame(0, 0, 1, b"")), &["call true"]),
        (
            "continuations",
            "call",
            behaviour(G, &frame(1, 0, 3, b""), &frame(9, 0, 3, b"")),
            &["call true"],
        ),
        ("empty messages", "stream", behaviour(G, b"", &frame(0, 0, 1, &[0; 5])), &[]),
        (
            "4 GB",
            "call",
            behaviour(G, &frame(0, 0, 1, &[0, 255, 255, 255, 255]), b""),
            &["call true 8"],
        ),
        ("silence", "connect", behaviour(N, b"", b""), &["context deadline exceeded", "true"]),
        ("settings", "connect", behaviour(N, b"", &settings), &[]),
    ]);
}
