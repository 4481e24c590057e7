//! Wrong bodies of every kind: what a script catches, in k6's words where k6 has some, and that the next request of the
//! same VU works. The words are those of k6 1.8.1.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::support::{DemoServer, brunt};

const SCRIPT: &str = r#"
import http from 'k6/http';
import encoding from 'k6/encoding';
import { SharedArray } from 'k6/data';
import * as fs from 'k6/experimental/fs';
import { Client, FileStream, Request } from 'k6/x/fasthttp';
const fast = { client: new Client(), request: new Request(`${__ENV.URL}/ping`) };
const url = __ENV.URL;
const out = {};
const it = (name, run) => {
  try { out[name] = String(run()); } catch (e) { out[name] = `threw ${e}`; }
};
const soon = async (name, run) => {
  try { out[name] = String(await run()); } catch (e) { out[name] = `threw ${e}`; }
};
// The error or status of a request, and whether the next one works.
const send = (body, params) => {
  const res = http.post(`${url}/upload/detect`, body, params);
  const next = http.post(`${url}/sink`, 'next').json('bytes');
  return `${res.status} ${res.error || res.body} (${res.error_code}) ${next}`;
};

it('missing', () => open('missing.bin', 'b'));
it('folder', () => open('.', 'b'));
it('no name', () => open(''));
it('stream missing', () => new FileStream('missing.bin'));
it('stream folder', () => new FileStream('.'));
it('not an array', () => new SharedArray('bad', () => 5));
await soon('fs missing', () => fs.open('missing.bin'));
await soon('fs folder', () => fs.open('.'));
const shared = new SharedArray('fine', () => [1, 2]);
const range = await fs.open('file.bin');
await soon('negative range', () => range.seek(-1, fs.SeekMode.Start));
await soon('beyond', () => range.seek(99, fs.SeekMode.Start));
await soon('read', () => range.read('text'));
// Gone, too, when handleSummary() runs in a VM of its own.
let gone;
try { gone = new FileStream('gone.bin'); } catch (e) { gone = null; }
const shrunk = new FormData();
shrunk.append('file', new FileStream('shrinks.bin'));

export function setup() {
  // Both are there, until now.
  out.there = [gone, shrunk].map((body) => http.post(`${url}/sink`, body).status).join();
  http.get(__ENV.CHANGE);
  it('file of number', () => http.file(5));
  it('file of nothing', () => http.file());
  it('file of array', () => http.file([1, 2]));
  it('encode', () => encoding.b64encode(5));
  it('illegal', () => encoding.b64decode('ab*d'));
  it('unpadded', () => encoding.b64decode('YQ'));
  it('padded', () => encoding.b64decode('YQ==', 'rawstd'));
  it('after the padding', () => encoding.b64decode('YQ==YQ=='));
  it('number', () => send(5));
  it('boolean', () => send(true));
  it('array', () => send([1, 2]));
  it('function', () => send(() => 1));
  it('map', () => send(new Map()));
  it('date', () => send(new Date()));
  it('promise', () => send(Promise.resolve('x')));
  it('response', () => send(http.get(`${url}/sink`)));
  it('jar', () => send(http.cookieJar()));
  it('url', () => send(http.url`${url}/x`));
  it('shared', () => send(shared));
  it('proxy', () => send(new Proxy({ a: 1 }, {})));
  it('proxy that throws', () => send(new Proxy({}, { ownKeys() { throw new Error('asked') }, getPrototypeOf() { throw new Error('asked') } })));
  it('boxed number', () => send(new Number(5)));
  it('boxed boolean', () => send(new Boolean(true)));
  it('boxed bigint', () => send(Object(1n)));
  it('fetched', () => send(new Response('x')));
  it('headers', () => send(new Headers()));
  it('generator', () => send((function* () { yield 1; })()));
  it('weak map', () => send(new WeakMap()));
  it('client', () => send(fast.client));
  it('fasthttp request', () => send(fast.request));
  it('fasthttp response', () => send(fast.client.get(fast.request)));
  const sent = (body) => http.post(`${url}/anything`, body).json('data');
  it('boxed string', () => sent(new String('abc')));
  it('symbol', () => sent(Symbol('abc')));
  it('boxed symbol', () => sent(Object(Symbol('abc'))));
  it('bare symbol', () => sent(Symbol()));
  it('lines in base64', () => encoding.b64decode('YQ\n==', 'rawstd'));
  for (const boundary of ['"abc', '"a b "', '"a b"', 'a/b']) {
    it(`boundary=${boundary}`, () => send({ file: http.file('x', 'y') }, {
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    }));
  }
  it('number thrown', () => send(5, { throw: true }));
  it('boundary', () => send('--a\r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n--a--\r\n', {
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  }));
  it('boundary of mine', () => send({ file: http.file('x', 'y') }, {
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  }));
  it('boundary of illegal letters', () => send({ file: http.file('x', 'y') }, {
    headers: { 'content-type': 'multipart/form-data; boundary=a@b' },
  }));
  it('boundary of a FormData', () => { const form = new FormData(); form.append('a', 'b'); return send(form, {
    headers: { 'Content-Type': 'multipart/form-data; boundary=' + 'x'.repeat(71) },
  }); });
  it('detached', () => { const buffer = new ArrayBuffer(5); buffer.transfer(); return send(buffer); });
  it('next', () => http.post(`${url}/sink`, 'next').json('bytes'));
  it('boundary with a line', () => send({ file: http.file('x', 'y') }, {
    headers: { 'Content-Type': 'multipart/form-data; boundary=a\r\nX: y' },
  }));
  it('no boundary', () => send('--a--\r\n', { headers: { 'Content-Type': 'multipart/form-data' } }));
  it('part without name', () => send('--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b--\r\n', {
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  }));
  it('file is gone', () => send(gone));
  it('file is gone in a form', () => send({ file: gone, text: 'x' }));
  it('file is shorter', () => send(shrunk));
  it('stream fails', () => send(new ReadableStream({ start(c) { c.enqueue('--b'); }, pull() { throw new Error('torn'); } })));
  it('stream of objects', () => send(new ReadableStream({ start(c) { c.enqueue({}); } })));
  it('stream is read', () => { const stream = new Blob(['x']).stream(); stream.getReader(); return send(stream); });
  it('no such type', () => send('x', { responseType: 'nope' }));
  return out;
}
export default function () {}
export const options = { iterations: 1 };
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.setup_data) };
}
"#;

/// An address. Does something when it is asked, once, and answers then.
fn when_asked(act: impl FnOnce() + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("somebody asks");
        let _ = socket.read(&mut [0; 4096]);
        act();
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    format!("http://{address}/")
}

#[test]
fn a_wrong_body_is_told_clearly_and_the_next_request_works() {
    let server = DemoServer::start();
    let mut run = brunt("run -q s.js")
        .file("file.bin", "12345")
        .file("gone.bin", "1")
        .file("shrinks.bin", "x")
        .file("s.js", SCRIPT);
    let folder = run.path("").display().to_string();
    let (gone, shrinks) = (run.path("gone.bin"), run.path("shrinks.bin"));
    let change = when_asked(move || {
        std::fs::remove_file(&gone).expect("it is there");
        std::fs::write(&shrinks, "").expect("it can be written");
    });
    for variable in [format!("URL={}", server.url), format!("CHANGE={change}")] {
        run = run.word("-e").word(variable);
    }
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    let out: serde_json::Value =
        serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("no answers: {told:?}"));
    for (name, wanted) in [
        ("there", "200,200"),
        ("missing", "threw GoError: stat …/missing.bin: no such file or directory"),
        ("folder", "threw GoError: open() can't be used with directories, path: \"…\""),
        ("no name", "threw GoError: open() can't be used with an empty filename"),
        ("stream missing", "threw GoError: open missing.bin: no such file or directory"),
        ("stream folder", "threw GoError: open .: is a directory"),
        ("fs missing", "threw NotFoundError: no such file or directory \"…/missing.bin\""),
        (
            "fs folder",
            "threw InvalidResourceError: cannot open \"…\": opening a directory is not supported",
        ),
        ("negative range", "threw TypeError: offset cannot be negative when using SeekModeStart"),
        ("beyond", "threw TypeError: seeking beyond end of file"),
        ("read", "threw TypeError: read() failed; reason: into argument must be a Uint8Array"),
        ("file of number", "threw GoError: invalid type int64, expected string or ArrayBuffer"),
        ("file of nothing", "threw GoError: invalid type <nil>, expected string or ArrayBuffer"),
        (
            "file of array",
            "threw GoError: invalid type []interface {}, expected string or ArrayBuffer",
        ),
        ("encode", "threw GoError: invalid type int64, expected string, []byte or ArrayBuffer"),
        ("illegal", "threw GoError: illegal base64 data at input byte 2"),
        ("unpadded", "threw GoError: illegal base64 data at input byte 0"),
        ("padded", "threw GoError: illegal base64 data at input byte 2"),
        ("after the padding", "threw GoError: illegal base64 data at input byte 4"),
        ("number", "0 unknown request body type int64 (0) 4"),
        ("boolean", "0 unknown request body type bool (0) 4"),
        ("array", "0 unknown request body type []interface {} (0) 4"),
        ("function", "0 unknown request body type func(sobek.FunctionCall) sobek.Value (0) 4"),
        ("map", "0 unknown request body type [][2]interface {} (0) 4"),
        ("date", "0 unknown request body type time.Time (0) 4"),
        ("promise", "0 unknown request body type *sobek.Promise (0) 4"),
        ("response", "0 unknown request body type *http.Response (0) 4"),
        ("jar", "0 unknown request body type *http.CookieJar (0) 4"),
        ("url", "0 unknown request body type httpext.URL (0) 4"),
        ("shared", "0 unknown request body type data.wrappedSharedArray (0) 4"),
        ("proxy", "0 unknown request body type sobek.Proxy (0) 4"),
        ("proxy that throws", "0 unknown request body type sobek.Proxy (0) 4"),
        ("boxed number", "0 unknown request body type int64 (0) 4"),
        ("boxed boolean", "0 unknown request body type bool (0) 4"),
        ("boxed bigint", "0 unknown request body type *big.Int (0) 4"),
        ("fetched", "0 unknown request body type Response (0) 4"),
        ("headers", "0 unknown request body type Headers (0) 4"),
        ("generator", "0 unknown request body type Generator (0) 4"),
        ("weak map", "0 unknown request body type WeakMap (0) 4"),
        ("client", "0 unknown request body type *fasthttp.Client (0) 4"),
        ("fasthttp request", "0 unknown request body type *fasthttp.Request (0) 4"),
        ("fasthttp response", "0 unknown request body type *fasthttp.Response (0) 4"),
        ("boxed string", "abc"),
        ("symbol", "abc"),
        ("boxed symbol", "abc"),
        ("bare symbol", ""),
        ("lines in base64", "threw GoError: illegal base64 data at input byte 3"),
        ("not an array", "threw GoError: only arrays can be made into SharedArray"),
        ("number thrown", "0 unknown request body type int64 (0) 4"),
        (
            "boundary of illegal letters",
            "threw GoError: the header \"Content-Type\" says \"multipart/form-data; boundary=a@b\", but \"a@b\" is not a \
             boundary: that is 1 to 70 letters, digits, blanks and '()+_,-./:=? with no blank at the end; leave the header \
             out, and there will be one",
        ),
        ("detached", "threw TypeError: the buffer has no bytes any more: it was transferred"),
        ("next", "4"),
        ("file is gone", "0 open gone.bin: no such file or directory (1000) 4"),
        ("file is gone in a form", "0 open gone.bin: no such file or directory (1000) 4"),
        (
            "file is shorter",
            "0 read shrinks.bin: the file became shorter while the request was under way (1000) 4",
        ),
        ("stream fails", "0 request body: torn (1000) 4"),
        ("stream is read", "threw TypeError: stream is locked"),
        ("no such type", "0 nope does not belong to ResponseType values (0) 4"),
    ] {
        let said = out[name].as_str().unwrap_or("nothing");
        let said = said.replace(folder.trim_end_matches('/'), "…");
        assert_eq!(said, wanted, "{name} in {}", told.stdout);
    }
    for (name, start, part) in [
        ("boundary=\"abc", "threw GoError: ", "is not a boundary"),
        ("boundary=\"a b \"", "threw GoError: ", "is not a boundary"),
        ("boundary=\"a b\"", "200 ", "\"filename\":\"y\""),
        ("boundary=a/b", "200 ", "\"filename\":\"y\""),
        ("boundary", "400 ", "boundary"),
        ("boundary of mine", "200 ", "\"filename\":\"y\""),
        ("boundary with a line", "threw GoError: ", "is not a boundary"),
        ("boundary of a FormData", "threw GoError: ", "is not a boundary"),
        ("no boundary", "400 ", "boundary"),
        ("part without name", "400 ", "name"),
        ("stream of objects", "0 request body: ", "a chunk must be a string or bytes (1000) 4"),
    ] {
        let said = out[name].as_str().unwrap_or("nothing");
        assert!(said.starts_with(start) && said.contains(part), "{name}: {said}");
    }
}

const SLOW: &str = r"
import http from 'k6/http';
import { Client, Request, FileStream } from 'k6/x/fasthttp';
const client = new Client({ write_timeout: 1 });
const request = new Request(__ENV.DEAF, { body: new FileStream('large.bin'), throw: true });
export default function () {
  let told;
  try { client.post(request); } catch (e) { told = String(e); }
  if (!/request timeout/.test(told)) throw new Error(told);
  // A body that is written in time is not cut off: the server thinks for longer than that.
  const quick = new Request(`${__ENV.URL}/delay/1200`, { throw: true });
  if (client.get(quick).status !== 200) throw new Error('late');
}
";

#[test]
fn a_write_timeout_is_about_writing() {
    let server = DemoServer::start();
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = deaf.local_addr().expect("it has one");
    // The system takes the connection; no process reads from it.
    let run = brunt("run -q s.js").file("large.bin", vec![0; 40_000_000]).file("s.js", SLOW);
    let told = run
        .word("-e")
        .word(format!("DEAF=http://{address}/"))
        .word("-e")
        .word(format!("URL={}", server.url))
        .told();
    assert!(told.code == 0 && !told.stderr.contains("level=error"), "{told:?}");
}
