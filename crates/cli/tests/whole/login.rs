//! Digest and NTLM: which requests go out, and what they count as. The numbers are those of k6 1.8.1 against such a
//! server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::support::brunt;

const DIGEST: &str = r#"Digest realm="r", nonce="abc", qop="auth", opaque="op", algorithm=MD5"#;

/// The server's message of NTLM: without a name, without a description of itself.
const CHALLENGE: &str = "TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA";

/// The status and what `WWW-Authenticate` says.
fn answer(path: &str, authorization: &str) -> (u16, Option<String>) {
    match path {
        "/open" => (200, None),
        "/digest" if authorization.starts_with("Digest ") => (200, None),
        "/digest" => (401, Some(DIGEST.to_owned())),
        "/ntlm" => match authorization.strip_prefix("NTLM ") {
            None => (401, Some("NTLM".to_owned())),
            // Messages of types 1 and 3, in Base64.
            Some(message) if message.starts_with("TlRMTVNTUAAB") => {
                (401, Some(format!("NTLM {CHALLENGE}")))
            }
            Some(message) => (if message.starts_with("TlRMTVNTUAAD") { 200 } else { 400 }, None),
        },
        _ => (401, None),
    }
}

/// Answers requests until its client leaves.
fn serve(socket: &TcpStream, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(socket);
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|size| *size > 0)?;
        let (mut authorization, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name {
                "Authorization" => value.clone_into(&mut authorization),
                "Content-Length" => length = value.parse().ok()?,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let kind = authorization.split(' ').next()?;
        let line = format!("{method} {path} {kind} {}", String::from_utf8_lossy(&body));
        seen.lock().expect("nobody panics here").push(line);
        let (status, challenge) = answer(path, &authorization);
        let challenge = challenge.map(|text| format!("WWW-Authenticate: {text}\r\n"));
        let head = format!(
            "HTTP/1.1 {status} X\r\n{}Content-Length: 2\r\n\r\nok",
            challenge.unwrap_or_default()
        );
        let mut socket = socket;
        socket.write_all(head.as_bytes()).ok()?;
    }
}

#[test]
fn a_streamed_body_is_that_of_the_last_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("it listens").to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            std::thread::spawn(move || serve(&socket, &Mutex::default()));
        }
    });
    let script = "
import http from 'k6/http';
export default async function () {
  for (const [auth, path, user] of [['digest', '/digest', 'u:p@'], ['ntlm', '/ntlm', 'dom%5Cu:p@'], ['ntlm', '/ntlm', '']]) {
    const r = http.get(`http://${user}${__ENV.SERVER}${path}`, { auth, responseType: 'stream' });
    let text = '';
    for await (const chunk of r.stream) text += String.fromCharCode(...chunk);
    console.log(auth, r.status, text);
  }
}";
    let call = brunt("run --quiet --log-format raw s.js").file("s.js", script);
    let told = call.env("SERVER", &host).told();
    assert_eq!(told.code, 0, "{told:?}");
    for line in ["digest 200 ok", "ntlm 200 ok", "ntlm 401 ok"] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
}

#[test]
fn each_answer_to_a_401_is_an_exchange_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("it listens").to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || serve(&socket, &kept));
        }
    });
    let script = "
import http from 'k6/http';
export default function () {
  const host = __ENV.SERVER;
  const show = (auth, path, user) => {
    const r = http.post(`http://${user}${host}${path}`, 'b', { auth, tags: { name: `${auth} ${path} ${user}` } });
    console.log(auth, path, r.status, r.url.includes('@'), r.request.headers.Authorization);
  };
  show('digest', '/digest', 'us%20er:pw@');
  show('digest', '/open', 'u:p@');
  show('digest', '/never', '');
  show('ntlm', '/ntlm', 'dom%5Cu:p@');
  show('ntlm', '/ntlm', '');
  show('ntlm', '/open', 'u:p@');
  show('basic', '/open', 'u:p@');
}";
    let mut call = brunt("run --quiet --out json=out.json s.js").file("s.js", script);
    call = call.env("SERVER", &host);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    for line in [
        "digest /digest 200 false undefined",
        "digest /open 200 false undefined",
        "digest /never 401 false undefined",
        "ntlm /ntlm 200 true undefined",
        "ntlm /ntlm 401 false undefined",
        "ntlm /open 200 true undefined",
        "basic /open 200 true undefined",
    ] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
    let seen = seen.lock().expect("nobody panics here").join("\n");
    assert_eq!(
        seen,
        "POST /digest Basic b\nPOST /digest Digest b\nPOST /open Basic b\nPOST /never  b\n\
         POST /never Digest b\nPOST /ntlm  b\nPOST /ntlm NTLM b\nPOST /ntlm NTLM b\nPOST /ntlm  b\n\
         POST /open  b\nPOST /open Basic b"
    );
    let lines = call.read("out.json");
    let points = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let failed =
        points.filter(|point| point["type"] == "Point" && point["metric"] == "http_req_failed");
    let failed: Vec<_> = failed
        .map(|point| {
            let tags = &point["data"]["tags"];
            format!("{} {}", tags["status"].as_str().unwrap_or("?"), point["data"]["value"])
        })
        .collect();
    assert_eq!(
        failed.join(", ").replace(".0", ""),
        "401 0, 200 0, 200 1, 401 0, 401 1, 401 0, 401 1, 200 0, 401 0, 200 0, 200 0"
    );
}
