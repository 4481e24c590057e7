//! One seed: two runs send the same bytes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest as _, Sha1};

use crate::support::brunt;

/// The bytes of requests by their `X-Vu`.
type Kept = BTreeMap<String, Vec<u8>>;

/// A server that keeps all requests, each with those of the same `X-Vu` before it: of HTTP, and a WebSocket's frames.
fn keeping() -> (SocketAddr, Arc<Mutex<Kept>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let kept = Arc::new(Mutex::new(Kept::new()));
    let all = Arc::clone(&kept);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let all = Arc::clone(&all);
            std::thread::spawn(move || keep(&stream, &all));
        }
    });
    (address, kept)
}

fn keep(stream: &TcpStream, all: &Mutex<Kept>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut request, mut length, mut vu) = (Vec::new(), 0, String::new());
        let (mut key, mut has_digest) = (None, false);
        loop {
            let start = request.len();
            reader.read_until(b'\n', &mut request).ok().filter(|read| *read > 0)?;
            let line = String::from_utf8_lossy(&request[start..]).trim().to_owned();
            let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "x-vu" => value.clone_into(&mut vu),
                "sec-websocket-key" => key = Some(value.to_owned()),
                "authorization" => has_digest = value.starts_with("Digest "),
                "" => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let wants_digest = request.starts_with(b"GET /digest") && !has_digest;
        request.extend(body);
        let add = |bytes: &[u8]| {
            all.lock().expect("no panic").entry(vu.clone()).or_default().extend(bytes);
        };
        add(&request);
        let mut out = stream;
        if let Some(key) = key {
            let accept = Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
            let accept = BASE64_STANDARD.encode(accept);
            let head = "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
            write!(out, "{head}Sec-WebSocket-Accept: {accept}\r\n\r\n").ok()?;
            let mut frames = Vec::new();
            // A short message and a close with a code; then it is the server's turn to close.
            while frames.len() < MESSAGE + CLOSE {
                let mut byte = [0];
                reader.read_exact(&mut byte).ok()?;
                frames.push(byte[0]);
            }
            add(&frames);
            out.write_all(&[0x88, 2, 3, 0xE8]).ok()?;
            return None;
        }
        let answer: &[u8] = if wants_digest {
            b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
        } else {
            b"HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nContent-Length: 0\r\n\r\n"
        };
        out.write_all(answer).ok()?;
    }
}

/// The bytes of a masked frame with a message of five bytes, and of one that closes with a code.
const MESSAGE: usize = 2 + 4 + 5;
const CLOSE: usize = 2 + 4 + 2;

/// The bytes that a run sent, with the address of the server, which is another each time, struck out.
fn sent(flags: &str, script: &str) -> BTreeMap<String, String> {
    let (address, kept) = keeping();
    let run = format!("run -q s.js -e URL=http://{address} {flags}");
    let told = brunt(&run).file("s.js", script).told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    let kept = std::mem::take(&mut *kept.lock().expect("no panic"));
    let plain = |bytes: Vec<u8>| {
        // Masked frames are no text: each byte is a character of its own.
        let text: String = bytes.into_iter().map(char::from).collect();
        text.replace(&address.to_string(), "HOST")
    };
    kept.into_iter().map(|(vu, bytes)| (vu, plain(bytes))).collect()
}

#[test]
fn two_runs_with_one_seed_send_the_same_bytes() {
    const SCRIPT: &str = "import http from 'k6/http';\n\
        import { SharedArray } from 'k6/data';\n\
        const rows = new SharedArray('rows', () => [...Array(50).keys()].sort(() => Math.random() - 0.5));\n\
        const mine = Math.random();\n\
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 10 } } };\n\
        export default function () {\n\
          const headers = { 'X-Vu': `${__VU}` };\n\
          const row = rows[Math.floor(Math.random() * rows.length)];\n\
          http.get(`${__ENV.URL}/${row}/${mine}/${Math.random()}`, { headers });\n\
          http.post(__ENV.URL, { a: http.file('content', 'f.txt'), b: `${Math.random()}` }, { headers });\n\
        }\n";
    let one = sent("--seed 5 --workers 1", SCRIPT);
    assert_eq!(one.len(), 3);
    assert!(one["1"] != one["2"].replace("X-Vu: 2", "X-Vu: 1"));
    assert_eq!(one, sent("--seed 5 --workers 3", SCRIPT));
    let by_option = SCRIPT.replace("options = {", "options = { seed: 5,");
    assert_eq!(one, sent("", &by_option));
    assert_ne!(one, sent("--seed 6", SCRIPT));
}

/// All that draws: cryptography, keys and signatures, made-up data, forms of both kinds, cookies, digest, WebSockets; and requests
/// that go out side by side, each under a number of its own.
const EVERYTHING: &str = r"
import http from 'k6/http';
import ws from 'k6/ws';
import crypto6 from 'k6/crypto';
import encoding from 'k6/encoding';
import faker from 'k6/x/faker';
import { Client, Request } from 'k6/x/fasthttp';
import { FormData as OldForm } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
import { uuidv4, randomString } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

export const options = { scenarios: {
  a: { executor: 'per-vu-iterations', vus: 2, iterations: 4 },
} };
const atStart = crypto.randomUUID();
const fast = new Client();
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export async function setup() {
  http.get(`${__ENV.URL}/setup/${crypto.randomUUID()}/${Math.random()}`, { headers: { 'X-Vu': 'setup' } });
}

export default async function () {
  const url = __ENV.URL;
  const params = (part) => ({ headers: { 'X-Vu': `${__VU} ${part}` } });
  const jar = http.cookieJar();
  jar.set(url, 'mine', uuidv4());
  http.get(`${url}/${atStart}/${crypto.randomUUID()}/${hex(crypto6.randomBytes(40))}`, params('a'));
  const values = crypto.getRandomValues(new Uint32Array(3));
  http.post(`${url}/b`, { values: values.join(), text: randomString(9), person: faker.person.firstName() }, params('b'));
  const form = new OldForm();
  form.append('file', http.file('content', 'f.txt'));
  http.post(`${url}/c`, form.body(), { headers: { 'X-Vu': `${__VU} c`, 'Content-Type': `multipart/form-data; boundary=${form.boundary}` } });
  http.post(`${url}/d`, { file: http.file('content', 'g.txt'), n: `${Math.random()}` }, params('d'));
  const modern = new FormData();
  modern.append('x', new Blob([hex(crypto6.randomBytes(3))]), 'x.txt');
  await fetch(`${url}/e`, { method: 'POST', body: modern, headers: { 'X-Vu': `${__VU} e` } });
  http.batch([0, 1, 2].map((n) => ({ method: 'GET', url: `${url}/f/${n}/${Math.random()}`, params: params(`f${n}`) })));
  http.get(`${url.replace('http://', 'http://me:pw@')}/digest`, { auth: 'digest', ...params('g') });
  const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const signed = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, new Uint8Array([1]));
  const raw = await crypto.subtle.exportKey('raw', key);
  http.get(`${url}/h/${hex(raw)}/${encoding.b64encode(signed, 'rawurl')}`, params('h'));
  const request = new Request(`${url}/i/${Math.random()}`, { headers: { 'X-Vu': `${__VU} i` } });
  fast.get(request);
  ws.connect(`${url.replace('http', 'ws')}/ws`, params('j'), (socket) => {
    socket.on('open', () => {
      socket.send(randomString(5));
      socket.close(1000);
    });
  });
}
";

#[test]
fn all_that_draws_repeats_with_a_given_seed() {
    let one = sent("--seed 5 --workers 1", EVERYTHING);
    // Of each of two VUs the parts a to j, three of them in a batch; and setup.
    assert_eq!(one.len(), 2 * 12 + 1, "{:?}", one.keys().collect::<Vec<_>>());
    for (vu, bytes) in sent("--seed 5 --workers 2", EVERYTHING) {
        assert_eq!(one.get(&vu), Some(&bytes), "{vu}");
    }
    // Another seed changes each of them, and so does another run without one.
    let (first, second) = (sent("", EVERYTHING), sent("", EVERYTHING));
    for (vu, bytes) in sent("--seed 6", EVERYTHING) {
        assert!(one[&vu] != bytes, "{vu}: {bytes}");
        assert!(first[&vu] != second[&vu], "{vu}");
    }
    // Masks and keys of WebSockets are other ones each time.
    let frames = |vu: &str| one[vu].split("\r\n\r\n").map(str::to_owned).collect::<Vec<_>>();
    let mut keys = frames("1 j");
    keys.sort_unstable();
    keys.dedup();
    assert!(keys.len() >= 4, "{keys:?}");
}

/// The number of iterations depends on time; the n-th of a VU is the same.
#[test]
fn random_arrivals_change_no_request() {
    let script = "import http from 'k6/http';\n\
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 40, duration: '1s',\n\
          preAllocatedVUs: 1, maxVUs: 1, arrivals: 'poisson' } } };\n\
        export default function () { http.get(`${__ENV.URL}/${crypto.randomUUID()}`, { headers: { 'X-Vu': '1' } }); }\n";
    let mut all = Vec::new();
    for flags in ["--seed 5 --workers 1", "--seed 5 --workers 1", "--seed 9 --workers 1"] {
        let (address, kept) = keeping();
        let run = format!("run -q s.js -e URL=http://{address} {flags}");
        // On a busy machine iterations may be dropped, which is told.
        assert_eq!(brunt(&run).file("s.js", script).told().code, 0);
        let kept = std::mem::take(&mut *kept.lock().expect("no panic"));
        let text = String::from_utf8_lossy(&kept["1"]).replace(&address.to_string(), "HOST");
        all.push(text);
    }
    let size = all[0].len().min(all[1].len());
    assert!(size > 0 && all[0][..size] == all[1][..size], "{all:?}");
    assert_ne!(all[0].lines().next(), all[2].lines().next());
}
