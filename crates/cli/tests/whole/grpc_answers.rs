//! Answers that no server should give to a unary call. Expected are k6 1.8's results for the same bytes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::frames::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, block, frame,
};
use crate::support::{Told, brunt, repository};

/// A server's reaction to a call.
enum Answer {
    /// It sends these frames; their stream is put in.
    Frames(Vec<(u8, u8, Vec<u8>)>),
    /// It sends them and hangs up.
    Last(Vec<(u8, u8, Vec<u8>)>),
}

fn head(lines: &[(&str, &str)]) -> (u8, u8, Vec<u8>) {
    (HEADERS, END_HEADERS, block(lines))
}

fn end(lines: &[(&str, &str)]) -> (u8, u8, Vec<u8>) {
    (HEADERS, END_HEADERS | END_STREAM, block(lines))
}

fn good() -> (u8, u8, Vec<u8>) {
    head(&[(":status", "200"), ("content-type", "application/grpc")])
}

fn message(flag: u8, bytes: &[u8]) -> (u8, u8, Vec<u8>) {
    let mut payload = vec![flag];
    payload.extend((bytes.len() as u32).to_be_bytes());
    payload.extend(bytes);
    (DATA, 0, payload)
}

const HI: &[u8] = b"\x0a\x02hi";

/// The same, packed by gzip.
const HI_PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xe3\x62\xca\xc8\x04\x00\x45\xd3\x37\xd4\x04\x00\x00\x00";

/// Answers every call on every connection so.
fn serve(answer: Answer) -> u16 {
    serve_counted(answer, Arc::default())
}

/// The same, and counts the calls.
fn serve_counted(answer: Answer, calls: Arc<AtomicU32>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            // The client may hang up whenever it wants.
            let _ = talk(stream, &answer, &calls);
        }
    });
    port
}

fn talk(mut stream: TcpStream, answer: &Answer, calls: &AtomicU32) -> std::io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface)?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [a, b, c, kind, flags, id @ ..] = head;
        let id = u32::from_be_bytes(id);
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload)?;
        if kind == SETTINGS && flags & 1 == 0 {
            stream.write_all(&frame(SETTINGS, 1, 0, &[]))?;
        }
        if !(kind == DATA && flags & END_STREAM != 0) {
            continue;
        }
        calls.fetch_add(1, Ordering::Relaxed);
        let (Answer::Frames(frames) | Answer::Last(frames)) = answer;
        for (kind, flags, payload) in frames {
            let stream_id = if matches!(*kind, GOAWAY | SETTINGS) { 0 } else { id };
            stream.write_all(&frame(*kind, *flags, stream_id, payload))?;
        }
        if matches!(answer, Answer::Last(_)) {
            return Ok(());
        }
    }
}

/// The name of an answer, the answer, and what the script is to say of it: status, error, message, headers, trailers.
type Case = (&'static str, Answer, &'static str);

fn cases() -> Vec<Case> {
    use Answer::{Frames, Last};
    let ok = || end(&[("grpc-status", "0")]);
    let text = |kind, flags, bytes: &[u8]| (kind, flags, bytes.to_vec());
    let html = || head(&[(":status", "404"), ("content-type", "text/html")]);
    let brotli = ("grpc-encoding", "br");
    let grpc = [(":status", "200"), ("content-type", "application/grpc")];
    vec![
        ("normal", Frames(vec![good(), message(0, HI), ok()]), "0 null hi [content-type] []"),
        (
            "no status in the trailers",
            Frames(vec![good(), message(0, HI), end(&[("x", "y")])]),
            "2 2: hi [content-type] [x]",
        ),
        (
            "a status that is no number",
            Frames(vec![good(), message(0, HI), end(&[("grpc-status", "abc")])]),
            "2 2:transport: malformed grpc-status: strconv.ParseInt: parsing \"abc\": invalid syntax hi [content-type] []",
        ),
        (
            "a strange status",
            Frames(vec![
                good(),
                message(0, HI),
                end(&[("grpc-status", "77"), ("grpc-message", "m")]),
            ]),
            "77 77:m hi [content-type] []",
        ),
        (
            "a negative status",
            Frames(vec![
                good(),
                message(0, HI),
                end(&[("grpc-status", "-1"), ("grpc-message", "m")]),
            ]),
            "-1 -1:m hi [content-type] []",
        ),
        (
            "no message, but all is well",
            Frames(vec![end(&[grpc[0], grpc[1], ("grpc-status", "0")])]),
            "13 13:cardinality violation: received no response message from non-server-streaming RPC  [] [content-type]",
        ),
        ("nothing but a head", Frames(vec![end(&grpc)]), "2 2:  [] [content-type]"),
        (
            "a status before the message",
            Frames(vec![head(&[grpc[0], grpc[1], ("grpc-status", "5")]), message(0, HI), ok()]),
            "0 null hi [content-type] []",
        ),
        (
            "a page",
            Frames(vec![html(), text(DATA, END_STREAM, b"<b class=\"x\">no\n</b>\xff")]),
            "12 12:unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected \
             content-type \"text/html\"\ndata: \"<b class=\\\"x\\\">no\\n</b>\\xff\"  [] []",
        ),
        (
            "gRPC for the web",
            Frames(vec![end(&[(":status", "200"), ("content-type", "application/grpc-web")])]),
            "2 2:unexpected HTTP status code received from server: 200 (OK); transport: received unexpected content-type \
             \"application/grpc-web\"  [] []",
        ),
        (
            "refused as HTTP does",
            Frames(vec![end(&[(":status", "401"), ("content-type", "application/grpc")])]),
            "2 2:  [] [content-type]",
        ),
        (
            "an unknown compression",
            Frames(vec![head(&[grpc[0], grpc[1], brotli]), message(1, HI), ok()]),
            "13 13:grpc: Decompressor is not installed for grpc-encoding \"br\"  [content-type] []",
        ),
        (
            "an unknown compression that is not used",
            Frames(vec![head(&[grpc[0], grpc[1], brotli]), message(0, HI), ok()]),
            "0 null hi [content-type] []",
        ),
        (
            "a damaged compression",
            Frames(vec![
                head(&[grpc[0], grpc[1], ("grpc-encoding", "gzip")]),
                message(1, HI),
                ok(),
            ]),
            "13 13:grpc: failed to decompress the message: unexpected EOF  [content-type] []",
        ),
        (
            "half a head of a message",
            Frames(vec![good(), text(DATA, 0, &[0, 0, 0]), ok()]),
            "13 13:cardinality violation: received no response message from non-server-streaming RPC  [content-type] []",
        ),
        (
            "half a message",
            Frames(vec![good(), text(DATA, 0, &[0, 0, 0, 0, 4, 10]), ok()]),
            "13 13:unexpected EOF  [content-type] []",
        ),
        (
            "a text that is none",
            Frames(vec![good(), message(0, b"\x0a\x02\xc3\x28"), ok()]),
            "13 13:grpc: failed to unmarshal the received message: proto: field hello.HelloResponse.reply contains \
             invalid UTF-8  [content-type] []",
        ),
        (
            "a reset behind the message",
            Frames(vec![good(), message(0, HI), text(RST_STREAM, 0, &[0, 0, 0, 2])]),
            "13 13:stream terminated by RST_STREAM with error code: INTERNAL_ERROR hi [content-type] []",
        ),
        (
            "a farewell before the call was seen",
            Last(vec![text(GOAWAY, 0, &[0; 8])]),
            "14 14:the connection is draining  [] []",
        ),
        (
            "a farewell in the middle of the call",
            Last(vec![text(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 2])]),
            "14 14:closing transport due to: connection error: desc = \"error reading from server: EOF\", received prior \
             goaway: code: INTERNAL_ERROR  [] []",
        ),
        (
            "a farewell and the answer",
            Frames(vec![text(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 0]), good(), message(0, HI), ok()]),
            "0 null hi [content-type] []",
        ),
        ("the end", Last(vec![good()]), "14 14:error reading from server: EOF  [content-type] []"),
        (
            "a status of HTTP among the trailers",
            Frames(vec![good(), message(0, HI), end(&[(":status", "200"), ("grpc-status", "0")])]),
            "0 null hi [content-type] []",
        ),
        (
            "a provisional head",
            Frames(vec![head(&[(":status", "103")]), good(), message(0, HI), ok()]),
            "0 null hi [content-type] []",
        ),
        (
            "a length of HTTP that is wrong",
            Frames(vec![
                head(&[grpc[0], grpc[1], ("content-length", "300")]),
                message(0, HI),
                ok(),
            ]),
            "0 null hi [content-type,content-length] []",
        ),
        (
            "a compressed message",
            Frames(vec![
                head(&[grpc[0], grpc[1], ("grpc-encoding", "gzip")]),
                message(1, HI_PACKED),
                ok(),
            ]),
            "0 null hi [content-type] []",
        ),
        (
            "a message that is too large",
            Frames(vec![good(), text(DATA, 0, &[0, 0, 80, 0, 0, 10])]),
            "8 8:grpc: received message larger than max (5242880 vs. 4194304)  [content-type] []",
        ),
        (
            "a reset behind the answer",
            Frames(vec![good(), message(0, HI), ok(), text(RST_STREAM, 0, &[0; 4])]),
            "0 null hi [content-type] []",
        ),
        (
            "a frame that is too large",
            Frames(vec![good(), text(DATA, 0, &[0; 20_000])]),
            "14 14:error reading from server: http2: frame too large  [content-type] []",
        ),
        (
            "settings that are none",
            Frames(vec![text(SETTINGS, 0, b"12345")]),
            "14 14:error reading from server: connection error: FRAME_SIZE_ERROR  [] []",
        ),
        (
            "headers that cannot be unpacked",
            Frames(vec![text(HEADERS, END_HEADERS, &[0xfe])]),
            "14 14:error reading from server: connection error: COMPRESSION_ERROR  [] []",
        ),
    ]
}

/// The status and the name of each code of RST_STREAM.
const RESETS: [(u32, &str); 15] = [
    (13, "NO_ERROR"),
    (13, "PROTOCOL_ERROR"),
    (13, "INTERNAL_ERROR"),
    (8, "FLOW_CONTROL_ERROR"),
    (13, "SETTINGS_TIMEOUT"),
    (13, "STREAM_CLOSED"),
    (13, "FRAME_SIZE_ERROR"),
    (14, "REFUSED_STREAM"),
    (1, "CANCEL"),
    (13, "COMPRESSION_ERROR"),
    (13, "CONNECT_ERROR"),
    (8, "ENHANCE_YOUR_CALM"),
    (7, "INADEQUATE_SECURITY"),
    (13, "HTTP_1_1_REQUIRED"),
    (2, "unknown error code 0xe"),
];

const SCRIPT: &str = "
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([], 'hello.proto');
const names = (lines) => `[${Object.keys(lines)}]`;
export default function () {
  for (const [name, port] of CASES) {
    client.connect(`127.0.0.1:${port}`, { plaintext: true, timeout: '5s' });
    const r = client.invoke('hello.HelloService/SayHello', { greeting: 'x' }, { timeout: '5s' });
    const error = r.error && `${r.error.code}:${r.error.message}`;
    console.log(`${name}: ${r.status | 0} ${error} ${r.message.reply} ${names(r.headers)} ${names(r.trailers)}`);
    client.close();
  }
}";

/// Calls each of the servers, which have names, once.
fn call_all(served: &[(String, u16)]) -> Told {
    let cases = serde_json::to_string(served).expect("names and numbers");
    let proto = repository("crates/demo/proto/hello.proto");
    brunt("run --quiet --log-format json t.js")
        .file("t.js", format!("const CASES = {cases};\n{SCRIPT}"))
        .file("hello.proto", std::fs::read_to_string(proto).expect("the demo's description"))
        .told()
}

#[test]
fn a_refused_call_is_made_once_more_and_one_whose_answer_speaks_of_refusals_is_not() {
    let reset = |reason: u32| (RST_STREAM, 0, reason.to_be_bytes().to_vec());
    let says = |message| {
        end(&[
            (":status", "200"),
            ("content-type", "application/grpc"),
            ("grpc-status", "14"),
            ("grpc-message", message),
        ])
    };
    for (answer, expected) in [
        (reset(7), 2),
        (reset(8), 1),
        (says("the connection is draining"), 1),
        (says("stream terminated by RST_STREAM with error code: REFUSED_STREAM"), 1),
    ] {
        let calls = Arc::new(AtomicU32::new(0));
        let port = serve_counted(Answer::Frames(vec![answer]), Arc::clone(&calls));
        let told = call_all(&[("it".to_owned(), port)]);
        assert_eq!(calls.load(Ordering::Relaxed), expected, "{told:?}");
    }
}

#[test]
fn what_no_server_should_answer_is_told_as_in_k6() {
    let mut expected = Vec::new();
    let mut served = Vec::new();
    for (name, answer, told) in cases() {
        expected.push(format!("{name}: {told}"));
        served.push((name.to_owned(), serve(answer)));
    }
    for (reason, (status, told)) in (0u32..).zip(RESETS) {
        let name = format!("a reset for reason {reason}");
        expected.push(format!(
            "{name}: {status} {status}:stream terminated by RST_STREAM with error code: {told}  [] []"
        ));
        let reset = (RST_STREAM, 0, reason.to_be_bytes().to_vec());
        served.push((name, serve(Answer::Frames(vec![reset]))));
    }
    let told = call_all(&served);
    let lines: Vec<String> = told
        .stderr
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON"))
        // A machine that is busy elsewhere has warnings of its own.
        .filter(|line| line["level"] == "info")
        .map(|line| line["msg"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(lines, expected, "{told:?}");
    assert_eq!(told.code, 0, "{told:?}");
}
