//! Bodies that are too large, that unpack without end, or that are too many: what they cost, and that others go on.
#![expect(
    clippy::large_stack_arrays,
    clippy::disallowed_methods,
    reason = "threads of the test's server, not a core"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};

use crate::support::{Brunt, Running, Told, beside_a_yardstick, brunt};

const MIB: usize = 1 << 20;

/// The bodies that the server has ready.
struct Bombs {
    /// 4 GiB of zeros.
    zeros: Vec<u8>,
    /// The same, once more.
    twice: Vec<u8>,
    /// A million members without content, packed.
    nothing: Vec<u8>,
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// A server on loopback, which ends with the test's process.
fn serve() -> SocketAddr {
    let zeros = gzip(&vec![0; 4 * MIB]).repeat(1024);
    let twice = gzip(&zeros);
    let nothing = gzip(&gzip(b"").repeat(1_000_000));
    let bombs = Arc::new(Bombs { zeros, twice, nothing });
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bombs = Arc::clone(&bombs);
            // A client that hangs up has had enough.
            std::thread::spawn(move || answer(stream, &bombs).ok());
        }
    });
    address
}

fn answer(stream: TcpStream, bombs: &Bombs) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut line, mut cookie, mut path) = (String::new(), false, String::new());
        while line != "\r\n" {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if path.is_empty() {
                line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
            }
            cookie |= line.starts_with("Cookie:");
        }
        let to = stream.get_mut();
        let (coding, body): (&str, &[u8]) = match path.as_str() {
            "/zeros" => ("gzip", &bombs.zeros),
            "/twice" => ("gzip, gzip", &bombs.twice),
            "/nothing" => ("gzip, gzip", &bombs.nothing),
            "/endless" => {
                to.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
                loop {
                    to.write_all(&[b'x'; 64 * 1024])?;
                }
            }
            "/moved" => {
                to.write_all(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")?;
                loop {
                    to.write_all(&[b'x'; 1024])?;
                }
            }
            "/large" => ("identity", &[b'y'; 10 * MIB]),
            _ if cookie => ("identity", b"with"),
            _ => ("identity", b"without"),
        };
        let length = body.len();
        write!(
            to,
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nSet-Cookie: a=b\r\nContent-Length: {length}\r\n\r\n"
        )?;
        to.write_all(body)?;
    }
}

/// Runs it to its end; says how many MiB of memory it had at most.
fn measured(mut call: Brunt) -> (Told, u64) {
    let running = call.start();
    let (status, (over, is_over)) =
        (format!("/proc/{}/status", running.id()), std::sync::mpsc::channel::<()>());
    let watcher = std::thread::spawn(move || {
        let mut most = 0;
        while is_over.recv_timeout(Duration::from_millis(20)).is_err() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
            most = most.max(kib.unwrap_or(0));
        }
        most / 1024
    });
    let told = Running::wait(running);
    over.send(()).expect("the watcher waits for it");
    (told, watcher.join().expect("the watcher doesn't panic"))
}

/// One VU meets a bomb, another goes on beside it, on the same core.
const BESIDE: &str = "import http from 'k6/http'; import { sleep } from 'k6';
    export const options = { scenarios: {
      bad: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'bad', maxDuration: '20s' },
      good: { executor: 'constant-vus', vus: 1, duration: '3s', exec: 'good' },
    } };
    export function bad() {
      const from = Date.now();
      const res = http.get(__ENV.URL + __ENV.AT, { timeout: __ENV.TIMEOUT });
      console.log(`bad ${res.status} ${res.error} after ${Date.now() - from}`);
    }
    export function good() { http.get(`${__ENV.URL}/`); console.log('good'); sleep(0.05); }";

fn beside(address: SocketAddr, at: &str, timeout: &str, flags: &str) -> (Told, u64) {
    measured(
        brunt(&format!(
            "run -q --no-summary --workers 1 --log-format raw {flags} -e URL=http://{address} -e AT={at} -e TIMEOUT={timeout} s.js"
        ))
        .file("s.js", BESIDE),
    )
}

/// The line of the bad one, and its moment.
fn said(told: &Told) -> (&str, u64) {
    let line = told.stderr.lines().find_map(|line| line.strip_prefix("bad "));
    let (what, when) = line.and_then(|line| line.split_once(" after ")).expect("it was said");
    (what, when.parse().expect("milliseconds"))
}

#[test]
fn a_bomb_is_unpacked_beside_others_and_within_its_time() {
    let address = serve();
    for at in ["/zeros", "/twice", "/nothing"] {
        let ((told, _), pause) = beside_a_yardstick(|| beside(address, at, "400ms", ""));
        let (what, when) = said(&told);
        // Nothing may be over in time.
        let is_over = at == "/nothing" && what == "200 ";
        assert!(what == "0 request timeout" || is_over, "{at}: {told:?}");
        let late_max = 2000 + (10 * pause + told.waited).as_millis() as u64;
        assert!(when < late_max, "{at}: {pause:?} {told:?}");
        // Of those that another thread would come to in three seconds.
        let good = told.stderr.matches("good").count() as f64;
        let due = (3.0 - told.waited.as_secs_f64()) / (0.05 + pause.as_secs_f64());
        assert!(good >= 0.2 * due, "{at}: only {good} of {due} beside it: {told:?}");
    }
}

#[test]
fn a_body_takes_little_more_memory_than_its_bound() {
    let address = serve();
    let (small, before) = beside(address, "/", "10s", "");
    assert_eq!(small.code, 0, "{small:?}");
    for (at, why) in [
        ("/endless", "0 response body exceeds 64000000 bytes"),
        (
            "/zeros",
            "0 error decompressing response body (more than 64000000 bytes when decompressed)",
        ),
        (
            "/twice",
            "0 error decompressing response body (more than 64000000 bytes when decompressed)",
        ),
    ] {
        let (told, most) = beside(address, at, "10s", "--max-body-size 64MB");
        assert_eq!(said(&told).0, why, "{at}: {told:?}");
        assert!(most < before + 200, "{at}: {most} MiB, and {before} without it");
    }
    let (told, most) = beside(address, "/endless", "1s", "--discard-response-bodies");
    assert_eq!(said(&told).0, "0 request timeout", "{told:?}");
    assert!(most < before + 40, "{most} MiB, and {before} without it");
}

#[test]
fn all_bodies_together_have_a_bound() {
    let script = "import http from 'k6/http';
        export const options = { vus: 5, iterations: 5, maxBodyMemory: '75MiB' };
        const held = [];
        export default function () {
          for (let i = 0; i < 4; i++) {
            const res = http.get(`${__ENV.URL}/large`);
            held.push(res);
            // The script's own copy counts, too.
            try { console.log(res.error || `came ${res.body.length}`); } catch (e) { console.log(e.message); }
          }
          console.log(`small ${http.get(__ENV.URL).status}`);
        }";
    let address = serve();
    let call = format!("run -q --no-summary --log-format raw -e URL=http://{address} s.js");
    let (told, most) = measured(brunt(&call).file("s.js", script));
    let why = "all bodies together would exceed 78643200 bytes (maxBodyMemory)";
    assert!(told.stderr.matches(why).count() >= 12, "{told:?}");
    assert!(told.stderr.contains("came 10485760"), "{told:?}");
    assert_eq!(told.stderr.matches("small 200").count(), 5, "{told:?}");
    assert!(most < 300, "{most} MiB");
}

/// As k6 1.8.1 does.
#[test]
fn the_endless_body_of_a_redirect_is_not_waited_for() {
    let address = serve();
    // Waited for, it would end as a timeout.
    let (told, _) = beside(address, "/moved", "10s", "");
    assert_eq!(said(&told).0, "200 ", "{told:?}");
}

#[test]
fn the_bounds_are_options_in_every_layer() {
    let shown = |call: Brunt| {
        let mut call = call;
        let told = call.told();
        assert_eq!(told.code, 0, "{told:?}");
        let json: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
        (json["maxBodySize"].clone(), json["maxBodyMemory"].clone())
    };
    let null = serde_json::Value::Null;
    let none = "export default function () {}";
    let both = "export const options = { maxBodySize: '64MB', maxBodyMemory: 1e9 };\
        export default function () {}";
    let inspect =
        |flags: &str, script: &str| brunt(&format!("inspect {flags} s.js")).file("s.js", script);
    assert_eq!(shown(inspect("", none)), (null.clone(), null.clone()));
    assert_eq!(shown(inspect("", both)), (64_000_000.into(), 1_000_000_000.into()));
    let see = "import exec from 'k6/execution';\
        export const options = { maxBodySize: '64MB' };\
        export default () => console.log(exec.test.options.maxBodySize, exec.test.options.maxBodyMemory);";
    let call =
        "run -q --no-summary --log-format raw --max-body-size 1GiB --max-body-memory 2GiB s.js";
    let told = brunt(call).file("s.js", see).told();
    assert_eq!(told.stderr, format!("{} {}\n", 1_u64 << 30, 1_u64 << 31), "{told:?}");
    let by_variable = inspect("--execution-requirements", both)
        .env("K6_MAX_BODY_SIZE", "5kB")
        .env("BRUNT_MAX_BODY_MEMORY", "7");
    assert_eq!(shown(by_variable), (5_000.into(), 7.into()));
    let by_file = inspect("--execution-requirements --config c.json", none)
        .file("c.json", r#"{"maxBodySize":"1.5KiB"}"#);
    assert_eq!(shown(by_file), (1536.into(), null));
    for (flags, script, part) in [
        ("--max-body-size 64X", none, "--max-body-size: expected a size such as \"64MB\""),
        ("--max-body-size 0", none, "got \"0\""),
        (
            "",
            "export const options = { maxBodySize: -1 }; export default function () {}",
            "maxBodySize: expected a size such as",
        ),
        (
            "",
            "export const options = { maxBodyMemory: [] }; export default function () {}",
            "maxBodyMemory: expected a size such as",
        ),
    ] {
        let told = brunt(&format!("run -q {flags} s.js")).file("s.js", script).told();
        let text = told.stderr.replace('\\', "");
        assert!(told.code != 0 && text.contains(part), "{part}: {told:?}");
    }
}

/// k6 1.8.1 answers with twelve times "without".
#[test]
fn cookies_are_taken_when_a_batch_or_an_asynchronous_request_is_called() {
    let script = "import http from 'k6/http';
        export default async function () {
          const urls = Array.from({ length: 12 }, (_, i) => `${__ENV.URL}/?${i}`);
          console.log(http.batch(urls).map((res) => res.body).join());
          http.cookieJar().clear(__ENV.URL);
          const later = http.asyncRequest('GET', __ENV.URL);
          http.cookieJar().set(__ENV.URL, 'x', 'y');
          console.log(`later ${(await later).body}`);
          console.log(`then ${http.get(__ENV.URL).body}`);
        }";
    let address = serve();
    let call = format!("run -q --no-summary --log-format raw -e URL=http://{address} s.js");
    let told = brunt(&call).file("s.js", script).told();
    let lines: Vec<&str> = told.stderr.lines().collect();
    assert_eq!(lines, [["without"; 12].join(",").as_str(), "later without", "then with"]);
}

/// The answers of k6 1.8.1 to these.
#[test]
fn durations_of_requests_are_read_as_strictly_as_those_of_options() {
    let script = "import http from 'k6/http';
        export default function () {
          for (const timeout of ['1d', '1d+1h', '1_000', '-1s', '1.5d', '1h2d', '1s1d', '1d1d', '1d-1h']) {
            try { console.log(`${timeout} ${http.get(__ENV.URL, { timeout, throw: true }).status}`); }
            catch (e) { console.log(`${timeout} ${e.message}`); }
          }
        }";
    let address = serve();
    let call = format!("run -q --throw --no-summary --log-format raw -e URL=http://{address} s.js");
    let told = brunt(&call).file("s.js", script).told();
    let wrong = |what: &str| format!("invalid timeout value: {what}");
    let days = |what: &str| wrong(&format!("strconv.ParseInt: parsing \"{what}\": invalid syntax"));
    let expected = [
        "1d 200".to_owned(),
        "1d+1h 200".to_owned(),
        "1_000 200".to_owned(),
        format!("-1s Get \"http://{address}\": request timeout"),
        format!("1.5d {}", days("1.5")),
        format!("1h2d {}", days("1h2")),
        format!("1s1d {}", days("1s1")),
        format!("1d1d {}", wrong("time: unknown unit \"d\" in duration \"1d\"")),
        format!("1d-1h {}", wrong("invalid time format '-1h'")),
    ];
    assert_eq!(told.stderr.lines().collect::<Vec<_>>(), expected);
}
