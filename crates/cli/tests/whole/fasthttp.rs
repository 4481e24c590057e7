//! `k6/x/fasthttp` against the demo target: its API, its metrics, and what it refuses.

use serde_json::{Value, json};

use crate::support::{DemoServer, brunt};

/// The beginning of every script here.
const HEAD: &str = r"
import { Client, FileStream, Request, checkstatus } from 'k6/x/fasthttp';
const url = __ENV.DEMO_URL;
const tell = (what) => {
  try {
    const value = what();
    return value === undefined ? 'undefined' : value;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
";

/// The end of every script: the last line of `handleSummary` prints the answers of init code and of `setup()`.
const TAIL: &str = r"
export default function () {}
export function handleSummary(data) {
  return { stdout: JSON.stringify({ init, vu: data.setup_data }) };
}
";

fn answers(flags: &str, script: &str) -> Value {
    let script = [HEAD, script, TAIL].concat();
    let told = brunt(&["run -q --demo s.js ", flags].concat())
        .file("s.js", script)
        .file("small.txt", "0123456789")
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    serde_json::from_str(&told.stdout).unwrap_or_else(|e| panic!("{e}: {told:?}"))
}

#[test]
fn init_code_makes_clients_requests_and_files_and_refuses_what_is_none() {
    let told = answers(
        "",
        r"
const init = [
  () => typeof new Client(),
  () => new Client({ tls_config: { certificate: 'c.pem' } }),
  () => new Client({ tls_config: { private_key: 'k.pem' } }),
  () => new Client({ tls_config: { certificate: 'c.pem', private_key: 'k.pem' } }),
  () => new Client({ dial_timeout: '5s' }),
  () => new Client({ proxy: 'ftp://p.test:1' }),
  () => new Client().get(new Request(url)),
  () => new Request(),
  () => new Request(url, {}, 1),
  () => new Request(url, { response_type: 'blob' }),
  () => JSON.stringify(new Request('http://a.test/', { headers: { A: 'b' } })),
  () => new FileStream(),
  () => new FileStream('missing.txt'),
  () => new FileStream('.'),
  () => typeof new FileStream('small.txt'),
  () => checkstatus(200, null),
].map(tell);
export function setup() {
  return [tell(() => new Client()), init];
}",
    );
    let init = [
        "object",
        "GoError: blank private key",
        "GoError: blank certificate",
        "GoError: the certificate \"c.pem\" of tls_config cannot be read: No such file or directory (os error 2)",
        "GoError: dial_timeout of a Client is a whole number (times are in seconds), not \"5s\"",
        "GoError: proxy is \"ftp://p.test:1\": only http://, https:// and socks5:// proxies are supported",
        "GoError: Making http requests in the init context is not supported",
        "GoError: req constructor expects 1 or 2 args",
        "GoError: req constructor expects 1 or 2 args",
        "GoError: Invalid response type \"blob\": it is \"text\", \"binary\" or \"none\"",
        r#"{"throw":false,"disable_keep_alive":false,"url":"http://a.test/","host":"","headers":{"A":"b"},"body":null,"response_type":"text"}"#,
        "GoError: FileStream takes one argument, the path of the file",
        "GoError: open missing.txt: no such file or directory",
        "GoError: open .: is a directory",
        "object",
        "GoError: Using checkstatus() in the init context is not supported",
    ];
    // The lines of the VM of `handleSummary`, and the lines of a VU.
    for (at, expected) in init.iter().enumerate() {
        assert_eq!(told["init"][at], *expected, "init {at}");
        assert_eq!(told["vu"][1][at], *expected, "init {at} of a VU");
    }
    assert_eq!(
        told["vu"][0],
        "GoError: creating client objects is allowed only in the Init context"
    );
}

#[test]
fn requests_go_out_as_they_were_asked_for() {
    let told = answers(
        "",
        r"
const init = 0;
const client = new Client({ user_agent: 'mine' });
const echo = new Request(`${url}/anything`, {
  headers: { 'x-lower': '1', Host: 'other.test' },
  body: 'text',
});
const shown = (r) => [r.json('method'), r.json('data'), r.json('headers.Content-Type')];
const file = new Request(`${url}/sink`, { body: new FileStream('small.txt') });
const typed = new Request(`${url}/sink`, { body: new Uint8Array([1, 2, 3, 4]).subarray(1) });
const buffer = new Request(`${url}/sink`, { body: new Uint8Array(5).buffer });
export function setup() {
  const first = client.post(echo);
  return {
    methods: ['post', 'put', 'patch', 'delete', 'get', 'post'].map((m) => client[m](echo).json('method')),
    first: [shown(first), first.json('headers.User-Agent'), first.json('headers.Host'), first.json('headers.X-Lower')],
    get: shown(client.get(echo)),
    sizes: [client.post(file).json('bytes'), client.put(file).json('bytes'), client.post(typed).json('bytes'),
      client.post(buffer).json('bytes')],
    blob: client.post(new Request(`${url}/sink`, { body: new Blob(['ab', 'c']) })).json('bytes'),
    odd: tell(() => client.post(new Request(url, { body: { a: 1 } }))),
    later: tell(() => { const r = new Request(`${url}/status/201`); r.url = `${url}/status/202`; return client.get(r).status }),
    options: client.options(new Request(`${url}/ping`)).status,
    lengths: ['delete', 'options', 'post', 'get'].map((m) => client[m](new Request(`${url}/anything`, { body: m === 'options' ? '' : null }))
      .json('headers.Content-Length') ?? null),
  };
}",
    );
    let vu = &told["vu"];
    assert_eq!(vu["methods"], json!(["POST", "PUT", "PATCH", "DELETE", "GET", "POST"]));
    assert_eq!(
        vu["first"],
        json!([["POST", "text", "application/octet-stream"], "mine", "other.test", "1"])
    );
    assert_eq!(vu["get"][0], "GET");
    assert!(vu["get"][1].is_null() || vu["get"][1] == "", "{vu}");
    assert_eq!(vu["sizes"], json!([10, 10, 3, 5]));
    assert_eq!(vu["blob"], 3);
    assert_eq!(vu["odd"], "GoError: req body type not supported");
    assert_eq!(vu["later"], 202);
    assert_eq!(vu["options"], 200);
    assert_eq!(vu["lengths"], json!(["0", "0", "0", null]));
}

#[test]
fn a_response_has_what_the_extension_gives() {
    let told = answers(
        "",
        r"
const init = 0;
const client = new Client();
const get = (path, options) => client.get(new Request(url + path, options));
export function setup() {
  const r = get('/ping');
  return {
    plain: [r.status, r.body, r.url === `${url}/ping`, r.remote_port, r.proto, r.status_text, r.error, r.error_code],
    address: url.endsWith(r.remote_ip),
    header: r.headers['content-length'] || r.headers['Content-Length'],
    cookies: Object.keys(get('/cookies/set?a=1').cookies).length,
    redirect: get('/redirect/2').status,
    coded: get('/gzip', { response_type: 'binary' }).body.slice(0, 2).join(),
    binary: Object.prototype.toString.call(get('/ping', { response_type: 'binary' }).body),
    none: get('/ping', { response_type: 'none' }).body,
    empty: get('/status/204').body,
    json: get('/json?n=2').json('items.#'),
    nothing: tell(() => get('/status/204').json()),
    code: get('/status/404').error_code,
    timed: r.timings.duration > 0,
    keys: Object.keys(r).length,
  };
}",
    );
    let vu = &told["vu"];
    assert_eq!(vu["plain"], json!([200, "ok", true, 0, "HTTP/1.1", "200 OK", "", 0]));
    assert_eq!(vu["address"], true);
    assert_eq!(vu["header"], "2");
    assert_eq!((&vu["cookies"], &vu["redirect"]), (&json!(0), &json!(302)));
    assert_eq!(vu["coded"], "31,139");
    assert_eq!(vu["binary"], "[object Uint8Array]");
    assert_eq!((&vu["none"], &vu["empty"]), (&Value::Null, &Value::Null));
    assert_eq!((&vu["json"], &vu["code"], &vu["timed"]), (&json!(2), &json!(1404), &json!(true)));
    assert!(vu["nothing"].as_str().unwrap().starts_with("GoError: the body is null"), "{vu}");
    assert_eq!(vu["keys"], 20);
}

#[test]
fn what_fails_is_null_or_thrown_and_the_next_request_works() {
    let server = DemoServer::start();
    let faults = &server.faults;
    let script = r"
const init = 0;
const client = new Client({ read_timeout: 1 });
const faults = __ENV.FAULTS;
const get = (address, options) => client.get(new Request(address, options));
export function setup() {
  return {
    refused: get('http://127.0.0.1:1/'),
    thrown: tell(() => get('http://127.0.0.1:1/', { throw: true })),
    reset: get(`${faults}/reset-mid-body`),
    silent: tell(() => get(`${faults}/never`, { throw: true })),
    invalid: tell(() => get('http://[::1', { throw: true })),
    header: tell(() => get(url, { throw: true, headers: { 'a b': 'c' } })),
    next: get(`${url}/ping`).status,
    number: tell(() => client.get(5)),
    object: tell(() => client.get({})),
    checked: tell(() => checkstatus(200, null)),
    other: tell(() => checkstatus(200, {})),
  };
}";
    let told = answers(&format!("-e FAULTS={faults}"), script);
    let vu = &told["vu"];
    assert_eq!((&vu["refused"], &vu["reset"]), (&Value::Null, &Value::Null));
    assert_eq!(vu["thrown"], "GoError: Get \"http://127.0.0.1:1/\": dial: connection refused");
    let silent = vu["silent"].as_str().unwrap();
    assert!(silent.ends_with("/never\": request timeout"), "{silent}");
    let invalid = vu["invalid"].as_str().unwrap();
    assert!(invalid.starts_with("GoError: invalid URL: parse"), "{invalid}");
    let header = vu["header"].as_str().unwrap();
    assert!(header.ends_with("net/http: invalid header field name \"a b\""), "{header}");
    assert_eq!(vu["next"], 200);
    assert_eq!(vu["number"], "TypeError: a Client's methods take a Request");
    assert_eq!(vu["object"], "GoError: object not a Request");
    assert_eq!(vu["checked"], "GoError: nil response");
    assert_eq!(vu["other"], "GoError: response object not given to CheckStatus");
}

#[test]
fn all_metrics_tell_the_truth() {
    let script = r"
import { group } from 'k6';
import { Client, Request, checkstatus } from 'k6/x/fasthttp';
export const options = { vus: 1, iterations: 2 };
const client = new Client();
const good = new Request(`${__ENV.DEMO_URL}/ping`);
const bad = new Request(`${__ENV.DEMO_URL}/status/404`);
const gone = new Request('http://127.0.0.1:1/');
export default function () {
  checkstatus(200, client.get(good));
  group('inner', () => checkstatus(200, client.put(bad), { kind: 'bad' }));
  client.get(gone);
}";
    let mut call = brunt("run -q --demo --out json=samples.json s.js").file("s.js", script);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    let text = call.read("samples.json");
    let samples: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["type"] == "Point")
        .collect();
    let of = |metric: &str| samples.iter().filter(|s| s["metric"] == metric).collect::<Vec<_>>();
    for metric in [
        "http_reqs",
        "http_req_duration",
        "http_req_blocked",
        "http_req_connecting",
        "http_req_tls_handshaking",
        "http_req_sending",
        "http_req_waiting",
        "http_req_receiving",
        "http_req_failed",
    ] {
        assert_eq!(of(metric).len(), 6, "{metric}");
    }
    let tags = |sample: &Value, name: &str| sample["data"]["tags"][name].clone();
    let requests = of("http_reqs");
    let statuses: Vec<Value> = requests.iter().map(|s| tags(s, "status")).collect();
    assert_eq!(json!(statuses), json!(["200", "404", "0", "200", "404", "0"]));
    assert_eq!(tags(requests[1], "method"), "PUT");
    assert_eq!(tags(requests[1], "group"), "::inner");
    assert_eq!(tags(requests[1], "expected_response"), "false");
    assert_eq!(tags(requests[2], "error_code"), "1212");
    assert_eq!(tags(requests[0], "proto"), "HTTP/1.1");
    let checks: Vec<Value> =
        of("checks").iter().map(|s| json!([s["data"]["value"], tags(s, "kind")])).collect();
    let once = [json!([1, null]), json!([0, "bad"])];
    assert_eq!(json!(checks), json!([once.clone(), once].concat()));
    assert_eq!(tags(of("checks")[0], "check"), "check status is 200");
    let sent: f64 = of("data_sent").iter().filter_map(|s| s["data"]["value"].as_f64()).sum();
    assert!(sent > 100.0, "{sent}");
}
