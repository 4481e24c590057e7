//! `k6/secrets` with each kind of source, and what the log shows of them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use crate::support::{Told, brunt};

const SCRIPT: &str = r"
import secrets from 'k6/secrets';
import { Counter } from 'k6/metrics';
const kept = new Counter('kept');
async function attempt(what, get) {
  try { console.log(what, (await get()).length); } catch (error) { console.log(what, String(error)); }
}
export default async function () {
  await attempt('a', () => secrets.get('a'));
  await attempt('none', () => secrets.get('none'));
  await attempt('source', () => secrets.source('other').get('a'));
  try {
    const value = await secrets.get('a');
    console.log(`it is ${value}.`, { in: value });
    console.error(new Error(value));
    kept.add(value === 'hush-hush' ? 1 : 0);
    throw new Error(`thrown ${value}`);
  } catch (error) {
    if (String(error).includes('thrown')) throw error;
  }
}
";

fn run(flags: &str) -> Told {
    brunt(&format!("run --quiet {flags} s.js"))
        .file("s.js", SCRIPT)
        .file("f", "a=hush-hush\n")
        .told()
}

#[test]
fn a_secret_reaches_the_script_and_no_log_line() {
    for flags in [
        "--secret-source mock=a=hush-hush",
        "--secret-source=file=f",
        "--secret-source=file=filename=f,name=mine",
        "--secret-source=mock=default,a=hush-hush --secret-source=mock=name=other,a=x",
    ] {
        let told = run(flags);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(!told.stderr.contains("hush"), "{}", told.stderr);
        assert!(told.stderr.contains("a 9"), "{}", told.stderr);
        assert!(told.stderr.contains("no value"), "{}", told.stderr);
        assert!(
            told.stderr
                .contains(r#"it is ***SECRET_REDACTED***. { in: \"***SECRET_REDACTED***\" }"#),
            "{}",
            told.stderr
        );
        assert!(told.stderr.contains("Error: thrown ***SECRET_REDACTED***"), "{}", told.stderr);
    }
}

#[test]
fn without_a_source_there_are_no_secrets() {
    let told = run("");
    assert!(told.stderr.contains("no secret sources are configured"), "{}", told.stderr);
    let told = run("--secret-source mock=a=1");
    let unknown = r#"no secret source with name \"other\" is configured"#;
    assert!(told.stderr.contains(unknown), "{}", told.stderr);
}

#[test]
fn a_source_that_cannot_be_ends_the_run_before_it_begins() {
    for (flag, code, part) in [
        ("bogus=1", 255, "no secret source for type"),
        ("mock", 255, "needs ="),
        ("cloud", 104, "cloud"),
        ("file=/no/such/file", 255, "/no/such/file"),
        ("url=urlTemplate=http://h", 255, "{key}"),
    ] {
        let told = run(&format!("--secret-source {flag}"));
        assert_eq!(told.code, code, "{flag}: {}", told.stderr);
        assert!(told.stderr.contains(part), "{flag}: {}", told.stderr);
    }
}

#[test]
fn the_environment_names_one_source_and_a_server_is_asked_once() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let server = std::thread::spawn(move || {
        let mut heads = Vec::new();
        for _ in 0..2 {
            let (socket, _) = listener.accept().expect("a client");
            let mut reader = BufReader::new(&socket);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).expect("a head");
            }
            let (status, text) = if head.starts_with("GET /v1/a ") {
                (200, r#"{"data":{"value":"hush-hush"}}"#)
            } else {
                (404, "")
            };
            let size = text.len();
            write!(
                &socket,
                "HTTP/1.1 {status} X\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n{text}"
            )
            .expect("an answer");
            heads.push(head);
        }
        heads
    });
    let told = brunt("run --quiet s.js")
        .env("K6_SECRET_SOURCE", "url=responsePath=data.value")
        .env("K6_SECRET_SOURCE_URL_URL_TEMPLATE", &format!("http://{address}/v1/{{key}}"))
        .env("K6_SECRET_SOURCE_URL_HEADER_AUTHORIZATION", "Bearer t")
        .file("s.js", SCRIPT)
        .told();
    assert!(told.stderr.contains("a 9"), "{}", told.stderr);
    assert!(!told.stderr.contains("hush"), "{}", told.stderr);
    let heads = server.join().expect("the server ends");
    let head = heads[0].to_ascii_lowercase();
    assert!(head.contains("authorization: bearer t\r\n"), "{head}");
}

#[test]
fn no_output_shows_a_secret_in_a_tag() {
    let script = r"
        import secrets from 'k6/secrets';
        import http from 'k6/http';
        export default async function () {
          const token = await secrets.get('token');
          http.get(`${__ENV.DEMO_URL}/ping?token=${token}`, { tags: { token } });
        }
    ";
    let mut run =
        brunt("run --quiet --demo --out json=o.json --secret-source mock=token=hush-hush s.js")
            .file("s.js", script);
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    let samples = run.read("o.json");
    assert!(!samples.contains("hush"), "{samples}");
    assert!(samples.contains("/ping?token=***SECRET_REDACTED***"), "{samples}");
}

#[test]
fn init_code_may_ask_a_server_for_a_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let server = std::thread::spawn(move || {
        let (socket, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(&socket);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).expect("a head");
        }
        write!(&socket, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthree").expect("an answer");
    });
    let script = "import secrets from 'k6/secrets';
        const secret = await secrets.get('a');
        export const options = { iterations: secret.length };
        export default function () { console.log('with', secret.length); }";
    let source = format!("url=urlTemplate=http://{address}/{{key}}");
    let told =
        brunt("run --quiet s.js").env("K6_SECRET_SOURCE", &source).file("s.js", script).told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(told.stderr.matches("with 5").count(), 5, "{}", told.stderr);
    server.join().expect("it was asked once");
}

#[test]
fn a_file_beside_the_script_is_its_source_and_is_named_once() {
    let script = "import secrets from 'k6/secrets';\n\
                  export default async () => { console.log((await secrets.get('a')).length); };";
    let with = |line: &str| {
        brunt(line).file("x/s.js", script).file("x/secrets.env", "a=hush-hush\n").told()
    };
    let told = with("run x/s.js");
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(
        told.stderr.matches("secrets come from x/secrets.env").count(),
        1,
        "{}",
        told.stderr
    );
    assert!(!told.stderr.contains("no secret sources"), "{}", told.stderr);
    let told = with("run --quiet x/s.js");
    assert!(!told.stderr.contains("secrets come from"), "{}", told.stderr);
    assert!(!told.stderr.contains("no secret sources"), "{}", told.stderr);
    let told = with("run --secret-source mock=a=1 x/s.js");
    assert!(!told.stderr.contains("secrets come from"), "{}", told.stderr);
}

#[test]
fn a_file_beside_is_read_only_for_a_script_that_asks_for_secrets() {
    let told = brunt("run s.js")
        .file("s.js", "export default () => {};")
        .file("secrets.env", "no pair\n")
        .told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(!told.stderr.contains("secrets come from"), "{}", told.stderr);
    let told = brunt("run s.js")
        .file("s.js", "import 'k6/secrets'; export default () => {};")
        .file("secrets.env", "a=1\n\nno pair\n")
        .told();
    assert_eq!(told.code, 255, "{}", told.stderr);
    assert!(told.stderr.contains("the secrets beside the script, secrets.env"), "{}", told.stderr);
}

#[test]
fn an_archive_does_not_hold_the_secrets_that_its_init_code_saw() {
    let script = "import secrets from 'k6/secrets';\nexport default async () => {\n\
                  if ((await secrets.get('a')).length !== 9) throw new Error('wrong'); };";
    let mut call =
        brunt("archive -O a.tar s.js").file("s.js", script).file("secrets.env", "a=hush-hush\n");
    let told = call.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    let archive = std::fs::read(call.path("a.tar")).expect("the archive");
    assert!(!archive.windows(9).any(|part| part == b"hush-hush"));
}
