//! Responses that are read as they come, and bodies that are forms.

use crate::support::{DemoServer, brunt};

const STREAMS: &str = r"
import http from 'k6/http';
import exec from 'k6/execution';
const stream = (url, params) => http.get(url, Object.assign({ responseType: 'stream' }, params));
async function read(res) {
  let bytes = 0, error = '';
  try {
    for await (const chunk of res.stream) bytes += chunk.length;
  } catch (e) { error = e.message || String(e); }
  return [res.status, bytes, error, res.error, res.error_code, res.body];
}
export async function setup() {
  const { URL: url, FAULTS: faults } = __ENV;
  const out = {};
  out.long = await read(stream(`${url}/source?bytes=30000000`));
  out.empty = await read(stream(`${url}/status/204`));
  out.missing = await read(stream(`${url}/status/404`));
  const to = encodeURIComponent('/source?bytes=5');
  const redirected = stream(`${url}/redirect-to?url=${to}`);
  out.redirected = (await read(redirected)).concat(redirected.url.endsWith('bytes=5'));
  out.kept = (await read(stream(`${url}/redirect-to?url=${to}`, { redirects: 0 }))).slice(0, 1);
  out.cut = await read(stream(`${faults}/short-body`));
  out.refused = await read(stream('http://127.0.0.1:1/'));
  out.async = await read(await http.asyncRequest('GET', `${url}/source?bytes=7`, null, { responseType: 'stream' }));
  try {
    stream('http://127.0.0.1:1/', { throw: true });
  } catch (e) { out.thrown = String(e).includes('refused'); }
  const streamed = { responseType: 'stream' };
  const batch = http.batch([
    ['GET', `${url}/source?bytes=3000000`, null, streamed],
    `${url}/source?bytes=5`,
    ['GET', 'http://127.0.0.1:1/', null, streamed],
    ['POST', `${url}/sink`, new Blob(['abc']).stream(), streamed],
  ]);
  out.batch = [await read(batch[0]), batch[1].body.length, (await read(batch[2])).slice(0, 3), (await read(batch[3])).slice(0, 1)];
  try {
    http.batch([['GET', `${url}/source?bytes=3000000`, null, streamed], ['GET', 'http://127.0.0.1:1/', null, { ...streamed, throw: true }]]);
  } catch (e) { out.batchThrew = String(e).includes('refused'); }
  const cookies = stream(`${url}/cookies/set?a=b`, { redirects: 0 });
  out.cookies = http.cookieJar().cookiesForURL(`${url}/`).a;
  return out;
}
export default function () {
  // The script does not read it: it ends with the iteration, and counts.
  const res = stream(`${__ENV.URL}/source?bytes=1000000000000`, { tags: { abandoned: 'yes' } });
  if (res.status !== 200) exec.test.abort();
}
export const options = {
  iterations: 3,
  thresholds: {
    'http_reqs{abandoned:yes}': ['count==3'],
    'http_req_failed{abandoned:yes}': ['rate==0'],
  },
};
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.setup_data) };
}
";

#[test]
fn streams_tell_the_head_at_once_the_body_as_it_comes_and_every_failure() {
    let server = DemoServer::start();
    let told = brunt("run -q s.js")
        .word("-e")
        .word(format!("FAULTS={}", server.faults))
        .word("-e")
        .word(format!("URL={}", server.url))
        .file("s.js", STREAMS)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    let out: serde_json::Value = serde_json::from_str(&told.stdout).expect("the answers");
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    for (name, wanted) in [
        ("long", r#"[200, 30000000, "", "", 0, null]"#),
        ("empty", r#"[204, 0, "", "", 0, null]"#),
        ("redirected", r#"[200, 5, "", "", 0, null, true]"#),
        ("kept", "[302]"),
        ("cut", r#"[200, 12, "unexpected EOF", "unexpected EOF", 1000, null]"#),
        (
            "refused",
            r#"[0, 0, "dial: connection refused", "dial: connection refused", 1212, null]"#,
        ),
        ("async", r#"[200, 7, "", "", 0, null]"#),
        ("thrown", "true"),
        ("batchThrew", "true"),
        (
            "batch",
            r#"[[200, 3000000, "", "", 0, null], 5, [0, 0, "dial: connection refused"], [200]]"#,
        ),
        ("cookies", r#"["b"]"#),
    ] {
        assert_eq!(out[name], json(wanted), "{name} in {}", told.stdout);
    }
    assert_eq!((&out["missing"][0], &out["missing"][4]), (&json("404"), &json("1404")));
}

const BODIES: &str = r"
import http from 'k6/http';
const url = __ENV.URL;
const anything = (body, params) => http.post(`${url}/anything`, body, params).json();
export function setup() {
  const out = {};
  const query = new URLSearchParams([['b', '1 2'], ['a', 'é'], ['b', '3']]);
  const params = anything(query);
  out.params = [params.headers['content-type'] || params.headers['Content-Type'], params.form];
  const res = http.post(`${url}/upload/detect`, {
    n: 5, list: ['x', 'y'], one: http.file('text', 'a.txt'), two: http.file(new Uint16Array([1, 2]).buffer, 'b.bin', 'a/b'),
    big: http.file(new ArrayBuffer(200000), 'big'),
  });
  out.parts = res.json().parts.map((p) => [p.name, p.filename, p.type, p.bytes]);
  out.shown = res.request.body.length > 200000;
  out.expected = http.post(`${url}/sink`, 'hello', { headers: { Expect: '100-continue' } }).status;
  const bad = http.post(`${url}/sink`, [1]);
  out.bad = [bad.error, http.post(`${url}/sink`, 'next').status];
  return out;
}
export default function () {}
export function handleSummary(data) {
  return { stdout: JSON.stringify(data.setup_data) };
}
";

#[test]
fn forms_buffers_and_files_arrive_as_they_are() {
    let server = DemoServer::start();
    let told = brunt("run -q s.js")
        .word("-e")
        .word(format!("URL={}", server.url))
        .file("s.js", BODIES)
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    let out: serde_json::Value = serde_json::from_str(&told.stdout).expect("the answers");
    assert_eq!(out["params"][0], "application/x-www-form-urlencoded;charset=UTF-8");
    let names: Vec<_> =
        out["parts"].as_array().expect("parts").iter().map(|part| part[0].clone()).collect();
    assert_eq!(names, ["n", "list", "list", "one", "two", "big"], "{}", told.stdout);
    assert_eq!(out["parts"][5][3], 200_000);
    assert_eq!((&out["shown"], &out["expected"]), (&true.into(), &200.into()));
    assert!(out["bad"][0].as_str().is_some_and(|text| text.contains("unknown request body type")));
    assert_eq!(out["bad"][1], 200);
}
